"""The rows of a scoreboard: what one release did on one family of mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from dpexact.audits.verdicts import Finding
from dpexact.comparison import GRADES, RIGHT, WRONG, Grade
from dpexact.decimals import Bound, format_decimal


@dataclass(frozen=True, slots=True)
class Row:
    """One release of one accountant on the cases of one family.

    Of its ``claims``, ``right`` are certified sound or accurate and ``wrong`` the opposite; the
    others are undecided. ``worst`` is the worst grade. ``median`` and ``most`` say how far right
    claims are from the truth, relative to it and rounded up, where that is defined: ``""`` where it
    never is. ``unsupported`` cases were not asked, at ``failed`` ones it gave no usable answer;
    for ``unasked`` ones no time was left. ``seconds`` is what its answers took, ``platform`` what
    computed them (``AccountantRun.computed_on``), ``date`` the day, ``judge`` the version of
    dpexact.
    """

    accountant: str
    release: str
    family: str
    claims: int
    right: int
    wrong: int
    worst: Grade
    median: str
    most: str
    unsupported: int
    failed: int
    unasked: int
    seconds: float
    platform: str
    date: str
    judge: str

    @property
    def share(self) -> int:
        """The percentage of claims that are certified right, rounded down: 100 means all of them.

        Of no claims there is none.
        """
        return 100 * self.right // self.claims

    @property
    def key(self) -> tuple[str, str, str]:
        """What a row of another day replaces."""
        return self.accountant, self.release, self.family


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Rows in the order of accountant, release and family, and the workloads that were asked."""

    rows: tuple[Row, ...]
    workloads: tuple[str, ...]

    @classmethod
    def of(cls, rows: Iterable[Row], workloads: Sequence[str]) -> Scoreboard:
        """The scoreboard of ``rows``, of which a later one replaces an earlier one of its key."""
        kept = {row.key: row for row in rows}
        return cls(tuple(sorted(kept.values(), key=_order)), tuple(workloads))


def _order(row: Row) -> tuple[str, list[tuple[int, str]], str]:
    parts = row.release.replace(" ", ".").split(".")
    release = [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
    return row.accountant, release, row.family


def worst_grade(findings: Iterable[Finding]) -> Grade:
    """The worst grade of ``findings``; ``none`` of none."""
    return min((finding.grade for finding in findings), key=GRADES.index, default="none")


def tightness(findings: Iterable[Finding]) -> tuple[str, str]:
    """The median and the largest distance of right claims from the truth, relative to it."""
    errors = [finding.relative_error for finding in findings if finding.verdict in RIGHT]
    sizes = sorted(max(error.upper, -error.lower) for error in errors if error is not None)
    if not sizes:
        return "", ""
    return _text(sizes[len(sizes) // 2]), _text(sizes[-1])


def counted(findings: Sequence[Finding]) -> tuple[int, int]:
    """How many are certified right, and how many wrong."""
    verdicts = [finding.verdict for finding in findings]
    return sum(v in RIGHT for v in verdicts), sum(v in WRONG for v in verdicts)


def _text(size: Bound) -> str:
    return "inf" if size == math.inf else format_decimal(Fraction(size), 3, ROUND_CEILING)
