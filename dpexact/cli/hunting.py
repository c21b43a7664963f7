"""The hunt of the audit verb: search, then say what was searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpexact.audit import Claim
    from dpexact.audit.runs import AccountantRun


def hunted(
    accountants: Sequence[str],
    workloads: Sequence[str],
    seed: int,
    seconds: float,
    pythons: dict[str, str],
    memory: int | None,
) -> tuple[list[Claim], tuple[AccountantRun, ...]]:
    """The wrong claims found in each accountant's own ``seconds``, and its failures."""
    from dpexact.audit.hunt import hunt
    from dpexact.audit.hunt.sightings import described
    from dpexact.progress import progress_bar

    claims: list[Claim] = []
    runs: list[AccountantRun] = []
    for name in dict.fromkeys(accountants):
        python = pythons.get(name, pythons.get("", ""))
        with progress_bar(f"hunting {name}") as progress:
            found = hunt(name, workloads, seed, seconds, progress, python=python, memory=memory)
        wrong = len(found.claims)
        click.echo(
            f"{name}: {found.asked} questions in {found.seconds:.0f} s (seed {seed}): "
            f"{wrong} distinct certified violations, {len(found.sightings) - wrong} failures"
        )
        for sighting in found.sightings:
            click.echo(f"  {described(sighting)}")
        claims += found.claims
        runs.append(found.run)
    return claims, tuple(runs)
