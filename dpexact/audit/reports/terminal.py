"""The report on a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpexact.audit.reports.run_lines import run_lines
from dpexact.audit.reports.wording import (
    certified_text,
    contract_text,
    error_text,
    grades_sentence,
    verdict_sentence,
)
from dpexact.audit.runner import Report
from dpexact.audit.verdicts import RIGHT, WRONG, Finding, Verdict
from dpexact.mechanisms.base import shown
from dpexact.tokens import shorten
from dpexact.visible import visible

#: A report of so many claims is listed in full.
SHORT: Final = 20
#: The most claims that a longer report lists.
LISTED: Final = 100

_STYLES: Final[dict[Verdict, str]] = {
    "unsound": "bold red",
    "inaccurate": "bold red",
    "undecided": "bold yellow",
    "accurate": "green",
    "sound": "green",
}


def print_report(report: Report, console: Console | None = None) -> None:
    """Print the findings in input order, and a summary line.

    A report of many claims lists only what is not certified right, or not as expected, and of that
    not more than :data:`LISTED`; a line tells how many are left out. Foreign text is shown as text:
    neither markup nor control characters in it act.
    """
    out = console or Console()
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    listed = _listed(report)
    for finding in listed:
        verdict, style = str(finding.verdict), _STYLES[finding.verdict]
        if finding.verdict in WRONG and not finding.guilty:
            style = "yellow"
        elif finding.guilty:
            verdict = verdict.upper()
        shown = f"{verdict}\n{finding.grade}" if finding.grade != "none" else verdict
        table.add_row(Text(shown, style=style), _safe(_told(finding), out))
    if listed:
        out.print(table)
    if hidden := len(report.findings) - len(listed):
        many = f"{hidden} more claim{'' if hidden == 1 else 's'}"
        out.print(Text(f"and {many}, not listed here; --html FILE shows all", style="dim"))
    for run in report.runs:
        for line in run_lines(run):
            out.print(_safe(Text(line), out))
    for sentence in filter(None, (grades_sentence(report), verdict_sentence(report))):
        out.print(_safe(Text(sentence), out))


def _listed(report: Report) -> list[Finding]:
    if len(report.findings) <= SHORT:
        return list(report.findings)
    notable = [
        finding
        for finding in report.findings
        if finding.verdict not in RIGHT or finding.as_expected is False
    ]
    return notable[:LISTED]


def _told(finding: Finding) -> Text:
    claim = finding.claim
    error = error_text(finding.relative_error)
    text = Text(f"{visible(shown(claim.mechanism))}: {claim.statement}\n")
    text.append(f"certified {claim.quantity}: {certified_text(finding)}, relative error: {error}")
    if finding.as_expected is False:
        text.append(f"\nnot as expected: {claim.expect}", style="bold")
    if source := ": ".join(visible(part) for part in (claim.id, claim.source) if part):
        text.append(f"\n{shorten(source, 240)}", style="dim")
    if finding.grade != "none" and claim.contract is not None:
        text.append(
            f"\ncontract: {shorten(visible(contract_text(claim.contract)), 240)}", style="dim"
        )
    if finding.note:
        text.append(f"\nnote: {visible(finding.note)}", style="dim")
    return text


def _safe(text: Text, console: Console) -> Text:
    """``text`` without the characters that the output's encoding lacks."""
    encoded = text.plain.encode(console.encoding, errors="backslashreplace")
    plain = encoded.decode(console.encoding)
    return text if plain == text.plain else Text(plain, style=text.style)
