r"""How small the moments of many different randomized responses are, far up on a vertical line.

Tilted by ``e^{cZ}`` the losses ``+-eps_i`` have probabilities ``p_i, q_i``, and

.. math:: |\varphi(u)| = \prod_i \sqrt{1 - 4 p_i q_i \sin^2(\varepsilon_i u)} \le e^{-D(u)},
          \qquad D(u) = \sum_i p_i q_i (1 - \cos 2 \varepsilon_i u),

where ``D >= 0`` and ``|D''| <= K``, so that the square root of ``D`` moves by at most
``sqrt(K/2)`` times the distance (``docs/theory/atoms.md``, section 4). ``D`` is summed in floats
with a proven error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.balls import approximate, ball, current, precision
from dpexact.reals import Real

#: Most heights times responses that are looked at, and most of either.
MAX_SUMS: Final = 400_000_000
_MAX_ANY: Final = 1 << 21
#: What floats lose of all the terms together, for as many heights and responses.
_FLOAT_ERROR: Final = 2.0**-20
#: For angles of many turns.
_BITS: Final = 192
#: Blocks next to the first height are narrow: this share of a unit of the square root of D.
_NARROW: Final = 0.5
_NARROW_COUNT: Final = 64
#: A shallow block is cut into so many, so often, and so many of a run at most.
_PARTS: Final = 8
_LEVELS: Final = 3
_MAX_CUT: Final = 400
#: By how much the least blocks may be too shallow, as the kernel has fallen there.
_HOPELESS: Final = 12.0
#: What a wide block leaves of D beyond what is needed, and how far below its mean D is taken for.
_LEFT: Final = 10.0
_SPREAD: Final = 4.0


class Block(NamedTuple):
    """Heights around ``middle``, and a bound on the modulus of the moments there."""

    middle: arb
    width: arb
    bound: arb


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
        """Likewise."""
        return [acb(self.mass())] * (count + 1)

    def cumulant(self, c: float) -> Jet:
        """Constant."""
        return Jet(float(self.mass().log().mid()), 0.0, 0.0)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nothing."""
        return 0, 0.0


