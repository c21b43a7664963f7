"""A product of pairs as the engine sees it: on the real axis, and where its moments are least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Final, NamedTuple
from weakref import ref

import flint
import numpy as np
from flint import arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.inverted import enclose_largest
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive, product, total_loss, weighted
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property

_OCTAVE: Final = 8
#: Orders tried are powers of this ratio, refined by a parabola.
RATIO: Final = 2.0 ** (1 / _OCTAVE)
#: So many at once, of which every eighth is no interpolation; and the first from order 1 on. The
#: last serves losses as small as ``2^-80``.
_BLOCK: Final = 16
_STRIDE: Final = 8
_BLOCKS: Final = 50
_FIRST: Final = 10
_NONE: Final = (_BLOCKS, 0)
#: The orders tried, and the one after them.
TRIED: Final = RATIO ** np.arange(-_FIRST * _BLOCK, (_BLOCKS - _FIRST) * _BLOCK + 1)
_SPAN: Final = _STRIDE * math.log(RATIO)
#: About how many factors are looked at to place a line, and how many times as much as the least
#: those lose that one stands for: few that lose far more decay unlike them.
_STRATA, _ALIKE = 64, 4.0
_HUGE: Final = 1e150
#: By how much, as a power of e, the second derivative at two of them, and between, may differ.
_SMOOTH: Final = 1.5
_TRUST = 10.0
#: The order beyond all losses, that of losses below 1 over the largest.
_HIGHEST: Final = 2.0**20
#: By how much of itself a level beyond all losses is above the largest.
_CLEARLY: Final = 1e-9
#: An order times the deviation of the loss that it tilts, and that half of it tilts.
_FEW_DEVIATIONS, _FEWER_DEVIATIONS = 2.5, 1.0
_PARTIAL_ORDERS = [-1 / 256, -1 / 64, -1 / 16, -1 / 8, -1 / 4, -1 / 2, -3 / 4]


class Stratum(NamedTuple):
    """A pair that stands for ``like`` factors: it loses about as much in ``runs`` runs."""

    pair: Pair
    like: int
    runs: float


class Product:
    """Pairs with the number of times each is run; all of it may be run ``repeat`` times.

    ``mass``, ``moment`` and ``largest_loss`` are certified at the current precision; what follows
    them are floats, which place the contour and its error bounds.
    """

    def __init__(self, factors: Iterable[tuple[Pair, int]]) -> None:
        self.factors: tuple[tuple[Pair, int], ...] = tuple(factors)
        self._moments: dict[tuple[float, float, int], arb] = {}
        self._cumulants: dict[float, Jet] = {}
        #: ``log M`` and two derivatives at the orders tried, of the blocks filled.
        self._curve = np.full((3, _BLOCKS * _BLOCK), math.inf)
        self._filled = _NONE
        self._reverse: Callable[[], Product | None] = lambda: None

    @property
    def reverse(self) -> Product:
        """The product of the reversed pairs, whose reverse is this one while it is there."""
        if (found := self._reverse()) is None:
            found = Product((pair.reverse, n) for pair, n in self.factors)
            found._reverse, self._reverse = ref(self), lambda: found
        return found

    def mass(self, repeat: int) -> arb:
        """``P(Z finite)``."""
        return product(self.factors, lambda pair: pair.mass()) ** repeat

    def moment(self, order: float, accuracy: float, repeat: int = 1) -> arb:
        """``M(order)`` for ``order > -1``, to about ``e^-accuracy`` a pair; kept."""
        key = order, accuracy, flint.ctx.prec
        # proposes: the order, a float that means its exact value here as in the key
        if key not in self._moments:
            self._moments[key] = product(self.factors, lambda pair: pair.moment(order, accuracy))
        # proposes: likewise
        return self._moments[key] ** repeat

    def largest_loss(self, repeat: int) -> arb | None:
        """The supremum of the finite losses, None when unbounded."""
        found = total_loss(self.factors)
        return None if found is None else repeat * found

    def largest(self, repeat: int, digits: int, method: str) -> Enclosure:
        """The same, enclosed; at least 0."""
        return enclose_largest(partial(self.largest_loss, repeat), digits, method)

    def never_exceeds(self, level: arb, repeat: int) -> bool:
        """Whether every finite loss is certainly at most ``level``."""
        largest = self.largest_loss(repeat)
        return largest is not None and bool(largest <= level)

    # --- proposals --------------------------------------------------------------------------------

    def cumulant(self, order: float) -> Jet:
        """About ``log M`` and two derivatives. Proposes: what is kept by order."""
        return self._cumulants.get(order) or self.cumulants([order])[0]

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        """Likewise at each, those not known at once if they can be; infinite beyond floats.

        Proposes: what is kept by order.
        """
        missing = [c for c in orders if c not in self._cumulants]
        try:
            jets = [pair.cumulants(missing) for pair, _ in self.factors] if missing else []
            for i, c in enumerate(missing):
                each = zip(self.factors, jets, strict=True)
                self._cumulants[c] = weighted((n, jet[i]) for (_, n), jet in each)
        except (TooExpensive, OverflowError):
            if len(missing) == 1:
                self._cumulants[missing[0]] = Jet(math.inf, 0.0, 0.0)
            else:
                return [self.cumulant(c) for c in orders]
        return [self._cumulants[c] for c in orders]

    @np.errstate(all="ignore")
    def _fill(self, block: int) -> None:
        """One block more of the curve: floats at every eighth order, interpolated between.

        ``log M(c)/c`` by the polynomial of degree 5 in ``log c`` that has its values and two
        derivatives at both ends. Proposes: about the curve, from which orders are chosen.
        """
        first = block * _BLOCK
        knots = TRIED[first : first + _BLOCK + 1 : _STRIDE]
        value, slope, bend = np.array(self.cumulants(knots.tolist())).T
        mean = value / knots
        rise = slope - mean
        ends = np.array([mean, _SPAN * rise, _SPAN**2 * (knots * bend - rise)])
        ends = np.concatenate([ends[:, :-1], ends[:, 1:]])
        mean, rise, turn = (_HERMITE @ ends).transpose(0, 2, 1).reshape(3, _BLOCK)
        rise, turn = rise / _SPAN, turn / _SPAN**2
        here = slice(first, first + _BLOCK)
        c = TRIED[here]
        curve = np.array([c * mean, mean + rise, (rise + turn) / c])
        # where one hump of the integrand takes over from another nothing is interpolated
        bends = np.log([bend[:-1], np.diff(slope) / np.diff(knots), bend[1:]])
        smooth = (abs(np.diff(bends, axis=0, append=bends[:1])) < _SMOOTH).all(axis=0)
        for i in np.flatnonzero(~smooth) * _STRIDE:
            curve[:, i : i + _STRIDE] = np.array(self.cumulants(c[i : i + _STRIDE].tolist())).T
        curve[:, ~np.isfinite(curve[0])] = math.inf
        self._curve[:, here] = curve
        low, high = self._filled
        self._filled = min(low, block), max(high, block + 1)

    @np.errstate(over="ignore", invalid="ignore")
    def _least(self, epsilon: float, repeat: int, kernel: Floats) -> tuple[float, Jet]:
        """About where ``repeat log M(c) - c epsilon + kernel(c)`` is least, and it there.

        It is convex: blocks of orders are filled only as far as it falls. Proposes: an order, since
        any is valid.
        """
        if self._filled == _NONE:
            # orders matter from about one over the deviation of the losses on
            bend = repeat * self.cumulant(1.0).bend
            octaves = -math.log2(bend) / 2 if 0 < bend < 1 else 0.0
            self._fill(min(_FIRST + int(octaves * _OCTAVE / _BLOCK), _BLOCKS - 1))
        while True:
            low, high = self._filled
            here = slice(low * _BLOCK, high * _BLOCK)
            values = repeat * self._curve[0, here] - TRIED[here] * epsilon + kernel[0, here]
            index = int(np.argmin(values))
            if index == len(values) - 1 and high < _BLOCKS:
                self._fill(high)
            elif index == 0 and low > 0:
                self._fill(low - 1)
            else:
                break
        c, at = float(TRIED[here][index]), index + low * _BLOCK
        value, slope, bend = (repeat * self._curve[:, at] + kernel[:, at]).tolist()
        found = Jet(value - c * epsilon, slope - epsilon, bend)
        if not (math.isfinite(found.value) and found.bend > 0):
            return c, found
        reach = c * (RATIO - 1) / 2
        move = max(-reach, min(reach, -found.slope / found.bend))
        beside = max(0, min(len(values) - 1, index + (1 if move > 0 else -1)))
        if not abs(values[beside] - found.along(math.copysign(2 * reach, move))) < _TRUST:
            return c, found
        return c + move, Jet(found.along(move), 0.0, found.bend)

    @cached_property
    def strata(self) -> list[Stratum]:
        """Proposes: the factors, or some of very many, for those that lose about as much."""

        if len(self.factors) <= _STRATA:
            return [Stratum(pair, 1, n) for pair, n in self.factors]
        sized = sorted(((_size(pair), n, pair) for pair, n in self.factors), key=itemgetter(0))
        ends = [0]
        for place in range(1, len(sized)):
            is_next = place * _STRATA % len(sized) < _STRATA
            if is_next or sized[place][0] > _ALIKE * sized[ends[-1]][0]:
                ends.append(place)
        strata = []
        for part in (sized[start:end] for start, end in pairwise([*ends, len(sized)])):
            middle, _, pair = part[len(part) // 2]
            strata.append(Stratum(pair, len(part), sum(n * size / middle for size, n, _ in part)))
        return strata

    @cached_property
    def _largest(self) -> float:
        """Proposes: about the largest loss of it run once."""
        largest = self.largest_loss(1)
        return math.inf if largest is None else float(largest.mid())

    def chernoff(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(b, log K(b) M(b) e^{-b eps})`` at about its least.

        Beyond all losses it falls for ever, and no moment is looked at. Proposes: an order.
        """
        beyond = epsilon - repeat * self._largest
        if beyond > _CLEARLY * epsilon:
            highest = min(_HIGHEST / (min(1.0, repeat * self._largest) or 1.0), float(TRIED[-2]))
            return highest, -highest * beyond
        b, least = self._least(epsilon, repeat, _LOG_CHERNOFF_CONSTANT)
        return b, least.value

    def shared(self, order: float, level: float, repeat: int) -> float:
        """Proposes: one of the orders tried, which neighbours share, for Chernoff's bound."""
        place = int(np.searchsorted(TRIED, order).clip(1, self._curve.shape[1] - 1))
        beside = slice(place - 1, place + 1)
        values = repeat * self._curve[0, beside] + _LOG_CHERNOFF_CONSTANT[0, beside]
        return float(TRIED[beside][np.argmin(values - TRIED[beside] * level)])

    def saddle(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(c, log delta)``: the saddle point of the integrand and its estimate of delta."""
        c, least = self._least(epsilon, repeat, _LOG_KERNEL)
        return c, least.value - math.log(2 * math.pi * least.bend) / 2

    def misleads(self, epsilon: float, repeat: int) -> bool:
        """Whether delta may be far from the estimate of the saddle point.

        So it is, by measured points, where the order, or half of it, tilts the loss by few of its
        deviations: most of delta comes from a line far to the left. Proposes: where to begin.
        """
        c, _ = self._least(epsilon, repeat, _LOG_KERNEL)
        whole, half = (c * math.sqrt(repeat * jet.bend) for jet in self.cumulants([c, c / 2]))
        return whole < _FEW_DEVIATIONS or half < _FEWER_DEVIATIONS

    def below(self, level: float, repeat: int) -> tuple[float, float]:
        """``(p, log bound)`` for what is unknown of delta far to the left, at ``level``.

        ``p < -1`` if ``m_P - e^level m_Q`` is known, else only ``m_P``: whichever is better.
        Proposes: an order, since any is valid.
        """
        b, log = self.reverse.chernoff(-level, repeat)
        partial = zip(self.cumulants(_PARTIAL_ORDERS), _PARTIAL_ORDERS, strict=True)
        found = [(repeat * jet.value - order * level, order) for jet, order in partial]
        log, order = min([(log + level, -1 - b), *found])
        return order, log

    def epsilon(self, log_delta: float, repeat: int) -> float:
        """About the epsilon at which delta is ``e^log_delta``; zero if it is always below.

        Proposes: where the search begins.
        """
        order, log = self.saddle(0.0, repeat)
        if log <= log_delta:
            return 0.0
        # about the standard deviation of the losses: next to the largest orders are steep, and dear
        low, high = 0.0, 1 / order
        while self.saddle(high, repeat)[1] > log_delta:
            low, high = high, 2 * high
        for _ in range(50):
            middle = (low + high) / 2
            value = self.saddle(middle, repeat)[1]
            if abs(value - log_delta) < 0.02:
                return middle
            low, high = (middle, high) if value > log_delta else (low, middle)
        return (low + high) / 2


def _size(pair: Pair) -> float:
    """About ``log M(1)``, where a float holds it and its ratio to others."""
    try:
        return min(max(pair.cumulant(1.0).value, 1 / _HUGE), _HUGE)
    except (TooExpensive, OverflowError):
        return _HUGE


def _hermite() -> Floats:
    """Of value and two derivatives, at places between two ends, by what these are at both."""
    t = np.arange(_STRIDE) / _STRIDE
    at_start = [1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5]
    at_end = [0, 0, 0, 10, -15, 6], [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5]
    of_ends = np.array([*at_start, *at_end])
    j = np.arange(6)
    powers = [t[:, None] ** j, j * t[:, None] ** np.maximum(j - 1, 0)]
    powers.append(j * (j - 1) * t[:, None] ** np.maximum(j - 2, 0))
    found: Floats = np.array([power @ of_ends.T for power in powers])
    return found


def log_chernoffs(b: Floats) -> Floats:
    """``log K(b)`` of :func:`~dpexact.accounting.pairs.pair.log_chernoff`, in floats."""
    return b * np.log(b) - (1 + b) * np.log1p(b)


def _kernels() -> tuple[Floats, Floats]:
    """``log K(c)`` and ``-log(c (c + 1))`` at the orders tried, each with two derivatives."""
    c = TRIED[:-1]
    one, other = 1 / c, 1 / (c + 1)
    constant = log_chernoffs(c), -np.log1p(one), one * other
    return np.array(constant), np.array([np.log(one * other), -one - other, one**2 + other**2])


_HERMITE: Final = _hermite()
_LOG_CHERNOFF_CONSTANT, _LOG_KERNEL = _kernels()
