"""Many points at once: neighbours share a line, its errors, and every step of the search.

One point is a list of one. Which points share what is proposed by floats; each is answered by what
its line encloses (``docs/theory/contour.md``, section 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.chords import chebyshev, located, pieces
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.planning import Plan, Query
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import approximate, ball, precision
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational
from dpexact.ternary import Order

#: Digits beyond those asked for, with which a shared line is planned, and where that is much work.
_SPARE: Final = 2, 1
#: Points at which floats look for the saddle point; between them they interpolate.
_ANCHORS: Final = 24
#: Lines planned anew where the first showed that floats had delta elsewhere, then for more digits;
#: and where it showed that they had epsilon elsewhere.
_PASSES: Final = 4
_SEARCHES: Final = 2
_NEWTON_STEPS: Final = 40
#: Of fewer points no line is planned, where one of more was too much; the work of a line that is
#: not compared with that of half its points, and how many times less of that is worth a line.
_FEWEST: Final = 4
_LITTLE, _LESS = 100_000, 3
#: So many points are not asked one by one where others stand behind.
_MANY: Final = 48
#: So many targets are searched for each; of more the ends, and how far beyond them values lie.
_ALONE: Final = 48
_END: Final = 1e-4
_LOST_BITS: Final = 256
_LN10: Final = math.log(10)
_ZERO, _ONE = Fraction(0), Fraction(1)


class Lines(Protocol):
    """What gives lines of one product."""

    product: Product
    repeat: int
    method: str
    #: How far the logarithms of delta at points that share a line may lie apart.
    fall: float

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        """A plan of one line for all of them."""

    def line(self, plan: Plan) -> Contour:
        """What the plan says, at its precision."""


class Solving(Lines, Protocol):
    """And what they say of epsilon: a contour profile."""

    infinite: InfiniteLoss

    def log_delta(self, delta: Real) -> float:
        """The logarithm of what delta leaves to the finite losses."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Delta at one point."""


def shared_deltas(lines: Lines, epsilons: Sequence[Real], digits: int) -> dict[Real, Enclosure]:
    """Delta at those of many points for which shared lines give any.

    Proposes: who shares which line; each is answered by what the line encloses.
    """
    found: dict[Real, Enclosure] = {}
    reached: dict[Real, int] = {}
    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
        near = {at: approximate(at) for at in epsilons}
        asked = sorted((at for at in near if near[at] > 0), key=near.__getitem__)
        saddles = anchored(
            [near[at] for at in asked], lambda e: lines.product.saddle(e, lines.repeat)[1]
        )
        # of infinite losses, which nothing falls below, no digits are lost
        beside = _log_lost(lines)
        logs = {at: max(log, beside) for at, log in zip(asked, saddles, strict=True)}
        margin = 0.0
        for before in range(_PASSES):

            def needed(_: Query, most: float = digits + margin) -> float:
                return most

            for group in _groups(asked, logs, lines.fall):
                for part, plan in _plans(lines, group, near, logs, needed):
                    with suppress(ArithmeticError, ValueError):
                        for at, answer in zip(part, on_line(lines, plan, part), strict=True):
                            found[at] = found[at].meet(answer) if at in found else answer
            # proposes: whom to ask again, while more digits tell more; the answers stand
            asked = [at for at in asked if at in found and found[at].lower > 0]
            asked = [at for at in asked if found[at].digits < digits]
            if before > 1:
                asked = [at for at in asked if reached[at] < found[at].digits]
            reached = {at: found[at].digits for at in asked}
            logs = {at: log_of(Fraction(found[at].lower)) for at in asked}
            # proposes: how sharp a line is, where to know delta was not enough
            if before:
                margin += max((digits - reached[at] for at in asked), default=0)
    return found


