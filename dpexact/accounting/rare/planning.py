"""Choice of the windows, of the line and of the rules, in floats.

Proposes: plans; whatever they are, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.contour.product import log_chernoffs
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.accounting.rare.law import Rule
from dpexact.accounting.rare.picture import (
    Picture,
    Question,
    RowPicture,
    crossing,
    log_sum,
    steep_orders,
)
from dpexact.accounting.rare.rules import ANGLES, heights, last_cell, oblique_rule, real_rule
from dpexact.accounting.rare.windows import Window

#: Widths of cells, over ``sigma``, where windows fall and where losses are small; and where no
#: small losses are apart.
_APART, _TOGETHER = (0.06, 0.15), (0.09, 0.25)
#: How far below the fall of a window cells are wide; bounds on widths elsewhere, and how far on the
#: right of what matters cells stay narrow.
_TURN, _LEFT, _RIGHT, _STEEP, _PLACES = 1.5, 16.0, 5.0, 3.0, 400
_NARROWEST, _WIDEST, _RISEN = 0.02, 1.5, 0.7
#: Abscissas tried, over the gap; those beyond the second where windows are narrow beside it.
_TRIALS, _STEEPEST = np.geomspace(0.02, 1e12, 86), 105.0
#: By how much more, as the square of a normal number, cells begin before what they bound.
_BEYOND = 16.0
#: The logarithm of what floats resolve.
_FLOAT = 35.0
#: By how much a line is longer than floats have it, as cells bound what is beyond.
_HIGHER = 1.02
#: A plan of this work, some milliseconds, is not compared with another.
_LITTLE_WORK = 80_000
#: Bits beyond those that errors ask for.
_SPARE = 25
#: By what power of e some errors are planned smaller than others: floats know them less well.
_SURE = 3.0


@dataclass(frozen=True)
class RowPlan:
    """What is of each row: the height of its decay, over ``sigma``, its rules and its cells."""

    angle: float
    near_rule: Rule | None
    rule: Rule
    #: For the masses of what is far and, beside what is near, in the middle.
    real_rules: tuple[Rule, Rule]
    edges: tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that fixes an evaluation: it decides width and cost, never truth."""

    add: bool
    near: Window | None
    middle: Window
    far: Window
    abscissa: float
    step: float
    count: int
    #: The orders of the bounds on what is far, near, and beyond the period, above and below; the
    #: last is 0 where the period exceeds the gap, and nothing is below.
    orders: tuple[float, float, float, float]
    rows: tuple[RowPlan, ...]
    bits: int
    #: Those of the masses of what is far.
    far_bits: int
    work: float


def cheapest(
    ask: Question, log_tolerance: float, in_floats: bool = False, like: Plan | None = None
) -> Plan:
    """Of two plans, with small losses apart and without; ``like`` another where that can be.

    Raises:
        TooExpensive: no such plan, or floats do not reach to find it.
    """
    found: list[Plan] = []
    reason = ""
    for with_near in (False, True) if like is None else (like.near is not None,):
        # proposes: which plans are made
        if found and found[0].work < _LITTLE_WORK:
            break
        try:
            found.append(planned(ask, log_tolerance, shape_for(ask), with_near, in_floats))
        except TooExpensive as error:
            reason = str(error)
    # proposes: which plan; any encloses
    if not found:
        # proposes: likewise
        if like is not None:
            return cheapest(ask, log_tolerance, in_floats)
        raise TooExpensive(reason)
    return min(found, key=lambda plan: plan.work)


def shape_for(ask: Question) -> int:
    """About the best ``k``: wide windows where losses are large and there is room for them."""
    return 10 if ask.gap > 100 else 30 if ask.gap > 2 else 60


