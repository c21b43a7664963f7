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

from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.many import digits_of_delta, solved
from dpexact.accounting.engines.contour.planning import Plan, Query, planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.profile import GLANCE, Profile
from dpexact.balls import approximate, at_most, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

Way: TypeAlias = Callable[[int], Profile]
"""The profile after so many steps, in one direction."""

Run: TypeAlias = Callable[[Sequence[int]], Sequence[Way]]
"""Of numbers of steps that share what they can, every direction."""

_Found: TypeAlias = tuple[Enclosure, float]
"""An answer, and about the root within it."""

_Roots: TypeAlias = dict[int, float]
"""About epsilon after numbers of steps."""

_Lines: TypeAlias = dict[int, tuple[Contour, int]]
"""Lines that answered after numbers of steps, and how often what they are of is repeated."""

_Stop: TypeAlias = tuple[int, ContourProfile]
"""A number of steps, and the profile after them."""

#: By what factor numbers of steps that share a line may differ.
_SPREAD: Final = 6.0
#: Likewise in another way than the first, where that is the smaller: there epsilon moves faster.
_LESS_SPREAD: Final = 3.0
#: How much more work that line may be than is allowed for one of them, and than the last one's is.
_SHARED_WORK: Final = 4
_DEARER: Final = 4
#: A shared line of so few nodes is not compared with that of the last one.
_FEW_NODES: Final = 100
_NOTHING: Final = Enclosure(Fraction(0), math.inf)
#: Digits and bits beyond those of each alone, since the line is the best of none.
_SPARE: Final = 1
_SPARE_BITS: Final = 16
_NEIGHBOURS: Final = 5
#: How accurate moments are in what bounds one direction.
_COARSE: Final = 3.0
#: Errors are so small, as a power of e, where a line is asked about the other direction too.
_MUCH_LESS: Final = 6.0
#: How many times as many steps lose about as much.
_BESIDE: Final = 1.5


def epsilons_along(
    run: Run,
    counts: Sequence[int],
    delta: Real,
    digits: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Enclosure]:
    """The largest epsilon of all ways of a run after each number of steps; wider where digits miss.

    Numbers of steps that are about alike share what they can, from the largest on, and what they
    shared is let go. The first way is asked all that is wanted, another where what it says of more
    steps does not decide, as that bounds what it says of fewer.
    """
    left = sorted(set(counts))
    size, spread = len(left), _SPREAD
    found: dict[int, Enclosure] = {}
    second: dict[int, Enclosure] = {}
    roots: _Roots = {}
    while left:
        group = [n for n in left if n * spread > left[-1]]

        def told(done: int, ways: int, before: int = len(found)) -> None:
            """Tells how many answers there are in all ways."""
            if progress is not None:
                progress(before * ways + done, size * ways)

        answers = _in_all(run(group), group, second, roots, delta, digits, told)
        # proposes: how many share the next line, fewer where none did
        spread = math.sqrt(spread) if len(answers) == 1 < len(group) else _SPREAD
        found |= answers
        left = [n for n in left if n not in answers]
    return [found[n] for n in counts]


def _in_all(
    ways: Sequence[Way],
    counts: Sequence[int],
    second: dict[int, Enclosure],
    roots: _Roots,
    delta: Real,
    digits: int,
    told: Callable[[int, int], None],
) -> dict[int, Enclosure]:
    """The largest of some, from the most steps on as far as a line serves the first.

    What a ``second`` way says is kept for fewer steps, and first roots.
    """
    way, *others = (cache(way) for way in ways)
    lines: _Lines = {}
    found = _served(way, counts, delta, digits, roots, lines, lambda n: told(n, len(ways)))
    for other in others:
        told(len(found), len(ways))
        second |= _asked_less(other, found, second, lines, delta, digits)
        found = {n: found[n].larger(second[n]) for n in found}
    told(len(found) * len(ways), len(ways))
    return found


def _asked_less(
    way: Way,
    found: dict[int, Enclosure],
    known: dict[int, Enclosure],
    lines: _Lines,
    delta: Real,
    digits: int,
) -> dict[int, Enclosure]:
    """What a second way says, if it is not at most what is ``found`` by ``lines`` of the first.

    Of more steps it is ``known``.
    """
    counts, least = sorted(found), min(digits, GLANCE)
    second = _passed_down(dict.fromkeys(counts, _NOTHING) | known)
    for n in reversed(counts):
        if second[n].upper > found[n].lower:
            bound = _bound(way(n), found[n], delta) or _reversed(lines.get(n), found[n], delta)
            second = _passed_down(second | {n: bound} if bound else second)
    for needed in (least, digits):
        close = [n for n in counts if second[n].upper > found[n].lower]
        close = [n for n in close if second[n].digits < needed]
        second = _passed_down(second | _along(way, close, found, delta, needed))
    return second


