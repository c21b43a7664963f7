"""Choice of the contour: abscissa, step, number of nodes, precision, in floats.

Proposes: plans; whatever they are, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from dpexact.accounting.engines.contour.product import TRIED, Product
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.enclosure import Enclosure

#: Of which product something is asked.
Asked: TypeAlias = "tuple[Product, Query]"

_LN2 = math.log(2)
_LN10 = math.log(10)
_STRETCH = 1.1
_PLAIN_BITS = 256
#: Accuracy of real moments, repeated, in bounds of errors: these are a twentieth larger.
_COARSE = 3.0
#: About how many nodes there are at least.
_NODES = 4
#: By how much, as a power of e, an integrand may fall over the order where it is evaluated.
_STEEP = 500.0
#: And on how much higher a line it may be at most where floats sum most of it.
_RISE = 5.0
#: There epsilon is to be known to so many bits.
_FARTHER_BITS = 96
#: So many factors more may cost as much again as is allowed for few.
_MANY = 300
_EXTREME: Final = "the parameters are too extreme to plan with floats"


#: Plans of more work are compared with those of periods so many times as long, and their moments
#: are dear.
DEAR: Final = 3_000_000
_LONGER: Final = (1.5, 2.0)
#: A line so near the saddle point is not moved.
_NEARLY: Final = 0.8


class Query(NamedTuple):
    """Delta at ``epsilon`` of the product repeated; ``log_delta`` where it is about known."""

    epsilon: float
    repeat: int
    log_delta: float | None = None


@dataclass(frozen=True)
class Plan:
    """Everything that fixes an evaluation: it decides width and cost, never truth.

    ``abscissa`` and ``step`` place the nodes ``c + i n h``, ``n <= count``; ``accuracy`` is
    ``-log`` of the error of the inner rule, ``coarse`` that of real moments in error bounds,
    ``bits`` the working precision, ``work`` the multiplications, ``level`` the logarithm of an
    error that serves. ``shared`` lines serve different products, whose bounds have few orders in
    common.
    """

    abscissa: float
    step: float
    count: int
    accuracy: float
    coarse: float
    bits: int
    work: int
    level: float = -math.inf
    shared: bool = False

    @property
    def height(self) -> float:
        """An ordinate at or just below the first one that is left out.

        It carries a bound: the product is rounded by half a unit in the last place at most, and the
        float before it is farther away than that, also below a power of 2.
        """
        return math.nextafter((self.count + 1) * self.step, 0.0)


def planned(asked: Sequence[Asked], digits: float, most: int, *, farther: bool = False) -> Plan:
    """One plan that gives every query about ``digits`` relative digits, with ``most`` work.

    Of different products the last is the dearest.

    Where others sum the nodes ``farther`` up, in floats, there are as many as that leaves work for,
    on a line where the integrand is not much above the least: elsewhere more bits make up for that.

    Raises:
        TooExpensive: no such plan, or floats do not reach to find it.
    """
    try:
        needed = digits * _LN10 + 2
        most = int(most * (1 + len(asked[-1][0].factors) / _MANY))
        saddles = []
        for product, (epsilon, repeat, known) in asked:
            c, log_delta = product.saddle(epsilon, repeat)
            saddles.append((c, log_delta if known is None else known))
        # where the integrand still falls steeply at the largest order, all would cancel there
        if all(
            c > TRIED[-3]
            and (query.epsilon - query.repeat * product.cumulant(c).slope) * c > _STEEP
            for (product, query), (c, _) in zip(asked, saddles, strict=True)
        ):
            raise TooExpensive(_EXTREME)
        logs = [log for _, log in saddles]
        middle = math.exp(sum(math.log(c) for c, _ in saddles) / len(saddles))
        period = _period(asked, logs, needed, middle, farther)
        best = _on(asked, logs, needed, period, middle, most, farther)
        # a longer period lets the line lie further right, where it needs less accuracy
        for longer in _LONGER:
            if farther or best.work <= DEAR or best.abscissa >= _NEARLY * middle:
                break
            other = _on(asked, logs, needed, longer * period, middle, most, farther)
            if other.work >= best.work:
                break
            best = other
    except TooExpensive:
        raise
    except (ArithmeticError, ValueError):
        raise TooExpensive(_EXTREME) from None
    if best.work > most:
        raise TooExpensive(
            f"{best.count} nodes of {best.bits} bits, as {best.work} short multiplications"
        )
    return best


def _on(
    asked: Sequence[Asked],
    logs: Sequence[float],
    needed: float,
    period: float,
    middle: float,
    most: int,
    farther: bool,
) -> Plan:
    """The plan for a period, as near the middle of the saddle points as it lets a line lie."""
    low, high = _room(asked, logs, needed, period)
    abscissa = short(max(low, min(high, middle)))
    step = short(2 * math.pi / period)
    height, peak = 0.0, 0.0
    for (product, query), log_delta in zip(asked, logs, strict=True):
        value, _, bend = product.cumulant(abscissa)
        scale = query.repeat * value - abscissa * query.epsilon - log_delta
        scale -= math.log(abscissa * (abscissa + 1))
        # about what the moduli add up to, of which phases leave delta; far nodes do without, as
        # there would be many times as many
        bend = query.repeat * bend + abscissa**-2 + (abscissa + 1) ** -2
        peak = max(peak, scale, scale - (not farther) * math.log(2 * math.pi * bend) / 2)
        tail = log_delta - needed
        height = max(height, _height(product, abscissa, query, tail, step, most))
    count = max(2, math.ceil(height / step))
    runs = max(query.repeat * sum(n for _, n in each.factors) for each, query in asked)
    accuracy = needed + max(0.0, peak) + math.log(runs) + 1
    costs = [(like, *pair.line_cost(abscissa, accuracy)) for pair, like, _ in asked[-1][0].strata]
    lost = max(bits for _, _, bits in costs)
    angle = math.log2(1 + count * step * abscissa + count)
    bits = max(math.ceil(accuracy / _LN2 + lost + angle) + 16, _FARTHER_BITS if farther else 0)
    # long multiplications count for more
    weight = max(1.0, bits / _PLAIN_BITS) ** 1.6
    each = sum(like * (nodes + 60) for like, nodes, _ in costs)
    once = sum(like * 150 * nodes for like, nodes, _ in costs)
    if farther:
        count = max(2, min(count, int((most / weight - once) / each)))
    work = int(weight * (count * each + once))
    level = min(logs) - needed
    return Plan(abscissa, step, count, accuracy, math.log(runs) + _COARSE, bits, work, level)


def affordable(product: Product, query: Query, digits: float, most: int) -> Plan:
    """The plan with the most digits, below ``digits``, that the allowed work permits."""
    best: Plan | None = None
    low, high = 0.0, digits
    for _ in range(6):
        middle = (low + high) / 2
        try:
            best, low = planned([(product, query)], middle, most), middle
        except TooExpensive:
            high = middle
    if best is None:
        raise TooExpensive("no digit can be had within the work allowed")
    return best


def _room(
    asked: Sequence[Asked], logs: Sequence[float], needed: float, period: float
) -> tuple[float, float]:
    """The abscissas at which a period makes both aliases small; none if the first is larger."""
    low, high = float(TRIED[0]), math.inf
    for (product, (epsilon, repeat, _)), log in zip(asked, logs, strict=True):
        up = product.chernoff(epsilon + period, repeat)[1]
        down = product.below(epsilon - period, repeat)[1]
        high = min(high, (log - needed - up) / period)
        low = max(low, (down - log + needed) / period)
    return low, high


def _period(
    asked: Sequence[Asked],
    logs: Sequence[float],
    needed: float,
    middle: float,
    farther: bool,
) -> float:
    """About the least period that leaves room for a line, and a little more.

    With nodes ``farther`` up, for one on which the integrand is not far above that at ``middle``.
    """

    def fits(period: float) -> bool:
        low, high = _room(asked, logs, needed, period)
        return low <= high and not (farther and rise(max(low, min(high, middle))) > _RISE)

    def rise(c: float) -> float:
        return max(
            repeat * (product.cumulant(c).value - product.cumulant(middle).value)
            - (c - middle) * epsilon
            for product, (epsilon, repeat, _) in asked
        )

    # far beyond epsilon cumulants of ever larger orders would be needed, which are dear
    short, period = 0.0, max(query.epsilon for _, query in asked) or 1.0
    while not fits(period):
        short, period = period, 2 * period
        if period > 1e9:
            raise TooExpensive("no period makes the aliasing terms small")
    while period - short > 0.05 * period:
        half = (short + period) / 2
        short, period = (short, half) if fits(half) else (half, period)
    return period * _STRETCH


def _height(
    product: Product, abscissa: float, query: Query, log_tail: float, step: float, most: int
) -> float:
    """Where nodes begin to be below ``e^log_tail``, or an ordinate beyond ``most`` of them."""
    decays = [(n * query.repeat, pair.decay_estimate(abscissa)) for pair, _, n in product.strata]

    def missing(u: float) -> bool:
        total = sum(n * decay(u) for n, decay in decays)
        return total - abscissa * query.epsilon - math.log(math.pi * u) > log_tail

    low, high = 0.0, _NODES * step
    while missing(high):
        low, high = high, 2 * high
        if low > most * step:
            return low  # more than can be paid for
    for _ in range(5):
        middle = (low + high) / 2
        low, high = (middle, high) if missing(middle) else (low, middle)
    return high


def guarded(
    solve: Callable[[], Enclosure], trivial: Enclosure, short: str = "no contour was found"
) -> Enclosure:
    """The answer within ``trivial``: all that is left of parameters that cannot be planned with."""
    reason = _EXTREME
    try:
        with np.errstate(all="ignore"):  # infinities and NaN in float planning are handled there
            return trivial.meet(solve())
    except TooExpensive as error:
        reason = str(error)
    except (ArithmeticError, ValueError):
        pass
    return trivial.short(f"{short}: {reason}")
