"""The relative errors of each accountant's claims, a strip each; ``page/errors.html`` draws it.

The scale is symmetrical around 0: linear close to it, logarithmic beyond. Claims that are wrong by
much or by little, undecided and right ones differ by shape and by lane, not only by colour. Claims
of one lane that fall on the same place share a mark, so that a strip of ten thousand claims is as
small as one of a hundred.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpexact.audits.reports.wording import claims, error_text
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.comparison import GUILTY, RIGHT, WRONG, Grade, Verdict
from dpexact.decimals import Bound, log_of

#: Half the width of the linear part and of the whole scale, in percent, and where infinity is.
_LINEAR, _HALF, _INFINITE = 5.0, 42.0, 98.0
#: Distance from the middle at which errors beyond the scale stand.
_BEYOND: Final = 45.0
#: Decades that a scale may reach, whatever the claims say.
_FLOOR, _CEILING = -30, 6
#: Marks are drawn on so many places of a percent.
_PLACES: Final = 2
#: Baseline and name of each lane.
LANES: Final = {
    "bad": (9, "wrong, gross or visible"),
    "mild": (23, "wrong by less"),
    "open": (37, "undecided"),
    "good": (51, "right"),
}


@dataclass(frozen=True, slots=True)
class Scale:
    """Decades between which the scale is logarithmic."""

    low: int
    high: int

    def at(self, error: Bound) -> float:
        """The place of ``error`` in percent of the width."""
        if not isinstance(error, Fraction):
            return _INFINITE
        if error == 0:
            return 50.0
        decades = log_of(abs(error)) / math.log(10)
        if decades <= self.low:
            size = _LINEAR * 10 ** (decades - self.low)
        elif decades > self.high:
            size = _BEYOND
        else:
            share = (decades - self.low) / (self.high - self.low)
            size = _LINEAR + share * (_HALF - _LINEAR)
        return 50 + size if error > 0 else 50 - size

    @property
    def linear(self) -> str:
        """The size up to which the scale is linear."""
        return _power(self.low)

    def ticks(self) -> Iterable[tuple[float, str]]:
        """The labelled places, in percent of the width."""
        middle = (self.low + self.high) // 2
        for decade in sorted({self.low, middle, self.high}):
            place = self.at(Fraction(10) ** decade)
            yield place, f"+{_power(decade)}"
            yield 100 - place, f"-{_power(decade)}"
        yield 50.0, "0"


@dataclass(frozen=True, slots=True)
class Strip:
    """The errors of one accountant: in words, and how many claims share each lane and place."""

    accountant: str
    words: str
    scale: Scale
    marks: Mapping[tuple[str, float], int]

    @property
    def beyond(self) -> int:
        """How many claims stand beyond the scale, at its edges."""
        return sum(n for (_, place), n in self.marks.items() if abs(place - 50) >= _BEYOND)


def strips(report: Report) -> list[Strip]:
    """One strip an accountant; none where no claim has a relative error."""
    groups: dict[str, list[Finding]] = {}
    for finding in report.findings:
        groups.setdefault(finding.claim.accountant, []).append(finding)
    shown = [_size(finding) for finding in report.findings]
    if all(size is None for size in shown):
        return []
    scale = _scale(size for size in shown if isinstance(size, Fraction) and size != 0)
    names = sorted(groups, key=lambda name: (not name, name))  # claims that name none come last
    return [_strip(name, groups[name], scale) for name in names]


def tone(verdict: Verdict, grade: Grade = "gross") -> str:
    """The lane of a finding, and the class of what is shown of it."""
    if verdict in WRONG:
        return "bad" if grade in GUILTY else "mild"
    return "good" if verdict in RIGHT else "open"


def _size(finding: Finding) -> Bound | None:
    """The relative error to draw: certainly reached, and of the certain sign."""
    error = finding.relative_error
    if error is None:
        return None
    return error.lower if error.lower > 0 else error.upper if error.upper < 0 else Fraction(0)


def _scale(errors: Iterable[Fraction]) -> Scale:
    decades = [log_of(abs(error)) / math.log(10) for error in errors] or [-3.0, 0.0]
    low = min(max(math.floor(min(decades)), _FLOOR), _CEILING - 2)
    return Scale(low, max(min(math.ceil(max(decades)), _CEILING), low + 2))


def _strip(accountant: str, findings: list[Finding], scale: Scale) -> Strip:
    marks: Counter[tuple[str, float]] = Counter()
    for finding in findings:
        size = _size(finding)
        if size is not None:
            place = round(scale.at(size) * _PLACES) / _PLACES
            marks[tone(finding.verdict, finding.grade), place] += 1
    return Strip(accountant, _words(findings), scale, marks)


def crowded(place: float) -> bool:
    """Whether a narrow screen leaves out the label at ``place`` for the one of 0."""
    return 0 < abs(place - 50) <= _LINEAR


def _words(findings: list[Finding]) -> str:
    """What the strip shows, for who does not see it."""
    parts = []
    for lane, (_, words) in LANES.items():
        group = [finding for finding in findings if tone(finding.verdict, finding.grade) == lane]
        known = [(size, f) for f in group if (size := _size(f)) is not None]
        part = f"{len(group)} {words}"
        if known:
            ends = [key(known, key=lambda pair: pair[0])[1].relative_error for key in (min, max)]
            texts = list(dict.fromkeys(error_text(end, 3) for end in ends))
            part += f" ({' to '.join(texts)})"
        if group:
            parts.append(part)
    missing = sum(finding.relative_error is None for finding in findings)
    if missing:
        parts.append(f"{missing} without a defined error, not drawn")
    return f"{claims(len(findings))}: {', '.join(parts)}"


def shape(lane: str, count: int) -> str:
    """The path of the mark of ``count`` claims."""
    r = round(4 + min(math.log2(count) / 2, 3), 1)
    return {
        "bad": f"M-{r} -{r}L{r} {r}M-{r} {r}L{r} -{r}",
        "mild": f"M-{r} {r}L0 -{r}L{r} {r}Z",
        "open": f"M0 -{r + 1}L{r + 1} 0L0 {r + 1}L-{r + 1} 0Z",
        "good": f"M-{r} 0a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 -{2 * r} 0Z",
    }[lane]


def _power(decade: int) -> str:
    """``10^decade`` in percent."""
    short = {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    return f"{short.get(decade + 2, f'1e{decade + 2}')}%"
