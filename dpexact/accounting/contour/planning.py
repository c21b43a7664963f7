"""Choice of the contour: abscissa, step, number of nodes, precision, in floats.

Proposes: plans and orders; whatever they are, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from dpexact.accounting.contour.numbers import LN2, LN10, TooExpensive
from dpexact.accounting.pairs.pair import Jet, Pair

Composition = tuple[tuple[Pair, int], ...]
"""Pairs with the number of times each is run."""

_TRUST = 10.0
_PARTIAL_ORDERS = (1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
_STRETCH = 1.1
_PLAIN_BITS = 256
_RATIO = 2.0**0.125
_ORDERS = range(-160, 161)


@dataclass(frozen=True)
class Plan:
    """Everything that fixes an evaluation: it decides width and cost, never truth.

    ``abscissa`` and ``step`` place the nodes ``c + i n h``, ``n <= count``; ``accuracy`` is
    ``-log`` of the error of the inner rule, ``coarse`` that of real moments in error bounds,
    ``bits`` the working precision.
    """

    abscissa: float
    step: float
    count: int
    accuracy: float
    coarse: float
    bits: int
    work: int

    @property
    def height(self) -> float:
        """An ordinate at or just below the first one that is left out.

        It carries a bound: the product is rounded by half a unit in the last place at most, and the
        float before it is farther away than that, also below a power of 2.
        """
        return math.nextafter((self.count + 1) * self.step, 0.0)


Objective = Callable[[float, Jet], Jet]
"""A function of an order ``c`` and of the cumulant there, with its first two derivatives."""


class Landscape:
    """Float cumulants of one composition, and their Chernoff bounds and saddle points."""

    def __init__(self, composition: Composition) -> None:
        self.composition = composition
        self._single = lru_cache(maxsize=None)(self._cumulant)

    def _cumulant(self, c: float) -> Jet:
        try:
            jets = [(n, step.cumulant(c)) for step, n in self.composition]
        except (TooExpensive, OverflowError):
            return Jet(math.inf, 0.0, 0.0)
        return Jet(
            sum(n * jet.value for n, jet in jets),
            sum(n * jet.slope for n, jet in jets),
            sum(n * jet.bend for n, jet in jets),
        )

    def cumulant(self, c: float, repeat: int) -> Jet:
        """``log M(c)`` of the whole composition, repeated, with two derivatives."""
        jet = self._single(c)
        return Jet(repeat * jet.value, repeat * jet.slope, repeat * jet.bend)

    def _least(self, repeat: int, objective: Objective) -> tuple[float, Jet]:
        """About the minimiser of a unimodal function of the order, and the function there."""

        def at(index: int) -> Jet:
            c = _RATIO**index
            return objective(c, self.cumulant(c, repeat))

        index = 8
        found = at(index)
        for stride in (8, -8, 2, -2, 1, -1):
            while index + stride in _ORDERS:
                following = at(index + stride)
                if not following.value < found.value:
                    break
                index, found = index + stride, following
        c = _RATIO**index
        if not (math.isfinite(found.value) and found.bend > 0):
            return c, found
        reach = c * (_RATIO - 1) / 2
        move = max(-reach, min(reach, -found.slope / found.bend))
        beyond = at(index + (1 if move > 0 else -1)).value
        if not abs(beyond - found.along(math.copysign(2 * reach, move))) < _TRUST:
            return c, found
        return c + move, Jet(found.along(move), 0.0, found.bend)

    def chernoff(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(b, log K(b) M(b) e^{-b eps})`` at about its least."""

        def exponent(b: float, jet: Jet) -> Jet:
            value = b * math.log(b) - (1 + b) * math.log1p(b) + jet.value - b * epsilon
            slope = -math.log1p(1 / b) + jet.slope - epsilon
            return Jet(value, slope, 1 / (b * (1 + b)) + jet.bend)

        b, least = self._least(repeat, exponent)
        return b, least.value

    def saddle(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(c, log delta)``: the saddle point of the integrand and its estimate of delta."""

        def phase(c: float, jet: Jet) -> Jet:
            value = jet.value - c * epsilon - math.log(c * (c + 1))
            slope = jet.slope - epsilon - 1 / c - 1 / (c + 1)
            return Jet(value, slope, jet.bend + 1 / c**2 + 1 / (c + 1) ** 2)

        c, least = self._least(repeat, phase)
        return c, least.value - math.log(2 * math.pi * least.bend) / 2

    def epsilon(self, log_delta: float, repeat: int) -> float:
        """About the epsilon at which delta is ``e^log_delta``; zero if it is always below."""
        if self.saddle(0.0, repeat)[1] <= log_delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.saddle(high, repeat)[1] > log_delta:
            low, high = high, 2 * high
        for _ in range(50):
            middle = (low + high) / 2
            value = self.saddle(middle, repeat)[1]
            if abs(value - log_delta) < 0.02:
                return middle
            low, high = (middle, high) if value > log_delta else (low, middle)
        return (low + high) / 2


class Query(NamedTuple):
    """Delta at ``epsilon`` of the composition repeated; ``log_delta`` where it is about known."""

    epsilon: float
    repeat: int
    log_delta: float | None = None


class Planner:
    """Chooses plans for one composition; keeps the float cumulants between calls."""

    def __init__(self, composition: Composition, max_work: int) -> None:
        self.composition = composition
        self.max_work = max_work
        self.forward: Landscape = Landscape(composition)
        self.backward: Landscape = Landscape(tuple((step.reverse, n) for step, n in composition))

    def plan(self, queries: Sequence[Query], digits: float) -> Plan:
        """One plan that gives every query about ``digits`` relative digits."""
        try:
            return self._planned(queries, digits)
        except (OverflowError, ZeroDivisionError, ValueError):
            raise TooExpensive("the parameters are too extreme to plan with floats") from None

    def _planned(self, queries: Sequence[Query], digits: float) -> Plan:
        needed = digits * LN10 + 2
        saddles = [self.saddle(query) for query in queries]
        period, low, high = self._period(queries, [log for _, log in saddles], needed)
        middle = math.exp(sum(math.log(c) for c, _ in saddles) / len(saddles))
        abscissa = _rounded(max(low, min(high, middle)))
        step = _rounded(2 * math.pi / period)
        height, peak = 0.0, 0.0
        for query, (_, log_delta) in zip(queries, saddles, strict=True):
            cumulant = self.forward.cumulant(abscissa, query.repeat).value
            scale = cumulant - abscissa * query.epsilon - log_delta
            peak = max(peak, scale - math.log(abscissa * (abscissa + 1)))
            height = max(height, self._height(abscissa, query, log_delta - needed))
        count = max(2, math.ceil(height / step))
        repeats = max(q.repeat for q in queries) * max(n for _, n in self.composition)
        accuracy = needed + max(0.0, peak) + math.log(repeats) + 1
        return self._costed(abscissa, step, count, accuracy, math.log(repeats) + 8)

    def below(self, level: float, repeat: int) -> tuple[float, float]:
        """``(p, log bound)`` for what is unknown of delta far to the left, at ``level``.

        ``p > 1`` if ``m_P - e^level m_Q`` is known, ``p < 1`` if only ``m_P``: whichever is better.
        """
        b, log = self.backward.chernoff(-level, repeat)
        cumulant = self.forward.cumulant
        partial = [(cumulant(-a, repeat).value + a * level, a) for a in _PARTIAL_ORDERS]
        log, order = min([(log + level, 1 + b), *partial])
        return order, log

    def saddle(self, query: Query) -> tuple[float, float]:
        """``(c, log delta)`` of the saddle point, with what is known of delta instead if it is."""
        c, log_delta = self.forward.saddle(query.epsilon, query.repeat)
        return c, log_delta if query.log_delta is None else query.log_delta

    def _costed(
        self, abscissa: float, step: float, count: int, accuracy: float, coarse: float
    ) -> Plan:
        costs = [s.line_cost(abscissa, accuracy) for s, _ in self.composition]
        lost = max(bits for _, bits in costs)
        angle = math.log2(1 + count * step * abscissa + count)
        bits = math.ceil(accuracy / LN2 + lost + angle) + 16
        # long multiplications count for more
        weight = max(1.0, bits / _PLAIN_BITS) ** 1.6
        work = int(weight * sum(count * (nodes + 60) + 150 * nodes for nodes, _ in costs))
        if work > self.max_work:
            raise TooExpensive(f"{count} nodes of {bits} bits, as {work} short multiplications")
        return Plan(abscissa, step, count, accuracy, coarse, bits, work)

    def _period(
        self, queries: Sequence[Query], logs: Sequence[float], needed: float
    ) -> tuple[float, float, float]:
        """About the least period that makes both aliases small, and the abscissas that allow it."""

        def room(period: float) -> tuple[float, float]:
            low, high = _RATIO ** _ORDERS[0], math.inf
            for query, log in zip(queries, logs, strict=True):
                up = self.forward.chernoff(query.epsilon + period, query.repeat)[1]
                down = self.below(query.epsilon - period, query.repeat)[1]
                high = min(high, (log - needed - up) / period)
                low = max(low, (down - log + needed) / period)
            return low, high

        short, period = 0.0, 1.0
        while not _open(room(period)):
            short, period = period, 2 * period
            if period > 1e9:
                raise TooExpensive("no period makes the aliasing terms small")
        while period - short > 0.02 * period:
            middle = (short + period) / 2
            short, period = (short, middle) if _open(room(middle)) else (middle, period)
        period *= _STRETCH
        low, high = room(period)
        return period, low, high

    def _height(self, abscissa: float, query: Query, log_tail: float) -> float:
        """The ordinate beyond which the nodes are below ``e^log_tail``."""
        decays = [(n * query.repeat, s.decay_estimate(abscissa)) for s, n in self.composition]

        def missing(u: float) -> bool:
            total = sum(n * decay(u) for n, decay in decays)
            return total - abscissa * query.epsilon - math.log(math.pi * u) > log_tail

        low, high = 0.0, 1.0
        while missing(high):
            low, high = high, 2 * high
            if high > 1e12:
                raise TooExpensive("the moments decay too slowly")
        for _ in range(8):
            middle = (low + high) / 2
            low, high = (middle, high) if missing(middle) else (low, middle)
        return high

    def affordable(self, queries: Sequence[Query], digits: float) -> Plan:
        """The plan with the most digits, below ``digits``, that the allowed work permits."""
        best: Plan | None = None
        low, high = 0.0, digits
        for _ in range(6):
            middle = (low + high) / 2
            try:
                best, low = self.plan(queries, middle), middle
            except TooExpensive:
                high = middle
        if best is None:
            raise TooExpensive("no digit can be had within the work allowed")
        return best


def _open(room: tuple[float, float]) -> bool:
    return room[0] <= room[1]


def _rounded(value: float) -> float:
    """A nearby float with few bits, so that products with small integers are exact."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2**20), exponent - 20)
