"""The report on a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpexact.audit.reports.run_lines import run_lines
from dpexact.audit.reports.wording import certified_text, error_text, verdict_sentence
from dpexact.audit.runner import Report
from dpexact.audit.verdicts import WRONG, Finding, Verdict
from dpexact.audit.visible import visible
from dpexact.tokens import shorten

_STYLES: Final[dict[Verdict, str]] = {
    "unsound": "bold red",
    "inaccurate": "bold red",
    "undecided": "bold yellow",
    "accurate": "green",
    "sound": "green",
}


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the findings as a table in input order, and a summary line.

    Foreign text is shown as text: neither markup nor control characters in it act.
    """
    out = console or Console()
    table = Table(show_lines=False, pad_edge=False, expand=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", overflow="fold", ratio=4)
    table.add_column("certified", overflow="fold", ratio=2)
    table.add_column("rel. error", overflow="fold", ratio=2)
    table.add_column("source", overflow="fold", ratio=4)
    for finding in report.findings:
        table.add_row(*(_safe(cell, out) for cell in _cells(finding)))
    if report.findings:
        out.print(table)
    for run in report.runs:
        for line in run_lines(run):
            out.print(_safe(Text(line), out))
    out.print(_safe(Text(verdict_sentence(report)), out))


def _cells(finding: Finding) -> tuple[Text, ...]:
    claim = finding.claim
    shown = finding.verdict.upper() if finding.verdict in WRONG else finding.verdict
    source = shorten(": ".join(visible(part) for part in (claim.id, claim.source) if part), 120)
    if finding.note:
        source = "\n".join(part for part in (source, f"note: {visible(finding.note)}") if part)
    return (
        Text(shown, style=_STYLES[finding.verdict]),
        Text(f"{visible(str(claim.mechanism))}\n{claim.statement}"),
        Text(certified_text(finding)),
        Text(error_text(finding.relative_error)),
        Text(source, style="dim"),
    )


def _safe(text: Text, console: Console) -> Text:
    """``text`` without the characters that the output's encoding lacks."""
    encoded = text.plain.encode(console.encoding, errors="backslashreplace")
    return Text(encoded.decode(console.encoding), style=text.style)
