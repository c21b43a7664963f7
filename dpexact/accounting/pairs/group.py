r"""Groups of ``k`` records: of sampled Gaussians, and under a guarantee."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpexact.accounting.pairs.lattice import FiniteOnLattice
from dpexact.accounting.pairs.pair import Atom
from dpexact.balls import compare
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exponential
from dpexact.reals import Real, rational

#: Largest group whose law is written out.
MAX_OUTCOMES: Final = 2_000
_ONE: Final = rational(1)
_ZERO: Final = rational(0)


def grouped_response(eps: Real, delta: Real, k: int) -> tuple[Real, FiniteOnLattice | None]:
    r"""Group privacy of ``(eps, delta)``-DP: the mass of infinite loss, and the law of the rest.

    The trade-off function is :math:`1 - (1-f)^{\circ k}` (Dong, Roth and Su 2022, Theorem 3). With
    :math:`g = 1 - f`, :math:`g(x) = \delta + e^\varepsilon x` up to the kink
    :math:`x_0 = (1-\delta)/(1+e^\varepsilon)`, and
    :math:`g(x) = 1 - e^{-\varepsilon}(1-\delta-x)` from there. What reaches the kink
    after ``j`` steps starts at

    .. math:: x_j = e^{-j\varepsilon} x_0 - \delta\,\frac{1 - e^{-j\varepsilon}}{e^\varepsilon - 1},

    and between :math:`x_j` and :math:`x_{j-1}` the loss is :math:`(2j-k)\varepsilon`. The pair is
    symmetric; the law is None where no loss is left but 0 or infinity.
    """
    if k > MAX_OUTCOMES:
        raise UnsupportedMechanism(f"groups of more than {MAX_OUTCOMES} records under a guarantee")
    if compare(eps, _ZERO, "eps") == 0:
        lost = k * delta
        return (_ONE if compare(lost, _ONE, "delta") >= 0 else lost), None
    growth = exponential(eps)

    def pile(j: int) -> Real:
        """``delta (e^{j eps} - 1) / (e^eps - 1)``: 0 after ``j`` steps below the kink."""
        if delta.fraction == 0 or j == 0:
            return _ZERO
        return delta * (exponential(j * eps) - 1) / (growth - 1)

    kink = (1 - delta) / (1 + growth)

    def start(j: int) -> Real:
        return (kink - pile(j)) * exponential(-j * eps)

    rises = k  # steps below the kink from 0 on
    if delta.fraction != 0:
        low, high = 0, k
        while low < high:
            middle = (low + high) // 2
            if compare(start(middle), _ZERO, "delta") <= 0:
                high = middle
            else:
                low = middle + 1
        rises = low
    falls = k - rises
    rest = 1 - pile(rises)
    if falls:
        rest = (rest - pile(falls)) * exponential(-falls * eps)
    if compare(rest, _ZERO, "delta") <= 0:
        return _ONE, None
    atoms = []
    for j in range(falls, rises + 1):
        above = rest if j == falls else start(j - 1)
        mass = above if j == rises else above - start(j)
        atoms.append(Atom(mass * exponential((2 * j - k) * eps) / rest, mass / rest))
    return 1 - rest, FiniteOnLattice(tuple(atoms), 2 * eps, Fraction(2 * falls - k, 2))
