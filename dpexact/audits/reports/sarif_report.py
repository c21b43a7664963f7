"""The SARIF 2.1.0 report: wrong and undecided claims as results of a static analysis."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from dpexact.audits.claims import Claim, Place
from dpexact.audits.reports.wording import (
    contract_text,
    reproduce,
    verdict_text,
    witness,
    worst_first,
)
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.comparison import RIGHT, WRONG, Verdict
from dpexact.mechanisms.base import shown
from dpexact.visible import visible

#: The name of the schema, by which readers recognise the format; nothing is loaded from there.
SCHEMA_NAME: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_RULES: Final[dict[Verdict, str]] = {
    "unsound": "A bound that is certainly no bound.",
    "inaccurate": "An estimate that is certainly outside its tolerance.",
    "undecided": "A claim that the certified digits neither confirm nor refute.",
}
_NAMES: Final = tuple(_RULES)


def to_sarif(report: Report) -> dict[str, Any]:
    """The report as a SARIF 2.1.0 log of one run.

    The results are the claims certified wrong (kind ``fail``, level ``error`` for the grades
    ``gross`` and ``visible``, ``note`` for those below) and the undecided
    ones (kind ``open``), each where its claims file holds it; right claims are only counted. What
    kept an accountant from answering is a notification of the run's invocation.
    """
    results = [
        _result(finding, position)
        for position, finding in worst_first(report)
        if finding.verdict not in RIGHT
    ]
    return {
        "version": "2.1.0",
        "$schema": SCHEMA_NAME,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "dpexact",
                        "version": report.versions["dpexact"],
                        "rules": [_rule(verdict, text) for verdict, text in _RULES.items()],
                    }
                },
                "invocations": [_invocation(report)],
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {
                    "summary": {"claims": len(report.findings), **report.summary},
                    "grades": report.grades,
                    "versions": report.versions,
                    "accountants": [visible(name) for name in report.accountants],
                    "digits": report.digits,
                },
            }
        ],
    }


def _rule(verdict: Verdict, text: str) -> dict[str, Any]:
    return {
        "id": verdict,
        "name": f"{verdict.capitalize()}Claim",
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": "error" if verdict in WRONG else "warning"},
    }


def _result(finding: Finding, position: int) -> dict[str, Any]:
    claim, error = finding.claim, finding.relative_error
    lower, upper = finding.enclosure.decimal_bounds(finding.digits + 5)
    wrong = finding.verdict in WRONG
    said = f"{verdict_text(finding)}: {witness(finding)}."
    if claim.source:
        said += f" Source: {visible(claim.source)}."
    said += f" Reproduce: {visible(reproduce(finding))}"
    properties: dict[str, Any] = {
        "position": position,
        "mechanism": str(claim.mechanism),
        "quantity": claim.quantity,
        "claimed": str(claim.claimed),
        "at": str(claim.at),
        "claimKind": claim.kind,
        "direction": claim.direction,
        "lower": lower,
        "upper": upper,
        "method": finding.enclosure.method,
        "reproduce": reproduce(finding),
        "grade": finding.grade,
    }
    if claim.contract is not None:
        properties["contract"] = visible(contract_text(claim.contract))
    if error is not None:
        properties["relativeError"] = list(error.decimal_bounds(finding.digits + 5))
    for key in ("id", "source", "accountant"):
        if getattr(claim, key):
            properties[key] = visible(getattr(claim, key))
    return {
        "ruleId": finding.verdict,
        "ruleIndex": _NAMES.index(finding.verdict),
        # a result that is no failure has the level none, by the standard
        "kind": "fail" if wrong else "open",
        "level": ("error" if finding.guilty else "note") if wrong else "none",
        "message": {"text": _message(said)},
        "locations": [_location(claim)],
        "partialFingerprints": {"claim/v1": _fingerprint(claim)},
        "properties": properties,
    }


def _message(text: str) -> str:
    """Plain ``text`` as a SARIF message, where braces hold places and ``[..](..)`` is a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")


def _location(claim: Claim) -> dict[str, Any]:
    name = visible(shown(claim.mechanism))
    accountant = visible(claim.accountant)
    logical = {
        "name": name,
        "fullyQualifiedName": f"{accountant}::{name}" if accountant else name,
        "kind": "function",
    }
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if claim.place is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(claim.place)},
            "region": {"startLine": claim.place.line},
        }
    return location


def _uri(place: Place) -> str:
    path = Path(place.file)
    text = visible(path.as_posix())  # not as_uri(), which refuses what no file system has
    if not path.is_absolute():
        return quote(text)
    return f"file://{'' if text.startswith('/') else '/'}{quote(text, safe='/:')}"


def _fingerprint(claim: Claim) -> str:
    """What stays the same when the claimed value, the release or the line changes."""
    package = claim.accountant.split(" ")[0]
    parts = (claim.mechanism, claim.quantity, claim.at, claim.kind, claim.direction, package)
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()


def _invocation(report: Report) -> dict[str, Any]:
    started = datetime.fromisoformat(report.started).astimezone(UTC)
    ended = started + timedelta(seconds=report.seconds)
    invocation: dict[str, Any] = {
        "executionSuccessful": True,
        "startTimeUtc": _utc(started),
        "endTimeUtc": _utc(ended),
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [
            notification for run in report.runs for notification in _notifications(run)
        ],
    }
    if report.command:
        invocation["commandLine"] = visible(report.command)
    return invocation


def _utc(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def _notifications(run: AccountantRun) -> list[dict[str, Any]]:
    def told(level: str, text: str) -> dict[str, Any]:
        return {"level": level, "message": {"text": _message(visible(f"{run.name}: {text}"))}}

    found = [told("note", f"could not run: {run.reason}")] if run.reason else []
    for f in run.failures:
        level = "note" if f.refused else "error"
        found.append(told(level, f"{f.case}: {f.reason} ({f.call})"))
    found += [told("note", f"{skip.case}: not asked: {skip.reason}") for skip in run.skipped]
    return found
