"""The files and services that an audit reports to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpexact.cli.options import file_option, together
from dpexact.errors import InvalidInput

if TYPE_CHECKING:
    from dpexact.audits.runner import Report

#: The files that an audit may write, by the names of their options.
REPORTS: Final = {
    "html": "Write a self-contained page.",
    "json": "Write the JSON report.",
    "jsonl": "Write JSON Lines, each finding as it comes.",
    "junit": "Write JUnit XML, one test case a claim.",
    "sarif": "Write SARIF 2.1.0, for code scanning.",
    "markdown": "Write Markdown tables.",
}

report_options = together(*(file_option(name, text) for name, text in REPORTS.items()))


def distinct_files(named: Mapping[str, Path | None], others: Mapping[Path, str]) -> dict[str, Path]:
    """The files that are given, by the names of their options, each writable and on its own.

    Raises:
        InvalidInput: a file cannot be written, or is named twice, or is one of ``others``.
    """
    from dpexact.files import check_writable
    from dpexact.visible import visible

    given = {name: path for name, path in named.items() if path}
    taken = {_place(path): f"is {part} of this audit" for path, part in others.items()}
    for name, path in given.items():
        check_writable(path)
        if reason := taken.get(_place(path)):
            raise InvalidInput(f"--{name}: {visible(str(path))} {reason}; name another file")
        taken[_place(path)] = f"is the file of --{name} too"
    return given


def tell_actions(report: Report) -> None:
    """In a job of GitHub Actions: print annotations and append the job summary."""
    from dpexact.audits.reports import github_actions

    if not github_actions.in_actions(os.environ):
        return
    for line in github_actions.workflow_commands(report):
        click.echo(line)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            github_actions.append_summary(report, path)
        except InvalidInput as error:  # the outcome of the audit stands without its summary
            click.echo(f"dpexact: {error}", err=True)


def _place(path: Path) -> Path:
    """The file that ``path`` leads to, however it is written."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # what cannot be resolved is refused elsewhere
        return path
