"""The staircase mechanism."""

from __future__ import annotations

from fractions import Fraction

from dpexact.accounting.pairs.lattice import FiniteOnLattice, OnLattice
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.response import Response
from dpexact.balls import compare
from dpexact.exactness import exponential
from dpexact.reals import Real, rational


def staircase(eps: Real, gamma: Real) -> OnLattice:
    r"""The staircase mechanism of Geng and Viswanath (2014) at a shift by its full sensitivity.

    The loss is ``eps`` with probability

    .. math:: p = \frac{m}{2(\gamma + (1-\gamma) e^{-\varepsilon})}, \qquad
              m = \min(1, 2\gamma + (1 - 2\gamma) e^{-\varepsilon}),

    ``-eps`` with probability :math:`e^{-\varepsilon} p` and 0 otherwise. For ``gamma = 1/2`` this
    is randomised response. The sensitivity cancels, and no smaller shift is worse.
    """
    if gamma.fraction == Fraction(1, 2):
        return Response(eps)
    decay = exponential(-eps)

    def blend(weight: Real) -> Real:
        return weight + (1 - weight) * decay

    twice = 2 * gamma
    wide = compare(twice, rational(1), "gamma") > 0
    total = 2 * blend(gamma)
    high = (rational(1) if wide else blend(twice)) / total
    low = decay * high
    zero = (twice - 1 if wide else decay * (1 - twice)) * (1 - decay) / total
    outcomes = (Atom(low, high), Atom(zero, zero), Atom(high, low))
    return FiniteOnLattice(outcomes, eps, Fraction(-1))
