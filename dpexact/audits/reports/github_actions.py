"""GitHub Actions: annotations by workflow commands on standard output, and the job summary."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from dpexact.audits.reports.markdown_report import to_markdown
from dpexact.audits.reports.wording import reproduce, witness, worst_first
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.comparison import RIGHT, WRONG
from dpexact.files import refusing
from dpexact.visible import visible

#: Annotations that Actions shows of each level in one step.
MOST_ANNOTATIONS: Final = 10
#: Rows of each table in a job summary: the first number with which it is not too large.
MOST_ROWS: Final = (100, 10, 0)
#: Largest summary in bytes; Actions refuses one of more than 1 MiB.
LARGEST: Final = 1_000_000


def in_actions(environment: Mapping[str, str]) -> bool:
    """Whether ``environment`` is that of a job of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


@contextmanager
def no_commands(environment: Mapping[str, str], tell: Callable[[str], object]) -> Iterator[None]:
    """What is printed inside commands nothing, in a job of Actions, which reads all output.

    A source in a claims file may begin with ``::``, or hold ``##[``.
    """
    if not in_actions(environment):
        yield
        return
    word = secrets.token_hex(16)
    tell(f"::stop-commands::{word}")
    try:
        yield
    finally:
        tell(f"::{word}::")


def workflow_commands(report: Report) -> Iterator[str]:
    """Annotations: an error for a claim certified wrong, a warning for an undecided one, and a
    notice for one that is wrong of a grade below ``visible``.

    Of each level the first 10 are given, the worst verdict first, and one notice says how many more
    there are: Actions would drop them without a word.
    """
    levels: dict[str, list[Finding]] = {"error": [], "warning": [], "notice": []}
    for _, finding in worst_first(report):
        if finding.guilty:
            levels["error"].append(finding)
        elif finding.verdict not in RIGHT:
            levels["notice" if finding.verdict in WRONG else "warning"].append(finding)
    for level, findings in levels.items():
        for finding in findings[:MOST_ANNOTATIONS]:
            yield _command(level, finding)
        if more := len(findings[MOST_ANNOTATIONS:]):
            yield f"::notice title=dpexact::{more} more {level}s are in the reports"


def append_summary(report: Report, path: str) -> None:
    """Append the Markdown report, its tables cut, to the job summary at ``path``.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    texts = (to_markdown(report, most).encode() + b"\n" for most in MOST_ROWS)
    fitting = next((text for text in texts if len(text) <= LARGEST), b"")
    with refusing(f"GITHUB_STEP_SUMMARY: {visible(path)}"), open(path, "ab") as file:
        file.write(fitting)


def _command(level: str, finding: Finding) -> str:
    claim = finding.claim
    properties = {"title": f"dpexact: {finding.verdict} {claim.kind} {claim.quantity}"}
    if claim.place is not None:
        properties |= {"file": claim.place.file, "line": str(claim.place.line)}
    shown = ",".join(f"{key}={_property(visible(value))}" for key, value in properties.items())
    said = witness(finding) + (f"; grade {finding.grade}" if finding.grade != "none" else "")
    message = f"{said}\n{visible(claim.source)}\n{visible(reproduce(finding))}"
    return f"::{level} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
