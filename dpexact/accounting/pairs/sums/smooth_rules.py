"""Floats that place the sums of a Gaussian beside other noise, all on one sample.

Proposes: nodes, strips, orders and lines; whatever they are, the sums enclose or refuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import numpy as np

from dpexact.accounting.arrays import Complexes, Floats
from dpexact.accounting.pairs.pair import Factors, TooExpensive, short
from dpexact.balls import precision
from dpexact.kept import cached_property

#: Most nodes of a rule, and of the sum that tells the density; and most of both multiplied.
_MOST: Final = 20_000
_MOST_TERMS: Final = 2_000_000
#: Powers tried beside a tilt, in bounds of the density, and shares of it between.
_BESIDE: Final = 2.0 ** np.arange(-6, 9)
_BETWEEN: Final = np.arange(1, 16) / 16
#: Tops of strips tried, and heights of lines, as shares of a right angle.
_TOPS: Final = np.arange(1, 25) / 25
_HEIGHTS: Final = np.pi / 2 * 2.0 ** -np.arange(0.5, 20, 0.5)
#: Accuracy beyond what is asked, that of sketches, and their precision.
_SPARE: Final = 3.0
_SKETCHED: Final = 32.0
_BITS: Final = 64
_LN2: Final = math.log(2)

_Places = TypeVar("_Places", Floats, Complexes)


class Values(NamedTuple):
    """How the density is told at the nodes ``first`` to ``last``: by moments above a ``power``.

    They are ``many`` with their ``step``, and ``right`` and ``left`` powers of bounds elsewhere.
    """

    first: int
    last: int
    power: float
    step: float
    many: int
    right: float
    left: float


class Grid(NamedTuple):
    """Nodes ``j spacing + i height`` in a strip up to ``top``, in two parts; one may be empty.

    ``right``, ``middle`` and ``left`` are powers of bounds on the density between and beyond; sums
    lose the bits ``lost``.
    """

    parts: tuple[Values, Values]
    spacing: float
    height: float
    top: float
    right: float
    middle: float
    left: float
    lost: int

    @property
    def nodes(self) -> int:
        """How many there are."""
        return sum(part.last - part.first + 1 for part in self.parts)

    @property
    def terms(self) -> int:
        """Of all sums that tell the density."""
        return sum((part.last - part.first + 1) * part.many for part in self.parts)


class Outline:
    """About what runs, ``inner`` with its reverse ``faced``, and the rate of its sample."""

    def __init__(self, inner: Factors, faced: Factors, mu: float, q: float) -> None:
        if not (1e-100 < mu < 1e10 and 1e-300 < q < 1):
            raise TooExpensive("floats do not reach to plan a sample")
        self._inner, self._faced, self._mu, self._q = inner, faced, mu, q
        self._grids: dict[tuple[float, float, float | None], Grid] = {}
        self._means: dict[float, float] = {}
        self._sketches: dict[float, Floats] = {}

    def _mean(self, power: float) -> float:
        """``log E_Q[e^{power l}]``."""
        if power not in self._means:
            factors, order = (self._inner, power - 1) if power > 0 else (self._faced, -power)
            self._means[power] = sum(n * pair.cumulant(order).value for pair, n in factors)
        return self._means[power]

    def _ceilings(self, powers: Floats) -> Floats:
        """The logarithms of bounds on ``f e^{power l}``."""
        means = np.array([self._mean(float(power)) for power in powers])
        return means - math.log(math.sqrt(2 * math.pi) * self._mu)

    def _floor(self, power: float) -> float:
        """``log F`` is not much more."""
        if power <= 0:
            return 0.0
        rare = power * math.log(self._q) + self._mean(power)
        return max(power * math.log1p(-self._q), rare)

    def _weight(self, power: float, x: Floats) -> Floats:
        """``power log w``, or what it is at most."""
        x = np.asarray(x, dtype=float)
        if power <= 0:
            return np.full(x.shape, power * math.log1p(-self._q))
        return power * self._log_w(x)

    def _log_w(self, z: _Places) -> _Places:
        """``log w``, also where ``e^z`` is beyond floats."""
        right = z.real > 0
        far = np.where(right, 1 - self._q, self._q) * np.expm1(np.where(right, -z, z))
        found: _Places = np.where(right, z, 0) + np.log1p(far)
        return found

    def planned(self, power: float, accuracy: float, height: float | None = None) -> Grid:
        """A rule for all heights, or one on the axis beside a line of some height."""
        key = power, accuracy, height
        if key not in self._grids:
            self._grids[key] = self._planned(*key)
        return self._grids[key]

    def _planned(self, power: float, accuracy: float, height: float | None) -> Grid:
        mu, needed, floor = self._mu, accuracy + _SPARE, self._floor(power)
        tops = (math.pi / 2 - (height or 0.0)) * _TOPS
        growth = tops * tops / (2 * mu * mu)
        if power < 0:
            cosine = power * np.log(np.cos((tops + (height or 0.0)) / 2))
            growth += np.minimum(cosine, power * math.log1p(-self._q))
        spacings = 2 * np.pi * tops / ((2 if height is None else 1) * needed + growth)
        best = int(np.argmax(spacings))
        top, spacing = float(tops[best]), short(float(spacings[best]))
        shift = 0.0 if height is not None else needed * spacing / (2 * math.pi)
        lift = shift * shift / (2 * mu * mu)
        (right, above), (left, below) = (self._end(power, needed, side) for side in (1, -1))
        first, last = math.floor(left / spacing), math.ceil(right / spacing)
        # proposes: what is too much work
        if last - first > 50 * _MOST:
            raise TooExpensive("a sample of too many nodes")
        x = np.arange(first, last + 1) * spacing
        weight = self._weight(power, x) - floor
        tilt, split, stop, middle = 0.0, last, last, 0.0
        if power > 0:
            tilt = power
            split = max(first - 1, min(last, math.floor(self._mean(power) / power / spacing)))
            stop, split, middle = self._between(power, x, weight, split - first, needed)
            stop, split = stop + first, split + first
        here = np.concatenate([x[: stop + 1 - first], x[split + 1 - first :]])
        lost = np.where(here <= split * spacing, 0.0, self._mean(tilt) - tilt * here)
        lost += self._weight(power, here) - floor
        more = max(0.0, float(np.logaddexp.reduce(lost)) + math.log(spacing / mu))
        parts = []
        for tilted, start, end in ((0.0, first, stop), (tilt, split + 1, last)):
            told = 1.0, 0, 0.0, 0.0
            if start <= end:
                ends = np.array([start, end]) * spacing
                told = self._told(power, tilted, ends, shift, needed + more)
            parts.append(Values(start, end, tilted, *told))
        found = Grid(
            (parts[0], parts[1]),
            spacing,
            shift,
            top,
            above,
            middle,
            below,
            math.ceil((more + lift) / _LN2),
        )
        # proposes: what is too much work
        if found.nodes > _MOST or found.terms > _MOST_TERMS:
            raise TooExpensive("a sample of too many nodes")
        return found

    def _between(
        self, power: float, x: Floats, weight: Floats, split: int, needed: float
    ) -> tuple[int, int, float]:
        """The most nodes around one that hardly matter together: those next to them, a power."""
        best, powers = (split, split, 0.0), power * _BETWEEN
        for tilt, ceiling in zip(powers.tolist(), self._ceilings(powers).tolist(), strict=True):
            light = ceiling - tilt * x + weight + needed + math.log(len(x)) < 0
            # it is convex, so light nodes are next to each other
            places = np.flatnonzero(light)
            if len(places) > best[1] - best[0] + 1:
                best = int(places[0]) - 1, int(places[-1]), tilt
        return best

    def _end(self, power: float, needed: float, side: int) -> tuple[float, float]:
        """Where ``f w^power`` is ``e^-needed`` of ``F``, and the power that shows it."""
        floor = self._floor(power)
        powers = max(power, 0.0) + _BESIDE if side > 0 else -_BESIDE
        ceilings = self._ceilings(powers)

        def over(x: float) -> Floats:
            found: Floats = ceilings - powers * x + self._weight(power, np.array(x)) - floor
            return found + needed

        low, high = 0.0, self._mu
        while over(side * high).min() > 0:
            low, high = high, 2 * high
            # proposes: what is too much work
            if high > 1e6:
                raise TooExpensive("a sample of too many nodes")
        for _ in range(10):
            middle = (low + high) / 2
            low, high = (middle, high) if over(side * middle).min() > 0 else (low, middle)
        end = float(powers[np.argmin(over(side * high))])
        return side * high, end

    def _told(
        self, power: float, tilt: float, ends: Floats, height: float, needed: float
    ) -> tuple[float, int, float, float]:
        """A period and a number of moments that tell the density between ends, and powers."""
        mu = self._mu
        rest = needed + height * height / (2 * mu * mu)
        weight = self._weight(power, ends) - self._floor(power) + rest
        found = []
        for side in (1, -1):
            powers = tilt + side * _BESIDE
            logs = self._ceilings(powers)[:, None] - powers[:, None] * ends + weight
            found.append((powers, logs.max(axis=1)))
        period = float(ends[1] - ends[0]) + mu
        while any((logs - _BESIDE * period).min() > 0 for _, logs in found):
            period *= 1.1
        right, left = (float(p[np.argmin(logs - _BESIDE * period)]) for p, logs in found)
        step = short(2 * math.pi / period)
        reach = (height + math.sqrt(height * height + 2 * mu * mu * rest)) / (mu * mu)
        count = math.ceil(reach / step)
        # proposes: what is too much work
        if count > _MOST:
            raise TooExpensive("a sample of too many moments")
        return step, count, right, left

    # --- in floats alone --------------------------------------------------------------------------

    def sketch(self, power: float) -> Floats:
        """Logarithms of the density times a spacing, and losses, where ``w^power`` is large."""
        if power not in self._sketches:
            parts, meet = [self._tilted(0.0)], math.inf
            if power > 0:
                meet = self._mean(power) / power
                parts.append(self._tilted(power))
            kept = [part[:, part[1] <= meet] for part in parts[:1]]
            kept += [part[:, part[1] > meet] for part in parts[1:]]
            self._sketches[power] = np.concatenate(kept, axis=1)
        return self._sketches[power]

    def listed(self, power: float) -> Floats:
        """Likewise, and the loss on the sample."""
        logs, x = self.sketch(power)
        return np.array([logs, self._log_w(x)])

    @cached_property
    def _plain(self) -> Floats:
        return self._by_transform(0.0)

    def _tilted(self, power: float) -> Floats:
        return self._plain if power == 0 else self._by_transform(power)

    def _by_transform(self, power: float) -> Floats:
        """Of the tilted law, by one transform of its moments."""
        mean = self._mean(power)
        right, left = (
            float(np.min((self._ceilings(power + side * _BESIDE) - mean + _SKETCHED) / _BESIDE))
            for side in (1, -1)
        )
        # all transforms have one spacing, at which nothing is left of the moments
        spacing = math.pi * self._mu / math.sqrt(2 * _SKETCHED)
        first, count = math.floor(-left / spacing), math.ceil((right + left) / spacing / 2) + 1
        # proposes: what is too much work
        if count > _MOST:
            raise TooExpensive("a sample of too many moments")
        period = 2 * count * spacing
        step, factors, order = 2 * math.pi / period, self._inner, power - 1
        if power == 0:
            factors, order = self._faced, 0.0
        line = np.ones(count + 1, dtype=complex)
        with precision(_BITS):
            for pair, n in factors:
                moments = pair.moments(order, step, count, _SKETCHED)
                line *= np.array([complex(x / moments[0]) for x in moments]) ** n
        if power == 0:
            line = line.conj()
        line *= np.exp(-1j * step * first * spacing * np.arange(count + 1))
        # a law is the transform of its moments the other way round
        values = np.fft.irfft(line.conj(), 2 * count)
        x = (np.arange(2 * count) + first) * spacing
        good = values > values.max() * math.exp(-0.9 * _SKETCHED)
        return np.array([np.log(values[good]) + mean - power * x[good], x[good]])

    def decay(self, power: float) -> Callable[[float], tuple[float, float]]:
        """At a height the logarithm of the bound on a moment, and the line that has it least."""
        logs, x = self.sketch(power)
        w = self._log_w(x + 1j * _HEIGHTS[:, None])
        base = logs + power * w.real
        lift = _HEIGHTS**2 / (2 * self._mu**2)

        def best(u: float) -> tuple[float, float]:
            found = np.logaddexp.reduce(base - u * w.imag, axis=1) + lift
            least = int(np.argmin(found))
            return float(found[least]), float(_HEIGHTS[least])

        return best
