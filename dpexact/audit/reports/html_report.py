"""The HTML report: one file without outside resources, for a screen, a phone and paper."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from dpexact.audit.claims import number_text
from dpexact.audit.reports.drawing import figure
from dpexact.audit.reports.wording import certified_text, error_text, reproduce, verdict_sentence
from dpexact.audit.reports.writing import write_atomically
from dpexact.audit.runner import Report
from dpexact.audit.verdicts import RIGHT, VERDICTS, WRONG, Finding, Verdict
from dpexact.audit.visible import visible
from dpexact.enclosure import float_up

#: Signs beside the words, so that colour is never the only difference.
_SIGNS: Final[dict[Verdict, str]] = {
    "unsound": "✗",
    "inaccurate": "✗",
    "undecided": "?",
    "accurate": "✓",
    "sound": "✓",
}


def to_html(report: Report) -> str:
    """The report as one self-contained page; all foreign text in it is inert."""
    script = _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    ordered = sorted(
        enumerate(report.findings, start=1), key=lambda pair: VERDICTS.index(pair[1].verdict)
    )
    wrong = sum(report.summary[verdict] for verdict in WRONG)
    outcome = f"{wrong} wrong of {len(report.findings)}" if wrong else "no claim certified wrong"
    return Template(_part("page.html")).substitute(
        title=f"dpexact audit: {outcome}",
        heading="Audit of differential-privacy claims",
        outcome=_text(verdict_sentence(report)),
        style=_part("page.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        counts="\n".join(_count(*pair) for pair in report.summary.items()),
        filters="\n".join(_filter(*pair) for pair in report.summary.items() if pair[1]),
        claims="\n".join(_claim(finding, place) for place, finding in ordered),
        facts=_facts(_origin(report)),
    )


def write_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the HTML report to ``path``, atomically.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    write_atomically(path, to_html(report))


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    """Foreign text as inert HTML."""
    return escape(visible(text))


def _tone(verdict: Verdict) -> str:
    return "bad" if verdict in WRONG else "good" if verdict in RIGHT else "open"


def _count(verdict: Verdict, number: int) -> str:
    zero = "" if number else " zero"
    return f'<div class="{_tone(verdict)}{zero}"><dt>{verdict}</dt><dd>{number}</dd></div>'


def _filter(verdict: Verdict, number: int) -> str:
    box = f'<input type="checkbox" name="verdict" value="{verdict}" checked>'
    return f"<label>{box} {verdict} ({number})</label>"


def _claim(finding: Finding, place: int) -> str:
    claim, verdict = finding.claim, finding.verdict
    name = f"#{place}" + (f" {claim.id}" if claim.id else "")
    return (
        f'<tbody role="rowgroup" class="claim {_tone(verdict)}" id="claim-{place}" '
        f'data-verdict="{verdict}" data-place="{place}" data-error="{_error_size(finding)}">'
        f'<tr role="row"><td role="cell"><span class="badge"><span aria-hidden="true">'
        f"{_SIGNS[verdict]}</span> {verdict}</span> "
        f'<span class="place soft wrap">{_text(name)}</span></td>'
        f'<th scope="row" role="rowheader" data-label="Claim"><code class="mechanism">'
        f'{_text(str(claim.mechanism))}</code> <span class="statement number">'
        f"{_text(_mathematical(claim.statement))}</span></th>"
        f'<td role="cell" class="number" data-label="Certified truth">'
        f"{escape(certified_text(finding))}</td>"
        f'<td role="cell" class="number" data-label="Relative error">'
        f"{escape(error_text(finding.relative_error))}</td></tr>"
        f'<tr role="row" class="detail"><td role="cell" colspan="4">{figure(finding)}'
        f'<dl class="facts">{_facts(_details(finding))}</dl></td></tr></tbody>'
        '<tbody class="gap" aria-hidden="true"><tr><td colspan="4"></td></tr></tbody>'
    )


def _mathematical(statement: str) -> str:
    return statement.replace("<=", "≤").replace(">=", "≥").replace("~", "≈")


def _error_size(finding: Finding) -> float:
    """The size of the relative error, to order the claims by."""
    error = finding.relative_error
    if error is None:
        return float("inf") if finding.verdict in WRONG else -1.0
    return max(abs(float_up(error.lower)), abs(float_up(error.upper)))


def _details(finding: Finding) -> Iterable[tuple[str, str]]:
    claim = finding.claim
    lower, upper = finding.enclosure.decimal_bounds(finding.digits + 5)
    if claim.source:
        yield "Source", f'<span class="wrap">{_text(claim.source)}</span>'
    if claim.accountant:
        yield "Accountant", f'<span class="wrap">{_text(claim.accountant)}</span>'
    exact = str(claim.claimed)
    if exact != number_text(claim.claimed):
        yield "Claimed, exactly", f'<span class="number">{_text(exact)}</span>'
    if claim.tolerance is not None:
        yield "Tolerance", f'<span class="number">{_text(str(claim.tolerance))}</span>, relative'
    if claim.direction != "both":
        yield "Direction", claim.direction
    yield "Certified in", f'<span class="number">[{lower}, {upper}]</span>'
    yield "Method", f"{_text(finding.enclosure.method)}, {finding.seconds:.2g} s"
    if finding.note:
        yield "Note", f'<span class="wrap">{_text(finding.note)}</span>'
    yield "Reproduce this", f'<code class="command">{_text(reproduce(finding))}</code>'


def _origin(report: Report) -> Iterable[tuple[str, str]]:
    if report.command:
        yield "Command", f'<code class="command">{_text(report.command)}</code>'
    yield "Started", f'<time datetime="{_text(report.started)}">{_text(report.started)}</time>'
    yield "Duration", f"{report.seconds:.3g} s"
    yield "Digits asked for", str(report.digits)
    for name, version in report.versions.items():
        yield _text(name), _text(version)
    if report.accountants:
        yield "Judged", "<br>".join(map(_text, report.accountants))


def _facts(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<dt>{term}</dt><dd>{value}</dd>" for term, value in pairs)
