"""Where a maximum may lie: by polynomials through some values, then by parabolas through three.

Proposes: places, steps and digits; whatever they are, the values there bound it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure

_LN2: Final = math.log(2)
#: Steps of Newton's method along a polynomial, and what is no step any more.
_NEWTON_STEPS: Final = 8
_SAME: Final = 1e-14
#: What a place may be off, as a multiple of what is known of that; and how near is near.
DOUBT: Final = 3
_NEAR: Final = 0.3
_FARTHEST_MOVE: Final = 4.0
#: Likewise as a share of the place.
_FARTHEST: Final = 0.5
#: The largest and smallest step between three values.
LARGEST_STEP: Final = 1 / 16
_SMALLEST_STEP: Final = 1e-150
#: Digits are asked for in multiples, so that many are asked at once.
_BATCH: Final = 3
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
        wanted = math.ceil(-math.log10(noise) / _BATCH) * _BATCH if noise > 0 else _MOST_DIGITS
        return max(_BATCH, min(_MOST_DIGITS, wanted))

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
        finer = max(goal, min(share, DOUBT * (1 + move**2) * share**2))
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