def _plans(
    lines: Lines,
    group: Sequence[Real],
    near: dict[Real, float],
    logs: dict[Real, float],
    digits: Callable[[Query], float],
) -> Iterator[tuple[Sequence[Real], Plan]]:
    """Of a group, or where that is too much or much more than of a half, of that; and of the rest.

    With the most digits that an end asks for. Proposes: who shares a line.
    """

    def tried(part: Sequence[Real]) -> Plan | None:
        ends, found = [Query(near[at], lines.repeat, logs[at]) for at in _ends(part)], None
        for spare in _SPARE:
            with suppress(ArithmeticError, ValueError):
                found = lines.planned(ends, max(map(digits, ends)) + spare)
            if found and found.work <= _LITTLE:
                break
        return found

    while group:
        part, plan = group, tried(group)
        while len(part) >= 2 * _FEWEST and (plan is None or plan.work > _LITTLE):
            half = part[: len(part) // 2]
            other = tried(half)
            if plan is not None and (other is None or _LESS * other.work > plan.work):
                break
            part, plan = half, other
        if plan is None:
            return
        yield part, plan
        group = group[len(part) :]


def on_line(lines: Lines, plan: Plan, epsilons: Sequence[Real]) -> list[Enclosure]:
    """Delta at each of some points from one line, however wide."""
    with precision(plan.bits):
        return told(lines.line(plan), epsilons, lines.repeat, lines.method)


def told(line: Contour, epsilons: Sequence[Real], repeat: int, method: str) -> list[Enclosure]:
    """What a line that there is says of delta at each of some points."""
    with precision(line.plan.bits):
        terms = line.terms([ball(epsilon) for epsilon in epsilons], repeat)
        found = [balls.to_enclosure(part.enclosure(), method) for part in terms]
    return [answer.within(_ZERO, _ONE) for answer in found]


def told_again(
    lines: Lines, line: Contour | None, epsilons: Sequence[Real], digits: int
) -> dict[Real, Enclosure]:
    """Delta at those of some points where a line that there may be has the digits."""

    def serves(line: Contour, at: Real) -> bool:
        """Proposes: whether it may."""
        near = approximate(at)
        spare = lines.product.saddle(near, lines.repeat)[1] - line.plan.level - digits * _LN10
        return near > 0 and 0 < spare < lines.fall

    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
        near = [at for at in epsilons if line and serves(line, at)]
        if line and near:
            found = zip(near, told(line, near, lines.repeat, lines.method), strict=True)
            return {at: answer for at, answer in found if answer.digits >= digits}
    return {}


def shared_epsilons(
    lines: Solving, deltas: Sequence[Real], digits: int, known: dict[Real, Enclosure] | None = None
) -> dict[Real, Enclosure]:
    """Epsilon at those of many targets for which shared lines give it.

    Proposes: likewise, and where searches begin, perhaps between others ``known``; balls bracket.
    """
    found: dict[Real, Enclosure] = {}

    def needed(end: Query) -> float:
        return digits_of_delta(lines.product, end, digits)

    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):
        logs = {
            at: lines.log_delta(at)
            for at in deltas
            if at.fraction != 1 and lines.infinite.order(at, digits) is Order.BELOW
        }
        asked = sorted(logs, key=lambda at: -logs[at])
        falls = [-logs[at] for at in asked]
        starts = anchored(falls, lambda fall: lines.product.epsilon(-fall, lines.repeat))
        if known:
            ends = sorted((-lines.log_delta(at), float(known[at].lower)) for at in known)
            starts = np.interp(falls, *np.array(ends).T).tolist()
        near = dict(zip(asked, starts, strict=True))
        # where floats see none, some have none indeed, others are next to those that have
        most = lines.product.saddle(0.0, lines.repeat)[1]
        if any(not near[at] > 0 or logs[at] > most for at in asked):
            at_zero, none = lines.delta(rational(0), digits), Enclosure.exact(_ZERO, lines.method)
            found |= {at: none for at in asked if balls.at_most(at_zero, at)}
            asked = [at for at in asked if at not in found]
            least = min((near[at] for at in asked if near[at] > 0), default=0.0) / 2
            near |= {at: least for at in asked if not near[at] > 0}
        asked = [at for at in asked if near[at] > 0]
        for _ in range(_SEARCHES):
            for group in _groups(asked, logs, lines.fall):
                for part, plan in _plans(lines, group, near, logs, needed):
                    with suppress(ArithmeticError, ValueError):
                        with precision(plan.bits):
                            answers = _on_one(lines, lines.line(plan), part, near, digits)
                        near |= {at: x for at, (_, x) in zip(part, answers, strict=True) if x > 0}
                        found |= {
                            at: answer.labelled(lines.method)
                            for at, (answer, _) in zip(part, answers, strict=True)
                            if answer is not None
                        }
            # proposes: whom to ask again, next to where the search led; the answers stand
            asked = [at for at in asked if at not in found]
    return found


def epsilons_together(
    lines: Solving,
    alone: Callable[[Real, int], Enclosure],
    deltas: Sequence[Real],
    digits: int,
    patient: bool,
) -> dict[Real, Enclosure]:
    """The same, and where floats misled by some asked ``alone`` and others that begin between."""
    found = shared_epsilons(lines, deltas, digits) if len(deltas) > 1 else {}
    # proposes: who is asked alone, and whether the others are worth another line
    left = sorted(asked_alone(deltas, found, 0, patient), key=balls.approximate_log)
    if len(left) < 3 * _FEWEST:
        return found
    known = {at: alone(at, digits) for at in _ends(left)}
    return found | known | shared_epsilons(lines, left, digits, known)


def asked_alone(
    points: Sequence[Real], found: dict[Real, Enclosure], digits: int, patient: bool
) -> list[Real]:
    """Those that lack digits, and those of which no line says anything.

    Proposes: who is asked alone; many of the latter are left to others, if any stand behind.
    """
    missing = [at for at in points if at not in found]
    short = [at for at in found if found[at].digits < digits]
    return short + missing if patient or len(missing) < _MANY else short


