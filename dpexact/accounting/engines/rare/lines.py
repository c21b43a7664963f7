"""Choice of the line and of its height, in floats.

Proposes: where a line runs; wherever that is, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.contour.product import log_chernoffs
from dpexact.accounting.engines.rare.picture import EXCESS, Picture, RowPicture, crossing, log_sum
from dpexact.accounting.engines.rare.rules import POWER_ANGLES, heights, powered
from dpexact.accounting.pairs.pair import TooExpensive, short

#: Abscissas tried, over the gap; those beyond the second where windows are narrow beside it.
_TRIALS, _STEEPEST = np.geomspace(0.02, 1e12, 86), 105.0
#: The logarithm of what floats resolve.
_FLOAT = 35.0
#: By how much a line is longer than floats have it, as cells bound what is beyond.
_HIGHER = 1.02
#: Logarithm of what the largest order times a tiny loss is below.
_TINY = 3.0
#: By what power of e some errors are planned smaller than others: floats know them less well.
SURE = 3.0


@dataclass(frozen=True)
class Scales:
    """A picture, and the logarithms of the scales of its windows."""

    picture: Picture
    far: float
    near: float | None

    def moments(self, row: RowPicture, order: float | Floats) -> tuple[Floats, Floats]:
        """``log`` of about the moments of what is inside and in the middle."""
        tilted = row.density + np.multiply.outer(1 + np.asarray(order), row.loss)
        every = log_sum(tilted + row.window(self.far, None))
        if self.near is None:
            return every, every
        return every, log_sum(tilted + row.window(self.far, self.near))

    def moment(self, order: float | Floats) -> Floats:
        """Likewise of what is neither far nor all near."""
        picture = self.picture
        each = (self.moments(row, order) for row in picture.rows)
        inside, middle = zip(*each, strict=True)
        if self.near is None:
            return picture.product(inside)
        return picture.with_some(middle, inside)


def scales_for(picture: Picture, tolerance: float, with_near: bool) -> Scales:
    """Those beyond which losses are known well enough.

    Raises:
        TooExpensive: small losses are not.
    """
    far = picture.far_scale(tolerance - SURE)
    near = picture.near_scale(tolerance - SURE) if with_near else None
    if with_near and near is None:
        raise TooExpensive("small losses matter")
    return Scales(picture, far, None if near is None else min(near, far - 0.2 / picture.root))


class Line(NamedTuple):
    """Its abscissa, step and period, the logarithm of its largest node, and orders of bounds."""

    abscissa: float
    step: float
    period: float
    peak: float
    upper: float
    #: Or 0 where the period exceeds the gap.
    lower: float


def line_for(scales: Scales, tolerance: float, in_floats: bool) -> Line:
    """The line of about the fewest nodes.

    Raises:
        TooExpensive: there is none.
    """
    picture = scales.picture
    ask, root, high = picture.ask, picture.root, math.exp(scales.far)
    gap = ask.gap
    uppers = picture.steep_orders(scales.far)
    over = log_chernoffs(uppers) + scales.moment(uppers) + ask.weight(uppers)
    over += 2 * EXCESS - tolerance
    trials = _TRIALS[max(_STEEPEST, 0.5 * gap / high, gap if root < 1 else 0.0) > _TRIALS] / gap
    lines = trials if not ask.add else -1 - trials
    peaks = scales.moment(lines) + ask.weight(lines) - np.log(trials * (trials + 1))
    lowers = picture.back_orders
    under = log_chernoffs(lowers) + scales.moment(-1 - lowers) + (1 + lowers) * gap
    under -= tolerance - SURE
    # a line of floats serves neighbouring gaps
    whole = (1.2 if in_floats else 1.02) * gap
    places, far_away = lines[:, None], 0.02 * min(1 / high, uppers[-1])
    apart = np.where(uppers > places + far_away, uppers - places, np.nan)
    tops = np.where(np.isnan(apart), np.inf, over / apart)
    at = np.argmin(tops, axis=1)[:, None]
    least, room = (np.take_along_axis(x, at, 1)[:, 0] for x in (tops, apart))
    periods = 1.05 * least + 0.05 / room
    steep = np.where(places + 1 + lowers > 0.02 / gap, places + 1 + lowers, np.nan)
    shorter = np.where(np.isnan(steep), np.inf, under / steep)
    below = np.argmin(shorter, axis=1)
    shortest = shorter.min(axis=1)
    known = (shortest < 0.8 * gap) | ask.falls
    least_periods = np.where(known, 1.05 * shortest, whole)
    periods = np.maximum(np.maximum(periods, least_periods), 1e-4 * gap)
    scores = periods * np.maximum(10.0, peaks - tolerance) ** 0.6
    if in_floats:  # the sum must not exceed delta by more than floats resolve
        scores *= np.exp((peaks - tolerance - _FLOAT + math.log(ask.count)).clip(0.0, 300.0))
    best = int(np.nanargmin(scores))
    if not math.isfinite(scores[best]):
        raise TooExpensive("no line")
    abscissa, period, peak = (float(v[best]) for v in (lines, periods, peaks))
    upper = float(uppers[at[best, 0]])
    bounded = ask.falls or (known[best] and period < whole)
    lower = float(lowers[below[best]]) if bounded else 0.0
    return Line(short(abscissa), short(2 * math.pi / period), period, peak, upper, lower)


class RowHeight(NamedTuple):
    """What a row has on the line: integrands at each of the angles, as logarithms."""

    row: RowPicture
    #: Without a window, and in the middle.
    plain: Floats
    base: Floats
    #: What the middle has at the top, and what is inside has on the axis.
    decayed: Floats
    within: Floats
    power_angle: float
    #: The real and the imaginary part of the exponent, ``rho`` and ``-u`` times losses.
    powers: Floats
    falls: Floats


class Height(NamedTuple):
    """Where the line ends, where bounds of cells suffice, and the scale of tiny losses."""

    top: float
    beyond: float
    tiny: float | None
    rows: tuple[RowHeight, ...]


def height_for(scales: Scales, line: Line, tolerance: float, by_powers: bool) -> Height:
    """Where what is left out is small enough.

    Raises:
        TooExpensive: the moments decay too slowly.
    """
    picture, far, near = scales.picture, scales.far, scales.near
    rows, rho = picture.rows, 1 + line.abscissa
    powers, falls = [], []
    for row in rows:
        modulus, turn = row.turned
        powers.append(rho * modulus)
        falls.append(turn)
    plains = [
        row.density + (row.law.angles[:, None] * row.sigma) ** 2 / 2 + power
        for row, power in zip(rows, powers, strict=True)
    ]
    heavy = [plain + heights(row, far, near) for row, plain in zip(rows, plains, strict=True)]
    smalls = []
    if near is not None:
        smalls = [log_sum(row.density + rho * row.loss + row.window(near, None)) for row in rows]

    def height(
        bases: Sequence[Floats], falls: Sequence[Floats], most: float
    ) -> tuple[float, list[Floats]]:
        """Where the line may end, and what the middle has there at each of the angles."""

        def decays(u: float) -> list[Floats]:
            return [log_sum(base - u * fall) for base, fall in zip(bases, falls, strict=True)]

        def tail(log_u: float) -> float:
            least = [logs.min() for logs in decays(math.exp(log_u))]
            moduli = [np.logaddexp(*logs) for logs in zip(smalls, least, strict=False)]
            decayed = picture.with_some(least, moduli) if moduli else picture.product(least)
            weight = picture.ask.weight(line.abscissa)
            return float(decayed + weight) - math.log(math.pi) - log_u

        first = math.log(0.5 / picture.ask.gap)
        top = _until(tail, first, math.log(most), tolerance - EXCESS) * _HIGHER
        return top, decays(top)

    top, lowest = height(heavy, falls, 1e8 / picture.ask.gap)
    beyond, tiny, power_angles = top, None, [0.0] * len(rows)
    if by_powers:
        steep = POWER_ANGLES / picture.root
        bases = [powered(row, (far, near), rho) for row in rows]
        top, decayed = height(bases, [steep[:, None]] * len(rows), top)
        power_angles = [float(steep[np.argmin(logs)]) for logs in decayed]
        # where losses are so small that their powers fall soon
        reach = math.log(top + abs(rho) + 1)
        tiny = -reach - _TINY - (math.log(picture.shape) + 1) / picture.root
    withins = [float(log_sum(row.density + rho * row.loss + row.window(far, None))) for row in rows]
    each = zip(rows, plains, heavy, lowest, withins, power_angles, powers, falls, strict=True)
    return Height(top, beyond, tiny, tuple(RowHeight(*of) for of in each))


def _until(tail: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A height above which a tail is small enough; ``tail`` is its logarithm at a logarithm.

    Raises:
        TooExpensive: it is not between those.
    """
    if not tail(high) <= tolerance:
        raise TooExpensive("the moments decay too slowly")
    tallest = tail(low) + 1

    def longer(log_u: float) -> float:
        """Falls about evenly, as tails are powers of e whose exponents are powers of u."""
        return math.log((tallest - tolerance) / (tallest - tail(log_u)))

    return math.exp(crossing(longer, low, high, 0.02) if tallest - 1 > tolerance else low)
