"""The verb ``prove``: check the claims of the papers that accounting rests on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from dpexact.cli.options import cores, jobs_option, json_option

if TYPE_CHECKING:
    from proofs_checks.runner import Outcome


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="S",
    help="Only claims of one source (kov, gdp, steinke, ...); may be repeated.",
)
@click.option("--smoke", is_flag=True, help="Only the quick selection.")
@click.option("--list", "only_list", is_flag=True, help="List the claims; run nothing.")
@json_option
@click.option("--html", metavar="FILE", help="Write a self-contained HTML report.")
@click.option("--coq", metavar="DIR", help="Write a Coq file a claim into DIR; run nothing.")
@jobs_option("Worker processes.", metavar="N")
@click.option("--record", is_flag=True, help="Renew the record of findings (for developers).")
def prove(
    ids: tuple[str, ...],
    sources: tuple[str, ...],
    smoke: bool,
    only_list: bool,
    as_json: bool,
    html: str | None,
    coq: str | None,
    jobs: int | None,
    record: bool,
) -> int:
    """Check claims of the papers that accounting rests on.

    All of them, those of a source, or by ID.

    Each check ends in a verdict: proved, repaired (a corrected statement is proved), refuted (with
    a witness), certified (on a stated domain) or tested (in exact cases). Beside it stands its
    strength: formal, complete, derived or finite. The exit code is 1 if a verdict, a strength or a
    finding is not the expected one, or a statement has changed since it was recorded.

    \b
    Examples:
      dpexact prove kov.cor5.1
      dpexact prove --source kov --json
      dpexact prove --smoke --html proofs.html
      dpexact prove --list --source gdp
      dpexact prove --coq theorems
    """
    from dpexact.files import check_writable, write_atomically
    from proofs_checks.selection import document, keep, listing, select

    if only_list:
        _print_list(listing(ids, sources), as_json)
        return 0
    if coq is not None:
        _write_coq(coq, ids, sources)
        return 0
    if html is not None:
        check_writable(html)
    selected = select(ids, sources, smoke)

    from dpexact.progress import progress_bar
    from proofs_checks.runner import run

    with progress_bar("proving") as advance:
        outcomes = run([entry.name for entry in selected], jobs or cores(), advance)
    if record:
        keep(outcomes)
    if html is not None:
        from proofs_checks.report import to_html

        write_atomically(html, to_html(outcomes))
    if as_json:
        click.echo(json.dumps(document(outcomes), indent=2, ensure_ascii=False))
    else:
        _print(outcomes)
    return int(any(outcome.problem for outcome in outcomes))


def _write_coq(folder: str, ids: tuple[str, ...], sources: tuple[str, ...]) -> None:
    from pathlib import Path

    from dpexact.errors import InvalidInput, NotWritten
    from dpexact.files import refusing
    from dpexact.visible import visible
    from proofs_checks.coq import coq_of, write
    from proofs_checks.selection import listing

    chosen = [row["id"] for row in listing(ids, sources)]
    for identity in ids:
        if coq_of(identity) is None:
            raise InvalidInput(f"claim {identity!r} has no Coq file")
    with refusing(f"{visible(folder)}: cannot make the folder", kind=NotWritten):
        Path(folder).mkdir(parents=True, exist_ok=True)
    written = write(Path(folder), chosen)
    click.echo(f"{len(written)} files; in this order, in that folder: coqc -Q . DPExact FILE")


def _print_list(rows: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"claims": rows}, indent=2, ensure_ascii=False))
        return
    for row in rows:
        verdict = f"{row['expected'] or 'no check':<14} {row['strength']:<9}"
        click.echo(f"{row['id']:<34} {verdict} {row['place']}")


def _print(outcomes: list[Outcome]) -> None:
    from proofs_checks.selection import summary

    for outcome in outcomes:
        sign = "✗" if outcome.problem else "✓"
        strengths = "/".join(
            dict.fromkeys(result.strength for result in outcome.results.values() if result.strength)
        )
        verdict = f"{outcome.result.verdict:<10} {strengths:<9}"
        click.echo(f"{sign} {verdict} {' '.join(outcome.ids)}")
        click.echo(f"    {outcome.problem or outcome.result.finding}")
    wrong = sum(bool(outcome.problem) for outcome in outcomes)
    counts = summary(outcomes)
    shown = "; ".join(
        ", ".join(f"{number} {name}" for name, number in counts[key].items())
        for key in ("verdicts", "strengths", "repairs")
        if counts[key]
    )
    ending = f"{wrong} unexpected" if wrong else "all as expected"
    claims = sum(len(outcome.ids) for outcome in outcomes)
    click.echo(f"{len(outcomes)} checks of {claims} claims: {shown}; {ending}")