@np.errstate(all="ignore")
def _bound(profile: Profile, other: Enclosure, delta: Real) -> Enclosure | None:
    """One that takes no line, if floats say that it is below what the other way loses."""
    if not (isinstance(profile, ContourProfile) and 0 < other.lower < math.inf):
        return None
    with suppress(ArithmeticError, ValueError):
        log = profile.product.chernoff(float(other.lower), profile.repeat)[1]
        # proposes: whether it is worth its price
        if log < profile.log_delta(delta):
            return profile.chernoff_epsilon(delta, _COARSE)
    return None


@np.errstate(all="ignore")
def _reversed(known: tuple[Contour, int] | None, other: Enclosure, delta: Real) -> Enclosure | None:
    """What the other direction loses, if its line proves that this one does not lose more."""
    if known is None:
        return None
    line, repeat = known
    with suppress(ArithmeticError, ValueError), precision(line.plan.bits):
        at, target = ball(Fraction(other.lower)), ball(delta)
        off = repeat * line.start.log() + (1 + line.plan.abscissa) * at - line.plan.accuracy
        # proposes: whether it is worth its price, by about what the sum over its nodes is off
        if off < target.log() - _MUCH_LESS and line.reversed(at, repeat) <= target:
            return Enclosure(Fraction(0), other.lower, other.method)
    return None


def _passed_down(found: dict[int, Enclosure]) -> dict[int, Enclosure]:
    """What is known of each number of steps: what bounds more steps bounds fewer."""
    bound = _NOTHING
    for n in sorted(found, reverse=True):
        if found[n].upper < bound.upper:
            bound = Enclosure(Fraction(0), found[n].upper, found[n].method)
        elif not found[n].lower:
            found[n] = bound
    return found


def _along(
    way: Way, counts: Sequence[int], others: dict[int, Enclosure], delta: Real, digits: int
) -> dict[int, Enclosure]:
    """In one way, at numbers of steps that rise, but where more lose less than ``others`` here."""

    def decided(found: dict[int, Enclosure], steps: int) -> bool:
        return any(n >= steps and one.upper <= others[steps].lower for n, one in found.items())

    found: dict[int, Enclosure] = {}
    roots: _Roots = {}
    while left := [n for n in counts if n not in found and not decided(found, n)]:
        # proposes: who shares a line
        group = [n for n in left if n * _LESS_SPREAD > left[-1]]
        found |= _served(way, group, delta, digits, roots, {}, decided=decided)
    return found


def _served(
    way: Way,
    counts: Sequence[int],
    delta: Real,
    digits: int,
    roots: _Roots,
    lines: _Lines,
    told: Callable[[int], None] = lambda done: None,
    decided: Callable[[dict[int, Enclosure], int], bool] = lambda found, n: False,
) -> dict[int, Enclosure]:
    """In one way, from the most of some numbers of steps on, as far as one line serves.

    Where few steps are saddle points mislead, and what more steps lose does not: ``roots`` of
    these tell others. Numbers of steps that are ``decided`` by what is found are left out, and
    ``lines`` those that answered.
    """
    left = [
        (n, p)
        for n in counts
        if isinstance(p := way(n), ContourProfile) and not at_most(p.total_variation, delta)
    ]
    asked = {n for n, _ in left}
    found = {n: way(n).epsilon(delta, digits) for n in counts if n not in asked}
    if not left:
        return found
    most, last = left[-1]
    alike = [(n, p) for n, p in left if _kinds(p) == _kinds(last)]
    plan, group = _shared_plan(alike, roots, delta, digits)
    line: Contour | None = None
    for steps, profile in reversed(group):
        if decided(found, steps):
            continue
        answer = None
        if plan is not None:
            with suppress(ArithmeticError, ValueError), precision(plan.bits):
                if line is None:  # the shortest, whose bounds serve all others
                    line = group[0][1].line(plan)
                if line.product is not profile.product:
                    line = profile.line(plan)
                near = _extrapolated(roots, steps)
                answer = _on(line, profile, delta, digits, near)
                # proposes: whether bounds of its own are worth their price
                if answer is None and profile.bounded_alone():
                    line = profile.line(plan)
                    answer = _on(line, profile, delta, digits, near)
                if answer is not None:
                    lines[steps] = line, profile.repeat
        # proposes: another line, begun where the shared one no longer serves
        if answer is None and steps != most:
            break
        if answer is None:
            alone = profile.epsilon(delta, digits)
            solid = digits <= alone.digits and alone.upper < math.inf
            answer = alone, _root(alone) if solid else 0.0
            # proposes: where to begin, as what is known of more steps misled
            roots.clear()
        found[steps], root = answer
        # proposes: where to begin beyond what is solved
        if root > 0:
            roots[steps] = root
        told(len(found))
    return found