def planned(
    ask: Question, log_tolerance: float, shape: int, with_near: bool, in_floats: bool = False
) -> Plan:
    """A plan whose errors are about ``e^log_tolerance``, ``in_floats`` too where it can be.

    Raises:
        TooExpensive: no such plan, or floats do not reach to find it.
    """
    with np.errstate(all="ignore"):
        try:
            return _planned(Picture(ask, shape), log_tolerance, with_near, in_floats)
        except (ArithmeticError, ValueError) as error:
            raise TooExpensive(f"no windows were found: {error}") from None


def _planned(picture: Picture, tolerance: float, with_near: bool, in_floats: bool) -> Plan:
    ask, shape, rows = picture.ask, picture.shape, picture.rows
    gap, heaviest = ask.gap, ask.heaviest
    far = picture.far_scale(tolerance - _SURE)
    near = picture.near_scale(tolerance - _SURE) if with_near else None
    if with_near and near is None:
        raise TooExpensive("small losses matter")
    if near is not None:
        near = min(near, far - 0.2)
    high = math.exp(far)

    def moments(row: RowPicture, order: float | Floats, cell: float = 0.0) -> tuple[Floats, Floats]:
        """``log`` of about the moments of what is inside and in the middle, or of their bounds."""
        orders = 1 + np.asarray(order)
        tilted = row.density + np.multiply.outer(orders, row.loss)
        # windows at the left ends of cells, and chords, raised to the power of the count
        if cell:
            slopes = np.multiply.outer(cell * orders, -np.expm1(-row.loss))
            tilted += np.log1p(slopes**2 / 12)
        every = log_sum(tilted + row.window(far, None, -cell))
        if near is None:
            return every, every
        return every, log_sum(tilted + row.window(far, near, -cell))

    def moment(order: float | Floats, cell: float = 0.0) -> Floats:
        """Likewise of what is neither far nor all near."""
        inside, middle = zip(*(moments(row, order, cell) for row in rows), strict=True)
        return picture.product(inside) if near is None else picture.with_some(middle, inside)

    # the line and the period
    uppers = steep_orders(far)
    cells = _TOGETHER if near is None else _APART
    over = log_chernoffs(uppers) + moment(uppers, cells[0]) - uppers * ask.least - tolerance
    trials = _TRIALS[max(_STEEPEST, 0.5 * gap / high) > _TRIALS] / gap
    lines = trials if not ask.add else -1 - trials
    peaks = moment(lines) - lines * heaviest - np.log(trials * (trials + 1))
    lowers = picture.back_orders
    under = log_chernoffs(lowers) + moment(-1 - lowers) + (1 + lowers) * gap - (tolerance - _SURE)
    # a line of floats serves neighbouring gaps
    whole = (1.2 if in_floats else 1.02) * gap
    places, far_away = lines[:, None], 0.02 * min(1 / high, uppers[-1])
    apart = np.where(uppers > places + far_away, uppers - places, np.nan)
    tops = np.where(np.isnan(apart), np.inf, over / apart)
    at = np.argmin(tops, axis=1)[:, None]
    least, room = (np.take_along_axis(x, at, 1)[:, 0] for x in (tops, apart))
    periods = 1.05 * least + 0.05 / room
    steep = np.where(places + 1 + lowers > 0.02 / gap, places + 1 + lowers, np.nan)
    shorter = np.where(np.isnan(steep), np.inf, under / steep)
    below = np.argmin(shorter, axis=1)
    shortest = shorter.min(axis=1)
    least_periods = np.where(shortest < 0.8 * gap, 1.05 * shortest, whole)
    periods = np.maximum(np.maximum(periods, least_periods), 0.01 * gap)
    scores = periods * np.maximum(10.0, peaks - tolerance) ** 0.6
    if in_floats:  # the sum must not exceed delta by more than floats resolve
        scores *= np.exp((peaks - tolerance - _FLOAT + math.log(ask.count)).clip(0.0, 300.0))
    best = int(np.nanargmin(scores))
    if not math.isfinite(scores[best]):
        raise TooExpensive("no line")
    abscissa, period, peak = (float(v[best]) for v in (lines, periods, peaks))
    upper = float(uppers[at[best, 0]])
    lower = float(lowers[below[best]]) if shortest[best] < 0.8 * gap and period < whole else 0.0
    step = short(2 * math.pi / period)
    abscissa = short(abscissa)
    rho = 1 + abscissa

    # the height
    angles = ANGLES[:, None]
    turns = [np.log(1 + np.exp(1j * angles) * np.exp(row.ratio)) for row in rows]
    plains = [
        row.density + (angles * row.sigma) ** 2 / 2 + rho * turned.real
        for row, turned in zip(rows, turns, strict=True)
    ]
    bases = [plain + heights(row, far, near) for row, plain in zip(rows, plains, strict=True)]
    withins = [log_sum(row.density + rho * row.loss + row.window(far, None)) for row in rows]
    fixed = [np.maximum(within, 0.0) for within in withins]

    def decays(u: float) -> list[Floats]:
        """At each of the angles."""
        return [log_sum(base - u * turned.imag) for base, turned in zip(bases, turns, strict=True)]

    def tail(u: float) -> float:
        least = [logs.min() for logs in decays(u)]
        decayed = picture.product(least) if near is None else picture.with_some(least, fixed)
        return float(decayed) - abscissa * heaviest - math.log(math.pi * u)

    low_u, high_u = math.log(0.5 / gap), math.log(1e8 / gap)
    if not tail(math.exp(high_u)) <= tolerance:
        raise TooExpensive("the moments decay too slowly")
    tallest = tail(math.exp(low_u)) + 1

    def longer(log_u: float) -> float:
        """Falls about evenly, as tails are powers of e whose exponents are powers of u."""
        return math.log((tallest - tolerance) / (tallest - tail(math.exp(log_u))))

    high_u = crossing(longer, low_u, high_u, 0.02) if tallest - 1 > tolerance else low_u
    top = math.exp(high_u) * _HIGHER
    nodes = max(2, math.ceil(top / step))

    # the rules
    # the kernel 1/(s(s+1)) integrates to about 1/c along the line
    scale = float(picture.product(withins)) - abscissa * heaviest
    scale -= math.log(max(1.0, abs(abscissa)))
    near_order = picture.near_bound(near)[1] if near is not None else 0.5 / high
    far_order = picture.far_bound(picture.back_orders, far)[1]
    # the masses under Q count e^gap times; of removing in the middle only in aliases
    exact = gap - tolerance
    aliased = exact if ask.add else max(0.0, gap - rho * period) - tolerance
    spread = near if near is not None else far
    found, bits, far_bits, work, far_nodes = [], 0, 0, 0.0, 0
    for row, within, plain, base, decayed in zip(
        rows, withins, plains, bases, decays(top), strict=True
    ):
        level, many = int(np.argmin(decayed)), row.times * len(rows)
        alone, log_many = scale - float(within), math.log(many)
        fine = max(alone - tolerance, 8.0) + log_many + 2.5
        rough = max(peak - tolerance, 8.0) + log_many + 6
        rule, lost = oblique_rule(row, (far, near), rho, base, fine)
        near_rule, nodes_x = None, rule.last - rule.first
        if near is not None:
            risen = plain + heights(row, near, None)
            near_rule, more = oblique_rule(row, (near, None), rho, risen, rough)
            nodes_x += near_rule.last - near_rule.first
            lost = max(lost, more)
        mass = between = real_rule(row, (None, far), rule.angle, max(exact, 8.0) + log_many + 4)
        if near is not None:
            between = real_rule(row, (far, near), rule.angle, max(aliased, 8.0) + log_many + 4)
        bits = max(bits, _bits(max(fine, rough, aliased) + lost))
        far_bits = max(far_bits, _bits(exact + lost))
        log_least = math.log(0.01) - math.log(max(near_order, upper, far_order, lower, top) * many)
        # where much noise makes all losses of a row alike, cells lie where its law is, and begin
        # where its mass is below all that is bounded
        low = float(moments(row, -1 - lower)[0]) if lower and near is None else 0.0
        back = float(log_sum(row.density - far_order * row.loss))
        smallest = max(fine + (ANGLES[level] * row.sigma) ** 2 / 2, -low, -back)
        leftmost = row.start - math.sqrt(2 * smallest + _BEYOND) / row.sigma
        last = min(last_cell(row, far), float(row.ratio[-1]))
        first = max(min(log_least, spread + math.log(shape) - 3), leftmost)
        ends = min(first, last - 1 / row.sigma), last
        falls = [x + math.log(shape) for x in (near, far) if x is not None]
        flat = np.zeros_like(row.ratio)
        bounded = [
            (upper, flat),
            (near_order, flat),
            (-far_order, flat),
            (-top * math.sin(ANGLES[level]), base[level] - row.density - decayed[level]),
        ]
        # proposes: likewise
        if lower:
            bounded.append((-lower, flat - low))
        edges = _edges(row, many, ends, falls, cells, bounded)
        found.append(RowPlan(float(ANGLES[level]), near_rule, rule, (mass, between), edges))
        work += nodes_x * (nodes + 40 + shape / 4)
        far_nodes += mass.last - mass.first
    work = (work + 30 * nodes) * max(1.0, bits / 128) ** 1.3
    work += far_nodes * (40 + shape / 4) * max(1.0, far_bits / 128) ** 1.3
    return Plan(
        add=ask.add,
        near=None if near is None else Window(shape, high=math.exp(near)),
        middle=Window(shape, high=high, low=None if near is None else math.exp(near)),
        far=Window(shape, low=high),
        abscissa=abscissa,
        step=step,
        count=nodes,
        orders=(far_order, near_order, upper, lower),
        rows=tuple(found),
        bits=bits,
        far_bits=max(bits, far_bits),
        work=work,
    )


