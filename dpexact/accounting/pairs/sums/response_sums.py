r"""How small the moments of many different randomized responses are, far up on a vertical line.

Tilted by ``e^{cZ}`` the losses ``+-eps_i`` have probabilities ``p_i, q_i``, and with
:math:`s_i = 4 p_i q_i`, :math:`x_i = \sin^2(\varepsilon_i u)`,

.. math:: |\varphi(u)| = \prod_i \sqrt{1 - s_i x_i} \le e^{-D(u)}, \qquad
          D(u) = \sum_i \tfrac12 \left(s_i x_i + \tfrac12 s_i^2 x_i^2\right),

where ``D >= 0`` and ``D'' <= K``, so that the square root of ``D`` moves by at most
``sqrt(K/2)`` times the distance (``docs/theory/atoms.md``, section 4). ``D`` is a sum of cosines;
it is summed in floats with a proven error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Complexes, Floats
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive, Turns
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sums.far_nodes import turn_of
from dpexact.balls import approximate, ball, current, precision
from dpexact.reals import Real

#: Most heights times cosines that are looked at, and most of either at once.
MAX_SUMS: Final = 4_000_000_000
_MAX_ANY: Final = 1 << 21
#: What floats lose of all the terms together, for as many heights and cosines.
_FLOAT_ERROR: Final = 2.0**-20
#: More than a few roundings, relative.
_DOWN: Final = 1 - 2.0**-40
_UP: Final = 1 + 2.0**-20
#: For angles of many turns.
_BITS: Final = 192
#: Narrow blocks are this share of a unit of the square root of D.
_NARROW: Final = 0.5
_NARROW_COUNT: Final = 64
#: Wide ones are equal up to this many times the height where they begin.
_OCTAVES: Final = 3.0
#: What they leave of D beyond what is needed, and how far below its mean D is taken for.
_LEFT: Final = 6.0
_SPREAD: Final = 4.0
#: Blocks that weigh too much are cut into so many, so often, and so many runs of them at most.
_PARTS: Final = 8
_LEVELS: Final = 2
_MAX_CUT: Final = 400
_MAX_TURNS: Final = 1 << 19
#: Bounds are added up by classes of their logarithms of this width, of so many classes.
_CLASS: Final = 1 / 8
_CLASSES: Final = 1 << 14
#: Of so many responses the square of ``s x`` is hardly needed.
_PLENTY: Final = 3000


class Blocks(NamedTuple):
    """Ranges of heights: below where each begins, its width, and ``-log`` of a bound there."""

    starts: Floats
    widths: Floats
    depths: Floats

    def weights(self, variance: float, step: float) -> tuple[Floats, Floats]:
        """``(w + h)/l^2`` at most and ``-log(B e^{-v l^2/2})`` at least."""
        spans = (self.widths + step) / (self.starts * self.starts) / _DOWN
        falls = (self.depths + variance / 2 * self.starts * self.starts) * _DOWN
        return spans, falls


class Leak(Pair):
    """Infinite loss alone, of masses each with how often it runs: all that stays is lossless."""

    def __init__(self, masses: Sequence[tuple[Real, int]]) -> None:
        self._masses = tuple(masses)
        self._kept: dict[int, arb] = {}

    def mass(self) -> arb:
        """``prod (1 - mass)^count``."""
        bits = current()
        if bits not in self._kept:
            logs = (count * (-ball(mass)).log1p() for mass, count in self._masses)
            self._kept[bits] = sum(logs, arb(0)).exp()
        return self._kept[bits]

    def overlap(self) -> arb:
        """What has no infinite loss."""
        return self.mass()

    def largest_loss(self) -> arb | None:
        """None is lost by the rest."""
        return arb(0)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The mass, at any order."""
        return self.mass()

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        return [acb(self.mass())] * (count + 1)

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        return [(acb(self.mass()), acb(0))], arb(0)

    def outline(self, c: float) -> list[tuple[float, float]]:
        return [(float(self.mass().log().mid()), 0.0)]

    def cumulant(self, c: float) -> Jet:
        return Jet(float(self.mass().log().mid()), 0.0, 0.0)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 0, 0.0


