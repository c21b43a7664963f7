r"""Rényi divergences to ``(eps, delta)`` by the best order, with the minimum enclosed.

For ``t = order - 1 > 0`` and ``L = log(1/delta)`` both published conversions have the form
``eps(t) = N(t)/t``:

.. math:: \text{moments accountant:}\quad N(t) = t D_{t+1} + L,

.. math:: \text{Proposition 14:}\quad N(t) = t D_{t+1} + L + t\log t - (t+1)\log(t+1).

``t D_{t+1} = log E e^{tZ}`` is convex, and so is the rest: ``N`` is convex. Hence ``eps(t)`` has
no local minimum but the global one, and the secant of ``N`` through two points lies below ``N``
outside them. Three points that bracket the minimum therefore bound it from below with an error of
second order in their distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.minimum import minimise
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real, RealLike

Curve: TypeAlias = Callable[[Real | None, int], Enclosure]
"""``curve(order, digits)``: the Rényi divergence itself, ``None`` being the infinite order."""

Conversion: TypeAlias = Literal["plain", "proposition 14"]

_NAMES: Final = {"plain": "moments accountant", "proposition 14": "Rényi, Proposition 14"}
#: The order minus 1 is sought between ``e^-LOG_RANGE`` and ``e^LOG_RANGE``.
_LOG_RANGE: Final = 40.0
_ROUNDS: Final = 12
_ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True)
class BestOrder:
    """The least epsilon of a conversion and an order that (almost) gives it; ``None``: infinity."""

    epsilon: Enclosure
    order: Fraction | None


def renyi_epsilon(
    curve: Curve,
    delta: RealLike,
    digits: int = 15,
    conversion: Conversion = "proposition 14",
    order: RealLike | None = None,
) -> BestOrder:
    """The least epsilon over all orders, or the one at ``order``.

    Args:
        curve: the exact Rényi divergences of one pair, or ``alpha rho`` (``t D_{t+1}`` must be
            convex in ``t``; at a given ``order`` any upper bound will do); where the digits are
            out of reach, a wider enclosure.
        delta: any exact real in ``(0, 1)``.
        digits: certified significant digits.
        conversion: ``plain`` (Mironov 2017, Proposition 3; the moments accountant) or
            ``proposition 14`` (Steinke 2022; also Canonne, Kamath, Steinke 2020).
        order: a rational above 1.

    Raises:
        InvalidInput: an argument out of its domain, or a divergence that is infinite at every order
            that was tried.
        PrecisionNotReached: the digits were not reached; carries the best enclosure.

    >>> from dpexact.enclosure import Enclosure
    >>> line = lambda order, digits: Enclosure.exact(order.fraction / 2 if order else math.inf)
    >>> print(renyi_epsilon(line, "1e-6", 13).epsilon.shown(13))
    5.221534444530...
    """
    wanted = digits_in(digits)
    found = enclose_renyi_epsilon(curve, delta, wanted, conversion, order)
    delivered(found.epsilon, wanted)
    return found


def enclose_renyi_epsilon(
    curve: Curve,
    delta: RealLike,
    digits: int,
    conversion: Conversion,
    order: RealLike | None = None,
) -> BestOrder:
    """What :func:`renyi_epsilon` finds, as narrow as it could be certified."""
    target = real_in(delta, "delta", "> 0", "< 1")
    if conversion not in _NAMES:
        raise InvalidInput(f"conversion: {conversion!r} is not accepted; use {', '.join(_NAMES)}")
    search = _Search(curve, target, conversion == "plain", digits, _NAMES[conversion])
    if order is None:
        return search.best()
    fixed = real_in(order, "order", "> 1").fraction
    if fixed is None:
        raise InvalidInput(f"order: {order} is not accepted; must be rational")
    found = balls.certify(
        lambda: search.ratio(fixed - 1, balls.current()).max(arb(0)), digits, lowest=_ZERO
    )
    # proposes: a name for people
    return BestOrder(found.labelled(f"{search.name} at order {float(fixed):.6g}"), fixed)


class _Search:
    """The minimum of ``N(t)/t`` over ``t > 0`` and at infinity."""

    def __init__(self, curve: Curve, delta: Real, plain: bool, digits: int, name: str) -> None:
        self.curve = curve
        self.delta = delta
        self.plain = plain
        self.digits = digits
        self.name = name

    def numerator(self, t: Fraction, bits: int) -> arb:
        """``N(t)``; call inside ``balls.precision(bits)``."""
        digits = max(3, math.floor((bits - balls.GUARD_BITS) / math.log2(10)) + 1)
        divergence = self.curve(reals.rational(t + 1), digits)
        if divergence.lower == math.inf:
            return arb("inf")
        if math.inf in (divergence.upper, -divergence.lower):
            return arb.nan()
        x = balls.ball(t)
        value = balls.ball(divergence.lower).union(balls.ball(divergence.upper))
        value = x * value - balls.ball(self.delta).log()
        return value if self.plain else value + x * x.log() - (x + 1) * x.log1p()

    def ratio(self, t: Fraction, bits: int) -> arb:
        """``eps(t)``."""
        return self.numerator(t, bits) / balls.ball(t)

    def best(self) -> BestOrder:
        """The minimum, which is that at infinity when the search runs to the end."""
        at = minimise(self._height, -_LOG_RANGE, _LOG_RANGE)  # proposes: where the search begins
        bits = 2 * balls.bits_for(self.digits)
        center = Fraction(math.exp(at))
        with balls.precision(bits):
            first = self.ratio(center, bits)
            if first <= 0:
                return BestOrder(Enclosure.exact(_ZERO, self.name), center + 1)
            if first > 0 and not first.is_finite():  # as at all larger orders
                least = f"1 + {float(center):.1g}"
                raise InvalidInput(f"curve: the divergence is infinite from about order {least} on")
            top = balls.to_enclosure(first).upper if first.is_finite() else math.inf
        best = Enclosure(_ZERO, max(top, _ZERO), self.name)
        limit = self.curve(None, self.digits + 2)
        # proposes: which of two proofs to try; each answers for itself
        if limit.upper < math.inf and at > _LOG_RANGE - 1:
            return self._at_infinity(limit)
        width = 1e-5
        for _ in range(_ROUNDS):
            found, center = self._bracket(center, Fraction(width), bits)
            if found is not None:
                best = best.meet(found).labelled(self.name)
                if best.digits >= self.digits:
                    return BestOrder(best, center + 1)
                width = max(min(100 * width, 0.1) * width, 10.0 ** (-self.digits - 5))
            else:
                width = min(8 * width, 0.5)
        return BestOrder(
            best.short("three orders around the best one were not told apart"), center + 1
        )

    def _height(self, log_t: float) -> float:
        """About ``eps(e^log_t)``, for proposals only."""
        with balls.precision(96):
            found = self.ratio(Fraction(math.exp(log_t)), 96)
            # proposes: where the certified search begins
            return float(found.mid()) if found.is_finite() else math.inf

    def _bracket(
        self, center: Fraction, width: Fraction, bits: int
    ) -> tuple[Enclosure | None, Fraction]:
        """The minimum from three points, ``None`` if they do not bracket it; a better center."""
        points = [center * (1 - width), center, center * (1 + width)]
        with balls.precision(bits):
            a, b, c = (balls.ball(t) for t in points)
            na, nb, nc = (self.numerator(t, bits) for t in points)
            if not (na.is_finite() and nb.is_finite() and nc.is_finite()):
                return None, center
            fa, fb, fc = na / a, nb / b, nc / c
            left, right = (nb - na) / (b - a), (nc - nb) / (c - b)
            curvature = (fa - 2 * fb + fc).mid()
            better = center
            # proposes: the next center; any three points that bracket give a bound
            if curvature > 0:
                step = balls.ball(width * center) * (fa - fc).mid() / (2 * curvature)
                better = balls.midpoint(b + step)
            # proposes: whether the next center is one; balls decide that these points bracket
            if not (better > 0 and fa > fb and fc > fb):
                # proposes: the next center
                return None, (better if better > 0 else center)
            lowest = fb.min((nb - right * (b - a)) / a).min((nb + left * (c - b)) / c)
            found = balls.to_enclosure(lowest.union(fb))
        return found.larger(Enclosure.exact(_ZERO)), better

    def _at_infinity(self, limit: Enclosure) -> BestOrder:
        """``N(t)/t`` still falls at the end: the infimum is near ``D_inf``, its limit.

        If ``eps(2b) <= eps(b)``, all smaller ``t`` have ``eps(t) >= eps(b)``; beyond ``b`` the
        secant through ``b/2`` and ``b`` lies below ``N``.
        """
        found = Enclosure(_ZERO, limit.upper, self.name)
        bits = 4 * balls.bits_for(self.digits)
        size = math.exp(_LOG_RANGE)
        for _ in range(_ROUNDS):
            b = Fraction(size)
            with balls.precision(bits):
                na, nb = self.numerator(b / 2, bits), self.numerator(b, bits)
                bound = ((nb - na) / balls.ball(b / 2)).min(nb / balls.ball(b))
                # proposes: b; the bound holds for any at which balls find the function falling
                if bound.is_finite() and self.numerator(2 * b, bits) <= 2 * nb:
                    lowest = min(balls.to_enclosure(bound).lower, limit.lower)
                    found = found.meet(Enclosure(lowest, math.inf, self.name))
            if found.digits >= self.digits:
                return BestOrder(found, None)
            size *= 2.0**16
        return BestOrder(found.short("the best order lies beyond those tried"), None)