def _bits(wanted: float) -> int:
    """Of an error of ``e^-wanted``."""
    return math.ceil(wanted / math.log(2)) + _SPARE


def _edges(
    row: RowPicture,
    many: int,
    ends: tuple[float, float],
    falls: Sequence[float],
    widths: tuple[float, float],
    moments: Sequence[tuple[float, Floats]],
) -> tuple[float, ...]:
    """Places that bound cells, narrow where windows fall, about ``falls``.

    Elsewhere as wide as chords are close to what they bound: ``moments`` are orders, and the
    logarithms of windows over about the moment of each. A chord of a power of ``1 + lambda`` adds
    an eighth of the square of the order times the width, times the mass.
    """
    narrow, wide = widths
    at = np.linspace(*ends, _PLACES)
    loss, x = np.logaddexp(0.0, at), row.sigma * (at - row.start)
    share = -np.expm1(-loss)
    bends = [
        2 * np.log(abs(order) * share)
        + np.minimum(order * loss, _STEEP)
        + np.interp(at, row.ratio, logs)
        for order, logs in moments
    ]
    density = math.log(many * row.sigma / math.sqrt(2 * math.pi)) - x * x / 2
    needed = density + np.max(bends, axis=0)
    # on the right of where it matters a chord that falls meets a density that rises
    needed = np.maximum(needed, np.interp(x - _RISEN, x, needed))
    chords = np.exp(-needed / 3).clip(_NARROWEST, _WIDEST)
    # what is far falls steeply on its left
    starts = [fall - 1 if fall == falls[0] else fall - _LEFT for fall in falls]
    sides = (np.maximum(x - at, at - fall - _RIGHT) for x, fall in zip(starts, falls, strict=True))
    away = np.maximum(0.0, np.min([*sides], axis=0) / _TURN)
    falling = np.minimum(chords, narrow + (wide - narrow) * away)
    rates = 1 / np.where(away > 1, chords, falling)
    number = np.cumsum(rates) * (at[1] - at[0])
    places = np.linspace(number[0], number[-1], math.ceil(number[-1]) + 1)
    return tuple(np.interp(places, number, x).tolist())
