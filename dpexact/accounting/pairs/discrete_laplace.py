"""Discrete Laplace (geometric) noise."""

from __future__ import annotations

from fractions import Fraction

from dpexact.accounting.pairs.lattice import MAX_ATOMS, FiniteOnLattice
from dpexact.accounting.pairs.pair import Atom
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exponential, quotient
from dpexact.reals import Real, rational


def discrete_laplace(scale: Real, sensitivity: int) -> FiniteOnLattice:
    r"""Noise of mass :math:`\frac{1-a}{1+a} a^{|x|}`, :math:`a = e^{-1/scale}`.

    The loss is :math:`(s - 2x)/scale` for ``0 < x < s``, and :math:`\pm s/scale` outside.
    For ``s = 1`` this is the law of randomised response of ``eps = 1/scale``.
    """
    if sensitivity >= MAX_ATOMS:
        raise UnsupportedMechanism(
            f"no certified accounting for discrete_laplace of sensitivity {sensitivity}"
        )
    growth = exponential(quotient(rational(1), scale))  # 1/a
    total = growth + 1
    inner, ends = (growth - 1) / total, growth / total
    p = [ends * growth ** (-sensitivity)]
    p += [inner * growth ** (-x) for x in range(sensitivity - 1, 0, -1)]
    p += [ends]
    outcomes = tuple(map(Atom, p, p[::-1]))
    return FiniteOnLattice(outcomes, quotient(rational(2), scale), Fraction(-sensitivity, 2))
