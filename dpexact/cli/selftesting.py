"""The verb ``selftest``."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import click

import dpexact


@click.command()
@click.option(
    "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Of random cases."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def selftest(seed: int, as_json: bool) -> int:
    """Check this installation, in some seconds.

    FLINT, known answers, and random cases on a second route are compared. The exit code is 1 if
    anything disagrees.

    \b
    Examples:
      dpexact selftest
      dpexact selftest --seed 7 --json
    """
    from dpexact.progress import progress_bar
    from dpexact.selftest import selftest as run

    started = time.perf_counter()
    with progress_bar("checking") as progress:
        checks = list(run(seed, progress))
    seconds = time.perf_counter() - started
    failed = [check for check in checks if not check.passed]
    if as_json:
        record = {
            "passed": not failed,
            "checks": [asdict(check) for check in checks],
            "seed": seed,
            "seconds": round(seconds, 6),
            "version": dpexact.__version__,
        }
        click.echo(json.dumps(record))
    else:
        for check in checks:
            click.echo(f"{'✓' if check.passed else '✗'} {check.name}: {check.detail}")
        ending = f"{len(failed)} wrong" if failed else "all right"
        click.echo(f"{len(checks)} checks: {ending}, {seconds:.3g} s")
    return int(bool(failed))
