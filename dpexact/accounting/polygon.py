"""The trade-off function at one level or many: values of the profile serve all of them.

At every level one line is subtracted from the same convex function, so that values of it that were
had for one level are values for all. A polygon through few of them, finer where levels touch it,
says where each maximum lies; three values about that bound it (:mod:`~dpexact.accounting.dual`).
All values of a round are asked for at once, as a profile may share their work.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpexact import reals
from dpexact.accounting.dual import below_one, bounds
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

DeltasAt = Callable[[Sequence[Real], int], list[Enclosure]]
"""``deltas_at(epsilons, digits)``: enclosures of ``delta`` at each of them."""

_ONE: Final = Fraction(1)
_LN2: Final = math.log(2)
_SHORT: Final = "no supporting lines were close enough"
#: Digits of the polygon, and how often it is widened and made finer.
_SKETCH_DIGITS: Final = 10
_SPARE: Final = 4
_WIDENINGS: Final = 46
_REFINEMENTS: Final = 40
#: By how much ``log(slope/(1 - slope))`` may change at a corner that levels touch.
_BEND: Final = 0.15
#: After so many of them what is not fine yet may have a kink, and corners that are so close.
_MANY_REFINEMENTS: Final = 6
_SHARP: Final = 1e-3
#: Corners through which a polynomial is laid, half of them on a side.
_HALF: Final = 3
#: Rounds of three values about each maximum; the largest and smallest step.
_ROUNDS: Final = 8
_NEWTON_STEPS: Final = 8
_SAME: Final = 1e-14
#: What a place may be off, as a multiple of what is known of that; and how near is near.
_DOUBT: Final = 3
_NEAR: Final = 0.3
_FARTHEST_MOVE: Final = 4.0
_LARGEST_STEP: Final = 1 / 16
_SMALLEST_STEP: Final = 1e-150
#: Odds beyond all others.
_FAR: Final = 1e9
#: Bits of a place beyond those of its interval.
_FINER_BITS: Final = 12
#: Digits are asked for in multiples, so that many are asked at once.
_BATCH: Final = 3
_MOST_DIGITS: Final = 700


def trade_offs(
    deltas_at: DeltasAt,
    alphas: Sequence[Enclosure],
    digits: int,
    method: str,
    reverse: DeltasAt | None = None,
) -> list[Enclosure]:
    """Enclose ``f`` at some levels, ``0 < alpha < 1``, as narrow as some rounds make it.

    Proposes: where three values are asked for; they bound ``f`` wherever they lie.
    """
    if not alphas:
        return []
    polygon = _Polygon(deltas_at, reverse or deltas_at, alphas)
    polygon.widen(digits)
    polygon.refine()
    found = [
        polygon.known(alpha).labelled(method)
        if polygon.is_sharp(alpha)
        else Enclosure(Fraction(0), 1 - Fraction(alpha.lower), method)
        for alpha in alphas
    ]
    looks = {i: polygon.look(alphas[i], digits) for i, a in enumerate(found) if a.digits < digits}
    for _ in range(_ROUNDS):
        asked = {i: look for i, look in looks.items() if look is not None}
        looks = {}
        for i, values in zip(asked, polygon.about(asked.values()), strict=True):
            answer = bounds(values, alphas[i])
            found[i] = found[i].meet(answer.labelled(method))
            if found[i].digits < digits:
                looks[i] = asked[i].following(values, float(found[i].lower), digits)
    kinks = [i for i, a in enumerate(found) if a.digits < digits]
    for _ in range(_REFINEMENTS):
        if not polygon.sharpen([polygon.corner(alphas[i]) for i in kinks], digits + _SPARE):
            break
        for i in kinks:
            found[i] = found[i].meet(polygon.known(alphas[i]).labelled(method))
        kinks = [i for i in kinks if found[i].digits < digits]
    return [a if a.digits >= digits else a.short(_SHORT) for a in found]


@dataclass
class _Look:
    """Three values about ``centre``, a share ``step`` of it apart, to so many digits.

    ``bend`` is about minus the second derivative of ``g`` by ``log x``, ``scale`` what values of
    the profile are relative to.
    """

    alpha: Fraction
    centre: Fraction
    step: float
    bend: float
    scale: float
    goal: float

    def places(self) -> list[Fraction]:
        """Short numbers."""
        unit = Fraction(2) ** math.floor(log_of(self.centre) / _LN2 + math.log2(self.step))
        middle = round(self.centre * 64 / unit) * unit / 64
        return [middle - unit, middle, middle + unit]

    @property
    def digits(self) -> int:
        """Proposes: those that tell the vertex of a parabola well enough for the next step."""
        finer = min(self.step, max(self.goal, _DOUBT * self.step**2))
        noise = 0.05 * self.bend * self.step * finer / self.scale
        wanted = math.ceil(-math.log10(noise) / _BATCH) * _BATCH if noise > 0 else _MOST_DIGITS
        return max(_BATCH, min(_MOST_DIGITS, wanted))

    def following(
        self, values: Sequence[tuple[Fraction, Enclosure]], floor: float, digits: int
    ) -> _Look | None:
        """About the vertex of the parabola through three values.

        Proposes: where to ask next.
        """
        g0, g1, g2 = (-(d.lower + d.upper) / 2 - self.alpha * x for x, d in values)
        x, step = values[1][0], values[1][0] - values[0][0]
        bend = float(2 * g1 - g0 - g2)
        if not bend > 0:
            return None
        move = float(g2 - g0) / (2 * bend)
        share = float(step / x)
        goal = _goal(floor, bend / share**2, digits)
        finer = max(goal, min(share, _DOUBT * (1 + move**2) * share**2))
        if finer >= share and abs(move) < _NEAR:
            finer = share / 2
        if abs(move) > _FARTHEST_MOVE:  # not yet in sight
            move, finer = math.copysign(_FARTHEST_MOVE, move), 2 * _FARTHEST_MOVE * share
        centre = x + Fraction(move) * step
        return _Look(self.alpha, centre, finer, bend / share**2, self.scale, goal)


def _goal(value: float, bend: float, digits: int) -> float:
    """Proposes: how close three values must lie that bound a maximum so well."""
    if not (value > 0 and bend > 0):
        return _LARGEST_STEP
    step: float = math.sqrt(value / bend) * 10.0 ** (-digits / 2)
    return min(_LARGEST_STEP, max(_SMALLEST_STEP, step))


@dataclass
class _Curve:
    """A polynomial in ``log x / reach``, the places ``x`` as multiples of one.

    Proposes: where a maximum lies.
    """

    coefficients: list[float]
    reach: float

    @classmethod
    def through(cls, logs: NDArray[np.float64], heights: NDArray[np.float64]) -> _Curve:
        """Through some points."""
        reach = float(max(abs(logs[0]), abs(logs[-1])))
        fit, _ = np.polynomial.Polynomial.fit(
            logs / reach, heights, len(logs) - 1, domain=[-1, 1], full=True
        )
        return cls(fit.coef.tolist(), reach)

    def lowest(self, line: float) -> tuple[float, float, float] | None:
        """Where the polynomial and ``line x`` are least together, by Newton's method.

        The logarithm of that place, the height of the polynomial and the second derivative there.
        """
        at = height = bend = 0.0
        for _ in range(_NEWTON_STEPS):
            height = slope = half = 0.0
            for coefficient in reversed(self.coefficients):
                half, slope = half * at + slope, slope * at + height
                height = height * at + coefficient
            tilt = line * self.reach * math.exp(self.reach * at)
            bend = 2 * half + tilt * self.reach
            if not bend > 0:
                return None
            before, at = at, max(-1.0, min(1.0, at - (slope + tilt) / bend))
            if abs(at - before) < _SAME:
                break
        return self.reach * at, height, bend / self.reach**2


class _Polygon:
    """``D`` at places ``xs``, rising: all that levels know of it together.

    Proposes: where to ask; every bound is of what was answered there.
    """

    def __init__(self, forward: DeltasAt, reverse: DeltasAt, alphas: Sequence[Enclosure]) -> None:
        self.forward, self.reverse = forward, reverse
        self.alphas = alphas
        self.levels = np.array([_odds(Fraction(a.lower)) for a in alphas])
        self.xs: list[Fraction] = []
        self.values: dict[Fraction, Enclosure] = {}
        self.asked: dict[Fraction, int] = {}
        self.add([_ONE / 2, _ONE, _ONE * 2])

    def ask(self, xs: Sequence[Fraction], digits: int) -> list[Enclosure]:
        """``D`` at each of many places."""
        found: dict[Fraction, Enclosure] = {}
        for way, places in (
            (self.forward, [x for x in xs if x >= 1]),
            (self.reverse, [x for x in xs if x < 1]),
        ):
            points = [reals.logarithm(reals.rational(max(x, 1 / x))) for x in places]
            found |= zip(places, way(points, digits) if points else [], strict=True)
        return [found[x] if x >= 1 else below_one(x, found[x]) for x in xs]

    def add(self, xs: Iterable[Fraction], digits: int = _SKETCH_DIGITS) -> bool:
        """Take values into the polygon, of so many digits; False if they were known."""
        new = sorted({x for x in xs if self.asked.get(x, 0) < digits})
        self.values |= zip(new, self.ask(new, digits), strict=True)
        self.asked |= dict.fromkeys(new, digits)
        self.xs = sorted(self.values)
        middles = [Fraction(self.values[x].lower + self.values[x].upper) / 2 for x in self.xs]
        self.heights = [
            np.array([float(d) for d in middles]),
            np.array([float(d - 1 + x) for x, d in zip(self.xs, middles, strict=True)]),
        ]
        self.logs = np.array([log_of(x) for x in self.xs])
        falls = pairwise(zip(self.xs, middles, strict=True))
        self.slopes = np.array([_odds((d - e) / (y - x)) for (x, d), (y, e) in falls])
        self.corners = np.searchsorted(-self.slopes, -self.levels)
        self._kept: dict[int, tuple[_Curve, _Curve]] = {}
        return bool(new)

    def widen(self, digits: int) -> None:
        """Until every level touches a corner inside, or is known without."""
        waiting = sorted(self.alphas, key=lambda alpha: alpha.lower)
        for step in range(1, _WIDENINGS):
            while waiting and self.slopes[-1] > _odds(Fraction(waiting[0].lower)):
                if self.known(waiting[0]).digits < digits:
                    break
                waiting.pop(0)
            while waiting and self.slopes[0] < _odds(Fraction(waiting[-1].lower)):
                if self.known(waiting[-1]).digits < digits:
                    break
                waiting.pop()
            if not waiting:
                return
            factor, left, right = 1 << step, self.xs[0], self.xs[-1]
            low, high = (_odds(Fraction(waiting[end].lower)) for end in (0, -1))
            more = [left / factor] if self.slopes[0] < high else []
            more += [right * factor] if self.slopes[-1] > low else []
            if not more:
                return
            self.add(more)

    def refine(self) -> None:
        """Where levels touch a corner, until the slopes beside it hardly differ, or it is sharp."""
        for i in range(_REFINEMENTS):
            touched = [int(k) for k in np.unique(self.corners) if 0 < k < len(self.xs) - 1]
            bends = -np.diff(self.slopes)
            bent = [k for k in touched if bends[k - 1] > _BEND]
            if not self.sharpen(bent, sharp=i > _MANY_REFINEMENTS):
                return

    def sharpen(
        self, corners: Iterable[int], digits: int = _SKETCH_DIGITS, sharp: bool = True
    ) -> bool:
        """Values beside each of some corners, which may be kinks; False if there are none."""
        closest = 10.0 ** -(digits / 2 + 1)
        more = {x for k in set(corners) for x in self._beside(k, sharp, closest)}
        return self.add(more.union(*(self._around(k) for k in set(corners))), digits)

    def _around(self, k: int) -> list[Fraction]:
        """A corner and three on each side: a kink may be the end of the chord next to it."""
        k = max(3, min(k, len(self.xs) - 4))
        return self.xs[k - 3 : k + 4]

    def corner(self, alpha: Enclosure) -> int:
        """The one that a level touches."""
        return int(np.searchsorted(-self.slopes, -_odds(Fraction(alpha.lower))))

    def _beside(self, k: int, sharp: bool, closest: float) -> list[Fraction]:
        """Places in the intervals beside a corner: the middle and, at kinks, where chords cross."""
        found = []
        for i in (j for j in (k - 1, k) if 0 <= j < len(self.xs) - 1):
            left, right = self.xs[i], self.xs[i + 1]
            width = float((right - left) / right)
            middle = (left + right) / 2
            if right > 2 * left:
                middle = Fraction(math.exp((self.logs[i] + self.logs[i + 1]) / 2))
            if width > closest:
                found.append(_short(middle, left, right))
            # a kink must be met as closely as the answer, what is beside it half as closely
            if sharp and width > closest**2 and 0 < i < len(self.xs) - 2:
                crossing = self._crossing(i)
                found += [] if crossing is None else [_short(crossing, left, right)]
        return found

    def _crossing(self, i: int) -> Fraction | None:
        """Where the chords before and after an interval meet within it."""
        (x0, x1, x2, x3) = self.xs[i - 1 : i + 3]
        d0, d1, d2, d3 = (Fraction(self.values[x].upper) for x in (x0, x1, x2, x3))
        before, after = (d1 - d0) / (x1 - x0), (d3 - d2) / (x3 - x2)
        if before >= after:
            return None
        found = x1 + (d1 - d2 + after * (x2 - x1)) / (after - before)
        return found if x1 < found < x2 else None

    def is_sharp(self, alpha: Enclosure) -> bool:
        """Whether a level touches a corner with others close to it, or one at an end."""
        k = self.corner(alpha)
        if not 0 < k < len(self.xs) - 1:
            return True
        return bool(min(self.logs[k + 1] - self.logs[k], self.logs[k] - self.logs[k - 1]) < _SHARP)

    def known(self, alpha: Enclosure) -> Enclosure:
        """What the corners beside the one that a level touches say of ``f`` there."""
        places = self._around(self.corner(alpha))
        return bounds([(x, self.values[x]) for x in places], alpha)

    def look(self, alpha: Enclosure, digits: int) -> _Look | None:
        """Where the maximum at a level lies, by polynomials through corners about it."""
        level, k = Fraction(alpha.lower), min(self.corner(alpha), len(self.xs) - 1)
        # below 1, and in its middle, D is 1 - x and what is left, which floats must resolve
        below = self.xs[k] < 1
        line = float(self.xs[k]) * float(level - 1 if below else level)
        fine, rough = (found.lowest(line) for found in self._curves(k))
        if fine is None or rough is None:
            return None
        at, scale, bend = fine
        growth = math.exp(at)
        goal = _goal((0 if below else 1) - scale - line * growth, bend, digits)
        step = min(max(goal, _DOUBT * abs(at - rough[0])), _LARGEST_STEP)
        scale = max(scale, sys.float_info.min)
        return _Look(level, self.xs[k] * Fraction(growth), step, bend, scale, goal)

    def _curves(self, k: int) -> tuple[_Curve, _Curve]:
        """Through six corners about one, and through five of them."""
        if k not in self._kept:
            first = max(0, min(k - _HALF, len(self.xs) - 2 * _HALF))
            last, height = first + 2 * _HALF, self.heights[self.xs[k] < 1]
            fine, rough = (
                _Curve.through(self.logs[part] - self.logs[k], height[part])
                for part in (slice(first, last), slice(first + 1, last))
            )
            self._kept[k] = fine, rough
        return self._kept[k]

    def about(self, looks: Iterable[_Look]) -> list[list[tuple[Fraction, Enclosure]]]:
        """Three values at each look."""
        asked = list(looks)
        found: list[list[tuple[Fraction, Enclosure]]] = [[] for _ in asked]
        for digits in {look.digits for look in asked}:
            group = [i for i, look in enumerate(asked) if look.digits == digits]
            places = {i: asked[i].places() for i in group}
            every = sorted({x for three in places.values() for x in three})
            values = dict(zip(every, self.ask(every, digits), strict=True))
            for i in group:
                found[i] = [(x, values[x]) for x in places[i]]
        return found


def _odds(share: Fraction) -> float:
    """The logarithm of ``share / (1 - share)``.

    Proposes: where levels and slopes stand to each other.
    """
    if not 0 < share < 1:
        return _FAR if share > 0 else -_FAR
    return log_of(share) - log_of(1 - share)


def _short(x: Fraction, left: Fraction, right: Fraction) -> Fraction:
    """Proposes: a short number near ``x``, strictly between two others."""
    unit = Fraction(2) ** (math.floor(log_of(right - left) / _LN2) - _FINER_BITS)
    near = round(x / unit) * unit
    return near if left < near < right else (left + right) / 2
