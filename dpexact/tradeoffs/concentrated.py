r"""What zCDP leaves of the trade-off function, in closed form: a lower bound.

For a test of type I error ``alpha`` and power ``1 - beta`` Hölder's inequality says, of every order
``a > 1``, ``1 - beta <= (alpha e^{D_a})^{(a-1)/a}``. With ``D_a <= xi + a rho`` the best order is
``sqrt((log(1/alpha) - xi)/rho)``, whence, the other direction being its inverse,

.. math:: f(\alpha) \ge \max\Big\{1 - e^{-(\sqrt{\log(1/\alpha) - \xi} - \sqrt\rho)_+^2},\;
          e^{-\xi - (\sqrt\rho + \sqrt{-\log(1-\alpha)})^2}\Big\} .

It is the conjugate of the bound on delta as well (``docs/theory/classic.md``).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from flint import arb

from dpexact import balls
from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.tradeoffs.base import TradeoffFunction
from dpexact.tradeoffs.numbers import Number, ball, certify_level, compare, enclose_level


class ConcentratedTradeoff(TradeoffFunction):
    """The bound for ``(xi, rho)``-zCDP beside a mass ``lost`` of infinite loss. Symmetric.

    ``xi >= 0``, ``rho > 0`` and ``0 <= lost <= 1`` are any exact reals.

    >>> print(ConcentratedTradeoff(0, "1/2")("1/20"))
    0.64935657072458878668...
    """

    method = "closed form: zCDP"
    bound = "lower"
    theorem = "zCDP gives a lower bound only"

    def __init__(self, xi: RealLike, rho: RealLike, lost: RealLike = 0) -> None:
        self.xi = real_in(xi, "xi", ">= 0")
        self.rho = real_in(rho, "rho", "> 0")
        self.lost = real_in(lost, "lost", ">= 0", "<= 1")

    def inverse(self) -> Self:
        return self

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        lost = self.lost.fraction
        if compare(alpha, 1) == 0 or lost == 1:
            return enclose_level(Fraction(0), digits, self.method)
        if compare(alpha, 0) == 0 and lost is not None:
            return enclose_level(1 - lost, digits, self.method)
        return certify_level(lambda: self._ball(ball(alpha)), digits, self.method)

    def _ball(self, alpha: arb) -> arb:
        """What is lost is always told apart; the rest has the whole of ``alpha``."""
        kept = 1 - balls.ball(self.lost)
        level = alpha / kept
        if level >= 1:
            return arb(0)
        if level == 0:
            return kept
        if not (level > 0 and level < 1):
            return arb(0).union(kept) if level >= 0 else arb.nan()
        xi, root = balls.ball(self.xi), balls.ball(self.rho).sqrt()
        above = (-xi - (root + (-(-level).log1p()).sqrt()) ** 2).exp()
        return kept * _power(-level.log() - xi, root).max(above)


def _power(excess: arb, root: arb) -> arb:
    """``1 - e^-(sqrt(excess) - root)_+^2``, which grows with ``excess``."""
    least = root * root
    if excess <= least:
        return arb(0)
    if excess > least:
        return -(-((excess.sqrt() - root) ** 2)).expm1()
    return arb(0).union(_power(excess.upper(), root.lower())) if excess.is_finite() else arb.nan()
