"""Delta at one or many points: the adaptive loops around one contour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.contour import bounds as error
from dpexact.accounting.contour.inversion import Contour, never_exceeds
from dpexact.accounting.contour.numbers import TooExpensive, enclosed, relative_width
from dpexact.accounting.contour.planning import Composition, Plan, Planner, Query
from dpexact.balls import approximate, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

MAX_WORK = 120_000_000
"""Default bound on the multiplications of one evaluation: some seconds."""

#: The name of the method in results.
METHOD = "contour"

_ZERO, _ONE = Fraction(0), Fraction(1)

COARSE_BITS = 96
COARSE_ACCURACY = 40.0
ATTEMPTS = 4
_LARGEST_SPREAD = 3
_NEARLY_ONE = -0.1
_MOST_PASSES = 7
_PROBES = 6


def delta(
    composition: Composition,
    epsilon: Real,
    digits: int = 15,
    *,
    repeat: int = 1,
    max_work: int = MAX_WORK,
    plan: Plan | None = None,
) -> Enclosure:
    """Delta at ``epsilon >= 0``, to a relative width of ``10^-digits``.

    A given ``plan`` is used as it is, once, however wide the result.
    """
    planner = make_planner(composition, max_work)
    if plan is not None:
        return _evaluate(Contour(planner, plan), epsilon, repeat)
    return solve_delta(planner, epsilon, repeat, digits, None)


def delta_many(
    composition: Composition,
    queries: Sequence[tuple[Real, int]],
    digits: int = 15,
    *,
    max_work: int = MAX_WORK,
) -> list[Enclosure]:
    """Delta at each ``(epsilon, repeat)``; queries share moments wherever one line serves them."""
    planner = make_planner(composition, max_work)
    results: dict[int, Enclosure] = {}
    # proposes: which queries share a line; each is enclosed by itself
    order = sorted(range(len(queries)), key=lambda i: (queries[i][1], approximate(queries[i][0])))
    for group in groups([queries[i][1] for i in order]):
        members = [order[i] for i in group]
        probes = [Query(approximate(queries[i][0]), queries[i][1]) for i in members]
        shared = shared_contour(planner, probes, digits + 1)
        for index in members:
            results[index] = solve_delta(planner, *queries[index], digits, shared)
    return [results[index] for index in range(len(queries))]


def make_planner(composition: Composition, max_work: int = MAX_WORK) -> Planner:
    """A planner for a composition that decays."""
    if not any(step.decays for step, _ in composition):
        raise ValueError("atoms alone do not decay along vertical lines: use a closed form")
    return Planner(composition, max_work)


def groups(repeats: Sequence[int]) -> list[range]:
    """Cut a sorted sequence of repetitions where it grows too much to share a line."""
    cuts = [0]
    for i, repeat in enumerate(repeats):
        if repeat > _LARGEST_SPREAD * repeats[cuts[-1]]:
            cuts.append(i)
    return [range(a, b) for a, b in zip(cuts, [*cuts[1:], len(repeats)], strict=True) if a < b]


def shared_contour(planner: Planner, probes: Sequence[Query], digits: float) -> Contour | None:
    """One contour meant for all queries, or None when no single line serves them."""
    if len(probes) < 2:
        return None
    last = min(len(probes), _PROBES) - 1
    chosen = [probes[round(i * (len(probes) - 1) / last)] for i in range(last + 1)]
    try:
        return Contour(planner, planner.plan(chosen, digits))
    except TooExpensive:
        return None


def solve_delta(
    planner: Planner, epsilon: Real, repeat: int, digits: int, shared: Contour | None
) -> Enclosure:
    """Delta to ``digits``, trying the shared line first, or the best that was reached."""
    with precision(COARSE_BITS + 4 * digits):
        if never_exceeds(planner.composition, ball(epsilon), repeat):
            return _only_infinite(planner.composition, repeat)
    query, margin, spent = Query(approximate(epsilon), repeat), 0.0, 0
    best = Enclosure(_ZERO, _ONE, METHOD)
    # proposes: whether a second lower bound is worth its price; both are proved
    if planner.saddle(query)[1] > _NEARLY_ONE:
        best = _bhattacharyya(planner, epsilon, repeat, digits)
    reason = "the bounds did not shrink as expected"
    try:
        for _ in range(_MOST_PASSES):
            # proposes: when to stop; the digits of an answer are counted from its exact ends
            if relative_width(best) <= 10.0**-digits or spent > planner.max_work:
                break
            contour = shared
            # proposes: which line; any gives an enclosure
            if contour is None or spent:
                contour = Contour(planner, planner.plan([query], digits + margin))
            best = best.meet(_evaluate(contour, epsilon, repeat))
            spent += contour.plan.work
            if best.lower > 0:
                query = query._replace(log_delta=_log(Fraction(best.lower)))
            # where nothing was gained, ask for much more at once
            margin += _missing(best, digits) if best.lower > 0 else margin + digits + 1.0
        else:
            best = best.meet(_chernoff(planner, epsilon, repeat))
    except TooExpensive as cause:
        reason = str(cause)
        best = _affordable(planner, epsilon, repeat, digits, best)
    # proposes: whether to give a reason; digits are counted from the exact ends
    return best if relative_width(best) <= 10.0**-digits else best.short(reason)


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational, however small."""
    return math.log(value.numerator) - math.log(value.denominator)


