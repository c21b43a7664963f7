"""Epsilon after the first steps of a run of steps that differ: prefixes share their lines.

Proposes: which line, and where a search begins; each prefix is answered by what the moments of its
own steps on that line enclose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from flint import arb

from dpexact.accounting.contour.curves import extrapolated
from dpexact.accounting.contour.inversion import Contour
from dpexact.accounting.contour.many import bracketed, digits_of_delta, solved
from dpexact.accounting.contour.planning import Plan, Query, planned
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.pair import short
from dpexact.balls import ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: By what factor prefixes that share a line may differ in length.
_SPREAD: Final = 2.0
#: Digits and bits beyond those of each alone, since the line is the best of none.
_SPARE: Final = 1
_SPARE_BITS: Final = 16
_NEIGHBOURS: Final = 5


def epsilons_along(
    prefixes: Sequence[tuple[int, ContourProfile]],
    delta: Real,
    digits: int,
    advance: Callable[[], None],
) -> list[Enclosure]:
    """Epsilon at ``0 < delta < 1`` of profiles of so many steps each, ever more of one run."""
    found: list[Enclosure] = []
    known: list[tuple[int, float]] = []
    while len(found) < len(prefixes):
        start, begun = prefixes[len(found)]
        group = [
            (steps, profile)
            for steps, profile in prefixes[len(found) :]
            if steps <= _SPREAD * start and _kinds(profile) == _kinds(begun)
        ]
        plan = _shared_plan([group[0][1], group[-1][1]], delta, digits)
        for place, (steps, profile) in enumerate(group):
            answer = None if plan is None else _on(plan, profile, delta, digits, steps, known)
            # proposes: another line, begun where the shared one no longer serves
            if answer is None and place:
                break
            answer = answer or profile.epsilon(delta, digits)
            if math.isfinite(answer.upper):
                known = [*known[1 - _NEIGHBOURS :], (steps, float(answer.lower + answer.upper) / 2)]
            found.append(answer)
            advance()
    return found


def _kinds(profile: ContourProfile) -> list[type]:
    return [type(pair) for pair, _ in profile.product.factors]


def _shared_plan(ends: Sequence[ContourProfile], delta: Real, digits: int) -> Plan | None:
    """One plan between those of the first and of the last."""
    plans = []
    try:
        with np.errstate(all="ignore"):
            for profile in ends:
                product, log_delta = profile.product, profile.log_delta(delta)
                query = Query(product.epsilon(log_delta, 1), 1, log_delta)
                wanted = digits_of_delta(product, query, digits) + _SPARE
                plans.append(planned(product, [query], wanted, profile.max_work))
    except (ArithmeticError, ValueError):
        return None
    first, last = plans
    if first == last:
        return first
    step = min(first.step, last.step)
    height = max(plan.step * plan.count for plan in plans)
    return replace(
        first,
        abscissa=short(math.sqrt(first.abscissa * last.abscissa)),
        step=step,
        count=math.ceil(height / step),
        accuracy=max(plan.accuracy for plan in plans),
        coarse=max(plan.coarse for plan in plans),
        bits=max(plan.bits for plan in plans) + _SPARE_BITS,
    )


def _on(
    plan: Plan,
    profile: ContourProfile,
    delta: Real,
    digits: int,
    steps: int,
    known: Sequence[tuple[int, float]],
) -> Enclosure | None:
    """Epsilon by the line of the plan; None where it does not serve."""
    width = 10.0**-digits
    try:
        with np.errstate(all="ignore"), precision(plan.bits):
            line, target = Contour(profile.product, plan), [ball(delta)]
            near = extrapolated(known, steps)
            # proposes: where to bracket
            if near > 0 and (quick := bracketed(line, target, 1, [arb(near)], width)[0]):
                return quick[0]
            near = near or profile.product.epsilon(profile.log_delta(delta), 1)
            if not near > 0:
                return None
            return solved(line, target, 1, [arb(near)], width)[0]
    except (ArithmeticError, ValueError):
        return None
