r"""What Rényi divergences at some orders leave of the trade-off function, in closed form.

For a test of type I error ``alpha`` and power ``1 - beta`` Hölder's inequality says ``1 - beta <=
(alpha e^{D_a})^{(a-1)/a}`` for every order ``a > 1``. The divergences bound both directions, so

.. math:: f(\alpha) \ge \max_a \max\Big\{1 - (\alpha e^{D_a})^{(a-1)/a},\;
          e^{-D_a} (1 - \alpha)^{a/(a-1)}\Big\} .

Each term is the other's inverse, and the conjugate of the bound on delta that Proposition 14 of
Steinke (2022) gives at that order (``docs/theory/classic.md``).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from flint import arb

from dpexact import balls
from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.base import TradeoffFunction
from dpexact.tradeoffs.numbers import Number, ball, certify_level, compare, enclose_level


class RenyiTradeoff(TradeoffFunction):
    """The bound where the divergence of each ``order > 1`` is at most its ``eps >= 0``. Symmetric.

    >>> print(RenyiTradeoff((2, "1/10"), (8, "4/10"))("1/20").shown(12))
    0.896818503486...
    """

    method = "closed form: Rényi divergences"
    bound = "lower"
    theorem = "Rényi divergences at some orders give a lower bound only"

    def __init__(self, *rows: tuple[RealLike, RealLike]) -> None:
        if not rows:
            raise InvalidInput("rows: at least one order and its divergence are needed")
        self.rows = [(real_in(a, "order", "> 1"), real_in(d, "eps", ">= 0")) for a, d in rows]

    def inverse(self) -> Self:
        return self

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        for end in (0, 1):
            if compare(alpha, end) == 0:
                return enclose_level(Fraction(1 - end), digits, self.method)
        return certify_level(lambda: self._ball(ball(alpha)), digits, self.method)

    def _ball(self, alpha: arb) -> arb:
        if not (alpha > 0 and alpha < 1):
            return arb(0).union(1)
        found, one, other = arb(0), alpha.log(), (-alpha).log1p()
        for order, eps in self.rows:
            a, d = balls.ball(order), balls.ball(eps)
            first = -((one + d) * (a - 1) / a).expm1()
            found = found.max(first).max((other * a / (a - 1) - d).exp())
        return found
