"""Epsilon along a training run: neighbouring numbers of repetitions share one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from flint import arb

from dpexact.accounting.contour.inversion import Contour
from dpexact.accounting.contour.many import bracketed, digits_of_delta
from dpexact.accounting.contour.planning import Query, planned
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.profile import Repeatable
from dpexact.balls import ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_LARGEST_SPREAD = 3
_NEIGHBOURS = 5


class ContourCurve(Repeatable):
    """The repetitions of a profile."""

    def __init__(self, profile: ContourProfile) -> None:
        self.profile = profile

    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        if delta.fraction != 0 and not self.profile.infinite.masses:
            with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
                return epsilon_curve(self.profile, repeats, delta, digits)
        # edge cases, or a number of repetitions that cannot be planned
        return [self.profile.varied(repeat=repeat).epsilon(delta, digits) for repeat in repeats]


def epsilon_curve(
    profile: ContourProfile, repeats: Sequence[int], delta: Real, digits: int
) -> list[Enclosure]:
    """Epsilon at each number of repetitions, as narrow as was certified.

    Raises:
        ArithmeticError, ValueError: floats do not reach to begin with one of them.
    """
    results: dict[int, Enclosure] = {}
    solved: list[tuple[int, float]] = []
    distinct = sorted(set(repeats))
    for group in groups(distinct):
        logs = [(n, profile.varied(repeat=n).log_delta(delta)) for n in _spread(group)]
        queries = [Query(profile.product.epsilon(log, t), t, log) for t, log in logs]
        ends = [(query.repeat, query.epsilon) for query in queries]
        # proposes: which repetitions place the shared line; any line is valid
        probes = [query for query in queries if query.epsilon > 0]
        shared = _shared_line(profile, probes, digits)
        for repeat in group:
            near = extrapolated(solved, repeat)
            # proposes: a root; `bracketed` returns only what balls bracket around it
            if shared is not None and near > 0:
                quick = _checked(shared, delta, repeat, near, 10.0**-digits)
                if quick is not None:
                    results[repeat], root = quick
                    solved = [*solved[1 - _NEIGHBOURS :], (repeat, root)]
                    continue
            # proposes: where the search begins
            near = near or _interpolated(ends, repeat)
            found = profile.varied(repeat=repeat).solved_epsilon(delta, digits, near, shared)
            results[repeat] = found
            if found.digits < digits:
                solved = []
                continue
            root = float(found.lower + found.upper) / 2
            solved = [*solved[1 - _NEIGHBOURS :], (repeat, root)]
    return [results[repeat] for repeat in repeats]


def groups(repeats: Sequence[int]) -> list[list[int]]:
    """Cut a sorted sequence of repetitions where it grows too much to share a line."""
    found: list[list[int]] = []
    for repeat in repeats:
        if not found or repeat > _LARGEST_SPREAD * found[-1][0]:
            found.append([])
        found[-1].append(repeat)
    return found


def _spread(members: Sequence[int]) -> list[int]:
    """Both ends of a sequence and two points between."""
    last = len(members) - 1
    return [members[i] for i in sorted({0, last // 3, 2 * last // 3, last})]


def _shared_line(profile: ContourProfile, probes: list[Query], digits: int) -> Contour | None:
    """One line meant for all queries, or None when no single one serves them."""
    if len(probes) < 2:
        return None
    product = profile.product
    # proposes: the accuracy of the line
    wanted = max(digits_of_delta(product, query, digits) for query in probes)
    try:
        plan = planned(product, probes, wanted, profile.max_work)
        with precision(plan.bits):
            return Contour(product, plan)
    except TooExpensive:
        return None


def _checked(
    contour: Contour, delta: Real, repeat: int, near: float, width: float
) -> tuple[Enclosure, float] | None:
    """The bracket around ``near`` if that is already the root, and about the root within it."""
    try:
        with precision(contour.plan.bits):
            (found,) = bracketed(contour, [ball(delta)], repeat, [arb(near)], width)
            return found
    except TooExpensive:
        return None


def _interpolated(ends: Sequence[tuple[int, float]], repeat: int) -> float:
    """Proposes: an estimate, by linear interpolation between those at the ends."""
    (low, value), *others = ends
    for high, following in others:
        if repeat <= high:
            return value + (following - value) * (repeat - low) / (high - low)
        low, value = high, following
    return value


def extrapolated(solved: Sequence[tuple[int, float]], repeat: int) -> float:
    """The polynomial through the solved points, in the square root of repetitions; else zero."""
    if len(solved) < 3:
        return 0.0
    at = math.sqrt(repeat)
    roots = [math.sqrt(t) for t, _ in solved]
    values = [value for _, value in solved]
    for width in range(1, len(solved)):  # Neville's scheme
        for i in range(len(solved) - width):
            left, right = roots[i], roots[i + width]
            rise = (at - left) * values[i + 1] - (at - right) * values[i]
            values[i] = rise / (right - left)
    return max(0.0, values[0])
