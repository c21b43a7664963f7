"""Rows in floats, and the likelihood ratio of a step.

Proposes: what plans are made from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpexact.accounting.arrays import Complexes, Floats
from dpexact.accounting.engines.rare.rows import Row
from dpexact.balls import approximate

#: Heights of lines and strips over ``sigma``, and up to what angle ``A`` may turn.
ANGLES = np.array([0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.35])
_MOST = 0.95 * math.pi
#: Up to where a logarithm of 1 and so little is a short series.
_LITTLE = 1e-4


class FloatRow(NamedTuple):
    """A row in floats."""

    sigma: float
    q: float
    times: int
    group: int = 1
    replaced: bool = False

    @property
    def start(self) -> float:
        """``log lambda`` at 0."""
        return math.log(self.group * self.q) - math.log1p(-self.q) - 1 / (2 * self.sigma**2)

    @property
    def angles(self) -> Floats:
        """The heights that are tried: ``A`` turns by up to ``k`` times the angle."""
        found: Floats = ANGLES * min(1.0, _MOST / (self.group * ANGLES[-1]))
        return found

    @property
    def log_stay(self) -> float:
        """That no record takes part."""
        return self.group * math.log1p(-self.q)

    @property
    def log_shares(self) -> list[float]:
        """That some records do, over that, for each number of them."""
        odds = math.log(self.q) - math.log1p(-self.q)
        return [math.log(math.comb(self.group, j)) + j * odds for j in range(self.group + 1)]

    def terms(self, ratio: Floats | Complexes) -> list[Floats | Complexes]:
        """The logarithms of those of ``A`` but for the first, at those of ``lambda``."""
        found, scale = [], math.log(self.group)
        for j in range(1, self.group + 1):
            first = math.log(math.comb(self.group, j)) - j * scale
            found.append(j * ratio + (first - j * (j - 1) / (2 * self.sigma**2)))
        return found

    def log_up(self, ratio: Floats) -> Floats:
        """``log A``."""
        found = np.zeros_like(ratio)
        for term in self.terms(ratio):
            found = np.logaddexp(found, term)
        return found

    def log_down(self, ratio: Floats) -> Floats:
        """``log v``."""
        if not self.replaced:
            return np.zeros_like(ratio)
        found: Floats = self.log_stay + np.logaddexp(0.0, self._back - ratio)
        return found

    @property
    def _back(self) -> float:
        """``log kappa``."""
        return 2 * self.start

    def losses(self, ratio: Complexes) -> tuple[Complexes, Complexes]:
        """``log A - log v`` and ``log v`` above the axis, at ``log lambda``."""
        up = _log1p(sum((np.exp(term) for term in self.terms(ratio)), np.zeros_like(ratio)))
        if not self.replaced:
            return up, np.zeros_like(ratio)
        down = self.log_stay + _log1p(np.exp(self._back - ratio))
        return up - down, down

    def turned(self, ratio: Floats, up: Floats, angles: Floats) -> tuple[Floats, Floats]:
        """Both parts of ``log A`` at each of the angles, which are a column."""
        total = np.exp(-up) + np.zeros_like(angles) * 1j
        for j, term in enumerate(self.terms(ratio), 1):
            total = total + np.exp(term - up) * np.exp(1j * j * angles)
        return up + np.log(abs(total)), np.angle(total)


def floats_of(rows: Sequence[Row]) -> tuple[FloatRow, ...]:
    """The same."""
    return tuple(FloatRow(approximate(row.sigma), approximate(row.q), *row[2:]) for row in rows)


def _log1p(more: Complexes) -> Complexes:
    found: Complexes = np.where(
        abs(more) < _LITTLE, more - more**2 / 2 + more**3 / 3, np.log(1 + more)
    )
    return found


def largest_loss(rows: Sequence[FloatRow]) -> float:
    """``-sum n_r k_r log(1 - q_r)``."""
    return -sum(row.times * row.log_stay for row in rows)