class ResponseSums:
    """``D`` of responses, each with how often it runs, tilted by ``e^{cZ}``."""

    def __init__(self, factors: Sequence[tuple[Response, int]], c: float) -> None:
        weights, bend = [], arb(0)
        with precision(_BITS):
            self._epsilons = [ball(pair.epsilon) for pair, _ in factors]
            for epsilon, (_, count) in zip(self._epsilons, factors, strict=True):
                up = 1 / (1 + (-epsilon * (1 + 2 * arb(c))).exp())
                weights.append(count * up * (1 - up))
                bend += 4 * epsilon * epsilon * weights[-1]
        self._weights = np.array([_down(weight) for weight in weights])
        self.total = float(np.sum(self._weights))
        #: At least the slope of the square root of D, ``sqrt(K/2)``.
        self.slope = math.nextafter(float((bend / 2).sqrt().upper()), math.inf) * (1 + 2.0**-40)

    def blocks(self, low: float, top: float, depth: float) -> list[Block]:
        """Blocks of all heights from ``low`` to ``top`` at least.

        Proposes: of which widths, so that most bounds are below ``e^-depth``.

        Raises:
            TooExpensive: there are too many, or too shallow ones.
        """
        narrow = _NARROW / self.slope
        usual = self.total - _SPREAD * math.sqrt(float(self._weights @ self._weights))
        spare = math.sqrt(max(usual, 0.0)) - math.sqrt(depth + _LEFT)
        wide = max(2 * spare / self.slope, narrow)
        start = low + narrow * (_NARROW_COUNT - 1)
        count = max(1, math.ceil((top - start) / wide) + 1)
        with precision(_BITS):
            near = self._run(arb(low), narrow, _NARROW_COUNT, 0.0, 0)
            return near + self._run(arb(start), wide, count, depth, _LEVELS)

    def _run(self, low: arb, width: float, count: int, depth: float, levels: int) -> list[Block]:
        """``count`` blocks of ``width`` from ``low`` on, shallow ones cut if there are few.

        Proposes: where blocks are cut; each has the bound of its own height and width.
        """
        roots = np.sqrt(np.maximum(self._deviations(low, width, count), 0.0))
        # half a block away
        depths = np.maximum(roots - self.slope * width / 2, 0.0) ** 2
        shallow = set(np.flatnonzero(depths < depth).tolist()) if levels else set()
        # proposes: when to give up
        if len(shallow) > _MAX_CUT or (not levels and np.any(depths < depth - _HOPELESS)):
            raise TooExpensive("responses turn together again and again")
        found = []
        for place, reached in enumerate(depths.tolist()):
            start = low + place * arb(width)
            if place in shallow:
                found += self._run(start, width / _PARTS, _PARTS, depth, levels - 1)
                continue
            bound = (-arb(reached)).exp().upper()
            found.append(Block(start + arb(width) / 2, arb(width), bound))
        return found

    def _deviations(self, low: arb, width: float, count: int) -> NDArray[np.float64]:
        """Lower bounds of ``D`` in the middles of blocks."""
        responses = len(self._epsilons)
        # proposes: what is too much work
        if not (count * responses <= MAX_SUMS and max(count, responses) <= _MAX_ANY):
            raise TooExpensive("too many heights to bound the moments at")
        angles = [2 * e for e in self._epsilons]
        giant, baby = turned(angles, self._weights, low + arb(width) / 2, width, count)
        sums = giant.real @ baby.real.T - giant.imag @ baby.imag.T
        # proposes: how many
        found: NDArray[np.float64] = self.total * (1 - _FLOAT_ERROR) - sums.ravel()[:count]
        return found - self.total * _FLOAT_ERROR


def turned(
    losses: Sequence[arb], weights: NDArray[np.float64], low: arb, width: float, count: int
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Two matrices whose product, in rows, holds ``weights e^{i losses u}``, term by term.

    ``u`` is ``low`` and ``count - 1`` multiples of ``width`` beyond; at most ``2^22`` of them lose
    ``2^-37`` of each term (atoms, section 4).
    """
    big = max(1, math.isqrt(count))
    first = [_turn(z * low) for z in losses]
    step = [_turn(z * arb(width)) for z in losses]
    leap = [_turn(z * arb(width) * big) for z in losses]
    giant = _powers(np.array(leap), -(-count // big)) * (np.array(first) * weights)
    return giant, _powers(np.array(step), big)


def _turn(angle: arb) -> complex:
    """``e^{i angle}`` in floats, each part off by an ulp of 1 at most."""
    turn = acb(0, angle).exp()
    if not (turn.real.rad() + turn.imag.rad() < arb(2) ** -54):
        raise TooExpensive("heights are too large to turn by")
    return complex(float(turn.real.mid()), float(turn.imag.mid()))


def _powers(bases: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
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
    """A float not above a positive ball."""
    return max(math.nextafter(float(weight.lower()), 0.0), 0.0)


def estimator(factors: Sequence[tuple[Response, int]], c: float) -> Callable[[float], float]:
    """``u -> -D(u)`` in floats, up to where the largest loss has turned once.

    Proposes: how many nodes a line takes.
    """
    epsilons = np.array([approximate(pair.epsilon) for pair, _ in factors])
    counts = np.array([count for _, count in factors], dtype=float)
    up = 1 / (1 + np.exp(-np.minimum(epsilons * (1 + 2 * c), 700.0)))
    weights = 2 * counts * up * (1 - up)

    def estimate(u: float) -> float:
        """Proposes: likewise."""
        return -float(weights @ np.sin(np.minimum(epsilons * u, math.pi / 2)) ** 2)

    return estimate
