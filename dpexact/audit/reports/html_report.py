"""The HTML report: one file without outside resources, for a screen, a phone and paper."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from dpexact.audit.reports.html_claims import PAGE, rows
from dpexact.audit.reports.html_parts import facts, inert, tone
from dpexact.audit.reports.html_runs import runs_section
from dpexact.audit.reports.strips import strips
from dpexact.audit.reports.wording import outcome_sentence
from dpexact.audit.runner import Report
from dpexact.audit.verdicts import WRONG, Verdict
from dpexact.files import write_atomically


def to_html(report: Report) -> str:
    """The report as one self-contained page; all foreign text in it is inert."""
    script = _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    wrong = sum(report.summary[verdict] for verdict in WRONG)
    outcome = f"{wrong} wrong of {len(report.findings)}" if wrong else "no claim certified wrong"
    return Template(_part("page.html")).substitute(
        title=f"dpexact audit: {outcome}",
        heading="Audit of differential-privacy claims",
        outcome=inert(outcome_sentence(report)),
        style=_part("page.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        counts="\n".join(_count(*pair) for pair in report.summary.items()),
        filters="\n".join(_filter(*pair) for pair in report.summary.items() if pair[1]),
        accountants="".join(map(_choice, report.accountants)),
        page_size=PAGE,
        errors=strips(report),
        runs=runs_section(report.runs),
        claims="\n".join(rows(report)),
        facts=facts(_origin(report)),
    )


def write_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the HTML report to ``path``, atomically.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    write_atomically(path, to_html(report))


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _count(verdict: Verdict, number: int) -> str:
    zero = "" if number else " zero"
    return f'<div class="{tone(verdict)}{zero}"><dt>{verdict}</dt><dd>{number}</dd></div>'


def _filter(verdict: Verdict, number: int) -> str:
    box = f'<input type="checkbox" name="verdict" value="{verdict}" checked>'
    return f"<label>{box} {verdict} ({number})</label>"


def _choice(accountant: str) -> str:
    return f'<option value="{inert(accountant)}">{inert(accountant)}</option>'


def _origin(report: Report) -> Iterable[tuple[str, str]]:
    if report.command:
        yield "Command", f'<code class="command">{inert(report.command)}</code>'
    yield "Started", f'<time datetime="{inert(report.started)}">{inert(report.started)}</time>'
    yield "Duration", f"{report.seconds:.3g} s"
    yield "Digits asked for", str(report.digits)
    for name, version in report.versions.items():
        yield inert(name), inert(version)
    if report.accountants:
        yield "Judged", "<br>".join(map(inert, report.accountants))
