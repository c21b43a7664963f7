"""The JSON report: for machines, stable, described by ``report.schema.json``."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from importlib.resources import files
from typing import Any, Final

from dpexact.audits.journal import contract_to_json
from dpexact.audits.reports.wording import distinct_wrong
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.files import write_atomically

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


def write_json(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the JSON report to ``path``, atomically.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    write_atomically(path, json.dumps(to_json(report), indent=2) + "\n")


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
