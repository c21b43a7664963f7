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
``m`` is convex, a sum of perspectives of ``x^alpha``. Where it falls at one place and rises at
another it is between them, and above its tangent at the first, which certifies the minimum; it is
at ``p = 1`` if ``m`` falls there, where ``m'(1)`` has the sign of ``1 - delta - (alpha-1) delta``.
Places are given by ``p - delta`` and ``1 - p``, both of which may be tiny.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.roots import propose_root
from dpexact.accounting.pairs.pair import log_chernoff
from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure

_ZERO: Final = Fraction(0)
_METHOD: Final = "Rényi, optimal at one order"
#: Bits of the distance to the places around the minimum, of those there are.
_AROUND: Final = 3 / 8


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


class _Place(NamedTuple):
    """Where ``p`` is: ``p - delta`` and ``1 - p``."""

    near: arb
    rest: arb


class _Problem:
    def __init__(self, alpha: arb, gamma: arb, delta: arb) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.delta = delta
        #: ``p - delta`` at the least of the first part of ``m``: the minimum lies beyond.
        self.least = (alpha - 1) * delta
        self.ends_at_one = not self.least < 1 - delta

    def enclose(self) -> arb:
        """A ball around the answer."""
        zero, bits = arb(0), balls.current()
        if self._guaranteed(zero):
            return zero
        # Proposition 14 at this order is never better
        t = self.alpha - 1
        high = (self.gamma + (log_chernoff(t) - self.delta.log()) / t).max(zero).upper()
        guess = propose_root(self._margin, zero, 2 * high)
        for lost in (bits // 4, bits // 2, 3 * bits // 4):
            width = guess * arb(2) ** (lost - bits)
            # proposes: two points; what holds at them is certified there
            low, top = (guess - width).mid(), (guess + width).mid()
            # proposes: `low`; at 0 or below the end is 0, and eps >= 0
            if self._guaranteed(top) and (low <= 0 or self._margin(low) < 0):
                return low.max(zero).union(top)
        return zero.union(high)

    def _margin(self, epsilon: arb) -> arb:
        """At least ``log M(eps) - (alpha - 1)(gamma - eps)``, which increases, and about that.

        Where it certainly is below 0, some pair certainly reaches ``delta``.
        """
        return self._m(self._at(self._place(epsilon)), epsilon).log() - self._log_limit(epsilon)

    def _guaranteed(self, epsilon: arb) -> bool:
        """Whether ``M(eps)`` certainly exceeds the limit: no pair reaches ``delta``."""
        u, step = self._place(epsilon), arb(2) ** (-_AROUND * balls.current())
        low, top = self._at(u - step), self._at(u + step)
        value, slope = self._m(low, epsilon), self._slope(low, epsilon)
        if self.ends_at_one:
            least = value.min(value - slope * low.near)
        elif slope < 0 and self._slope(top, epsilon) > 0:
            least = value + slope * (top.near - low.near)
        else:
            return False
        return bool(least > self._log_limit(epsilon).exp())

    def _log_limit(self, epsilon: arb) -> arb:
        return (self.alpha - 1) * (self.gamma - epsilon)

    def _at(self, u: arb) -> _Place:
        """The place at ``u`` on the logistic scale between delta and 1; 1 if the minimum is."""
        whole = 1 - self.delta
        if self.ends_at_one:
            return _Place(whole, arb(0))
        return _Place(whole / (1 + (-u).exp()), whole / (1 + u.exp()))

    def _place(self, epsilon: arb) -> arb:
        """About where the minimum is, on the logistic scale.

        Proposes: a point; what holds around it is certified there.
        """
        if self.ends_at_one:
            return arb(0)
        low = (self.least / (1 - self.delta - self.least)).log()
        high = low.max(arb(0)) + arb(balls.current()) / 2
        return propose_root(lambda u: self._slope(self._at(u), epsilon), low, high).mid()

    def _ratios(self, place: _Place, epsilon: arb) -> tuple[arb, arb]:
        """``p / (p - delta)`` and ``(1 - p) / (e^eps - p + delta)``."""
        far = epsilon.expm1() + self.delta + place.rest
        return 1 + self.delta / place.near, place.rest / far

    def _m(self, place: _Place, epsilon: arb) -> arb:
        (x, y), t = self._ratios(place, epsilon), self.alpha - 1
        return (place.near + self.delta) * x**t + place.rest * y**t

    def _slope(self, place: _Place, epsilon: arb) -> arb:
        """``m'(p)``, which increases."""
        (x, y), t = self._ratios(place, epsilon), self.alpha - 1
        return x**t * (1 - self.least / place.near) - y**t * (self.alpha - t * y)
