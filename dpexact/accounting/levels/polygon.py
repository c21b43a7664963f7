"""The trade-off function at one level or many: values of the profile serve all of them.

At every level one line is subtracted from the same convex function, so that values of it that were
had for one level are values for all. A polygon through few of them, finer where levels touch it,
says where each maximum lies; three values about that bound it
(:mod:`~dpexact.accounting.levels.dual`). All values of a round are asked for at once, as a profile
may share their work.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Final

import numpy as np

from dpexact import reals
from dpexact.accounting.levels.dual import Value, below_one, bounds, of_profile, rest, under
from dpexact.accounting.levels.looks import (
    DOUBT,
    LARGEST_STEP,
    Curve,
    Look,
    goal_of,
    looked_up,
    odds,
    outward,
    short_between,
)
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

DeltasAt = Callable[[Sequence[Real], int], list[Enclosure]]
"""``deltas_at(epsilons, digits)``: enclosures of ``delta`` at each of them."""

_ONE: Final = Fraction(1)
_SHORT: Final = "no supporting lines were close enough"
#: By how much values without the digits that were asked for must narrow an answer; and how often
#: they may not, and may say nothing at all.
_WORTH: Final = Fraction(3, 4)
_IDLE: Final = 2
_PATIENCE: Final = 6
#: Digits of the polygon, and how often it is made finer.
_SKETCH_DIGITS: Final = 6
_FEWEST: Final = 3
#: Digits in which places are alike that are asked for at once.
_BATCH: Final = 3
_SPARE: Final = 4
_REFINEMENTS: Final = 40
#: By how much ``log(slope/(1 - slope))`` may change at a corner that levels touch.
_BEND: Final = 0.15
#: After so many of them what is not fine yet may have a kink, and corners that are so close.
_MANY_REFINEMENTS: Final = 6
#: After so many the place is looked at where two directions meet, and then so much closer to it.
_TURNS: Final = 2
_BESIDE: Final = 64
#: The least bend of a kink, and by what that of a smooth corner surely falls closer to it.
_KINK: Final = 0.01
_SMOOTH: Final = 8
_SHARP: Final = 1e-3
#: How far apart, over what is not known of values: closer places leave chords no slope.
_APART: Final = 1000
#: Corners through which a polynomial is laid, half of them on a side.
_HALF: Final = 3
#: So many levels are worth polynomials between so many corners each, through values of at most so
#: many digits, and so many more than they ask for.
_MANY: Final = 100
_PIECE: Final = 6
_FINE_DIGITS: Final = 15
_MORE: Final = 2
#: Rounds of three values about each maximum.
_ROUNDS: Final = 14
#: Rounds after which each is to narrow an answer by that.
_USUAL: Final = 3
_QUICK: Final = Fraction(1, 10)
#: Heights that a maximum is looked for in.
_PLAIN, _BELOW, _NEAR_ONE = range(3)


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
    polygon.refine(_TURNS)
    at_one = polygon.at_one(digits)
    polygon.refine(_REFINEMENTS)
    start = (at_one.get(i) or polygon.start(alpha) for i, alpha in enumerate(alphas))
    found = [answer.labelled(method) for answer in start]
    left = [i for i, a in enumerate(found) if a.digits < digits]
    looks = polygon.looks(left, digits)
    for turn in range(_ROUNDS):
        asked = {i: look for i, look in looks.items() if look is not None}
        looks = {}
        for i, values in zip(asked, polygon.about(asked.values()), strict=True):
            before, answer = found[i], bounds(values, alphas[i])
            found[i] = before.meet(answer.labelled(method))
            given = all(d.digits >= asked[i].digits for _, d in values)
            # parabolas converge quadratically, but not to a kink, which is sharpened below
            share = _QUICK if turn >= _USUAL else 1 if given else _WORTH
            if found[i].digits < digits and _narrower(found[i], before, share):
                looks[i] = asked[i].following(values, float(found[i].lower), digits)
    kinks, idle = [i for i, a in enumerate(found) if a.digits < digits], 0
    for _ in range(_REFINEMENTS):
        if not polygon.sharpen([polygon.corner(alphas[i]) for i in kinks], digits + _SPARE):
            break
        gained = {i: found[i].meet(polygon.known(alphas[i]).labelled(method)) for i in kinks}
        # where values are as good as they get, they are asked for while that helps
        helped = polygon.given or any(_narrower(gained[i], found[i], _WORTH) for i in kinks)
        found = [gained.get(i, a) for i, a in enumerate(found)]
        kinks, idle = [i for i in kinks if found[i].digits < digits], 0 if helped else idle + 1
        if idle > _IDLE:
            break
    return [a if a.digits >= digits else a.short(_SHORT) for a in found]


def _narrower(found: Enclosure, before: Enclosure, share: Fraction | int) -> bool:
    """Proposes: whether more values of as many digits are worth their work."""
    return found.upper - found.lower <= (before.upper - before.lower) * share


class _Polygon:
    """``D`` at places ``xs``, rising: all that levels know of it together.

    Proposes: where to ask; every bound is of what was answered there.
    """

    def __init__(self, forward: DeltasAt, reverse: DeltasAt, alphas: Sequence[Enclosure]) -> None:
        self.forward, self.reverse = forward, reverse
        self.alphas = alphas
        self.levels = np.array([odds(Fraction(a.lower)) for a in alphas])
        self.xs: list[Fraction] = []
        self.values: dict[Fraction, Enclosure] = {}
        self.rests: dict[Fraction, Value] = {}
        self.asked: dict[Fraction, int] = {}
        #: Middles, heights and logarithms there, and slopes between neighbours.
        self._known: dict[Fraction, tuple[Fraction, tuple[float, ...]]] = {}
        self._falls: dict[tuple[Fraction, Fraction], float] = {}
        #: Whether the last values have their digits, and how many in a row said nothing.
        self.given, self.silent = True, 0
        self.most: int = sys.maxsize
        #: Whether two directions meet in a kink at 1.
        self.kinked = False
        #: Digits that ``1 - D`` lacks where losses are large, and lines touch at about a level.
        self.lost = 0
        self.add([_ONE])
        room = max(float(1 - self.values[_ONE].upper), float(min(a.lower for a in alphas)))
        self.lost = max(0, math.floor(-math.log10(room))) if room > 0 else 0
        self.left, self.right = (outward(float(self.values[_ONE].upper)) for _ in range(2))
        self.add([1 / next(self.left), next(self.right)])

    def ask(self, xs: Sequence[Fraction], digits: int) -> list[Enclosure]:
        """``D`` at each of many places, to no more digits than such values have had.

        Proposes: the digits.
        """
        digits = min(digits, self.most)
        points = {x: reals.logarithm(reals.rational(max(x, 1 / x))) for x in xs}
        ways = {x: self.forward if x >= 1 else self.reverse for x in xs}
        found: dict[Fraction, Enclosure] = {}
        for way in dict.fromkeys(ways.values()):  # of what is symmetric one, for both sides
            asked = dict.fromkeys(points[x] for x in xs if ways[x] == way)
            known = dict(zip(asked, way([*asked], digits), strict=True))
            found |= {x: known[points[x]] for x in xs if ways[x] == way}
        had = [d.digits for d in found.values()]
        if short := [n for n in had if _FEWEST <= n < digits]:
            self.most = max(_SKETCH_DIGITS, *short)
        return [found[x] if x >= 1 else below_one(x, found[x]) for x in xs]

    def add(self, xs: Iterable[Fraction], digits: int = _SKETCH_DIGITS) -> bool:
        """Take values into the polygon, of so many digits; False if none says anything new."""
        new = sorted({x for x in xs if self.asked.get(x, 0) < digits})
        self.take(dict(zip(new, self.ask(new, digits + self.lost), strict=True)), digits)
        self.given = all(self.values[x].digits >= digits for x in new)
        told = any(d.upper - d.lower < min(x, _ONE) / 2 for x in new for d in [self.values[x]])
        self.silent = 0 if told or not new else self.silent + 1
        return bool(new) and self.silent < _PATIENCE

    def take(self, values: dict[Fraction, Enclosure], digits: int) -> None:
        """Values of so many digits become corners."""
        self.values |= values
        self.rests |= {x: rest(x, d) for x, d in values.items()}
        self.asked |= dict.fromkeys(values, digits)
        self.xs = sorted(self.values)
        for x in values:
            middle = Fraction(self.values[x].lower + self.values[x].upper) / 2
            heights = float(middle), float(middle - 1 + x), float(middle - 1)
            self._known[x] = middle, (*heights, log_of(x))
        *self.heights, self.logs = np.array([self._known[x][1] for x in self.xs]).T
        falls = {
            (x, y): self._falls[x, y]
            if (x, y) in self._falls and values.keys().isdisjoint((x, y))
            else odds((self._known[x][0] - self._known[y][0]) / (y - x))
            for x, y in pairwise(self.xs)
        }
        self._falls, self.slopes = falls, np.array([*falls.values()])
        self.corners = np.searchsorted(-self.slopes, -self.levels)
        self._kept: dict[int, tuple[Curve, Curve]] = {}

    def widen(self, digits: int) -> None:
        """Until every level touches a corner inside, or is known without."""
        waiting = sorted(self.alphas, key=lambda alpha: alpha.lower)
        while True:
            while waiting and self.slopes[-1] > odds(Fraction(waiting[0].lower)):
                if self.known(waiting[0]).digits < digits:
                    break
                waiting.pop(0)
            while waiting and self.slopes[0] < odds(Fraction(waiting[-1].lower)):
                if self.known(waiting[-1]).digits < digits:
                    break
                waiting.pop()
            if not waiting:
                return
            low, high = (odds(Fraction(waiting[end].lower)) for end in (0, -1))
            more = [1 / x for x in islice(self.left, 1)] if self.slopes[0] < high else []
            more += islice(self.right, 1) if self.slopes[-1] > low else []
            if not (more and self.add(more)):
                return

    def refine(self, turns: int) -> None:
        """Where levels touch a corner, until the slopes beside it hardly differ, or it is sharp."""
        for i in range(turns):
            touched = [int(k) for k in np.unique(self.corners) if 0 < k < len(self.xs) - 1]
            bends = -np.diff(self.slopes)
            bent = [k for k in touched if bends[k - 1] > _BEND]
            if not self.sharpen(bent, sharp=i > _MANY_REFINEMENTS):
                return

    def at_one(self, digits: int) -> dict[int, Enclosure]:
        """Levels that a few values there answer, where two directions meet; they are let go."""
        if (bend := self._bend_at_one()) > _KINK:
            k = self.xs.index(_ONE)
            self.add(_ONE + (self.xs[i] - _ONE) / _BESIDE for i in (k - 1, k + 1))
        if not self._bend_at_one() > max(_KINK, bend / _SMOOTH):
            return {}
        k, near = self.xs.index(_ONE), digits + self.lost + 1
        step = (self.xs[k + 1] - _ONE) / 10 ** (near // 2 + 1)
        places = [_ONE + n * step for n in range(-2, 3)]
        rests = [*map(rest, places, self.ask(places, near))]
        met = np.flatnonzero(self.corners == k).tolist()
        found = {i: under(rests, self.alphas[i]) for i in met}
        found = {i: answer for i, answer in found.items() if answer.digits >= digits}
        self.kinked = bool(found)
        self.levels = np.delete(self.levels, [*found])
        self.corners = np.delete(self.corners, [*found])
        return found

    def _bend_at_one(self) -> float:
        """By how much slopes change there, if levels touch it."""
        k = self.xs.index(_ONE)
        return float(self.slopes[k - 1] - self.slopes[k]) if k in self.corners else 0.0

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
        return int(np.searchsorted(-self.slopes, -odds(Fraction(alpha.lower))))

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
                found.append(short_between(middle, left, right))
            # a kink must be met as closely as the answer, what is beside it half as closely
            if sharp and width > closest**2 and 0 < i < len(self.xs) - 2:
                crossing = self._crossing(i)
                found += [] if crossing is None else [short_between(crossing, left, right)]
        return found

    def _crossing(self, i: int) -> Fraction | None:
        """Where the chords before and after an interval meet within it, apart from its ends."""
        (x0, x1, x2, x3) = self.xs[i - 1 : i + 3]
        d0, d1, d2, d3 = (Fraction(self.values[x].upper) for x in (x0, x1, x2, x3))
        before, after = (d1 - d0) / (x1 - x0), (d3 - d2) / (x3 - x2)
        if before >= after:
            return None
        found = x1 + (d1 - d2 + after * (x2 - x1)) / (after - before)
        least = _APART * max(d1 - self.values[x1].lower, d2 - self.values[x2].lower)
        return found if min(found - x1, x2 - found) > least else None

    def known(self, alpha: Enclosure) -> Enclosure:
        """What the corners beside the one that a level touches say of ``f`` there."""
        places = self._around(self.corner(alpha))
        return under([self.rests[x] for x in places], alpha)

    def start(self, alpha: Enclosure) -> Enclosure:
        """The same where a level touches a corner with others close to it, or one at an end."""
        k = self.corner(alpha)
        if 0 < k < len(self.xs) - 1 and np.diff(self.logs[k - 1 : k + 2]).min() >= _SHARP:
            return Enclosure(Fraction(0), 1 - Fraction(alpha.lower))
        return self.known(alpha)

    def look(self, alpha: Enclosure, digits: int) -> Look | None:
        """Where the maximum at a level lies, by polynomials through corners about it."""
        level, k = Fraction(alpha.lower), min(self.corner(alpha), len(self.xs) - 1)
        place, kind = self.xs[k], self._kind(k)
        line = float(place) * float(level - 1 if kind == _BELOW else level)
        fine, rough = (found.lowest(line) for found in self._curves(k))
        if fine is None or rough is None:
            return None
        at, scale, bend = fine
        growth = math.exp(at)
        goal = goal_of((kind == _PLAIN) - scale - line * growth, bend, digits)
        step = min(max(goal, DOUBT * abs(at - rough[0])), LARGEST_STEP)
        scale = max(float(min(place, _ONE)) if kind == _NEAR_ONE else scale, sys.float_info.min)
        return Look(level, place * Fraction(growth), step, bend, scale, goal)

    def looks(self, levels: Sequence[int], digits: int) -> dict[int, Look | None]:
        """Likewise, of many by polynomials through values between the corners that they touch."""
        if len(levels) <= _MANY:
            return {i: self.look(self.alphas[i], digits) for i in levels}
        corners = [self.corner(self.alphas[i]) for i in levels]
        low, high = max(min(corners) - 1, 0), min(max(corners) + 1, len(self.xs) - 1)
        one = self.xs.index(_ONE)
        cuts = {*range(low, high, _PIECE), high} | ({one} if low < one < high else set())
        values, fine = dict[Fraction, Enclosure](), min(digits + _MORE, _FINE_DIGITS)

        def heights(xs: Sequence[Fraction]) -> list[float]:
            values.update(zip(xs, self.ask(xs, fine + self.lost), strict=True))
            return [float(of_profile(x, values[x])) for x in xs]

        alphas = [Fraction(self.alphas[i].lower) for i in levels]
        found, kinks = looked_up([self.xs[k] for k in sorted(cuts)], heights, alphas, digits)
        self.take({x: values[x] for x in kinks}, fine)
        return {i: found.get(k) for k, i in enumerate(levels)}

    def _kind(self, k: int) -> int:
        """Which heights floats resolve about a corner: of ``D``, ``D - 1 + x`` or ``D - 1``.

        Below 1 ``D`` is ``1 - x`` and what is left; where losses are large it is nearly 1.
        """
        below = int(self.xs[k] < 1)
        large = self.heights[below][k] > float(min(self.xs[k], _ONE)) / 2
        return _NEAR_ONE if large else below

    def _curves(self, k: int) -> tuple[Curve, Curve]:
        """Through six corners about one, and through five of them."""
        if k not in self._kept:
            low, high = self._side(k)
            first = max(low, min(k - _HALF, high - 2 * _HALF))
            last, height = first + 2 * _HALF, self.heights[self._kind(k)]
            fine, rough = (
                Curve.through(self.logs[part] - self.logs[k], height[part])
                for part in (slice(first, last), slice(first + 1, last))
            )
            self._kept[k] = fine, rough
        return self._kept[k]

    def _side(self, k: int) -> tuple[int, int]:
        """Corners on this side of a kink, if that is known and so many are."""
        one = self.xs.index(_ONE)
        low, high = (one, len(self.xs)) if k > one else (0, one + 1)
        return (low, high) if self.kinked and high - low >= 2 * _HALF else (0, len(self.xs))

    def about(self, looks: Iterable[Look]) -> list[list[tuple[Fraction, Enclosure]]]:
        """Three values at each look."""
        asked = list(looks)
        found: list[list[tuple[Fraction, Enclosure]]] = [[] for _ in asked]
        for batch in {look.digits // _BATCH for look in asked}:
            group = [i for i, look in enumerate(asked) if look.digits // _BATCH == batch]
            digits = max(asked[i].digits for i in group)
            places = {i: asked[i].places() for i in group}
            every = sorted({x for three in places.values() for x in three})
            values = dict(zip(every, self.ask(every, digits), strict=True))
            for i in group:
                found[i] = [(x, values[x]) for x in places[i]]
        return found
