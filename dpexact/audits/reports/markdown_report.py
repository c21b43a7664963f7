"""The Markdown report: tables in the dialect of GitHub and GitLab, for comments and summaries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from dpexact.audits.reports.wording import (
    certified_text,
    contract_text,
    error_text,
    grades_sentence,
    outcome_sentence,
    reproduce,
    run_sentence,
    worst_first,
)
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.comparison import GRADES, RIGHT, VERDICTS, WRONG
from dpexact.mechanisms.base import shown
from dpexact.tokens import shorten
from dpexact.visible import visible

#: What could begin something in Markdown, HTML or a service's own syntax: an underscore inside a
#: word and a colon before a blank cannot.
_ACTIVE: Final = re.compile(r"[\\`*{}\[\]#!|~<>&$@]|(?<![^\W_])_|_(?![^\W_])|:(?! )")
#: Longest foreign text in one cell.
_LONGEST: Final = 400
#: Longest command in one cell.
_LONGEST_COMMAND: Final = 2000


def to_markdown(report: Report, most: int | None = None) -> str:
    """The report as Markdown: counts, every claim that is not certified right, what was asked.

    Args:
        report: what to show.
        most: list at most so many claims and as many cases of each accountant; ``None`` for all.
    """
    parts = ["# Audit of differential-privacy claims", f"{outcome_sentence(report)}."]
    if graded := grades_sentence(report):
        parts.append(f"{graded}.")
    if report.findings:
        parts.append(_accountants(report))
    listed = [pair for pair in worst_first(report) if pair[1].verdict not in RIGHT]
    if listed:
        parts += ["## Claims not certified right", _claims(listed[:most])]
        if len(listed) > len(listed[:most]):
            parts.append(f"{len(listed) - len(listed[:most])} more are not listed here.")
    if report.runs:
        parts += ["## Accountants asked", _runs(report.runs)]
        parts += [text for run in report.runs if (text := _cases(run, most))]
    parts.append(_origin(report))
    return "\n\n".join(parts) + "\n"


def inert(text: str, longest: int = _LONGEST) -> str:
    """Foreign text on one line, where nothing in it is markup."""
    shown = shorten(visible(text), longest)
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", shown)


def _code(text: str, longest: int = _LONGEST) -> str:
    # not a code span: none can hold every mix of backticks and bars inside a table
    return f"<code>{inert(text, longest)}</code>"


def tabulated(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _accountants(report: Report) -> str:
    rows: dict[str, Counter[str]] = {}
    for finding in report.findings:
        row = rows.setdefault(finding.claim.accountant, Counter())
        row[finding.grade if finding.verdict in WRONG else finding.verdict] += 1
    columns: list[str] = [grade for grade in GRADES if grade != "none"]
    columns += [verdict for verdict in VERDICTS if verdict not in WRONG]
    return tabulated(
        ["accountant", *columns],
        [
            [_code(name) if name else "(not named)", *(str(row[column]) for column in columns)]
            for name, row in sorted(rows.items())
        ],
    )


def _claims(listed: list[tuple[int, Finding]]) -> str:
    header = ["verdict", "claim", "certified truth", "relative error", "origin"]
    return tabulated(header, [_claim(position, finding) for position, finding in listed])


def _claim(position: int, finding: Finding) -> list[str]:
    claim = finding.claim
    verdict = f"**{finding.verdict}**" if finding.guilty else finding.verdict
    if finding.grade != "none":
        verdict += f", {finding.grade}"
    origin = [_code(text) for text in (claim.id, claim.accountant, claim.source) if text]
    if claim.place is not None:
        origin.append(_code(f"{claim.place.file}, line {claim.place.line}"))
    if claim.contract is not None:
        origin.append(f"contract: {inert(contract_text(claim.contract))}")
    if finding.note:
        origin.append(f"note: {inert(finding.note)}")
    origin.append(f"reproduce: {_code(reproduce(finding), _LONGEST_COMMAND)}")
    return [
        f"{verdict}<br>claim {position}",
        f"{_code(shown(claim.mechanism))}<br>{_code(claim.statement)}",
        _code(certified_text(finding)),
        inert(error_text(finding.relative_error)),
        "<br>".join(origin),
    ]


def _runs(runs: Sequence[AccountantRun]) -> str:
    rows = []
    for run in runs:
        versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
        outcome = inert(run_sentence(run))
        rows.append([_code(run.name), inert(versions), outcome, f"{run.seconds:.3g} s"])
    return tabulated(["accountant", "versions", "outcome", "time"], rows)


def _cases(run: AccountantRun, most: int | None) -> str:
    rows = [
        [
            _code(f.case),
            "refused" if f.refused else "failed",
            inert(f.reason),
            _code(f.call),
        ]
        for f in run.failures
    ]
    rows += [[_code(skip.case), "not asked", inert(skip.reason), ""] for skip in run.skipped]
    if not rows:
        return ""
    title = f"### {inert(run.name)}: cases without an answer"
    table = tabulated(["case", "outcome", "reason", "call"], rows[:most])
    more = len(rows) - len(rows[:most])
    return "\n\n".join([title, table, *([f"{more} more are not listed here."] if more else [])])


def _origin(report: Report) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    command = f" by {_code(report.command, _LONGEST_COMMAND)}" if report.command else ""
    return f"Made{command} on {inert(report.started)} with {inert(versions)}."
