"""Where bounds of decay are asked: angles above the real line, and boxes that have one each.

Proposes: all of it; a bound of decay is right at any angle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

import numpy as np

from dpexact.accounting.arrays import Flags
from dpexact.accounting.pairs.clouds.boxes import Box
from dpexact.accounting.pairs.clouds.cell_moments import CellSums
from dpexact.accounting.pairs.pair import short

#: Which share of the fall may be lost by one angle for all steps in a box.
_LOST: Final = 0.05
#: Most boxes for that.
_BOXES: Final = 64
#: How many sorts of angles there are for a power of e.
_SORTS: Final = 4


class Angles:
    """The best angles of cells of steps, for moments at ``c + iu``.

    ``theta`` stands for the height ``theta sigma`` of a step. Away from the best one the logarithm
    of a bound grows by about half ``sigma^2`` times the square.
    """

    def __init__(self, cells: CellSums, c: float, u: float) -> None:
        moments = cells.places
        logs, shifts = moments.decay(c)(u)
        self._logs, self._angles = moments.logs, shifts * moments.rates
        self._weights = cells.counts / moments.rates**2
        self._falls, self._counts = moments.cumulants(c)[:, 0, 0] - logs, cells.counts

    def of(self, box: Box) -> float:
        """That of a box: the mean, or that of the cell next to where no cell is inside."""
        weights = self._weights * box.holds(*self._logs)
        if weights.any():
            return short(float(np.average(self._angles, weights=weights)))
        centres = [side.centre for side in box.cloud.sides]
        away = sum((log - at) ** 2 for log, at in zip(self._logs, centres, strict=True))
        return short(float(self._angles[np.argmin(away)]))

    def sort(self, box: Box) -> int:
        """The same for boxes whose angles are about alike."""
        angle = self.of(box)
        return round(_SORTS * math.log(angle)) if angle > 0 else 0

    def most(self, boxes: Sequence[Box]) -> float:
        """By how much the moment of a step in one of some boxes falls at most."""
        found = max(float(self._falls[box.holds(*self._logs)].max(initial=0.0)) for box in boxes)
        return found if math.isfinite(found) else 0.0

    def alike(self, whole: Box) -> list[Box]:
        """Boxes in each of which one angle is about the best for all steps."""

        def lost(inside: Flags) -> float:
            weights = self._weights * inside
            if not weights.any():
                return 0.0
            away = self._angles - np.average(self._angles, weights=weights)
            return float(weights @ (away * away)) / 2

        def priced(box: Box) -> tuple[float, Box]:
            return lost(box.holds(*self._logs)), box

        found, most = [priced(whole)], _LOST * float(self._counts @ self._falls)
        while len(found) < _BOXES and sum(each for each, _ in found) > most:
            found.sort(key=itemgetter(0))
            _, box = found.pop()
            inside = box.holds(*self._logs)
            below = [
                log <= side.centre for log, side in zip(self._logs, box.cloud.sides, strict=True)
            ]
            first, second = (lost(inside & half) + lost(inside & ~half) for half in below)
            halves = box.halves(int(second < first))
            found += map(priced, halves) if len(halves) > 1 else [(0.0, box)]
        return [box for _, box in found]