class ResponseSums:
    """``D`` of responses, each with how often it runs, tilted by ``e^{cZ}``."""

    def __init__(self, factors: Sequence[tuple[Response, int]], c: float) -> None:
        epsilons, weights, squares, bend = [], [], [], arb(0)
        with precision(_BITS):
            for pair, count in factors:
                epsilon = ball(pair.epsilon)
                up = 1 / (1 + (-epsilon * (1 + 2 * arb(c))).exp())
                s = 4 * up * (1 - up)
                epsilons.append(epsilon)
                # proposes: how many terms of the logarithm are taken
                if len(factors) > _PLENTY:
                    weights.append(count * s / 4)
                    bend += count * epsilon * epsilon * s
                    continue
                weights.append(count * (s / 4 + s * s / 8))
                squares.append(count * s * s / 32)
                # proposes: nothing; next to 2/3, where balls leave it open, either holds
                steep = s if s < arb(2) / 3 else (1 + s / 2) ** 2 / 4 + s * s / 2
                bend += count * epsilon * epsilon * steep
            self._epsilons = epsilons + [2 * epsilon for epsilon in epsilons[: len(squares)]]
        signed = [_down(weight) for weight in weights] + [_down(-square) for square in squares]
        self._weights = np.array(signed)
        self._moduli = float(np.sum(np.abs(self._weights)))
        self.total = float(np.sum(self._weights))
        #: At least the slope of the square root of D, ``sqrt(K/2)``.
        self.slope = math.nextafter(float((bend / 2).sqrt().upper()), math.inf) * (1 + 2.0**-40)
        self._known: dict[tuple[float, float], tuple[float, Blocks]] = {}

    def far(self, low: float, top: float, depth: float, variance: float, step: float) -> arb:
        r"""A bound on :math:`\sum_b (w_b + h) B_b e^{-v l_b^2/2}/l_b^2`, blocks beyond ``low``.

        They reach to ``top`` at least. Proposes: of which widths, so that the sum is about
        ``e^-depth/low``; those of another variance serve as well.

        Raises:
            TooExpensive: there are too many.
        """
        if not (1e-100 < low < top < 1e100):
            raise TooExpensive("heights beyond the reach of floats")
        # proposes: what is known of as many heights serves fewer
        if (low, depth) not in self._known or self._known[low, depth][0] < top:
            found = self._cut(self.blocks(low, top, depth, variance), low, depth, variance)
            self._known = {(low, depth): (top, found)}
        # proposes: likewise
        spans, falls = self._known[low, depth][1].weights(variance, step)
        places = np.minimum(falls / _CLASS, _CLASSES - 1).astype(np.int64)
        sums = np.bincount(places, weights=spans) * _UP
        with precision(_BITS):
            parts = (arb(sums[i]) * (-arb(int(i)) * _CLASS).exp() for i in np.flatnonzero(sums))
            return sum(parts, arb(0)).upper()

    def blocks(self, low: float, top: float, depth: float, variance: float) -> Blocks:
        """Blocks of all heights from ``low`` to ``top`` at least.

        Proposes: of which widths, so that what is needed at a height is likely to be left.
        """
        narrow = _NARROW / self.slope
        at = low + narrow * _NARROW_COUNT
        found, spent = [self._run(low, at, narrow)], 0
        epsilons = np.array([float(epsilon.mid()) for epsilon in self._epsilons])
        while at < top:
            end = min(_OCTAVES * at, top)
            # proposes: likewise; cosines of few turns have not spread yet
            turned = self._weights * np.minimum(1.0, 2 * (epsilons * at) ** 2)
            usual = float(np.sum(turned)) - _SPREAD * math.sqrt(float(turned @ turned))
            need = max(depth - math.log(at / low) - variance / 2 * at * at, 0.0) + _LEFT
            spare = math.sqrt(max(usual, 0.0)) - math.sqrt(need)
            width = max(2 * spare / self.slope, narrow)
            spent += int((end - at) / width) * len(epsilons)
            # proposes: what is too much work
            if spent > MAX_SUMS:
                raise TooExpensive("too many heights to bound the moments at")
            found.append(self._run(at, end, width))
            at = end
        return _joined(found)

    def _cut(self, blocks: Blocks, low: float, depth: float, variance: float) -> Blocks:
        """Those that weigh most in narrower ones. Proposes: which.

        Raises:
            TooExpensive: they are many.
        """
        for _ in range(_LEVELS):
            spans, falls = blocks.weights(variance, 0.0)
            shares = spans * np.exp(-falls) * low * math.exp(min(depth, 700.0))
            heavy = np.flatnonzero(shares > 1 / (8 * _MAX_CUT))
            # proposes: when to stop
            if not np.sum(shares) > 1 or not len(heavy):
                break
            # proposes: when to give up
            if len(heavy) > _MAX_CUT or len(heavy) * len(self._epsilons) > _MAX_TURNS:
                raise TooExpensive("responses turn together again and again")
            runs = [
                self._run(start, (start + width) / _DOWN, width / _PARTS)
                for start, width in zip(blocks.starts[heavy], blocks.widths[heavy], strict=True)
            ]
            rest = Blocks(*(np.delete(part, heavy) for part in blocks))
            blocks = _joined([rest, *runs])
        return blocks

    def _run(self, first: float, last: float, width: float) -> Blocks:
        """Blocks of ``width`` from ``first`` to ``last`` at least."""
        # proposes: nothing; a few roundings of a height are much less than a block, or no answer
        if not width > last * 2.0**-40:
            raise TooExpensive("blocks of heights are too narrow for floats")
        count = int((last - first) / width) + 2
        roots = np.sqrt(np.maximum(self._deviations(arb(first), width, count), 0.0))
        # half a block away
        depths = np.maximum(roots - self.slope * width / 2, 0.0) ** 2
        starts: Floats = (first + width * np.arange(count, dtype=np.float64)) * _DOWN
        return Blocks(starts, np.full(count, width), depths)

    def _deviations(self, low: arb, width: float, count: int) -> Floats:
        """Lower bounds of ``D`` in the middles of blocks."""
        cosines = len(self._epsilons)
        # proposes: what is too much work
        if not (count * cosines <= MAX_SUMS and max(count, cosines) <= _MAX_ANY):
            raise TooExpensive("too many heights to bound the moments at")
        with precision(_BITS):
            angles = [2 * e for e in self._epsilons]
            giant, baby = turned(angles, self._weights, low + arb(width) / 2, width, count)
        sums = giant.real @ baby.real.T - giant.imag @ baby.imag.T
        # proposes: how many
        found: Floats = self.total - sums.ravel()[:count]
        return found - self._moduli * _FLOAT_ERROR * 2