def _on_one(
    lines: Solving, line: Contour, group: Sequence[Real], near: dict[Real, float], digits: int
) -> list[tuple[Enclosure | None, float]]:
    """Proposes: likewise, on a line at its precision, as :func:`located` has it."""
    targets, repeat = [ball(at) for at in group], lines.repeat
    points = [arb(near[at]) for at in group]
    if len(group) > _ALONE:
        aims, near_by = targets[:: len(group) - 1], points[:: len(group) - 1]
        low, high = _searched(line, aims, repeat, near_by, _END)
        low, high = (low * (1 - _END)).mid(), (high * (1 + _END)).mid()
    # proposes: whether a search for each is less work
    if len(group) <= _ALONE or not 0 < low < high:
        return solved(line, targets, repeat, points, 10.0**-digits)

    def values(points: Sequence[arb]) -> list[arb]:
        return [part.enclosure() for part in line.terms(points, repeat)]

    places = chebyshev(low, high, pieces(len(group), digits))
    known = [*zip(places, values(places), strict=True)]
    return located(values, known, targets, digits, lines.method)


# --- on one line, at its precision ----------------------------------------------------------------


def solved(
    contour: Contour, targets: Sequence[arb], repeat: int, near: Sequence[arb], width: float
) -> list[tuple[Enclosure | None, float]]:
    """Epsilon at each target, as :func:`bracketed` has it, by Newton's method from ``near``.

    And where that leads. Proposes: where to bracket; both ends are certified wherever that is.
    """
    ends = _searched(contour, targets, repeat, near, width)
    found = bracketed(contour, targets, repeat, ends, width)
    return [(part, float(at)) for part, at in zip(found, ends, strict=True)]


def _searched(
    contour: Contour, targets: Sequence[arb], repeat: int, near: Sequence[arb], width: float
) -> list[arb]:
    """Where Newton's method leads. Proposes: points."""
    at: list[arb | None] = list(near)
    moving = list(range(len(at)))
    for _ in range(_NEWTON_STEPS):
        if not moving:
            break
        points = [(i, x) for i in moving if (x := at[i]) is not None]
        steps = contour.newton([x for _, x in points], repeat, [targets[i] for i, _ in points])
        moving = []
        for (i, before), following in zip(points, steps, strict=True):
            if following is not None:
                following = following if following > 0 else before / 2
                moved, following = float((following - before).mid()), following.mid()
                if not abs(moved) < 0.03 * math.sqrt(width) * float(following):
                    moving.append(i)
            at[i] = following
    return [x if x is not None else start for x, start in zip(at, near, strict=True)]


def bracketed(
    contour: Contour, targets: Sequence[arb], repeat: int, at: Sequence[arb], width: float
) -> list[Enclosure | None]:
    """Brackets of relative ``width`` around ``at``.

    None unless delta is certainly above its target at the left and below at the right end.
    """
    halves = [arb(0.45 * width * float(x)) for x in at]
    ends = [((x - half).mid(), (x + half).mid()) for x, half in zip(at, halves, strict=True)]
    terms = contour.terms([left for left, _ in ends] + [right for _, right in ends], repeat)
    deltas = [part.enclosure() for part in terms]
    found: list[Enclosure | None] = []
    for (left, right), target, above, below in zip(
        ends, targets, deltas[: len(ends)], deltas[len(ends) :], strict=True
    ):
        inside = above > target and below < target
        found.append(balls.to_enclosure(left.union(right), "contour") if inside else None)
    return found


# --- proposals ------------------------------------------------------------------------------------


def _log_lost(lines: Lines) -> float:
    """About the logarithm of the mass of infinite loss. Proposes: digits."""
    with precision(_LOST_BITS):
        lost = 1 - lines.product.mass(lines.repeat)
        return float(lost.log().mid()) if lost > 0 else -math.inf


def digits_of_delta(product: Product, query: Query, digits: float) -> float:
    """Digits of delta that decide ``digits`` of epsilon: ``log delta`` has slope about ``-c``.

    Proposes: the accuracy of a line.
    """
    c, _ = product.saddle(query.epsilon, query.repeat)
    return max(1.0, digits + 1 - math.log10(c * query.epsilon))


def anchored(points: Sequence[float], ask: Callable[[float], float]) -> list[float]:
    """About what ``ask`` says at each of the sorted points: asked at few, interpolated between.

    Proposes: where lines are placed and searches begin.
    """
    last = len(points) - 1
    places = sorted({round(last * i / _ANCHORS) for i in range(_ANCHORS + 1)}) if points else []
    known = [(points[place], ask(points[place])) for place in places]
    known = [(at, value) for at, value in known if math.isfinite(value)]
    if not known:
        return []
    found: list[float] = np.interp(points, [a for a, _ in known], [v for _, v in known]).tolist()
    return found


def _groups(points: Sequence[Real], logs: dict[Real, float], fall: float) -> Iterator[list[Real]]:
    """Sorted points, cut where delta has fallen too far to share a line.

    Proposes: who shares a line.
    """
    group: list[Real] = []
    for point in points:
        if group and abs(logs[point] - logs[group[0]]) > fall:
            yield group
            group = []
        group.append(point)
    if group:
        yield group


def _ends(group: Sequence[Real]) -> list[Real]:
    """Both ends and two points between, which place the line of all."""
    return [group[place] for place in sorted({i * (len(group) - 1) // 3 for i in range(4)})]
