"""The report on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from dpexact.audits.reports.wording import (
    certified_text,
    contract_text,
    error_text,
    grades_sentence,
    reproduce,
    verdict_sentence,
    verdict_text,
)
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun, Failure
from dpexact.audits.verdicts import Finding
from dpexact.comparison import RIGHT, WRONG, Verdict
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


def print_report(report: Report, console: Console | None = None, verbose: bool = False) -> None:
    """Print the findings in input order, a line each, and a summary line.

    ``verbose`` adds the source, the contract, the note and the command that computes each again.
    A report of many claims lists only what is not certified right, or not as expected, and of that
    not more than :data:`LISTED`; a line tells how many are left out. No line is broken, so that
    whatever is copied is whole. Foreign text is shown as text: neither markup nor control
    characters in it act.
    """
    out = console or Console()
    listed = _listed(report)
    width = max((len(_verdict(finding)) for finding in listed), default=0)
    for finding in listed:
        line = Text(_verdict(finding).ljust(width), style=_style(finding))
        _print(line.append("  ").append(Text(_told(finding), style="none")), out)
        for more in _details(finding) if verbose else ():
            _print(Text(f"    {more}", style="dim"), out)
    if hidden := len(report.findings) - len(listed):
        many = f"{hidden} more claim{'' if hidden == 1 else 's'}"
        _print(Text(f"and {many}, not listed here; --html FILE shows all", style="dim"), out)
    for run in report.runs:
        for text in _run_lines(run):
            _print(Text(text), out)
    for sentence in filter(None, (grades_sentence(report), verdict_sentence(report))):
        _print(Text(sentence), out)


def _listed(report: Report) -> list[Finding]:
    if len(report.findings) <= SHORT:
        return list(report.findings)
    notable = [
        finding
        for finding in report.findings
        if finding.verdict not in RIGHT or finding.as_expected is False
    ]
    return notable[:LISTED]


def _run_lines(run: AccountantRun) -> list[str]:
    """What became of asking one accountant: one line, and one for each reason of its failures."""
    if run.reason:
        return [visible(f"{run.name}: not asked: {run.reason}")]
    where = f" in {run.python}" if run.python else ""
    release = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    skips = Counter(skip.reason for skip in run.skipped)
    parts = [f"asked {run.asked} cases in {run.seconds:.1f} s"]
    parts += [f"skipped {count} ({reason})" for reason, count in skips.most_common(3)]
    if len(skips) > 3:
        parts.append(f"skipped more for {len(skips) - 3} other reasons")
    others = {"refused": run.refused, "FAILED at": run.failed}
    parts += [f"{what} {count}" for what, count in others.items() if count]
    lines = [f"{run.name} ({release}{where}): {', '.join(parts)}"]
    reasons: dict[str, list[Failure]] = {}
    for failure in run.failures:
        reason = f"refused: {failure.reason}" if failure.refused else failure.reason
        reasons.setdefault(reason, []).append(failure)
    for reason, failures in reasons.items():
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        lines.append(f"  {failures[0].case}{more}: {reason}")
    return [visible(line) for line in lines]


def _verdict(finding: Finding) -> str:
    verdict = verdict_text(finding)
    return verdict.replace(finding.verdict, finding.verdict.upper()) if finding.guilty else verdict


def _style(finding: Finding) -> str:
    mild = finding.verdict in WRONG and not finding.guilty
    return "yellow" if mild else _STYLES[finding.verdict]


def _told(finding: Finding) -> str:
    """The claim, the truth and the error in one line, and what is odd about it."""
    claim = finding.claim
    mechanism = shorten(visible(shown(claim.mechanism)), 120)
    certified, error = certified_text(finding), error_text(finding.relative_error)
    parts = [f"{mechanism}: {claim.statement}", f"certified {certified}", f"error {error}"]
    if finding.as_expected is False:
        parts.append(f"not as expected: {claim.expect}")
    if finding.verdict == "undecided" and finding.note:
        parts.append(visible(finding.note))
    return "; ".join(parts)


def _details(finding: Finding) -> Iterator[str]:
    claim = finding.claim
    if source := ": ".join(visible(part) for part in (claim.id, claim.source) if part):
        yield source
    if finding.grade != "none" and claim.contract is not None:
        yield f"contract: {visible(contract_text(claim.contract))}"
    if finding.note and finding.verdict != "undecided":
        yield f"note: {visible(finding.note)}"
    yield f"reproduce: {visible(reproduce(finding))}"


def _print(text: Text, console: Console) -> None:
    """Print a line unbroken, without the characters that the output's encoding lacks."""
    encoded = text.plain.encode(console.encoding, errors="backslashreplace")
    plain = encoded.decode(console.encoding)
    console.print(text if plain == text.plain else Text(plain, style=text.style), soft_wrap=True)