def _joined(parts: Sequence[Blocks]) -> Blocks:
    return Blocks(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def turned(
    losses: Sequence[arb], weights: Floats, low: arb, width: float, count: int
) -> tuple[Complexes, Complexes]:
    """Two matrices whose product, in rows, holds ``weights e^{i losses u}``, term by term.

    ``u`` is ``low`` and ``count - 1`` multiples of ``width`` beyond; at most ``2^22`` of them lose
    ``2^-37`` of each term (``docs/theory/atoms.md``, section 4).
    """
    big = max(1, math.isqrt(count))
    first = [turn_of(z * low) for z in losses]
    step = [turn_of(z * arb(width)) for z in losses]
    leap = [turn_of(z * arb(width) * big) for z in losses]
    giant = _powers(np.array(leap), -(-count // big)) * (np.array(first) * weights)
    return giant, _powers(np.array(step), big)


def _powers(bases: Complexes, count: int) -> Complexes:
    """Rows of the powers from 0 to ``count - 1``, by doubling."""
    found = np.ones((1, len(bases)), dtype=complex)
    square = bases
    # proposes: how many are needed
    while len(found) < count:
        found = np.concatenate([found, found * square])
        square = square * square
    # proposes: likewise
    return found[:count]


def _down(weight: arb) -> float:
    """A float below a ball."""
    return math.nextafter(float(weight.lower()), -math.inf)


def estimator(factors: Sequence[tuple[Response, int]], c: float) -> Callable[[float], float]:
    """``u -> -D(u)`` in floats, where a response that has turned far counts as on average.

    Proposes: how many nodes a line takes.
    """
    epsilons = np.array([approximate(pair.epsilon) for pair, _ in factors])
    counts = np.array([count for _, count in factors], dtype=float)
    up = 1 / (1 + np.exp(-np.minimum(epsilons * (1 + 2 * c), 700.0)))
    weights = 2 * counts * up * (1 - up)

    def estimate(u: float) -> float:
        """Proposes: likewise."""
        return -float(weights @ np.sin(np.minimum(epsilons * u, math.pi / 4)) ** 2)

    return estimate
