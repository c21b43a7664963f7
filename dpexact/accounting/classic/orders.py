r"""Rényi divergences to ``(eps, delta)`` by the best order, with the minimum enclosed.

With ``L = log(1/delta)``, both published conversions are functions of ``u = 1/(order - 1)``:

.. math:: \text{moments accountant:}\quad \varepsilon(u) = D_{1+1/u} + uL,

.. math:: \text{Proposition 14:}\quad \varepsilon(u) = D_{1+1/u} + uL + u\log u - (1+u)\log(1+u).

They are convex, and tend to ``D_inf`` at ``u = 0``: for ``t = 1/u``, ``eps/u`` is
``t D_{t+1} = log E e^{tZ}`` plus a constant or, in the second, plus
``t log t - (t+1) log(t+1)``, all convex in ``t``, and ``u N(1/u)`` is convex where ``N`` is. Hence
three points that bracket the minimum bound it from below: the secant through two of them lies below
``eps`` outside them, with an error of second order in their distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.roots import minimise_from
from dpexact.arguments import rational_in, real_in, word_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real

Curve: TypeAlias = Callable[[Real | None, int], Enclosure]
"""``curve(order, digits)``: the Rényi divergence itself, ``None`` being the infinite order."""

Conversion: TypeAlias = Literal["plain", "proposition 14"]

_NAMES: Final = {"plain": "moments accountant", "proposition 14": "Rényi, Proposition 14"}
#: The order minus 1 is sought between ``e^-LOG_RANGE`` and ``e^LOG_RANGE``.
_LOG_RANGE: Final = 40.0
#: Digits of the divergences beyond those asked for, while orders are sought.
_MORE: Final = 6
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
    tried: list[float] | None = None,
) -> BestOrder:
    """The least epsilon over all orders, or the one at ``order``, as narrow as it was certified.

    Args:
        curve: the exact Rényi divergences of one pair, or ``alpha rho`` (``t D_{t+1}`` must be
            convex in ``t``; at a given ``order`` any upper bound will do); where the digits are
            out of reach, a wider enclosure.
        delta: any exact real in ``(0, 1)``.
        digits: certified significant digits asked for.
        conversion: ``plain`` (Mironov 2017, Proposition 3; the moments accountant) or
            ``proposition 14`` (Steinke 2022; also Canonne, Kamath, Steinke 2020).
        order: a rational above 1.
        tried: ``log(order - 1)`` of orders that the search begins with, and adds its own to: shared
            by two conversions of a curve that keeps its divergences, the second asks for few.

    Raises:
        InvalidInput: an argument out of its domain, or a divergence that is infinite at every order
            that was tried.

    >>> from dpexact.enclosure import Enclosure
    >>> line = lambda order, digits: Enclosure.exact(order.fraction / 2 if order else math.inf)
    >>> print(renyi_epsilon(line, "1e-6", 13).epsilon.shown(13))
    5.221534444530...
    """
    target = real_in(delta, "delta", "> 0", "< 1")
    word_in(conversion, "conversion", _NAMES)
    search = _Search(curve, target, conversion == "plain", digits, _NAMES[conversion])
    if order is None:
        return search.best([0.0] if tried is None else tried)
    fixed = rational_in(order, "order", "> 1")
    found = balls.certify(
        lambda: search.at(1 / (fixed - 1), _digits_of(balls.current())).max(arb(0)),
        digits,
        lowest=_ZERO,
    )
    # proposes: a name for people
    return BestOrder(found.labelled(f"{search.name} at order {float(fixed):.6g}"), fixed)


def _digits_of(bits: int) -> int:
    """Digits of a divergence at a working precision."""
    return max(3, math.floor((bits - balls.GUARD_BITS) / math.log2(10)) + 1)


class _Search:
    """The minimum of the convex ``eps(u)`` over ``u >= 0``."""

    def __init__(self, curve: Curve, delta: Real, plain: bool, digits: int, name: str) -> None:
        self.curve = curve
        self.delta = delta
        self.plain = plain
        self.digits = digits
        self.bits = 2 * balls.bits_for(digits)
        self.name = name

    def at(self, u: Fraction, digits: int) -> arb:
        """``eps(u)`` from a divergence of ``digits`` digits, at the current precision."""
        divergence = self.curve(reals.rational(1 + 1 / u) if u else None, digits)
        if divergence.lower == math.inf:
            return arb("inf")
        if math.inf in (divergence.upper, -divergence.lower):
            return arb.nan()
        value = balls.ball(divergence.lower).union(balls.ball(divergence.upper))
        if not u:
            return value
        x = balls.ball(u)
        value -= x * balls.ball(self.delta).log()
        return value if self.plain else value + x * x.log() - (1 + x) * x.log1p()

    def best(self, tried: list[float]) -> BestOrder:
        """The minimum, which is that at infinite order when the search runs to the end."""
        digits = self.digits + _MORE
        # proposes: how narrow the first bracket is; the search ends within it
        near = max(10.0 ** (-(self.digits + 3) / 2), 1e-11)
        with balls.precision(self.bits):
            log_order = minimise_from(
                lambda x: self._height(x, digits), tried, -_LOG_RANGE, _LOG_RANGE, near / 4
            )
            center = Fraction(math.exp(-log_order))
            first = self.at(center, digits)
            if first <= 0:
                return BestOrder(Enclosure.exact(_ZERO, self.name), 1 + 1 / center)
            if first > 0 and not first.is_finite():  # as at all larger orders
                least = f"1 + {float(1 / center):.1g}"
                raise InvalidInput(f"curve: the divergence is infinite from about order {least} on")
            top = balls.to_enclosure(first).upper if first.is_finite() else math.inf
            # proposes: whether to bracket at the end of the range; each bracket proves its bound
            at_end = log_order > _LOG_RANGE - 1 and bool(self.at(_ZERO, digits).is_finite())
        best = Enclosure(_ZERO, max(top, _ZERO), self.name)
        width = 1.0 if at_end else near
        for _ in range(_ROUNDS):
            found, nearer = self._bracket(center, Fraction(width), digits)
            digits = _digits_of(self.bits)
            center = center / 2**16 if at_end else nearer
            if found is not None:
                best = best.meet(found).labelled(self.name)
            if best.digits >= self.digits:
                break
            if not at_end and found is None:
                width = min(8 * width, 0.5)
            elif not at_end:
                width = max(min(100 * width, 0.1) * width, 10.0 ** (-self.digits - 5))
        else:
            best = best.short("three orders around the best one were not told apart")
        return BestOrder(best, None if at_end else 1 + 1 / center)

    def _height(self, log_order: float, digits: int) -> Fraction | float:
        """About ``eps`` at the order ``1 + e^log_order``, for proposals only."""
        found = self.at(Fraction(math.exp(-log_order)), digits)
        # proposes: where the certified search begins
        return balls.midpoint(found) if found.is_finite() else math.inf

    def _bracket(
        self, center: Fraction, width: Fraction, digits: int
    ) -> tuple[Enclosure | None, Fraction]:
        """The minimum from three points, ``None`` if they do not bracket it; a better center.

        Left of the points ``eps`` is larger than at the first of them, unless that is 0.
        """
        points = [center * (1 - width), center, center * (1 + width)]
        with balls.precision(self.bits):
            a, b, c = (balls.ball(u) for u in points)
            fa, fb, fc = (self.at(u, digits) for u in points)
            if not (fa.is_finite() and fb.is_finite() and fc.is_finite()):
                return None, center
            left, right = (fb - fa) / (b - a), (fc - fb) / (c - b)
            curvature = (fa - 2 * fb + fc).mid()
            better = center
            # proposes: the next center; any three points that bracket give a bound
            if curvature > 0:
                step = balls.ball(width * center) * (fa - fc).mid() / (2 * curvature)
                better = balls.midpoint(b + step)
            better = better if better > 0 else center  # proposes: likewise
            # proposes: whether 0 is the first point; balls decide that these points bracket
            if not ((width == 1 or fa > fb) and fc > fb):
                return None, better
            lowest = fb.min(fb - right * (b - a)).min(fb + left * (c - b))
            low, high = balls.to_enclosure(lowest).lower, balls.to_enclosure(fb.min(fa)).upper
        return Enclosure(max(low, _ZERO), max(high, _ZERO), self.name), better