def _missing(found: Enclosure, digits: int) -> float:
    """Digits to ask for on top, after a result that was too wide."""
    return max(1.0, math.log10(relative_width(found)) + digits + 1)


def _affordable(
    planner: Planner, epsilon: Real, repeat: int, digits: int, best: Enclosure
) -> Enclosure:
    """What the allowed work gives when the digits asked for are out of reach."""
    query = Query(approximate(epsilon), repeat)
    try:
        best = best.meet(_chernoff(planner, epsilon, repeat))
        contour = Contour(planner, planner.affordable([query], digits))
        best = best.meet(_evaluate(contour, epsilon, repeat))
    except TooExpensive:
        pass
    return best


def _evaluate(contour: Contour, epsilon: Real, repeat: int) -> Enclosure:
    with precision(contour.plan.bits):
        (terms,) = contour.terms([ball(epsilon)], repeat)
        return enclosed(terms.enclosure(), METHOD).within(_ZERO, _ONE)


def _chernoff(planner: Planner, epsilon: Real, repeat: int) -> Enclosure:
    """Zero below, and above ``P(Z = inf) + K(b) M(b) e^{-b eps}``."""
    b, _ = planner.forward.chernoff(approximate(epsilon), repeat)
    with precision(COARSE_BITS):
        order, finite, moment = arb(b), arb(1), arb(1)
        for step, n in planner.composition:
            finite *= step.mass() ** (n * repeat)
            moment *= step.moment(b, COARSE_ACCURACY) ** (n * repeat)
        decay = (-order * ball(epsilon)).exp()
        bound = enclosed(1 - finite + error.chernoff_constant(order) * moment * decay, "")
    return Enclosure(_ZERO, min(bound.upper, _ONE), "Chernoff bound")


def _bhattacharyya(planner: Planner, epsilon: Real, repeat: int, digits: int) -> Enclosure:
    """One above, and below ``1 - e^{eps/2} M(-1/2)``, from ``min(1, y) <= sqrt(y)``."""
    with precision(COARSE_BITS + 4 * digits):
        product = (ball(epsilon) / 2).exp()
        for step, n in planner.composition:
            product *= step.moment(-0.5, COARSE_ACCURACY).upper() ** (n * repeat)
        bound = enclosed(1 - product, "")
    return Enclosure(max(bound.lower, _ZERO), _ONE, "Bhattacharyya bound")


def total_variation(composition: Composition, bits: int = COARSE_BITS) -> Enclosure:
    """Zero below, and above ``1 - prod overlap_i``, which bounds delta at every epsilon >= 0."""
    with precision(bits):
        common = arb(1)
        for step, n in composition:
            common *= arb.max(step.overlap().lower(), arb(0)) ** n
        bound = balls.to_enclosure(1 - common.lower())
    return Enclosure(_ZERO, min(bound.upper, _ONE), "total variation bound")


def _only_infinite(composition: Composition, repeat: int) -> Enclosure:
    """Delta when no finite loss exceeds epsilon: the mass at infinity, ``1 - prod m_i``."""
    finite = arb(1)
    for step, n in composition:
        finite *= step.mass() ** (n * repeat)
    return enclosed(1 - finite, "no larger finite loss").within(_ZERO, _ONE)
