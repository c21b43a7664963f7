r"""Lower bounds for batches that are cut from a random permutation (Chua et al. 2024).

The datasets of ``docs/theory/shuffled-batches.md`` attain, in each epoch of ``t`` steps, the pair

.. math:: P = \frac1t \sum_i N(2 e_i, \sigma^2 I), \qquad Q = \frac1t \sum_i N(e_i, \sigma^2 I),

and all that is used of an epoch is in which interval its largest coordinate lies:

.. math:: \Pr_m[\max_i x_i \le c] = \Phi((c-m)/\sigma)\,\Phi(c/\sigma)^{t-1}, \qquad m = 2, 1.

Likewise of a record that takes part in ``k`` of ``t`` steps, drawn at random, and moves their
outputs from 0 to ``m = 1`` (``docs/theory/allocation.md``, Proposition 2b). Losses are rounded down
to a lattice, and probabilities to fractions of a power of two, so every sum is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
from flint import arb, fmpz_poly

from dpexact.accounting.arrays import Floats
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.pairs.pair import integer
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import approximate, ball, current, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

#: Probabilities are integers over two to this power.
BITS: Final = 160
_POINTS: Final = 4001
#: Standard deviations below and above the means where the largest coordinate is looked at.
_BELOW, _ABOVE = -8.0, 12.0
#: Smaller noise loses more; larger noise is not told from none.
_LEAST: Final = 1e-3
_MOST: Final = 1e5
_OFFSETS: Final = np.linspace(0.0, 1.0, 129)


class Masses(NamedTuple):
    """Probabilities under the first law, over ``2^BITS``, from loss ``(first + shift) step`` on."""

    first: int
    weights: list[int]

    def times(self, other: Masses) -> Masses:
        """Of two epochs, each rounded down."""
        product = fmpz_poly(self.weights) * fmpz_poly(other.weights)
        return Masses(self.first + other.first, [int(x) >> BITS for x in product]).trimmed()

    def trimmed(self) -> Masses:
        """Without zeros at the ends."""
        held = [i for i, weight in enumerate(self.weights) if weight]
        if not held:
            return Masses(self.first, [])
        return Masses(self.first + held[0], self.weights[held[0] : held[-1] + 1])


class ShuffledBatches(BallProfile):
    """``epochs`` permutations of ``t`` batches, of noise ``sigma``: a lower bound."""

    method = "largest coordinate of each epoch"
    largest = None

    #: Where the record moves a coordinate with it and without, and how many coordinates.
    means: tuple[int, int] = (2, 1)
    moved: int = 1
    intervals: tuple[int, int] = (8000, 2000)

    def __init__(self, sigma: Real, t: int, epochs: int, *, add: bool) -> None:
        self.sigma, self.t, self.epochs, self.add = sigma, t, epochs, add
        self.infinite = InfiniteLoss()
        self._sums: tuple[int, tuple[list[arb], list[arb]]] = 0, ([], [])

    def finite_ball(self, epsilon: arb) -> arb:
        """``E (1 - e^{epsilon - Z})_+`` of the rounded losses, and at least ``1 - e^epsilon``."""
        trivial = arb.max(-epsilon.expm1(), arb(0))
        if not self._law.weights:
            return trivial
        count = len(self._law.weights)
        # proposes: which losses are near epsilon; balls decide of each
        place = (epsilon - self._loss(0)) / arb(self._step)
        # proposes: likewise
        above = min(max(math.floor(float(place.mid())) + 2, 0), count)
        # proposes: likewise
        while above < count and not self._loss(above) > epsilon:
            above += 1
        masses, tilted = self._tails()
        # proposes: where the sums begin; all losses from there on are above, as a ball decided
        total = masses[above] - epsilon.exp() * tilted[above]
        unit = arb(2) ** -BITS
        # proposes: likewise
        for j in range(above - 1, -1, -1):
            loss = self._loss(j)
            if loss < epsilon:
                break
            total += self._law.weights[j] * unit * arb.max(-(epsilon - loss).expm1(), arb(0))
        return arb.max(total, trivial)

    def _loss(self, j: int) -> arb:
        return (self._law.first + j + self.epochs * arb(self._offset)) * arb(self._step)

    def _tails(self) -> tuple[list[arb], list[arb]]:
        """Sums of the probabilities from each loss on, and of the same times ``e^{-loss}``."""
        # proposes: which sums are kept; balls of any precision enclose
        if self._sums[0] < current():
            unit, ratio = arb(2) ** -BITS, arb(self._step).exp()
            weights = [w * unit for w in reversed(self._law.weights)]
            tilt, tilted = (-self._loss(len(weights) - 1)).exp(), []
            for weight in weights:
                tilted.append(weight * tilt)
                tilt *= ratio
            masses, sums = ([*accumulate(x, initial=arb(0))][::-1] for x in (weights, tilted))
            self._sums = current(), (masses, sums)
        return self._sums[1]

    # --- the law ----------------------------------------------------------------------------------

    @cached_property
    def _noise(self) -> float:
        """Proposes: more noise than there is, if that is next to none."""
        return max(approximate(self.sigma), _LEAST)

    @cached_property
    def _plan(self) -> tuple[float, list[float]]:
        """Proposes: the step of the lattice of losses, and where intervals end."""
        sigma = self._noise
        points = np.linspace(_BELOW * sigma, max(self.means) + _ABOVE * sigma, _POINTS)
        up, down = (_log_density(points, mean, sigma, self.t, self.moved) for mean in self.means)
        losses = np.maximum.accumulate(up - down)
        step = float(losses[-1] - losses[0]) / self.intervals[self.epochs > 1]
        levels = np.arange(math.ceil(losses[0] / step) + 1, math.floor(losses[-1] / step))
        ends = np.interp(levels * step, losses, points)
        return step, sorted(set(ends.tolist()))

    @property
    def _step(self) -> float:
        return self._plan[0]

    @cached_property
    def _intervals(self) -> list[tuple[arb, arb]]:
        """The probability of each interval under the first law, and its loss."""
        with precision(BITS + 64):
            sigma = arb.max(ball(self.sigma), arb(_LEAST))
            up, down = (self._between(mean, sigma) for mean in self.means)
            laws = zip(*((down, up) if self.add else (up, down)), strict=True)
            return [(p, (p / q).log()) for p, q in laws if p > 0 and q > 0]

    def _between(self, mean: int, sigma: arb) -> Iterator[arb]:
        root, last = arb(2).sqrt(), arb(0)
        for end in self._plan[1]:
            x = arb(end) / sigma
            others = ((-x / root).erfc() / 2) ** (self.t - self.moved)
            below = (((mean / sigma - x) / root).erfc() / 2) ** self.moved * others
            yield below - last
            last = below
        yield 1 - last

    @cached_property
    def _offset(self) -> float:
        """Proposes: where in a step the lattice lies, so that losses are rounded by little."""
        weights, places = np.array([[float(x.mid()) for x in pair] for pair in self._intervals]).T
        places = places / self._step
        lost = ((places[:, None] - _OFFSETS) % 1.0 * weights[:, None]).sum(axis=0)
        return float(_OFFSETS[int(np.argmin(lost))])

    @cached_property
    def _law(self) -> Masses:
        """Of all epochs, by repeated squaring."""
        # proposes: where nothing is claimed, which is a lower bound too
        if not approximate(self.sigma) < _MOST:
            return Masses(0, [])
        with precision(BITS + 64):
            one = self._rounded()
        found = one
        for bit in bin(self.epochs)[3:]:
            found = found.times(found)
            if bit == "1":
                found = found.times(one)
        return found

    def _rounded(self) -> Masses:
        """One epoch: losses are rounded down to the lattice, and probabilities too."""
        step, offset = arb(self._step), arb(self._offset)
        scale, found = arb(2) ** BITS, dict[int, int]()
        for mass, loss in self._intervals:
            # proposes: the place, which balls then decide is not above the loss
            place = math.floor(float((loss / step - offset).mid()))
            # proposes: likewise
            while not (place + offset) * step <= loss:
                place -= 1
            weight = int(integer((mass * scale).lower().floor()))
            found[place] = found.get(place, 0) + max(weight, 0)
        first = min(found)
        return Masses(first, [found.get(i, 0) for i in range(first, max(found) + 1)]).trimmed()


class LargestOutput(ShuffledBatches):
    """``k`` of ``t`` steps, drawn at random in each of the ``epochs``: likewise a lower bound."""

    means = (1, 0)
    intervals = (1000, 1000)

    def __init__(self, sigma: Real, t: int, k: int, epochs: int, *, add: bool) -> None:
        super().__init__(sigma, t, epochs, add=add)
        self.moved = k


def _log_density(points: Floats, mean: int, sigma: float, t: int, k: int) -> Floats:
    """Proposes: the logarithm of the density of the largest coordinate, up to a constant."""
    own, other = (points - mean) / sigma, points / sigma
    below, beside = _log_below(own), _log_below(other)
    found = math.log(k) - own * own / 2 + beside
    if t > k:
        found = np.logaddexp(found, math.log(t - k) - other * other / 2 + below)
    found += (k - 1) * below + (t - k - 1) * beside
    return found


def _log_below(points: Floats) -> Floats:
    """Proposes: ``log Phi``."""
    return np.array(
        [
            math.log(math.erfc(-x / math.sqrt(2)) / 2)
            if x > -30
            else -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi))
            for x in points.tolist()
        ]
    )
