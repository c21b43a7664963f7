"""Lower bounds from the scores of an attack: thresholds turn them into true and false positives.

A threshold that was chosen by the very scores it is then counted on favours what chance made look
like a leak. So thresholds are either declared, each one look, or one is chosen on one half of the
scores, of which the other half knows nothing.
"""

from __future__ import annotations

import csv
import io
import math
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dpexact.arguments import integer_in, rational_in
from dpexact.conversion import RealLike
from dpexact.empirical.counts import from_counts
from dpexact.empirical.lower_bound import LowerBound
from dpexact.errors import InvalidInput
from dpexact.files import read_text, refusing
from dpexact.tokens import quoted, shorten

_COLUMNS = ("score", "member")
#: Largest file, in bytes: some ten million scores.
_MAX_BYTES = 256 << 20
_MEMBER = {"1": True, "true": True, "0": False, "false": False}


def from_scores(
    members: Iterable[RealLike],
    others: Iterable[RealLike],
    thresholds: Iterable[RealLike] = (),
    *,
    split: int | None = None,
    delta: RealLike = 0,
    confidence: RealLike = "0.95",
    looks: int = 1,
    digits: int = 15,
) -> LowerBound:
    """The best lower bound of :func:`from_counts` where a score at or above a threshold says

    "member"; every threshold is a look, and Bonferroni's correction covers all of them.

    Args:
        members: scores of runs with the record, independent.
        others: scores of runs without it, independent.
        thresholds: fixed before the scores were seen. Or else
        split: a number to shuffle by: half of the scores choose a threshold, the others are
            counted. Trying several numbers is several looks.
        delta: at which epsilon is bounded; in [0, 1].
        confidence: a rational in (0, 1).
        looks: how often all of this was tried, for instance with other scores.
        digits: certified digits of the confidence limits.

    Raises:
        InvalidInput: an argument out of its domain, neither or both of ``thresholds`` and
            ``split``, or too few scores.

    >>> print(from_scores(range(10, 60), range(50), [45, 50]).outcome)
    10 of 50 true positives, 0 of 50 false positives, at the threshold 50
    """
    present, absent = _exact(members, "members"), _exact(others, "others")
    limits = sorted({rational_in(value, "threshold") for value in thresholds})
    if bool(limits) == (split is not None):
        raise InvalidInput("thresholds: give thresholds that were fixed before, or a split")
    if split is not None:
        choosing, counted = _halves(present, absent, integer_in(split, "split", 0))
        limits = [_promising(*choosing, rational_in(delta, "delta", ">= 0", "<= 1"))]
        present, absent = counted
    all_looks = integer_in(looks, "looks", 1) * len(limits)
    best: LowerBound | None = None
    for limit in limits:
        found = from_counts(
            _at_least(present, limit),
            _at_least(absent, limit),
            len(present),
            len(absent),
            delta,
            confidence,
            all_looks,
            digits,
        )
        if best is None or found.epsilon.lower > best.epsilon.lower:
            said = f"{found.outcome}, at the threshold {shorten(str(limit))}"
            best = replace(found, outcome=said)
    assert best is not None
    return best


def read_scores(path: str | Path) -> tuple[list[Fraction], list[Fraction]]:
    """The scores of members and of others in a CSV file with the columns ``score`` and ``member``.

    ``member`` is 1, true, 0 or false; scores are exact numbers, as 0.25 or -1e-3.

    Raises:
        InvalidInput: one line that names the file, the line and what is accepted.
    """
    shown = shorten(str(path))
    sides: dict[bool, list[Fraction]] = {True: [], False: []}
    with refusing(f"scores {shown}: cannot read the file", "it is not UTF-8 text in CSV"):
        rows = csv.DictReader(io.StringIO(read_text(path, _MAX_BYTES), newline=""))
        if not set(_COLUMNS) <= set(rows.fieldnames or ()):
            raise InvalidInput(f"scores {shown}: line 1: expected the columns score and member")
        for row in rows:
            where = f"scores {shown}: line {rows.line_num}"
            side = _MEMBER.get(str(row["member"]).strip().lower())
            if side is None:
                said = quoted(row["member"])
                raise InvalidInput(f"{where}: member: {said} is not accepted; use 1 or 0")
            try:
                sides[side].append(rational_in(row["score"] or "", "score"))
            except InvalidInput as error:
                raise InvalidInput(f"{where}: {error}") from None
    return sides[True], sides[False]


def _exact(scores: Iterable[RealLike], name: str) -> list[Fraction]:
    """The scores in rising order."""
    exact = sorted(rational_in(score, name) for score in scores)
    if not exact:
        raise InvalidInput(f"{name}: none is given; at least one score is needed")
    return exact


def _at_least(scores: Sequence[Fraction], limit: Fraction) -> int:
    return len(scores) - bisect_left(scores, limit)


_Sides = tuple[list[Fraction], list[Fraction]]


def _halves(present: list[Fraction], absent: list[Fraction], seed: int) -> tuple[_Sides, _Sides]:
    """Each side shuffled and cut in two: the first halves, and the second ones, in rising order."""
    if min(len(present), len(absent)) < 2:
        raise InvalidInput("split: needs at least two scores of members and two of others")
    generator = random.Random(seed)
    first, second = [], []
    for scores in (present, absent):
        shuffled = generator.sample(scores, len(scores))
        middle = len(scores) // 2
        first.append(sorted(shuffled[:middle]))
        second.append(sorted(shuffled[middle:]))
    return (first[0], first[1]), (second[0], second[1])


def _promising(present: list[Fraction], absent: list[Fraction], delta: Fraction) -> Fraction:
    """A threshold with a large lower bound, by the normal approximation.

    Proposes: any threshold is right for scores that had no part in choosing it.
    """

    def promise(limit: Fraction) -> float:
        hit, alarm = _at_least(present, limit), _at_least(absent, limit)
        missed, alarmed = _above(len(present) - hit, len(present)), _above(alarm, len(absent))
        d = float(delta)
        return max((1 - missed - d) / alarmed, (1 - alarmed - d) / missed)

    return max(dict.fromkeys([*present, *absent]), key=promise)


def _above(count: int, trials: int) -> float:
    """About an upper confidence limit of a probability."""
    return min((count + 2 + 2 * math.sqrt(count + 1)) / trials, 1.0)
