"""Where a maximum may lie: by polynomials through some values, then by parabolas through three.

Proposes: places, steps and digits; whatever they are, the values there bound it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure

_LN2: Final = math.log(2)
#: Steps of Newton's method along a polynomial, and what is no step any more.
_NEWTON_STEPS: Final = 8
_SAME: Final = 1e-14
#: How often places grow from 1, binary digits of the least distance from it, and what is large.
_WIDENINGS: Final = 44  # to 2^947, which is a float
_LEAST: Final = 40
_LARGE: Final = 0.1
#: Odds beyond all others.
_FAR: Final = 1e9
#: Bits of a place beyond those of its distance from the ends of its interval.
_FINER_BITS: Final = 12
#: Places of a polynomial, less one.
_NODES: Final = 16
#: Places of a piece where levels are looked up, steps from there, and how far off they lead.
_GRID: Final = 64
_CLOSER: Final = 4
_MEANT: Final = 1e-9
_CLEAR: Final = 1e-5
#: What is more than is meant by that is vague, and how often pieces are halved for it.
_VAGUE: Final = 2
_HALVINGS: Final = 7
#: By so much more pieces are unclear, halved, where kinks are everywhere.
_EVERYWHERE: Final = 1.5
#: Of the logarithms of values.
_NOISE: Final = 4e-15
#: Coefficients that tell how smooth it is.
_LAST: Final = 3
#: What a place may be off, as a multiple of what is known of that; and how near is near.
DOUBT: Final = 3
_NEAR: Final = 0.3
_FARTHEST_MOVE: Final = 4.0
#: Likewise as a share of the place.
_FARTHEST: Final = 0.5
#: The largest and smallest step between three values.
LARGEST_STEP: Final = 1 / 16
_SMALLEST_STEP: Final = 1e-150
_FEWEST_DIGITS: Final = 3
_MOST_DIGITS: Final = 700


@dataclass
class Look:
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
        finer = min(self.step, max(self.goal, DOUBT * self.step**2))
        noise = min(0.05 * self.bend * self.step * finer / self.scale, 1.0)  # may overflow
        wanted = math.ceil(-math.log10(noise)) if noise > 0 else _MOST_DIGITS
        return max(_FEWEST_DIGITS, min(_MOST_DIGITS, wanted))

    def following(
        self, values: Sequence[tuple[Fraction, Enclosure]], floor: float, digits: int
    ) -> Look | None:
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
        goal = goal_of(floor, bend / share**2, digits)
        finer = max(goal, min(share, DOUBT * (1 + move * move) * share**2))  # may overflow
        if finer >= share and abs(move) < _NEAR:
            finer = share / 2
        if abs(move) > _FARTHEST_MOVE:  # not yet in sight
            move, finer = math.copysign(_FARTHEST_MOVE, move), 2 * _FARTHEST_MOVE * share
        # all places are positive
        move, finer = max(move, -_FARTHEST / share), min(finer, _FARTHEST)
        centre = x + Fraction(move) * step
        return Look(self.alpha, centre, finer, bend / share**2, self.scale, goal)


def goal_of(value: float, bend: float, digits: int) -> float:
    """Proposes: how close three values must lie that bound a maximum so well."""
    if not (value > 0 and bend > 0):
        return LARGEST_STEP
    step: float = math.sqrt(value / bend) * 10.0 ** (-digits / 2)
    return min(LARGEST_STEP, max(_SMALLEST_STEP, step))


@dataclass
class Curve:
    """A polynomial in ``log x / reach``, the places ``x`` as multiples of one.

    Proposes: where a maximum lies.
    """

    coefficients: list[float]
    reach: float

    @classmethod
    def through(cls, logs: Floats, heights: Floats) -> Curve:
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


def outward(total: float) -> Iterator[Fraction]:
    """Places from 1 on: twice as far in two steps up to 2, then by growing powers of 2.

    Proposes: a first distance of losses, which are about as large as the total variation. What is
    much farther out takes longer, and says nothing.
    """
    least = max(math.ceil(math.log2(total)), -_LEAST) if 0 < total < _LARGE else 0
    yield from (1 + Fraction(2) ** k * half / 2 for k in range(least, 0) for half in (2, 3))
    x = 2
    for step in range(1, _WIDENINGS + 1):
        yield Fraction(x)
        x <<= step


def odds(share: Fraction) -> float:
    """The logarithm of ``share / (1 - share)``.

    Proposes: where levels and slopes stand to each other.
    """
    if not 0 < share < 1:
        return _FAR if share > 0 else -_FAR
    return log_of(share) - log_of(1 - share)


def row_between(left: Fraction, right: Fraction) -> list[Fraction]:
    """Proposes: places whose logarithms are about those at which a polynomial is well known."""
    start, width = log_of(left), log_of(right) - log_of(left)
    inside = (start + width * (1 - math.cos(math.pi * k / _NODES)) / 2 for k in range(1, _NODES))
    return [left, *(short_between(Fraction(math.exp(at)), left, right) for at in inside), right]


def short_between(x: Fraction, left: Fraction, right: Fraction) -> Fraction:
    """Proposes: a short number near ``x``, strictly between two others."""
    if not left < x < right:
        return (left + right) / 2
    unit = Fraction(2) ** (math.floor(log_of(min(x - left, right - x)) / _LN2) - _FINER_BITS)
    near = round(x / unit) * unit
    return near if left < near < right else (left + right) / 2


class Levels(NamedTuple):
    """Some levels, their logarithms, and those of what they leave to 1."""

    alphas: Sequence[Fraction]
    logs: Floats
    rests: Floats

    @classmethod
    def of(cls, alphas: Sequence[Fraction]) -> Levels:
        """Those levels."""
        logs, rests = (np.array([*map(log_of, x)]) for x in (alphas, [1 - a for a in alphas]))
        return cls(alphas, logs, rests)


class Piece:
    """The logarithm of the profile as a polynomial in the size of ``log x``, on one side of 1.

    Proposes: where many levels touch.
    """

    def __init__(self, places: Sequence[Fraction], heights: Sequence[float]) -> None:
        logs = np.array([log_of(x) for x in places])
        self.below = bool(logs[0] + logs[-1] < 0)
        fit = np.polynomial.Chebyshev.fit(np.abs(logs), np.log(heights), len(logs) - 1)
        self._fits = fit, fit.deriv(), fit.deriv(2)
        # of what is smooth the last coefficients are small: by so much the slope may be off
        self._doubt = float(np.abs(fit.deriv().coef[-_LAST:]).sum() * fit.mapparms()[1])
        self._ends: tuple[float, float] = (float(min(abs(logs))), float(max(abs(logs))))

    def _odds(self, size: Floats) -> tuple[Floats, Floats]:
        """The logarithm of the level that touches there, or of what it is below 1; its slope."""
        log, slope, bend = (fit(size) for fit in self._fits)
        if self.below:
            return log + np.log1p(-slope), slope - bend / (1 - slope)
        return log + np.log(-slope) - size, slope + bend / slope - 1

    @np.errstate(all="ignore")  # what is not finite leads nowhere
    def looks(self, levels: Levels, digits: int) -> dict[int, Look | None]:
        """Where those levels touch that do so on the piece, if that is known."""
        aims = levels.rests if self.below else levels.logs
        grid = np.linspace(*self._ends, _GRID)
        known = self._odds(grid)[0]
        met = np.flatnonzero((known[-1] <= aims) & (aims <= known[0]))
        at = np.interp(-aims[met], -known, grid)
        for _ in range(_CLOSER):
            value, slope = self._odds(at)
            at = np.clip(at - (value - aims[met]) / slope, *self._ends)
        log, slope, bend = (fit(at) for fit in self._fits)
        scales = np.exp(log - at if self.below else log)
        bends = scales * (bend + slope * slope - slope)
        values = -slope * scales if self.below else -np.expm1(log) + slope * scales
        found: dict[int, Look | None] = dict.fromkeys(met.tolist())
        doubts = DOUBT * np.abs(self._doubt / (slope * self._odds(at)[1])) + _MEANT
        rows = zip(met, at, bends, scales, values, doubts, strict=True)
        for i, place, bend_, scale, value_, doubt in rows:
            goal = goal_of(float(value_), float(bend_), digits)
            # where much is in doubt there may be a kink, which polynomials do not meet
            if doubt < _CLEAR and bend_ > 0 and scale > 0:
                centre = Fraction(math.exp(-place if self.below else place))
                ask = (max(goal, float(doubt)), float(bend_), float(scale), goal)
                found[int(i)] = Look(levels.alphas[i], centre, *ask)
        return found

    def is_vague(self, met: Iterable[Look | None]) -> bool:
        """Whether halves would say more than noise of some levels that touch here."""
        smooth = np.abs(self._fits[0].coef[-_LAST:]).max() < _NOISE
        goals = (look and look.step <= _VAGUE * max(look.goal, _MEANT) for look in met)
        return not smooth and not all(goals)


def looked_up(
    cuts: Sequence[Fraction],
    heights_at: Callable[[Sequence[Fraction]], list[float]],
    alphas: Sequence[Fraction],
    digits: int,
) -> tuple[dict[int, Look], list[Fraction]]:
    """Where levels touch, by polynomials between neighbouring cuts, halved where some do not say.

    And places about what may be kinks, which they never do. Where most halves are unclear too there
    are kinks everywhere, and no more are asked for.
    """
    levels, known, parts = Levels.of(alphas), dict[Fraction, float](), [*pairwise(cuts)]
    found: dict[int, Look] = {}
    unclear: list[list[Fraction]] = []
    for _ in range(_HALVINGS):
        before = len(unclear)
        rows, unclear = [row_between(*part) for part in parts], []
        places = sorted({x for row in rows for x in row} - known.keys())
        known |= zip(places, heights_at(places) if places else [], strict=True)
        for row in rows:
            heights = [known[x] for x in row]
            piece = Piece(row, heights) if min(heights) > 0 else None
            met = piece.looks(levels, digits) if piece else {}
            found |= {i: look for i, look in met.items() if look}
            # beyond the largest loss nothing is left, and at that there may be a kink
            if piece.is_vague(met.values()) if piece else max(heights) > 0:
                unclear.append(row)
        if 0 < _EVERYWHERE * before < len(unclear):
            break
        halves = ([row[0], row[len(row) // 2], row[-1]] for row in unclear)
        parts = [part for ends in halves for part in pairwise(ends)]
    return found, [x for row in unclear for x in row]
