"""The verbs of the golden table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpexact.cli.options import FILE, jobs_option, json_option
from dpexact.errors import InvalidInput

if TYPE_CHECKING:
    from dpexact.oracle.cases import Case

suite_option = click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only these.")


@click.group()
def oracle() -> None:
    """The golden table of certified answers for accountants' tests.

    The pytest plugin checks accountants against it.

    \b
    Examples:
      dpexact oracle list
      dpexact oracle list --suite dpsgd --mechanism "gaussian(1.3)"
      dpexact oracle check --sample 50
    """


def _of_suites(rows: Iterable[Case], suites: tuple[str, ...]) -> list[Case]:
    """Those of some suites; without any, all."""
    from dpexact.oracle import golden

    for name in suites:  # an unknown name is a mistake, not an empty selection
        golden.select(name)
    return [case for case in rows if not suites or set(suites) & set(case.suites)]


@oracle.command("list")
@suite_option
@click.option("--mechanism", metavar="TEXT", help="Only rows whose mechanism holds TEXT.")
@json_option
def list_(suites: tuple[str, ...], mechanism: str | None, as_json: bool) -> None:
    """List the suites, or the rows of a selection.

    \b
    Examples:
      dpexact oracle list
      dpexact oracle list --suite laplace --json
    """
    from dpexact.oracle import golden
    from dpexact.oracle.grids import description

    if suites or mechanism is not None:
        rows = _of_suites(golden.select(mechanism=mechanism), suites)
        if as_json:
            click.echo(json.dumps({"rows": [asdict(case) for case in rows]}))
            return
        for case in rows:
            click.echo(f"{case.id}: {case.enclosure.shown(20)}")
        click.echo(f"{len(rows)} rows")
        return
    counts = golden.suites()
    if as_json:
        found = {name: {"rows": n, "description": description(name)} for name, n in counts.items()}
        click.echo(json.dumps({"suites": found, "rows": len(golden.table())}))
        return
    for name, number in counts.items():
        click.echo(f"{name}: {number} rows, {description(name)}")
    click.echo(f"{len(golden.table())} rows")


@oracle.command()
@click.option(
    "-o",
    "--output",
    type=FILE,
    default=Path("table.csv.gz"),
    show_default=True,
    help="Where to write the table.",
)
@suite_option
@jobs_option("Worker processes.", default=1, show_default=True)
def export(output: Path, suites: tuple[str, ...], jobs: int) -> None:
    """Compute the golden table anew, from the grids of its suites.

    \b
    Example:
      dpexact oracle export -o table.csv.gz --jobs 2
    """
    from dpexact.files import check_writable, write_atomically
    from dpexact.oracle import golden
    from dpexact.oracle.rows import export as compute
    from dpexact.progress import progress_bar

    check_writable(output)
    with progress_bar("certifying") as progress:
        rows, left_out = compute(suites, jobs, progress)
    write_atomically(output, golden.written(rows))
    for question, reason in left_out.items():
        asked = f"{question.quantity} of {question.mechanism} at {question.argument}"
        click.echo(f"dpexact: no row: {asked}, {question.direction}: {reason}", err=True)
    click.echo(f"{len(rows)} rows in {output}")


@oracle.command()
@click.option(
    "--sample", type=click.IntRange(1), default=100, show_default=True, help="Rows to recompute."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")
@click.option("--all", "everything", is_flag=True, help="Recompute every row.")
@click.option("--lattice", is_flag=True, help="The lattice engine as well: seconds a row.")
@click.option(
    "--table",
    "file",
    type=FILE,
    help="Check this file.  [default: the table of the package]",
)
@suite_option
@jobs_option("Worker processes.", default=1, show_default=True)
def check(
    sample: int,
    seed: int,
    everything: bool,
    lattice: bool,
    file: Path | None,
    suites: tuple[str, ...],
    jobs: int,
) -> int:
    """Recompute golden rows by other routes; exit code 1 if one disagrees.

    \b
    Examples:
      dpexact oracle check --sample 50 --seed 7
      dpexact oracle check --all --jobs 2
    """
    from dpexact.oracle import checking, golden
    from dpexact.progress import progress_bar

    rows = _of_suites(golden.table() if file is None else golden.read(file), suites)
    if not rows:
        raise InvalidInput("no golden row matches: a check of none would show nothing")
    chosen = rows if everything else checking.sample(rows, sample, seed)
    with progress_bar("checking") as progress:
        doubts = checking.check(chosen, jobs, lattice, progress)
    wrong = [doubt for doubt in doubts if doubt.disagreement]
    for doubt in wrong:
        click.echo(f"{doubt.case.id}: {doubt.disagreement}")
        click.echo(f"  the row says [{doubt.case.lower}, {doubt.case.upper}]")
    routes = sum(len(doubt.routes) for doubt in doubts)
    click.echo(f"{len(doubts)} rows by {routes} routes: {len(wrong)} disagree")
    return 1 if wrong else 0
