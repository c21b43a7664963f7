"""Choice of the windows, of the rules and of the cells, in floats.

Proposes: plans; whatever they are, the inversion encloses delta or refuses.
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import product
from typing import NamedTuple

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.rare.edges import Edges
from dpexact.accounting.engines.rare.law import Rule
from dpexact.accounting.engines.rare.lines import (
    SURE,
    Height,
    Line,
    RowHeight,
    Scales,
    height_for,
    line_for,
    scales_for,
)
from dpexact.accounting.engines.rare.picture import Picture, Question, log_sum
from dpexact.accounting.engines.rare.plan import Plan, RowPlan
from dpexact.accounting.engines.rare.rules import (
    heights,
    oblique_rule,
    power_rule,
    real_rule,
)
from dpexact.accounting.engines.rare.windows import Window
from dpexact.accounting.pairs.pair import TooExpensive

#: A plan of this work, of whose making another takes a share, is not compared with that; gaps over
#: the largest loss of adding beyond which small losses are apart at first.
_LITTLE_WORK, _APART = 200_000, 5.5
#: The logarithm of a tolerance far in a tail, and shapes that are as good there and beyond.
DEEP = -70.0
_NARROWER = (DEEP, 240), (10 * DEEP, 960)
#: Noise, and gaps, at which the widest windows are taken first, their shape, and the largest root.
_LOUD, _ROOM, _WIDE_SHAPE, _ROOT = 0.15, 100.0, 60, 0.5
#: Noise above which the losses of a step are alike.
_ALIKE = 2.0
#: Bits beyond those that errors ask for.
_SPARE = 25
#: Most powers of tiny and of large losses.
_MOST_TERMS = 40


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
    apart = ask.gap > _APART * ask.top
    ways = (apart, not apart) if like is None else (like.near is not None,)
    shapes = shape_for(ask), *(shape for log, shape in _NARROWER if log_tolerance < log)
    for shape, with_near in product(shapes, ways):
        # proposes: which plans are made
        if found and min(plan.work for plan in found) < _LITTLE_WORK:
            break
        try:
            windows = shape, 1.0, with_near
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
    """A plan with the widest windows that there is room for, if any; floats have no powers.

    None so far in a tail that powers are dear.
    """
    plain = all(row.group == 1 and not row.replaced for row in ask.rows)
    plain &= log_tolerance > 2 * DEEP
    if not plain or max(row.sigma for row in ask.rows) > _LOUD or ask.gap < _ROOM:
        return []
    root = 2.0 ** math.floor(math.log2(min(row.sigma for row in ask.rows)))
    while root <= _ROOT:
        with suppress(TooExpensive):
            windows = _WIDE_SHAPE, root, True
            return [planned(ask, log_tolerance, *windows, in_floats, not in_floats)]
        root *= 2
    return []


def shape_for(ask: Question) -> int:
    """About the best ``k``: wide windows where losses are large, or so alike that there is room."""
    alike = min(row.sigma for row in ask.rows) > _ALIKE
    return 10 if ask.gap > 100 else 30 if ask.gap > 2 or alike else 60


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
    scales = scales_for(picture, tolerance, with_near)
    line = line_for(scales, tolerance, in_floats)
    height = height_for(scales, line, tolerance, by_powers)
    far, near, tiny, high = scales.far, scales.near, height.tiny, math.exp(scales.far)
    near_order = picture.near_bound(near)[1] if near is not None else 0.5 / high
    far_order = float(picture.back_orders[picture.far_bound(far)[1]])
    orders = far_order, near_order, line.upper, line.lower
    found = [_rules(scales, line, height, own, tolerance) for own in height.rows]
    rows = []
    for own, rules in zip(height.rows, found, strict=True):
        angle = float(own.row.law.angles[np.argmin(own.decayed)])
        strips = rules.rule, rules.near, rules.real[0]
        edges = Edges(scales, line, height, own).places(orders, angle, strips)
        some = rules.near, rules.rule, rules.real
        rows.append(RowPlan(angle, *some, edges, rules.tiny, rules.terms, own.power_angle))
    count = max(2, math.ceil(height.top / line.step))
    bits = max(rules.bits for rules in found)
    far_bits = max(bits, *(rules.far_bits for rules in found))
    shape, root, series = picture.shape, picture.root, 40 + picture.shape / 4
    work = sum(rules.nodes for rules in found) * (count + series) + 30 * count
    work *= max(1.0, bits / 128) ** 1.3
    masses = [rules.real[0] for rules in found]
    far_nodes = sum(mass.last - mass.first for mass in masses if mass is not None)
    work += far_nodes * series * max(1.0, far_bits / 128) ** 1.3
    return Plan(
        add=picture.ask.add,
        tiny=None if tiny is None else Window(shape, high=math.exp(tiny), root=root),
        near=None if near is None else Window(shape, high=math.exp(near), root=root),
        middle=Window(shape, high, None if near is None else math.exp(near), root),
        far=Window(shape, low=high, root=root),
        abscissa=line.abscissa,
        step=line.step,
        count=count,
        most=max(count, math.ceil(height.beyond / line.step)),
        orders=orders,
        rows=tuple(rows),
        bits=bits,
        far_bits=far_bits,
        work=work,
    )


class _Rules(NamedTuple):
    """Those of a row, how many nodes lines have, and the bits of what they leave."""

    rule: Rule
    near: Rule | None
    real: tuple[Rule | None, Rule]
    tiny: Rule | None
    terms: tuple[int, int]
    nodes: int
    bits: int
    far_bits: int


def _rules(scales: Scales, line: Line, height: Height, own: RowHeight, tolerance: float) -> _Rules:
    picture, far, near, tiny = scales.picture, scales.far, scales.near, height.tiny
    ask, row, rho = picture.ask, own.row, 1 + line.abscissa
    # the kernel 1/(s(s+1)) integrates to about 1/c along the line
    log_line = math.log(max(1.0, abs(line.abscissa)))
    scale = float(picture.product([each.within for each in height.rows]))
    alone = scale + float(ask.weight(line.abscissa)) - log_line - float(own.within)
    log_many = math.log(row.times * len(height.rows))
    fine = max(alone - tolerance, 8.0) + log_many + 0.5
    rough = max(line.peak + log_line - tolerance, 8.0) + log_many + 0.5
    near_rule, tiny_rule, terms, lost = None, None, (0, 0), 0.0
    if tiny is not None and near is not None:
        rule = power_rule(row, (far, near), rho, fine)
        tiny_rule = real_rule(row, (tiny, None), rough)
        small, large = row.density, row.density + rho * row.ratio
        terms = (
            _terms(rho, height.top, small + row.window(tiny, None), row.ratio, rough),
            _terms(rho, height.beyond, large + row.window(far, near), -row.ratio, fine),
        )
        nodes = terms[1] * (rule.last - rule.first)
    else:
        rule, lost = oblique_rule(row, (far, near), rho, own.base, fine)
        nodes = rule.last - rule.first
    if near is not None:
        risen = own.plain + heights(row, near, tiny)
        near_rule, more = oblique_rule(row, (near, tiny), rho, risen, rough)
        nodes += near_rule.last - near_rule.first
        lost = max(lost, more)
    # the masses under Q count e^gap times; of removing in the middle only in aliases
    exact = ask.gap - tolerance
    aliased = exact if ask.add else max(0.0, ask.gap - rho * line.period) - tolerance
    known = ask.add or picture.far_mass(far) > tolerance - SURE
    between = real_rule(row, (None, far), max(exact, 8.0) + log_many + 4)
    real = between if known else None, between
    if near is not None:
        real = real[0], real_rule(row, (far, near), max(aliased, 8.0) + log_many + 4)
    bits = _bits(max(fine, rough, aliased) + lost)
    far_bits = _bits(exact + lost) if known else bits
    return _Rules(rule, near_rule, real, tiny_rule, terms, nodes, bits, far_bits)


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
