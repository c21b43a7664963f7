"""The JSON report: for machines, stable, described by ``report.schema.json``.

And JSON Lines, a finding a line as soon as it is known: line ``n`` is what the report has as item
``n`` of ``claims``, the last line is the rest of it. A file without such a last line belongs to an
audit that has not ended.
"""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from typing import IO, Any, Final

from dpexact.audits.journal import contract_to_json
from dpexact.audits.reports.wording import distinct_wrong
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.errors import NotWritten
from dpexact.files import refusing
from dpexact.visible import visible

#: Raised when a reader of older reports would misread a newer one.
FORMAT: Final = 1


def to_json(report: Report, *, claims: bool = True) -> dict[str, Any]:
    """The report as JSON values; numbers of mathematical meaning are text, rounded outward.

    Without ``claims`` it is the last line of the JSON Lines.
    """
    findings = enumerate(report.findings if claims else (), start=1)
    listed = [finding_to_json(finding, position) for position, finding in findings]
    return {
        "format": FORMAT,
        **({"claims": listed} if claims else {}),
        "summary": {"claims": len(report.findings), **report.summary},
        "grades": report.grades,
        "distinct_wrong": distinct_wrong(report),
        "versions": report.versions,
        "accountants": list(report.accountants),
        "runs": [_run(run) for run in report.runs],
        "command": report.command,
        "digits": report.digits,
        "strict": report.strict,
        "started": report.started,
        "seconds": round(report.seconds, 6),
        "exit_code": report.exit_code,
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the report."""
    text = files(__package__).joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _run(run: AccountantRun) -> dict[str, Any]:
    return {
        **asdict(run),
        "skipped": [asdict(skip) for skip in run.skipped],
        "failures": [asdict(failure) for failure in run.failures],
        "seconds": round(run.seconds, 6),
    }


def finding_to_json(finding: Finding, position: int) -> dict[str, Any]:
    """One of ``claims``; its place from 1 stands for an ``id`` where it has none."""
    claim, error = finding.claim, finding.relative_error
    relative = None
    if error is not None:
        lower, upper = error.decimal_bounds(finding.digits + 5)
        relative = {"lower": lower, "upper": upper}
    bounds = finding.enclosure.to_json(finding.digits)
    return {
        "id": claim.id or str(position),
        "mechanism": str(claim.mechanism),
        "quantity": claim.quantity,
        "claimed": str(claim.claimed),
        "at": str(claim.at),
        "kind": claim.kind,
        "tolerance": None if claim.tolerance is None else str(claim.tolerance),
        "direction": claim.direction,
        "source": claim.source,
        "accountant": claim.accountant,
        "verdict": finding.verdict,
        "grade": finding.grade,
        "contract": None if claim.contract is None else contract_to_json(claim.contract),
        "expect": claim.expect,
        "lower": bounds["lower"],
        "upper": bounds["upper"],
        "relative_error": relative,
        "method": finding.enclosure.method,
        "digits": bounds["digits"],
        "seconds": round(finding.seconds, 6),
        "note": finding.note,
    }


class JsonLines(AbstractContextManager["JsonLines", None]):
    """The file while an audit runs; use as a context manager.

    :meth:`found` may be called in any order; lines come in that of the claims.

    Raises:
        NotWritten: ``path`` cannot be written, now or later.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._refusing = partial(
            refusing, f"{visible(os.fspath(path))}: cannot write", kind=NotWritten
        )
        self._early: dict[int, Finding] = {}
        self._next = 0
        with self._refusing():
            self._file: IO[str] = open(path, "w", encoding="utf-8")  # noqa: SIM115  # in __exit__

    def __exit__(self, *raised: object) -> None:
        with suppress(OSError):  # what is left after a failure, which was raised
            self._file.close()

    def found(self, place: int, finding: Finding) -> None:
        """Take the finding on the claim at ``place``, counted from 0."""
        self._early[place] = finding
        lines = []
        while (ready := self._early.pop(self._next, None)) is not None:
            self._next += 1
            lines.append(finding_to_json(ready, self._next))
        self._write(lines)

    def end(self, report: Report) -> None:
        """Write the last line."""
        rest = to_json(report, claims=False)
        self._write([rest])

    def _write(self, lines: list[dict[str, Any]]) -> None:
        if lines:
            with self._refusing():
                self._file.writelines(json.dumps(line) + "\n" for line in lines)
                self._file.flush()
