"""The table of claims in the HTML report: one row group a claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, Final

from dpexact.audit.claims import number_text
from dpexact.audit.reports.drawing import figure
from dpexact.audit.reports.html_parts import facts, inert, tone
from dpexact.audit.reports.wording import certified_text, error_text, reproduce, worst_first
from dpexact.audit.runner import Report
from dpexact.audit.verdicts import RIGHT, WRONG, Finding, Verdict
from dpexact.enclosure import Bound

#: Claims on one page of the table.
PAGE: Final = 100
#: In a report of more claims, the right ones are not drawn: the file stays of a usable size.
DRAWN: Final = 1000

#: Signs beside the words, so that colour is never the only difference.
_SIGNS: Final[dict[Verdict, str]] = {
    "unsound": "✗",
    "inaccurate": "✗",
    "undecided": "?",
    "accurate": "✓",
    "sound": "✓",
}


def rows(report: Report) -> Iterable[str]:
    """The claims, the worst verdict first, each a ``tbody``."""
    ranks = _ranks(report)
    draw_all = len(report.findings) <= DRAWN
    for index, (place, finding) in enumerate(worst_first(report)):
        later = " later" if index >= PAGE else ""
        picture = figure(finding) if draw_all or finding.verdict not in RIGHT else ""
        yield _claim(finding, place, later, ranks[place - 1], picture)


def _ranks(report: Report) -> list[str]:
    """For every claim its rank by text, accountant, truth and error, compared exactly here."""
    keys: list[Callable[[Finding], Any]] = [
        lambda finding: str(finding.claim.mechanism),
        lambda finding: finding.claim.accountant,
        lambda f: (f.claim.quantity, f.enclosure.lower, f.enclosure.upper),
        _error_size,
    ]
    columns = []
    for key in keys:
        values = [key(finding) for finding in report.findings]
        order = {value: rank for rank, value in enumerate(sorted(set(values)))}
        columns.append([order[value] for value in values])
    return [" ".join(map(str, row)) for row in zip(*columns, strict=True)]


def _error_size(finding: Finding) -> Bound:
    """The size of the relative error, to order the claims by."""
    error = finding.relative_error
    if error is None:
        return math.inf if finding.verdict in WRONG else -1.0
    return error.upper if error.upper >= -error.lower else -error.lower


def _claim(finding: Finding, place: int, later: str, ranks: str, picture: str) -> str:
    claim, verdict = finding.claim, finding.verdict
    name = f"#{place}" + (f" {claim.id}" if claim.id else "")
    accountant = ""
    if claim.accountant:
        accountant = f' data-label="Accountant"><span class="wrap">{inert(claim.accountant)}</span>'
    return (
        f'<tbody role="rowgroup" class="claim {tone(verdict)}{later}" id="claim-{place}" '
        f'data-verdict="{verdict}" data-place="{place}" data-ranks="{ranks}" '
        f'data-accountant="{inert(claim.accountant)}">'
        f'<tr role="row"><td role="cell"><span class="badge"><span aria-hidden="true">'
        f"{_SIGNS[verdict]}</span> {verdict}</span> "
        f'<span class="place soft wrap">{inert(name)}</span></td>'
        f'<th scope="row" role="rowheader" data-label="Claim"><code class="mechanism">'
        f'{inert(str(claim.mechanism))}</code> <span class="statement number">'
        f"{inert(_mathematical(claim.statement))}</span></th>"
        f'<td role="cell"{accountant or ">"}</td>'
        f'<td role="cell" class="number" data-label="Certified truth">'
        f"{escape(certified_text(finding))}</td>"
        f'<td role="cell" class="number" data-label="Relative error">'
        f"{escape(error_text(finding.relative_error))}</td></tr>"
        f'<tr role="row" class="detail"><td role="cell" colspan="5">'
        f"<details{'' if verdict in RIGHT else ' open'}><summary>{_summary(verdict)}</summary>"
        f'{picture}<dl class="facts">{facts(_details(finding))}</dl></details></td></tr></tbody>'
    )


def _summary(verdict: Verdict) -> str:
    return "Witness" if verdict in WRONG else "Evidence"


def _mathematical(statement: str) -> str:
    return statement.replace("<=", "≤").replace(">=", "≥").replace("~", "≈")


def _details(finding: Finding) -> Iterable[tuple[str, str]]:
    claim, error = finding.claim, finding.relative_error
    lower, upper = finding.enclosure.decimal_bounds(finding.digits + 5)
    if claim.source:
        yield "Source", f'<span class="wrap">{inert(claim.source)}</span>'
    if claim.place is not None:
        place = f"{claim.place.file}, line {claim.place.line}"
        yield "Stands at", f'<span class="wrap">{inert(place)}</span>'
    exact = str(claim.claimed)
    exactly = ", exactly" if exact != number_text(claim.claimed) else ""
    yield f"Claimed{exactly}", f'<span class="number">{inert(exact)}</span>'
    if claim.tolerance is not None:
        yield "Tolerance", f'<span class="number">{inert(str(claim.tolerance))}</span>, relative'
    if claim.expect is not None:
        yield "Expected", f"{claim.expect}{'' if finding.as_expected else ', which it is not'}"
    if claim.direction != "both":
        yield "Direction", claim.direction
    yield "Certified in", f'<span class="number">[{lower}, {upper}]</span>'
    if error is not None and not error.is_exact:
        low, high = error.decimal_bounds(finding.digits)
        yield "Relative error in", f'<span class="number">[{low}, {high}]</span>'
    yield "Method", f"{inert(finding.enclosure.method)}, {finding.seconds:.2g} s"
    if finding.note:
        yield "Note", f'<span class="wrap">{inert(finding.note)}</span>'
    yield "Reproduce this", f'<code class="command">{inert(reproduce(finding))}</code>'
