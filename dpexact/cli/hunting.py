"""``audit hunt``: search for wrong answers, say what was searched, judge what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpexact.cli.judging import Judging, judging_options
from dpexact.cli.options import (
    FILE,
    SecondsRange,
    accountant_option,
    memory_option,
    python_option,
    without_effect,
    workload_option,
)

if TYPE_CHECKING:
    from dpexact.audits import Claim
    from dpexact.audits.runs import AccountantRun


@click.command()
@click.argument("claims", nargs=-1, type=FILE)
@accountant_option
@workload_option
@python_option
@memory_option
@click.option(
    "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Of the variation."
)
@click.option(
    "--seconds",
    type=SecondsRange(1, 86_400),
    default=60,
    show_default=True,
    help="Length of the hunt for each accountant.",
)
@click.option(
    "--found",
    type=FILE,
    help="Write the wrong claims that were hunted down, as a claims file.",
)
@without_effect("--answer-timeout")
@judging_options
def hunt(
    claims: tuple[Path, ...],
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    pythons: dict[str, str],
    memory: int | None,
    seed: int,
    seconds: float,
    found: Path | None,
    **options: Any,
) -> int:
    """Search for wrong answers of the accountants.

    Cases of the workloads (all, if none is named) are varied at random, and wrong answers are
    simplified. The files CLAIMS are judged beside what was found.

    \b
    Examples:
      dpexact audit hunt --accountant dp-accounting-pld --seconds 60 --found found.yaml
      dpexact audit hunt --accountant opendp --workload basics --seed 7 --json report.json
    """
    if not accountants:
        raise click.UsageError("the hunt needs --accountant NAME to ask")
    if "all" in accountants:
        raise click.UsageError("--accountant: name those to hunt; each takes --seconds")
    from dpexact.audits.accountants import python_for
    from dpexact.audits.claims_file import write_claims
    from dpexact.audits.runner import collect
    from dpexact.files import check_writable

    others = dict.fromkeys(claims, "a claims file")
    if found is not None:
        check_writable(found)
        others[found] = "the file of --found"
    judging = Judging(options, others)
    listed = collect(claims)
    with judging.journal() as journal:
        runs: list[AccountantRun] = []
        caught: list[Claim] = []
        for name in dict.fromkeys(accountants):
            python = python_for(name, pythons)
            claimed, run = _hunted(name, workloads, seed, seconds, python, memory)
            caught += claimed
            runs.append(run)
        if found is not None and caught:
            write_claims(caught, found)
        elif found is not None:
            click.echo(f"dpexact: no violation found, so {found} is not written", err=True)
        return judging.report(listed + caught, runs, journal).exit_code


def _hunted(
    name: str,
    workloads: tuple[str, ...],
    seed: int,
    seconds: float,
    python: str,
    memory: int | None,
) -> tuple[list[Claim], AccountantRun]:
    """The wrong claims found in the ``seconds`` of one accountant, and its failures."""
    from dpexact.audits.hunt.search import hunt as search
    from dpexact.audits.hunt.sightings import described
    from dpexact.progress import progress_bar

    with progress_bar(f"hunting {name}") as progress:
        found = search(name, workloads, seed, seconds, progress, python=python, memory=memory)
    wrong = len(found.claims)
    click.echo(
        f"{name}: {found.asked} questions in {found.seconds:.0f} s (seed {seed}): "
        f"{wrong} distinct certified violations, {len(found.sightings) - wrong} failures"
    )
    for sighting in found.sightings:
        click.echo(f"  {described(sighting)}")
    return found.claims, found.run
