"""Epsilon from delta, certified by evaluating delta on both sides, and curves over repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpexact.accounting.contour import bounds as error
from dpexact.accounting.contour.deltas import (
    ATTEMPTS,
    COARSE_ACCURACY,
    COARSE_BITS,
    MAX_WORK,
    METHOD,
    groups,
    make_planner,
    shared_contour,
    solve_delta,
)
from dpexact.accounting.contour.inversion import Contour
from dpexact.accounting.contour.numbers import TooExpensive, enclosed
from dpexact.accounting.contour.planning import Composition, Planner, Query
from dpexact.balls import ball, precision
from dpexact.enclosure import Bound, Enclosure
from dpexact.reals import Real, rational
from dpexact.ternary import Ternary

_NEWTON_STEPS = 40
_BISECTIONS = 24
_SMALLER_ORDERS = 30
_NEIGHBOURS = 5


class InfiniteEpsilon(ValueError):
    """Delta is not above the mass at infinity: no epsilon satisfies it."""


def epsilon(
    composition: Composition,
    delta: Real,
    digits: int = 15,
    *,
    repeat: int = 1,
    max_work: int = MAX_WORK,
) -> Enclosure:
    """The least ``epsilon >= 0`` that meets ``delta``, to a relative width of ``10^-digits``."""
    planner = make_planner(composition, max_work)
    return _solve(planner, delta, repeat, digits, _estimate(planner, delta, repeat), None)


def epsilon_curve(
    composition: Composition,
    repeats: Sequence[int],
    delta: Real,
    digits: int = 6,
    *,
    max_work: int = MAX_WORK,
) -> list[Enclosure]:
    """Epsilon at each number of repetitions; neighbouring ones share their moments."""
    planner = make_planner(composition, max_work)
    results: dict[int, Enclosure] = {}
    solved: list[tuple[int, float]] = []
    distinct = sorted(set(repeats))
    for group in groups(distinct):
        members = [distinct[i] for i in group]
        ends = [(t, _estimate(planner, delta, t)) for t in _spread(members)]
        # proposes: which repetitions place the shared line; any line is valid
        probes = [Query(near, t, _log_delta(planner, delta, t)) for t, near in ends if near > 0]
        wanted = max((_digits(planner, query, digits) for query in probes), default=0.0)
        shared = shared_contour(planner, probes, wanted)
        for repeat in members:
            near = _extrapolated(solved, repeat)
            # proposes: a root; `_checked` returns only what balls bracket around it
            if shared is not None and near > 0:
                quick = _checked(shared, delta, repeat, near, 10.0**-digits)
                if quick is not None:
                    results[repeat], root = quick
                    solved = [*solved[1 - _NEIGHBOURS :], (repeat, root)]
                    continue
            # proposes: where the search begins
            near = near or _interpolated(ends, repeat)
            found = results[repeat] = _solve(planner, delta, repeat, digits, near, shared)
            if found.digits < digits:
                solved = []
                continue
            root = float(found.lower + found.upper) / 2
            solved = [*solved[1 - _NEIGHBOURS :], (repeat, root)]
    return [results[repeat] for repeat in repeats]


def _spread(members: Sequence[int]) -> list[int]:
    """Both ends of a sequence and two points between."""
    last = len(members) - 1
    return [members[i] for i in sorted({0, last // 3, 2 * last // 3, last})]


def _interpolated(ends: Sequence[tuple[int, float]], repeat: int) -> float:
    """Proposes: an estimate, by linear interpolation between those at the ends."""
    (low, value), *others = ends
    for high, following in others:
        if repeat <= high:
            return value + (following - value) * (repeat - low) / (high - low)
        low, value = high, following
    return value


def _extrapolated(solved: Sequence[tuple[int, float]], repeat: int) -> float:
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


def _checked(
    contour: Contour, delta: Real, repeat: int, near: float, width: float
) -> tuple[Enclosure, float] | None:
    """The bracket around ``near`` if that is already the root, and about the root within it."""
    try:
        with precision(contour.plan.bits):
            found = _around(contour, ball(delta), repeat, arb(near), width)
    except TooExpensive:
        return None
    return found


def _estimate(planner: Planner, delta: Real, repeat: int) -> float:
    """About epsilon, zero when delta is already met there."""
    return planner.forward.epsilon(_log_delta(planner, delta, repeat), repeat)


def _log_delta(planner: Planner, delta: Real, repeat: int) -> float:
    """The logarithm of what delta leaves to the finite losses."""
    with precision(COARSE_BITS):
        finite = arb(1)
        for step, n in planner.composition:
            finite *= step.mass() ** (n * repeat)
        above = ball(delta) - (1 - finite)
        # proposes: whether a contour is tried; without one the trivial bounds are left
        if not above > 0:
            raise InfiniteEpsilon("delta must exceed the mass at infinity")
        return float(above.mid().log().mid())


def _digits(planner: Planner, query: Query, digits: float) -> float:
    """Digits of delta that decide ``digits`` of epsilon: ``log delta`` has slope about ``-c``."""
    c, _ = planner.forward.saddle(query.epsilon, query.repeat)
    return max(1.0, digits + 1 - math.log10(c * query.epsilon))


def _solve(
    planner: Planner, delta: Real, repeat: int, digits: int, near: float, shared: Contour | None
) -> Enclosure:
    # proposes: whether to look at 0 first; balls decide what is met there
    if near <= 0:
        met = _met_at_zero(planner, delta, repeat, digits)
        if met is Ternary.HOLDS:
            return Enclosure.exact(Fraction(0), METHOD)
        if met is Ternary.UNDECIDED:
            return _chernoff(planner, delta, repeat).short(
                "epsilon is too close to zero to be told from it"
            )
        near = _searched(planner, delta, repeat, float(_chernoff(planner, delta, repeat).upper))
    log_delta = _log_delta(planner, delta, repeat)
    best: Enclosure | None = None
    reason = "the bounds did not shrink as expected"
    goal, margin = float(digits), 0.0
    for attempt in range(2 * ATTEMPTS):
        try:
            if attempt == ATTEMPTS:
                near = _searched(planner, delta, repeat, 2 * near)
            contour = shared
            if contour is None or attempt:
                query = Query(near, repeat, log_delta)
                wanted = _digits(planner, query, goal) + margin
                contour = Contour(planner, planner.plan([query], wanted))
            best = _bracket(contour, delta, repeat, near, 10.0**-goal)
        except TooExpensive as cause:
            reason = str(cause)
            goal, margin = max(1.0, goal / 2), 0.0
            continue
        if best is not None:
            break
        margin = 2 * margin + 2
    # proposes: whether to give a reason; the bracket is certified for any goal
    if best is not None and goal == digits:
        return best
    return (best or _chernoff(planner, delta, repeat)).short(reason)


def _searched(planner: Planner, delta: Real, repeat: int, high: float) -> float:
    """About epsilon, by bisection on enclosures of delta: for when the saddle point misleads.

    Proposes: a point, around which the caller certifies a bracket.
    """
    if not math.isfinite(high):
        raise TooExpensive("nothing bounds epsilon from above")
    cautious = Planner(planner.composition, planner.max_work // 20)
    low = 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        found = solve_delta(cautious, rational(Fraction(middle)), repeat, 2, None)
        with precision(COARSE_BITS):
            target = ball(delta)
            if ball(Fraction(found.lower)) > target:
                low = middle
            elif ball(Fraction(found.upper)) < target:
                high = middle
            else:
                break
    return (low + high) / 2


def _bracket(
    contour: Contour, delta: Real, repeat: int, near: float, width: float
) -> Enclosure | None:
    """Two points: delta is certainly above the target at the left one, below at the right one."""
    with precision(contour.plan.bits):
        target, at = ball(delta), arb(near)
        for _ in range(_NEWTON_STEPS):
            following = contour.newton(at, repeat, target)
            if following is None:
                return None
            # proposes: Newton steps; `_around` certifies both ends wherever they lead
            if not following > 0:
                following = at / 2
            moved, at = float((following - at).mid()), following.mid()
            # proposes: when to stop
            if abs(moved) < 0.03 * math.sqrt(width) * float(at):
                break
        found = _around(contour, target, repeat, at, width)
        return None if found is None else found[0]


def _around(
    contour: Contour, target: arb, repeat: int, at: arb, width: float
) -> tuple[Enclosure, float] | None:
    """The bracket of relative ``width`` around ``at`` and, by interpolation, about the root."""
    half = arb(0.45 * width * float(at))
    left, right = (at - half).mid(), (at + half).mid()
    above, below = (terms.enclosure() for terms in contour.terms([left, right], repeat))
    if not (above > target and below < target):
        return None
    bracket = Enclosure(enclosed(left, METHOD).lower, enclosed(right, METHOD).upper, METHOD)
    share = (above - target) / (above - below)
    return bracket, float((left + share.mid() * (right - left)).mid())


def _met_at_zero(planner: Planner, delta: Real, repeat: int, digits: int) -> Ternary:
    """Whether delta is met at epsilon zero."""
    found = solve_delta(planner, rational(0), repeat, digits, None)
    with precision(COARSE_BITS + 4 * digits):
        target = ball(delta)
        lower, upper = ball(Fraction(found.lower)), ball(Fraction(found.upper))
        return Ternary.of(upper <= target, lower > target)


def _chernoff(planner: Planner, delta: Real, repeat: int) -> Enclosure:
    """Zero below, and above the epsilon of the best Chernoff (Renyi) bound."""
    near = _estimate(planner, delta, repeat)
    b, _ = planner.forward.chernoff(near, repeat)
    for smaller in range(_SMALLER_ORDERS):
        try:
            upper = _renyi_bound(planner.composition, delta, repeat, math.ldexp(b, -smaller))
        except TooExpensive:
            continue
        return Enclosure(Fraction(0), max(upper, Fraction(0)), "Rényi bound")
    return Enclosure(Fraction(0), math.inf, METHOD)


def _renyi_bound(composition: Composition, delta: Real, repeat: int, b: float) -> Bound:
    """``[log M(b) + log K(b) - log(delta - P(Z = inf))] / b``, rounded up."""
    with precision(COARSE_BITS):
        order, finite, log = arb(b), arb(1), arb(0)
        for step, n in composition:
            finite *= step.mass() ** (n * repeat)
            log += n * repeat * step.moment(b, COARSE_ACCURACY).log()
        excess = ball(delta) - (1 - finite)
        value = (log + error.chernoff_constant(order).log() - excess.log()) / order
        return enclosed(value, "").upper
