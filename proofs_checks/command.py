"""The verb ``dpexact prove``: run checks of papers' claims, print what they find."""

from __future__ import annotations

import json
import os
from collections import Counter

import click

from dpexact.audit.reports.writing import check_writable, write_atomically
from dpexact.errors import InvalidInput
from dpexact.progress import progress_bar
from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.record import renew
from proofs_checks.registry import Check, check_of, checks
from proofs_checks.report import to_html
from proofs_checks.runner import Outcome, run
from proofs_checks.verdicts import VERDICTS


@click.command("prove")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Choice(tuple(SOURCES)),
    help="Only claims of this source; may be repeated.",
)
@click.option("--smoke", is_flag=True, help="Only the quick selection.")
@click.option("--list", "only_list", is_flag=True, help="List the claims; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--html", "html", metavar="FILE", help="Write a self-contained HTML report.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=os.cpu_count() or 1,
    show_default="all processors",
    help="Worker processes.",
)
@click.option(
    "--record", is_flag=True, help="Record findings and fingerprints of library code (developers)."
)
def prove(
    ids: tuple[str, ...],
    sources: tuple[str, ...],
    smoke: bool,
    only_list: bool,
    as_json: bool,
    html: str | None,
    jobs: int,
    record: bool,
) -> int:
    """Check claims of the papers that accounting rests on: all, those of a source, or by ID.

    Every check ends in a verdict: proved, repaired, refuted, certified (on a stated domain), tested
    (in exact cases). Exit code 1 means that a verdict or a finding is not the expected one.

    \b
    Examples:
      dpexact prove kov.cor5.1
      dpexact prove --source kov --json
      dpexact prove --smoke --html proofs.html
      dpexact prove --list --source gdp
    """
    if html is not None:
        check_writable(html)
    selected = _select(ids, sources, smoke)
    if only_list:
        _print_list(ids, sources, selected, as_json)
        return 0
    if not selected:
        raise InvalidInput("nothing to prove: no claim of this selection has a check")
    with progress_bar("proving") as advance:
        outcomes = run([entry.name for entry in selected], jobs, advance)
    if record:
        _record(outcomes)
    if html is not None:
        write_atomically(html, to_html(outcomes))
    if as_json:
        click.echo(json.dumps(_document(outcomes), indent=2, ensure_ascii=False))
    else:
        _print(outcomes)
    return int(any(outcome.problem for outcome in outcomes))


def _select(ids: tuple[str, ...], sources: tuple[str, ...], smoke: bool) -> list[Check]:
    if ids:
        found: dict[str, Check] = {}
        for identity in ids:
            if sources and claim(identity).source not in sources:
                raise InvalidInput(f"claim {identity!r} is not of --source {', '.join(sources)}")
            entry = check_of(identity)
            if entry is None:
                why = claim(identity).not_checkable or "it has no check yet"
                raise InvalidInput(f"claim {identity!r} cannot be proved: {why}")
            found[entry.name] = entry
        entries = list(found.values())
    else:
        entries = checks(sources or SOURCES)
    return [entry for entry in entries if entry.smoke or not smoke]


def _print_list(
    ids: tuple[str, ...], sources: tuple[str, ...], selected: list[Check], as_json: bool
) -> None:
    verdicts = {identity: entry.expects for entry in selected for identity in entry.ids}
    listed = [claim(i) for i in ids] or [
        entry for source in sources or SOURCES for entry in claims(source).values()
    ]
    rows = [
        {
            "id": entry.id,
            "place": entry.place,
            "statement": entry.statement,
            "expected": "not checkable" if entry.not_checkable else verdicts.get(entry.id, ""),
        }
        for entry in listed
    ]
    if as_json:
        click.echo(json.dumps({"claims": rows}, indent=2, ensure_ascii=False))
        return
    for row in rows:
        click.echo(f"{row['id']:<34} {row['expected'] or 'no check':<14} {row['place']}")


def _print(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        sign = "✗" if outcome.problem else "✓"
        click.echo(f"{sign} {outcome.result.verdict:<10} {' '.join(outcome.ids)}")
        click.echo(f"    {outcome.problem or outcome.result.finding}")
    wrong = sum(bool(outcome.problem) for outcome in outcomes)
    shown = ", ".join(f"{number} {verdict}" for verdict, number in _summary(outcomes).items())
    click.echo(
        f"{len(outcomes)} checks: {shown}; "
        + (f"{wrong} unexpected" if wrong else "all as expected")
    )


def _summary(outcomes: list[Outcome]) -> dict[str, int]:
    counts = Counter(outcome.result.verdict for outcome in outcomes)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def _document(outcomes: list[Outcome]) -> dict[str, object]:
    from dpexact.audit.runner import versions

    return {
        "checks": [outcome.to_json() for outcome in outcomes],
        "summary": _summary(outcomes),
        "unexpected": sum(bool(outcome.problem) for outcome in outcomes),
        "versions": versions(),
    }


def _record(outcomes: list[Outcome]) -> None:
    """Record what came out with the expected verdict; a changed finding is then no problem."""
    for source in SOURCES:
        findings = {
            outcome.name: outcome.result.finding
            for outcome in outcomes
            if claim(outcome.name).source == source and outcome.result.verdict == outcome.expected
        }
        if findings:
            renew(source, findings)
