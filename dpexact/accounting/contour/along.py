"""Epsilon after ever more steps: neighbouring numbers of steps share their lines.

Proposes: which line, and where a search begins; each number of steps is answered by what the
moments of its own steps on that line enclose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from flint import arb

from dpexact.accounting.contour.inversion import Contour
from dpexact.accounting.contour.many import bracketed, digits_of_delta, solved
from dpexact.accounting.contour.planning import Plan, Query, planned
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.pair import short
from dpexact.accounting.profile import GLANCE, Profile
from dpexact.balls import approximate, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

Way: TypeAlias = Callable[[int], Profile]
"""The profile after so many steps, in one direction."""

_Found: TypeAlias = tuple[Enclosure, float]
"""An answer, and about the root within it."""

#: By what factor numbers of steps that share a line may differ.
_SPREAD: Final = 6
#: Digits and bits beyond those of each alone, since the line is the best of none.
_SPARE: Final = 1
_SPARE_BITS: Final = 16
_NEIGHBOURS: Final = 5
#: By what factor one direction is below the other where floats say so.
_CLEARLY: Final = 1.003


def epsilons_along(
    ways: Sequence[Way],
    counts: Sequence[int],
    delta: Real,
    digits: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Enclosure]:
    """The largest epsilon of the ``ways`` after each number of steps; wider where digits miss.

    The first way is asked all that is wanted, any other where what it says of more steps does not
    decide, as that bounds what it says of fewer.
    """
    first, *others = (cache(way) for way in ways)
    distinct = sorted(set(counts))
    size = len(distinct)

    def told(before: int) -> Callable[[int], None]:
        """Tells how many answers there are in all ways."""
        return lambda done: None if progress is None else progress(before + done, len(ways) * size)

    found = _along(first, distinct, delta, digits, told(0))
    for place, way in enumerate(others, 1):
        second = dict.fromkeys(distinct, Enclosure(Fraction(0), math.inf))
        before = place * size
        least = min(digits, GLANCE)
        for needed, few in ((least, True), (least, False), (digits, False)):
            close = [n for n in distinct if second[n].upper > found[n].lower]
            told(before)(size - len(close))
            close = [n for n in close if second[n].digits < needed]
            asked = _deciding(way, close, found, delta) if few else close
            second = _passed_down(second | _along(way, asked, delta, needed))
        told(before)(size)
        found = {n: found[n].larger(second[n]) for n in distinct}
    return [found[n] for n in counts]


def _passed_down(found: dict[int, Enclosure]) -> dict[int, Enclosure]:
    """What is known of each number of steps: what bounds more steps bounds fewer."""
    bound = Enclosure(Fraction(0), math.inf)
    for n in sorted(found, reverse=True):
        if found[n].upper < bound.upper:
            bound = Enclosure(Fraction(0), found[n].upper, found[n].method)
        elif not found[n].lower:
            found[n] = bound
    return found


@np.errstate(all="ignore")
def _deciding(
    way: Way, counts: Sequence[int], found: dict[int, Enclosure], delta: Real
) -> list[int]:
    """Proposes: few numbers of steps of which answers are likely to decide all others."""
    chosen: list[int] = []
    bound = math.inf
    for n in reversed(counts):
        if bound > float(found[n].lower):
            bound, profile = math.inf, way(n)
            with suppress(ArithmeticError, ValueError):
                if isinstance(profile, ContourProfile):
                    bound = _CLEARLY * _near(profile, profile.log_delta(delta))
            chosen.append(n)
    return chosen[::-1]


def _along(
    way: Way,
    counts: Sequence[int],
    delta: Real,
    digits: int,
    told: Callable[[int], None] | None = None,
) -> dict[int, Enclosure]:
    """In one way, at numbers of steps that rise."""
    left = [(n, p) for n in counts if isinstance(p := way(n), ContourProfile)]
    asked = {n for n, _ in left}
    found = {n: way(n).epsilon(delta, digits) for n in counts if n not in asked}
    known: list[tuple[int, float]] = []
    while left:
        (start, begun), *_ = left
        group = [(n, p) for n, p in left if n <= _SPREAD * start and _kinds(p) == _kinds(begun)]
        plan = _shared_plan([group[0][1], group[-1][1]], delta, digits)
        line: Contour | None = None
        for steps, profile in group:
            answer = None
            if plan is not None:
                with suppress(ArithmeticError, ValueError), precision(plan.bits):
                    if line is None or line.product is not profile.product:
                        line = profile.line(plan)
                    answer = _on(line, profile, delta, digits, extrapolated(known, steps))
            # proposes: another line, begun where the shared one no longer serves
            if answer is None and steps != start:
                break
            if answer is None:
                alone = profile.epsilon(delta, digits)
                solid = digits <= alone.digits and alone.upper < math.inf
                answer = alone, _root(alone) if solid else 0.0
            found[steps], root = answer
            # proposes: where to begin beyond what is solved
            known = [*known[1 - _NEIGHBOURS :], (steps, root)] if root > 0 else []
            if told is not None:
                told(len(found))
        left = [(n, p) for n, p in left if n not in found]
    return found


def _kinds(profile: ContourProfile) -> list[type]:
    return [type(pair) for pair, _ in profile.product.factors]


@np.errstate(all="ignore")
def _shared_plan(ends: Sequence[ContourProfile], delta: Real, digits: int) -> Plan | None:
    """One plan between those of the first and of the last."""
    plans = []
    try:
        for profile in ends:
            product, log_delta = profile.product, profile.log_delta(delta)
            query = Query(_near(profile, log_delta), profile.repeat, log_delta)
            wanted = digits_of_delta(product, query, digits) + _SPARE
            plans.append(planned(product, [query], wanted, profile.max_work))
    except (ArithmeticError, ValueError):
        return None
    first, last = plans
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
        level=min(plan.level for plan in plans),
        shared=True,
    )


@np.errstate(all="ignore")
def _on(
    line: Contour, profile: ContourProfile, delta: Real, digits: int, near: float
) -> _Found | None:
    """Epsilon by a line; None where it does not serve."""
    width, target, repeat = 10.0**-digits, [ball(delta)], profile.repeat
    # proposes: where to bracket
    if near > 0 and (quick := bracketed(line, target, repeat, [arb(near)], width)[0]):
        return quick
    near = near or _near(profile, profile.log_delta(delta))
    if not near > 0:
        return None
    (found,) = solved(line, target, repeat, [arb(near)], width)
    return None if found is None else (found, _root(found))


def _near(profile: ContourProfile, log_delta: float) -> float:
    """Proposes: about epsilon, where lines are placed and searches begin."""
    return profile.beside(log_delta, profile.product.epsilon(log_delta, profile.repeat))


def _root(found: Enclosure) -> float:
    """Proposes: a point within, from which others are extrapolated."""
    return approximate((Fraction(found.lower) + Fraction(found.upper)) / 2)


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
