"""Many points as few, for proposals: cells of points that are about alike.

Proposes: all of it; nothing is decided by cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.reals import Real, rational

Place: TypeAlias = tuple[Real, Real]

#: By how much one cell is wider than that above it.
_GRADE: Final = 1.5
#: Half the square of an order at which cells are about like their points.
_ORDER: Final = 4.0
#: By which share noise is less at most, as logarithms of moments of little noise are linear in it.
_MORE: Final = 0.1


def cells(
    logs: Sequence[Floats],
    counts: Floats,
    stretches: Sequence[slice],
    widths: tuple[float, float, float],
) -> tuple[list[tuple[Place, Place]], Floats]:
    """For each cell a place, a corner and how many points it holds up to the end of each stretch.

    Cells are so wide in logarithms of the first coordinate, and in ``1/y^2`` of the second, where
    these are largest, wider elsewhere, and at most so wide in logarithms of the second. Of a cell
    the root of the mean square of the one, and of ``1/y^2`` more than the mean: so moments of
    sampled Gaussians grow.
    """
    x, y = logs
    inverse = np.exp(-2 * y)
    sorts = [_graded(x, widths[0]), _graded(inverse, widths[1]), np.floor(y / widths[2])]
    _, where = np.unique(np.stack(sorts), axis=1, return_inverse=True)
    where = where.ravel()
    many = int(where.max()) + 1

    def total(values: Floats, part: slice = slice(None)) -> Floats:
        return np.bincount(where[part], values[part], many).astype(np.float64)

    runs = total(counts)
    first = np.sqrt(total(counts * np.exp(2 * x)) / runs)
    mean = total(counts * inverse) / runs
    spread = total(counts * (inverse - mean[where]) ** 2) / runs
    second = 1 / np.sqrt(mean + np.minimum(_ORDER * spread, _MORE * mean))
    most, least = np.full(many, -np.inf), np.full(many, np.inf)
    np.maximum.at(most, where, x)
    np.minimum.at(least, where, y)
    columns = (first, second, np.exp(most), np.exp(least))
    rows = zip(*(map(_exact, column.tolist()) for column in columns), strict=True)
    ends = np.cumsum([total(counts, part) for part in stretches], axis=0)
    return [((a, b), (c, d)) for a, b, c, d in rows], ends


def _exact(value: float) -> Real:
    return rational(Fraction(value))


def _graded(values: Floats, width: float) -> Floats:
    """Proposes: which of intervals each is in, of that width at the top and ever wider below."""
    below = (values.max() - values) / width
    found: Floats = np.floor(np.log1p((_GRADE - 1) * below) / math.log(_GRADE))
    return found
