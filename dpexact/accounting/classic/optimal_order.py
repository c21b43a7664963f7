r"""The optimal conversion from one Rényi divergence to ``(eps, delta)``.

Let ``D_alpha(P||Q) <= gamma``. If ``P(S) - e^eps Q(S) >= delta`` for some event ``S``, put
``p = P(S)``; then ``Q(S) <= (p - delta) e^-eps``. Merging outcomes never increases ``D_alpha``,
which for two outcomes falls with ``Q(S)`` below ``p``, so

.. math:: e^{(\alpha-1)(\gamma-\varepsilon)} \ge M(\varepsilon)
          = \min_{\delta\le p\le 1} m(p),

.. math:: m(p) = p^\alpha (p-\delta)^{1-\alpha}
          + (1-p)^\alpha (e^\varepsilon - p + \delta)^{1-\alpha}

(Asoodeh, Liao, Calmon, Kosut, Sankar 2021, Theorem 3). The two outcomes themselves attain it, so
the largest such ``eps`` is the best that follows from ``alpha``, ``gamma`` and ``delta`` alone.
``m`` is convex, a sum of perspectives of ``x^alpha``; its tangent at any ``p0`` bounds it from
below on the whole range, which certifies the minimum, in the inside or at ``p = 1``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.roots import propose_root
from dpexact.accounting.pairs.pair import log_chernoff
from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure

_ZERO: Final = Fraction(0)
_METHOD: Final = "Rényi, optimal at one order"


def enclose_optimal(
    divergence: RealLike, order: RealLike, delta: RealLike, digits: int
) -> Enclosure:
    """The least ``eps >= 0`` that ``D_order <= divergence`` guarantees at ``delta``.

    Args:
        divergence: any exact real ``>= 0``.
        order: any exact real ``> 1``.
        delta: any exact real in ``(0, 1)``.
        digits: certified significant digits asked for.

    >>> print(enclose_optimal("3", "6", "1e-6", 12).shown(12))
    5.22242859977...
    """
    gamma, alpha = real_in(divergence, "divergence", ">= 0"), real_in(order, "order", "> 1")
    target = real_in(delta, "delta", "> 0", "< 1")

    def compute() -> arb:
        problem = _Problem(balls.ball(alpha), balls.ball(gamma), balls.ball(target))
        return problem.enclose()

    if balls.sign(gamma, "divergence") == 0:
        return Enclosure.exact(_ZERO, _METHOD)
    return balls.certify(compute, digits, lowest=_ZERO, method=_METHOD, lost_bits=64)


class _Problem:
    def __init__(self, alpha: arb, gamma: arb, delta: arb) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.delta = delta

    def enclose(self) -> arb:
        """A ball around the answer."""
        zero = arb(0)
        if self._guaranteed(zero):
            return zero
        # Proposition 14 at this order is never better
        t = self.alpha - 1
        high = self.gamma + (log_chernoff(t) - self.delta.log()) / t
        high = high.max(arb(0)).upper() + arb("0.001")
        guess = propose_root(self._margin, zero, high)
        for lost in (16, 32, 64, 96):
            width = (abs(guess) + arb("1e-30")) * arb(2) ** (lost - balls.current())
            # proposes: two points; what holds at them is certified there
            low, top = (guess - width).mid(), (guess + width).mid()
            # proposes: `low`; at 0 or below the end is 0, and eps >= 0
            if self._guaranteed(top) and (low <= 0 or self._margin(low) < 0):
                return low.max(arb(0)).union(top)
        return arb.nan()

    def _margin(self, epsilon: arb) -> arb:
        """At least ``log M(eps) - (alpha - 1)(gamma - eps)``, which increases, and about that.

        Where it certainly is below 0, some pair certainly reaches ``delta``.
        """
        return self._m(self._place(epsilon), epsilon).log() - self._log_limit(epsilon)

    def _guaranteed(self, epsilon: arb) -> bool:
        """Whether ``M(eps)`` certainly exceeds the limit: no pair reaches ``delta``."""
        p = self._place(epsilon)
        value, slope = self._m(p, epsilon), self._slope(p, epsilon)
        least = value.min(value + slope * (1 - p)).min(value - slope * (p - self.delta))
        return bool(least > self._log_limit(epsilon).exp())

    def _log_limit(self, epsilon: arb) -> arb:
        return (self.alpha - 1) * (self.gamma - epsilon)

    def _place(self, epsilon: arb) -> arb:
        """About the ``p`` of the minimum, sought on the logistic scale between delta and 1.

        Proposes: a point; the bounds by the tangent at ``p`` and by ``m(p)`` hold at any ``p``.
        At ``p - delta = (alpha - 1) delta`` the first part of ``m'`` is 0: the minimum lies beyond.
        """
        delta = self.delta.mid()
        least = ((self.alpha - 1) * delta).mid()
        if not least < (1 - delta) * arb("0.999"):
            return arb(1)

        def place(u: arb) -> arb:
            return delta + (1 - delta) / (1 + (-u).exp())

        low = (least / (1 - delta - least)).log()
        high = low.max(arb(0)) + arb(balls.current()) / 2
        return place(propose_root(lambda u: self._slope(place(u), epsilon), low, high)).mid()

    def _m(self, p: arb, epsilon: arb) -> arb:
        near, far = p - self.delta, epsilon.exp() - p + self.delta
        return p * (p / near) ** (self.alpha - 1) + (1 - p) * ((1 - p) / far) ** (self.alpha - 1)

    def _slope(self, p: arb, epsilon: arb) -> arb:
        """``m'(p)``, which increases."""
        near, far = p - self.delta, epsilon.exp() - p + self.delta
        x, y = p / near, (1 - p) / far
        a = self.alpha
        return x ** (a - 1) * (a - (a - 1) * x) - y ** (a - 1) * (a - (a - 1) * y)
