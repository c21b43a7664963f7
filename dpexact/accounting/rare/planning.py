"""Choice of the windows, of the line and of the rules, in floats.

Proposes: plans; whatever they are, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.contour.product import log_chernoffs
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.accounting.rare.edges import cell_edges
from dpexact.accounting.rare.picture import (
    CELL,
    Picture,
    Question,
    RowPicture,
    crossing,
    log_sum,
)
from dpexact.accounting.rare.plan import Plan, RowPlan
from dpexact.accounting.rare.rules import (
    ANGLES,
    POWER_ANGLES,
    heights,
    last_cell,
    oblique_rule,
    power_rule,
    powered,
    real_rule,
    turned_losses,
)
from dpexact.accounting.rare.windows import Window

#: The width of cells where losses are small, over ``sigma`` and the inverse root.
_WIDE = 0.25
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
#: Noise, and gaps, at which the widest windows are taken first, their shape, and the largest root.
_LOUD, _ROOM, _WIDE_SHAPE, _ROOT = 0.15, 100.0, 60, 0.5
#: Bits beyond those that errors ask for.
_SPARE = 25
#: Logarithm of what the largest order times a tiny loss is below, and most powers.
_TINY, _MOST_TERMS = 3.0, 40
#: By what power of e some errors are planned smaller than others: floats know them less well.
_SURE = 3.0


def cheapest(
    ask: Question, log_tolerance: float, in_floats: bool = False, like: Plan | None = None
) -> Plan:
    """Of two plans, with small losses apart and without; ``like`` another where that can be.

    Or that of the widest windows, where noise is little and there is room for them.

    Raises:
        TooExpensive: no such plan, or floats do not reach to find it.
    """
    found = _widest(ask, log_tolerance, in_floats)
    reason = ""
    # proposes: which plans are made
    if found:
        return found[0]
    for with_near in (False, True) if like is None else (like.near is not None,):
        # proposes: which plans are made
        if found and found[0].work < _LITTLE_WORK:
            break
        try:
            windows = shape_for(ask), 1.0, with_near
            found.append(planned(ask, log_tolerance, *windows, in_floats))
        except TooExpensive as error:
            reason = str(error)
    # proposes: which plan; any encloses
    if not found:
        # proposes: likewise
        if like is not None:
            return cheapest(ask, log_tolerance, in_floats)
        raise TooExpensive(reason)
    return min(found, key=lambda plan: plan.work)


def _widest(ask: Question, log_tolerance: float, in_floats: bool) -> list[Plan]:
    """A plan with the widest windows that there is room for, if any; floats have no powers."""
    if max(row.sigma for row in ask.rows) > _LOUD or ask.gap < _ROOM:
        return []
    root = 2.0 ** math.floor(math.log2(min(row.sigma for row in ask.rows)))
    while root <= _ROOT:
        with suppress(TooExpensive):
            windows = _WIDE_SHAPE, root, True
            return [planned(ask, log_tolerance, *windows, in_floats, not in_floats)]
        root *= 2
    return []


def shape_for(ask: Question) -> int:
    """About the best ``k``: wide windows where losses are large and there is room for them."""
    return 10 if ask.gap > 100 else 30 if ask.gap > 2 else 60


def planned(
    ask: Question,
    log_tolerance: float,
    shape: int,
    root: float,
    with_near: bool,
    in_floats: bool = False,
    by_powers: bool = False,
) -> Plan:
    """A plan whose errors are about ``e^log_tolerance``, ``in_floats`` too where it can be.

    ``by_powers`` sums powers of tiny and of large losses.

    Raises:
        TooExpensive: no such plan, or floats do not reach to find it.
    """
    with np.errstate(all="ignore"):
        try:
            picture = Picture(ask, shape, root)
            return _planned(picture, log_tolerance, with_near, in_floats, by_powers)
        except (ArithmeticError, ValueError) as error:
            raise TooExpensive(f"no windows were found: {error}") from None


def _planned(
    picture: Picture, tolerance: float, with_near: bool, in_floats: bool, by_powers: bool
) -> Plan:
    ask, shape, root, rows = picture.ask, picture.shape, picture.root, picture.rows
    gap, heaviest = ask.gap, ask.heaviest
    far = picture.far_scale(tolerance - _SURE)
    near = picture.near_scale(tolerance - _SURE) if with_near else None
    if with_near and near is None:
        raise TooExpensive("small losses matter")
    if near is not None:
        near = min(near, far - 0.2 / root)
    high, known = math.exp(far), ask.add or picture.far_mass(far) > tolerance - _SURE

    def moments(row: RowPicture, order: float | Floats, cell: float = 0.0) -> tuple[Floats, Floats]:
        """``log`` of about the moments of what is inside and in the middle, or of their bounds."""
        orders = 1 + np.asarray(order)
        tilted = row.density + np.multiply.outer(orders, row.loss)
        # windows at the left ends of cells, and chords, raised to the power of the count
        if cell:
            slopes = np.multiply.outer(cell * orders, -np.expm1(-row.loss))
            tilted += np.log1p(slopes**2 / 12)
        every = log_sum(tilted + row.window(far, None, -root * cell))
        if near is None:
            return every, every
        return every, log_sum(tilted + row.window(far, near, -root * cell))

    def moment(order: float | Floats, cell: float = 0.0) -> Floats:
        """Likewise of what is neither far nor all near."""
        inside, middle = zip(*(moments(row, order, cell) for row in rows), strict=True)
        return picture.product(inside) if near is None else picture.with_some(middle, inside)

    # the line and the period
    uppers = picture.steep_orders(far)
    cells = CELL / root, _WIDE / root
    over = log_chernoffs(uppers) + moment(uppers, cells[0]) - uppers * ask.least - tolerance
    trials = _TRIALS[max(_STEEPEST, 0.5 * gap / high, gap if root < 1 else 0.0) > _TRIALS] / gap
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
    periods = np.maximum(np.maximum(periods, least_periods), 1e-4 * gap)
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
    turns = [turned_losses(row, angles) for row in rows]
    plains = [
        row.density + (angles * row.sigma) ** 2 / 2 + rho * turned.real
        for row, turned in zip(rows, turns, strict=True)
    ]
    heavy = [plain + heights(row, far, near) for row, plain in zip(rows, plains, strict=True)]
    falling = [turned.imag for turned in turns]
    withins = [log_sum(row.density + rho * row.loss + row.window(far, None)) for row in rows]
    smalls = []
    if near is not None:
        smalls = [log_sum(row.density + rho * row.loss + row.window(near, None)) for row in rows]

    def height(
        bases: Sequence[Floats], falls: Sequence[Floats], most: float
    ) -> tuple[float, list[Floats]]:
        """Where the line may end, and what the middle has there at each of the angles."""

        def decays(u: float) -> list[Floats]:
            return [log_sum(base - u * fall) for base, fall in zip(bases, falls, strict=True)]

        def tail(log_u: float) -> float:
            least = [logs.min() for logs in decays(math.exp(log_u))]
            moduli = [np.logaddexp(*logs) for logs in zip(smalls, least, strict=False)]
            decayed = picture.with_some(least, moduli) if moduli else picture.product(least)
            return float(decayed) - abscissa * heaviest - math.log(math.pi) - log_u

        top = _until(tail, math.log(0.5 / gap), math.log(most), tolerance) * _HIGHER
        return top, decays(top)

    top, lowest = height(heavy, falling, 1e8 / gap)
    beyond, tiny, steep = top, None, POWER_ANGLES / root
    power_angles = [0.0] * len(rows)
    if by_powers:
        bases = [powered(row, (far, near), rho) for row in rows]
        top, decayed = height(bases, [steep[:, None]] * len(rows), top)
        power_angles = [float(steep[np.argmin(logs)]) for logs in decayed]
        # where losses are so small that their powers fall soon
        reach = math.log(top + abs(rho) + 1)
        tiny = -reach - _TINY - (math.log(shape) + 1) / root
    nodes = max(2, math.ceil(top / step))
    most = max(nodes, math.ceil(beyond / step))

    # the rules
    # the kernel 1/(s(s+1)) integrates to about 1/c along the line
    log_line = math.log(max(1.0, abs(abscissa)))
    scale = float(picture.product(withins)) - abscissa * heaviest - log_line
    near_order = picture.near_bound(near)[1] if near is not None else 0.5 / high
    far_order = picture.far_bound(picture.back_orders, far)[1]
    # the masses under Q count e^gap times; of removing in the middle only in aliases
    exact = gap - tolerance
    aliased = exact if ask.add else max(0.0, gap - rho * period) - tolerance
    scales = [x for x in (tiny, near, far) if x is not None]
    found, bits, far_bits, work, far_nodes = [], 0, 0, 0.0, 0
    for row, within, plain, base, decayed, power_angle in zip(
        rows, withins, plains, heavy, lowest, power_angles, strict=True
    ):
        level, many = int(np.argmin(decayed)), row.times * len(rows)
        alone, log_many = scale - float(within), math.log(many)
        fine = max(alone - tolerance, 8.0) + log_many + 2.5
        rough = max(peak + log_line - tolerance, 8.0) + log_many + 2.5
        near_rule, tiny_rule, terms, lost = None, None, (0, 0), 0.0
        if tiny is not None and near is not None:
            rule = power_rule(row, (far, near), rho, fine)
            tiny_rule = real_rule(row, (tiny, None), rough)
            small, large = row.density, row.density + rho * row.ratio
            terms = (
                _terms(rho, top, small + row.window(tiny, None), row.ratio, rough),
                _terms(rho, beyond, large + row.window(far, near), -row.ratio, fine),
            )
            nodes_x = terms[1] * (rule.last - rule.first)
        else:
            rule, lost = oblique_rule(row, (far, near), rho, base, fine)
            nodes_x = rule.last - rule.first
        if near is not None:
            risen = plain + heights(row, near, tiny)
            near_rule, more = oblique_rule(row, (near, tiny), rho, risen, rough)
            nodes_x += near_rule.last - near_rule.first
            lost = max(lost, more)
        between = real_rule(row, (None, far), max(exact, 8.0) + log_many + 4)
        mass = between if known else None
        if near is not None:
            between = real_rule(row, (far, near), max(aliased, 8.0) + log_many + 4)
        bits = max(bits, _bits(max(fine, rough, aliased) + lost))
        far_bits = max(far_bits, _bits(exact + lost) if known else bits)
        log_least = math.log(0.01) - math.log(
            max(near_order, upper, far_order, lower, beyond) * many
        )
        # where much noise makes all losses of a row alike, cells lie where its law is, and begin
        # where its mass is below all that is bounded
        low = float(moments(row, -1 - lower)[0]) if lower and near is None else 0.0
        back = float(log_sum(row.density - far_order * row.loss))
        smallest = max(fine + (ANGLES[level] * row.sigma) ** 2 / 2, -low, -back)
        leftmost = row.start - math.sqrt(2 * smallest + _BEYOND) / row.sigma
        last = min(last_cell(row, far), float(row.ratio[-1]))
        first = max(min(log_least, scales[0] + (math.log(shape) - 3) / root), leftmost)
        ends = min(first, last - 1 / row.sigma), last
        falls = [x + math.log(shape) / root for x in scales]
        flat = np.zeros_like(row.ratio)
        bounded = [
            (upper, flat),
            (near_order, flat),
            (-far_order, flat),
            (-beyond * math.sin(ANGLES[level]), base[level] - row.density - decayed[level]),
        ]
        # proposes: likewise
        if lower:
            bounded.append((-lower, flat - low))
        edges = cell_edges(row, many, ends, falls, cells, bounded)
        rules = near_rule, rule, (mass, between)
        found.append(RowPlan(float(ANGLES[level]), *rules, edges, tiny_rule, terms, power_angle))
        work += nodes_x * (nodes + 40 + shape / 4)
        far_nodes += 0 if mass is None else mass.last - mass.first
    work = (work + 30 * nodes) * max(1.0, bits / 128) ** 1.3
    work += far_nodes * (40 + shape / 4) * max(1.0, far_bits / 128) ** 1.3
    return Plan(
        add=ask.add,
        tiny=None if tiny is None else Window(shape, high=math.exp(tiny), root=root),
        near=None if near is None else Window(shape, high=math.exp(near), root=root),
        middle=Window(shape, high, None if near is None else math.exp(near), root),
        far=Window(shape, low=high, root=root),
        abscissa=abscissa,
        step=step,
        count=nodes,
        most=most,
        orders=(far_order, near_order, upper, lower),
        rows=tuple(found),
        bits=bits,
        far_bits=max(bits, far_bits),
        work=work,
    )


def _until(tail: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A height above which a tail is small enough; ``tail`` is its logarithm at a logarithm.

    Raises:
        TooExpensive: it is not between those.
    """
    if not tail(high) <= tolerance:
        raise TooExpensive("the moments decay too slowly")
    tallest = tail(low) + 1

    def longer(log_u: float) -> float:
        """Falls about evenly, as tails are powers of e whose exponents are powers of u."""
        return math.log((tallest - tolerance) / (tallest - tail(log_u)))

    return math.exp(crossing(longer, low, high, 0.02) if tallest - 1 > tolerance else low)


def _terms(rho: float, top: float, law: Floats, power: Floats, accuracy: float) -> int:
    """How many powers are summed, until what is left is small enough.

    Raises:
        ValueError: too many.
    """
    binomial = 0.0
    for k in range(1, _MOST_TERMS):
        binomial += math.log(abs(complex(rho - k + 1, top)) / k)
        if k >= rho and binomial + float(log_sum(law + k * power)) < -accuracy:
            return k
    raise ValueError("losses are neither tiny nor large")


def _bits(wanted: float) -> int:
    """Of an error of ``e^-wanted``."""
    return math.ceil(wanted / math.log(2)) + _SPARE
