"""Moments of many sampled Gaussians at once, in floats.

With ``x`` standard normal, ``A = 1 + q (e^y - 1)`` and ``y = x/sigma - 1/(2 sigma^2)`` they are
``E[A^t]``, ``t = 1 + s`` for a record removed and ``-s`` for one added.

Proposes: all of it; nothing is decided by what it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.clouds.cells import Place
from dpexact.accounting.pairs.pair import Jet, TooExpensive
from dpexact.accounting.pairs.sums.mixture_rules import (
    EDGE,
    LINE_FRACTIONS,
    MAX_NODES,
    SHIFT_FRACTIONS,
    SMALL_SHIFT_FRACTIONS,
    normal_sums,
)
from dpexact.balls import approximate

_Some: TypeAlias = NDArray[np.int64]

#: About what a sum loses, as a power of e; and one that bounds decay.
_FINE: Final = 32.0
_COARSE: Final = 26.0
#: Numbers in one array.
_AT_ONCE: Final = 1 << 19
#: Steps to where a line begins.
_BISECTIONS: Final = 30
#: Floats hold the square of an exponential of this.
_LARGE: Final = 300.0
#: The highest line that is tried.
_HIGHEST: Final = 6.0
#: How much more may be lost at corners of cells.
_WORST: Final = 2.0
#: How much less moments fall at one angle for a box than each at its own.
_FALLING: Final = 0.9


class CellMoments:
    """Those of some rates and noises."""

    def __init__(self, places: Sequence[Place], *, removes: bool) -> None:
        about = np.array([[approximate(value) for value in place] for place in places])
        self._q, self.rates = about[:, 0], 1 / about[:, 1]
        #: Logarithms of rates and noises.
        self.logs = np.log(about).T
        self._first, self._sign = (1, 1) if removes else (0, -1)
        self._widest = EDGE * math.pi / self.rates
        self.cumulants = cache(self._cumulants)
        self.decay = cache(self._decay)

    def _lines(self, powers: Floats, depth: float, rows: int) -> Iterator[tuple[_Some, Floats]]:
        """Places ``x`` of a fine and long enough line for each, of so many as are one array."""
        least, most = min(0.0, powers.min()), max(1.0, powers.max())
        edges = np.minimum(self._widest, 2 * math.sqrt(2 * depth))[:, None] * LINE_FRACTIONS
        growth = edges**2 / 2 + least * np.log(np.cos(edges * self.rates[:, None] / 2))
        spacing = 2 * math.pi / ((depth + growth) / edges).min(axis=1)
        reach = math.sqrt(2 * depth) + 1
        # of negative powers one hump is left, between this end and 0
        low, high = least * self.rates, np.zeros_like(self.rates)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            ratio = self._q * np.exp(self.rates * (middle - self.rates / 2))
            left = middle > least * self.rates * ratio / (1 - self._q + ratio)
            low, high = np.where(left, low, middle), np.where(left, middle, high)
        low -= reach
        counts = np.ceil((most * self.rates + reach - low) / spacing) + 1
        # too long a line tells nothing
        low[counts > MAX_NODES] = math.nan
        counts = np.where(counts > MAX_NODES, 2, counts).astype(int)
        left = np.argsort(counts)
        while len(left):
            size = counts[left] * rows
            many = (size * np.arange(1, len(left) + 1) <= _AT_ONCE) & (size <= 2 * size[0])
            here, left = np.split(left, [max(1, int(many.sum()))])
            yield here, low[here, None] + spacing[here, None] * np.arange(counts[here].max())

    @np.errstate(all="ignore")
    def _logarithms(self, here: _Some, x: Floats, heights: Floats) -> tuple[Floats, Floats]:
        """Of ``|A|``, with arguments, at ``x + i height``: axes are cells, heights and places."""
        q, rate = self._q[here, None, None], self.rates[here, None, None]
        y = rate * x[:, None] - rate * rate / 2
        turn = rate * heights[:, :, None]
        more = q * np.expm1(np.minimum(y, _LARGE))
        # of what is added to 1, whose logarithm loses digits
        real = more * np.cos(turn) - 2 * q * np.sin(turn / 2) ** 2
        upward = (more + q) * np.sin(turn)
        size = np.log1p(real * (2 + real) + upward * upward) / 2
        return size + np.maximum(y - _LARGE, 0.0), np.arctan2(upward, 1 + real)

    @np.errstate(all="ignore")
    def _cumulants(self, *orders: float) -> Floats:
        """``log M(c)`` and two derivatives at each order, for each cell; infinite beyond floats."""
        powers = self._first + self._sign * np.array(orders)
        found = np.empty((len(self._q), len(orders), 3))
        for here, x in self._lines(powers, _FINE, len(orders)):
            loss, _ = self._logarithms(here, x, np.zeros((len(x), 1)))
            logs, weights, total = normal_sums(powers[:, None] * loss, x[:, None])
            loss = loss[:, 0]
            mean = np.einsum("ijk,ik->ij", weights, loss) / total
            away = loss[:, None] - mean[:, :, None]
            spread = np.einsum("ijk,ijk,ijk->ij", weights, away, away) / total
            found[here] = np.stack([logs, self._sign * mean, spread], axis=2)
        found[np.isnan(found)] = math.inf
        return found

    def _decay(self, c: float) -> Callable[[float], tuple[Floats, Floats]]:
        """``u -> (log B, shift)`` for each cell: the least bound on ``|M(c + iu)|`` of some lines.

        On ``Im x = shift`` the modulus of the integrand falls in ``u`` by its argument.
        """
        power = self._first + self._sign * c
        highest = np.minimum(self._widest, _HIGHEST)[:, None]

        def rows(fractions: Floats) -> list[tuple[_Some, Floats, Floats, Floats]]:
            found = []
            for here, x in self._lines(np.array([power]), _COARSE, len(fractions)):
                heights = fractions * highest[here]
                sizes, angles = self._logarithms(here, x, heights)
                sizes = heights[:, :, None] ** 2 / 2 + power * sizes
                found.append((here, x[:, None], sizes, angles))
            return found

        @np.errstate(all="ignore")
        def least(rows: list[tuple[_Some, Floats, Floats, Floats]], u: float) -> Floats:
            found = np.full((len(self._q), 2), math.inf)
            for here, x, sizes, angles in rows:
                logs, _, _ = normal_sums(sizes - u * angles, x)
                at = np.argmin(logs, axis=1)
                found[here, 0] = np.take_along_axis(logs, at[:, None], 1)[:, 0]
                found[here, 1] = at
            return found

        large, small = rows(SHIFT_FRACTIONS), cache(lambda: rows(SMALL_SHIFT_FRACTIONS))

        @cache
        def best(u: float) -> tuple[Floats, Floats]:
            logs, at = least(large, u).T
            shifts = SHIFT_FRACTIONS[at.astype(int)]
            # of very many rare steps moments vanish where one is hardly below 1
            if not at.all():
                lower, below = least(small(), u).T
                fewer = (at == 0) & (lower < logs)
                shifts = np.where(fewer, SMALL_SHIFT_FRACTIONS[below.astype(int)], shifts)
                logs = np.where(fewer, lower, logs)
            return logs, shifts * highest[:, 0]

        return best


class CellSums:
    """Of steps in cells, so many in each, whose places and corners have these moments."""

    def __init__(self, places: CellMoments, corners: CellMoments, counts: Floats) -> None:
        self.places, self._corners, self.counts = places, corners, counts
        self._inside = counts > 0

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        """Those of all steps.

        Raises:
            TooExpensive: at one of the orders cells do not tell, as most is lost at their corners.
        """

        def total(moments: CellMoments) -> Floats:
            each = moments.cumulants(*orders)[self._inside]
            found: Floats = np.tensordot(self.counts[self._inside], each, 1)
            return found

        found, corners = total(self.places), total(self._corners)
        if not (corners[:, 0] < _WORST * found[:, 0]).all():
            raise TooExpensive("steps that differ too much for a bundle")
        return [Jet(*row) for row in found.tolist()]

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """Of heights about the logarithms of what is left there."""
        start, way = self.cumulants([c])[0].value, self.places.decay(c)

        def left(u: float) -> float:
            found = float((self.counts * way(u)[0])[self._inside].sum())
            return start + _FALLING * (found - start)

        return left