def _kinds(profile: ContourProfile) -> list[type]:
    return [type(pair) for pair, _ in profile.product.factors]


@np.errstate(all="ignore")
def _shared_plan(
    group: Sequence[_Stop], roots: _Roots, delta: Real, digits: int
) -> tuple[Plan | None, Sequence[_Stop]]:
    """One plan for the most steps and those of fewer that cost it little more; None for few."""
    with suppress(ArithmeticError, ValueError):
        last, most = _query(*group[-1], roots, delta, digits), _SHARED_WORK * group[-1][1].max_work
        alone: Plan | None = None
        while len(group) > 1:
            with suppress(ArithmeticError, ValueError):
                plan = _planned([_query(*group[0], roots, delta, digits), last], most)
                # proposes: whether it is too much; of so few nodes no line takes much less
                if plan.count > _FEW_NODES:
                    alone = alone or _planned([last], most)
                if alone is None or plan.work <= _DEARER * alone.work:
                    return plan, group
            # proposes: whom it serves
            middle = math.sqrt(group[0][0] * group[-1][0])
            group = [(n, profile) for n, profile in group if n > middle]
    return None, group[-1:]


def _query(
    steps: int, profile: ContourProfile, roots: _Roots, delta: Real, digits: int
) -> tuple[Product, Query, float]:
    """Where a line is placed, and its digits.

    Where the saddle point misleads epsilon is between what it says and what the reverse does.
    """
    product, log_delta = profile.product, profile.log_delta(delta)
    near = _extrapolated(roots, steps)
    if not near > 0:
        near = product.epsilon(log_delta, profile.repeat)
        near = math.sqrt(near * profile.beside(log_delta, near))
    query = Query(near, profile.repeat, log_delta)
    return product, query, digits_of_delta(product, query, digits) + _SPARE


def _planned(asked: Sequence[tuple[Product, Query, float]], most: int) -> Plan:
    wanted = max(digits for *_, digits in asked)
    plan = planned([(product, query) for product, query, _ in asked], wanted, most)
    return replace(plan, bits=plan.bits + _SPARE_BITS, shared=True)


@np.errstate(all="ignore")
def _on(
    line: Contour, profile: ContourProfile, delta: Real, digits: int, near: float
) -> _Found | None:
    """Epsilon by a line; None where it does not serve."""
    near = near or _near(profile, profile.log_delta(delta))
    if not near > 0:
        return None
    ((found, _),) = solved(line, [ball(delta)], profile.repeat, [arb(near)], 10.0**-digits)
    return None if found is None else (found, _root(found))


def _near(profile: ContourProfile, log_delta: float) -> float:
    """Proposes: about epsilon, where lines are placed and searches begin."""
    return profile.beside(log_delta, profile.product.epsilon(log_delta, profile.repeat))


def _root(found: Enclosure) -> float:
    """Proposes: a point within, from which others are extrapolated."""
    return approximate((Fraction(found.lower) + Fraction(found.upper)) / 2)


def _extrapolated(roots: _Roots, count: int) -> float:
    """By the power of the number of steps through the least solved and one as far beyond it.

    Zero where nothing is solved. Proposes: where a line is placed and a search begins.
    """
    if not roots:
        return 0.0
    least = min(roots)
    other = min(roots, key=lambda n: abs(n - least * (least / count)))
    if other == least:
        return roots[least] if least < _BESIDE * count else 0.0
    power = math.log(roots[other] / roots[least]) / math.log(other / least)
    found: float = roots[least] * (count / least) ** power
    return found
