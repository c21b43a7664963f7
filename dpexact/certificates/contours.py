"""Proposes: plans of contour integrals, which the checker with MPFR judges by what comes out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.planning import Plan, Query, planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.coin import Coin
from dpexact.accounting.pairs.mixture import GaussianMixtures, Mixtures, one_shift
from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.pairs.shifts import Outline
from dpexact.accounting.pairs.sums.mixture_rules import Rule, Shape
from dpexact.arguments import Direction
from dpexact.certificates.cells import (
    Box,
    Goal,
    box_of,
    cells_of,
    log_moments,
    short_number,
    written,
)
from dpexact.kept import cached_property
from dpexact.mechanisms.grammar import parse
from dpexact.reals import rational

#: Digits asked of a plan on top of those of the bounds, in turn.
_SPARE: Final = (2, 6, 14)
#: How much smaller the logarithm of a delta is of which few digits do.
_SMALLER: Final = 1.0
_GUARD_BITS: Final = 48
_SPARE_LOG: Final = 12.0
_MAX_WORK: Final = 3_000_000
#: By how much a period is made longer, and when that ends.
_LONGER: Final = 1.1
_LONGEST: Final = 1e6
#: Minus the logarithm of the error of the bounds of all steps of a cell.
_COARSE: Final = 3.0


class NoPlan(Exception):
    """Floats cannot plan it, or not within the work of the checker."""


def plans(
    steps: checker.Steps, ways: tuple[str, ...], points: Sequence[Fraction], digits: int
) -> Iterator[tuple[dict[str, Any], int]]:
    """Plans for delta at ``points`` to about ``digits`` digits, finer ones later, and the bits.

    The larger delta of the directions is the answer: of one that seems smaller few digits come
    first.

    Raises:
        NoPlan: see there.
    """
    try:
        box = box_of(steps)
        facing = [_Facing(steps, box, way, list(map(float, points))) for way in ways]
        logs = [each.log_delta for each in facing]
        told = not any(each.misleads for each in facing)
        smaller = [told and -math.inf < log < max(logs) - _SMALLER for log in logs]
        for spare, few in [(_SPARE[0], True)] * any(smaller) + [(x, False) for x in _SPARE]:
            found, bits = {}, 32
            for way, each, less in zip(ways, facing, smaller, strict=True):
                found[way], needed = each.plan(spare + digits * (not (few and less)))
                bits = max(bits, needed)
            yield found, bits
    except (TooExpensive, ArithmeticError, ValueError) as error:
        raise NoPlan(f"no plan for a contour integral: {error}") from None


class _Facing:
    """The steps in one direction, at the points where delta is asked."""

    def __init__(self, steps: checker.Steps, box: Box | None, way: str, near: list[float]) -> None:
        self.steps, self.box, self.way, self.near = steps, box, way, near
        self.adds = way == "add"
        self.boxed = self._pairs_but(set(box.names) if box else set())
        self.whole = self._product(leaf.step for leaf in box.leaves) if box else self._product(())

    def _pairs_but(self, names: set[str]) -> list[tuple[Pair, int]]:
        return [
            (pair, n * times)
            for text, n in self.steps.items()
            if text not in names
            for pair, times in _pairs(text, "add" if self.adds else "remove")
        ]

    def _product(self, rows: Iterable[tuple[float, float, int]]) -> Product:
        return Product((*self.boxed, *((_sampled(q, s, self.adds), n) for q, s, n in rows)))

    @cached_property
    def _is_nothing(self) -> bool:
        """Whether no loss is above the points."""
        return self.adds and _largest(self.whole.factors) <= min(self.near)

    @cached_property
    def log_delta(self) -> float:
        """About the logarithm of delta at the first point."""
        # proposes: how many digits are planned
        return -math.inf if self._is_nothing else self.whole.saddle(self.near[0], 1)[1]

    @property
    def misleads(self) -> bool:
        """Whether that may be far off."""
        return not self._is_nothing and self.whole.misleads(self.near[0], 1)

    def plan(self, digits: int) -> tuple[dict[str, Any] | str, int]:
        """The plan, in which rows of the box are taken together where that is cheap, and bits."""
        if self._is_nothing:
            return "no larger loss", 64 + 4 * digits
        way, near, box = self.way, self.near, self.box
        plan = planned([(self.whole, Query(x, 1)) for x in near], digits, _MAX_WORK)
        if box is None:
            rules = _Rules(self.whole, way, plan, near, digits)
            return rules.written([pair for pair, _ in self.boxed]), plan.bits + _GUARD_BITS
        worse = self._product(corner for leaf in box.leaves for corner in leaf.corners())
        plan = _longer(plan, self.whole, worse, near, digits)
        cells = cells_of(box, _goal(box, plan, self.adds))
        rules = _Rules(worse, way, plan, near, digits)
        taken = {name for cell, *_ in cells for name in cell.names}
        found = rules.written([pair for pair, _ in self._pairs_but(taken)])
        found["cells"] = [rules.cell(*cell) for cell in cells]
        return found, plan.bits + _GUARD_BITS


def _goal(box: Box, plan: Plan, adds: bool) -> Goal:
    """What the plan asks of each row: less where the product of all moments is small."""
    kappa = -plan.abscissa if adds else 1 + plan.abscissa
    heights = plan.step * np.arange(plan.count + 1)
    logs = log_moments(box, kappa, heights).real
    # proposes: falls of what stands for the rows
    falls = np.minimum(logs[0] - logs, plan.accuracy)
    coarse = math.log(box.rows[:, 2].sum()) + _COARSE
    return Goal(kappa, heights, plan.accuracy - falls, plan.step * (plan.count + 1), coarse)


def _largest(composition: tuple[tuple[Pair, int], ...]) -> float:
    losses = [(step.largest_loss(), n) for step, n in composition]
    if any(loss is None for loss, _ in losses):
        return float("inf")
    return sum(float(loss.upper()) * n for loss, n in losses if loss is not None) * (1 + 1e-9)


def _pairs(text: str, way: Direction) -> list[tuple[Pair, int]]:
    """The pairs of a step, given as the text of the checker."""
    step = parse(checker.shown(json.loads(text)))
    return Composition.of(step.steps().items()).facing(way).everything(way)


def value(tree: Any) -> Fraction:
    """A rational near the value: plans need no more."""
    # proposes: the checker reads the numbers themselves
    found = checker.number(tree, checker.Arithmetic(128))
    return (found.lo + found.hi) / 2


def _longer(plan: Plan, product: Product, worse: Product, near: list[float], digits: int) -> Plan:
    """With a period that makes the aliases small where moments are those of ``worse``."""
    c, period = plan.abscissa, 2 * math.pi / plan.step
    goals = [product.saddle(x, 1)[1] - digits * math.log(10) - 2 for x in near]

    def is_long() -> bool:
        return all(
            worse.chernoff(x + period, 1)[1] + c * period <= goal
            and worse.below(x - period, 1)[1] - c * period <= goal
            for x, goal in zip(near, goals, strict=True)
        )

    while not is_long():
        period *= _LONGER
        if period > _LONGEST:
            raise TooExpensive("no period makes the aliases of cells small")
    step = float(short_number(2 * math.pi / period))
    return replace(plan, step=step, count=math.ceil(plan.height / step))


def _sampled(q: float, sigma: float, adds: bool) -> GaussianMixtures:
    mixed = one_shift(rational(Fraction(sigma)), rational(Fraction(q)), rational(0))
    return mixed.reverse if adds else mixed


class _Rules:
    """What a plan needs beside its line, and its text."""

    def __init__(
        self, product: Product, way: str, plan: Plan, near: list[float], digits: int
    ) -> None:
        self.plan, self.adds = plan, way == "add"
        period = 2 * math.pi / plan.step
        above, _ = product.chernoff(max(near) + period, 1)
        self.above = float(short_number(max(above, plan.abscissa + plan.step / 6)))
        goal = min(product.saddle(x, 1)[1] for x in near) - digits * math.log(10) - _SPARE_LOG
        self.below = float(short_number(_below(product, max(near) - period, goal)))

    def written(self, alone: list[Pair]) -> dict[str, Any]:
        """The text of the plan, without cells."""
        plan = self.plan
        parts = [pair for step in alone for pair in _parts(step) if isinstance(pair, Mixtures)]
        rules = [_rules(pair, self.adds, plan, self.above, self.below) for pair in parts]
        numbers = {"c": plan.abscissa, "h": plan.step, "above": self.above, "below": self.below}
        texts = {name: str(Fraction(value)) for name, value in numbers.items()}
        return {**texts, "count": str(plan.count), "rules": rules}

    def cell(self, box: Box, rule: list[str], tails: list[dict[str, Any]]) -> dict[str, Any]:
        """The text of a cell."""
        rules = _rules(
            _sampled(*box.corner, self.adds), self.adds, self.plan, self.above, self.below
        )
        moments = {role: rules[role] for role in ("moment", "above", "below")}
        return {"line": written(box, rule), "tails": tails, **moments}


def _below(product: Product, level: float, goal: float) -> float:
    """The order of the bound on what is unknown at ``level``, as small as ``e^goal`` allows.

    Where the loss has a least value the best one is without end, and so is its rule.
    """
    best, order = -product.below(level, 1)[0], 4.0
    while order < best and not product.reverse.cumulant(order - 1).value + order * level < goal:
        order *= 2
    return min(order, best)


def _parts(step: Pair) -> list[Pair]:
    return [pair for _, run in step.sides for pair, _ in run] if isinstance(step, Coin) else [step]


def _rules(
    step: Mixtures, swap: bool, plan: Plan, above: float, below: float
) -> dict[str, list[str]]:
    shape, back = _shape(step), _shape(step.reverse)
    c, coarse = plan.abscissa, plan.coarse
    level, shift = shape.decay(c)(plan.height)
    fine = coarse + max(0.0, shape.cumulants([c])[0].value - level)
    if below < 1:
        low = _texts(shape.positive(-below, coarse), swap)
    else:
        low = _texts(back.positive(below - 1, coarse), not swap)
    return {
        "line": _texts(shape.oblique(c, plan.accuracy), swap),
        "moment": _texts(shape.positive(c, coarse), swap),
        "tail": _texts(shape.positive(c, fine, shift), swap),
        "above": _texts(shape.positive(above, coarse), swap),
        "below": low,
    }


def _shape(step: Mixtures) -> Shape:
    """Of the strip and the bound that the checker knows, which are those of any rates."""
    up, down = (Outline(side.outline.rates, side.outline.logs) for side in step.shifts)
    return Shape(up, down, plain=True)


def _texts(rule: Rule, reflected: bool) -> list[str]:
    """A rule as text; the record that is added enters by a wave to the right for the checker."""
    ends = (-rule.last, -rule.first) if reflected else (rule.first, rule.last)
    numbers = [short_number(x) for x in (rule.shift, rule.edge, rule.spacing)]
    return [*map(str, numbers), *map(str, ends)]
