"""The scoreboard of the audit verb: every release on every workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpexact.cli.options import (
    SECONDS,
    accountant_option,
    cores,
    digits_option,
    memory_option,
    program,
    workload_option,
)

if TYPE_CHECKING:
    from dpexact.audit.scoreboard import Row

_FILE = click.Path(path_type=Path)


@click.command()
@accountant_option
@workload_option
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="PATH",
    callback=lambda context, parameter, given: [program(path) for path in given],
    help="A further interpreter, with other releases; all accountants are asked there too.",
)
@click.option(
    "--history",
    "history_file",
    type=_FILE,
    metavar="FILE",
    help="An older scoreboard in JSON, whose rows stay where nothing replaces them.",
)
@click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write a page.")
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write the rows in JSON.")
@click.option(
    "--answer-timeout",
    type=SECONDS,
    default=60,
    show_default=True,
    help="Seconds for an answer of an accountant.",
)
@click.option(
    "--accountant-timeout",
    type=SECONDS,
    help="Seconds for all answers of an accountant; what is left then is not asked.",
)
@click.option(
    "--timeout", type=SECONDS, default=120, show_default=True, help="Seconds to judge one claim."
)
@click.option(
    "--jobs", type=click.IntRange(1, 1024), help="Asked or judged at a time.  [default: one a core]"
)
@memory_option
@digits_option
def scoreboard(
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    pythons: list[str],
    history_file: Path | None,
    html_file: Path | None,
    json_file: Path | None,
    answer_timeout: float,
    accountant_timeout: float | None,
    timeout: float,
    jobs: int | None,
    memory: int | None,
    digits: int,
) -> int:
    """Tabulate how every installed accountant does, by family of mechanisms.

    Without --accountant all that are installed are asked, without --workload all that is built in.
    How often they are right, how wrong at worst, how far sound answers are from the truth, what
    they do not support or fail at, and the time they take. The exit code says nothing of them.

    \b
    Examples:
      dpexact audit scoreboard --html scoreboard.html --json scoreboard.json
      dpexact audit scoreboard --accountant dp-accounting-pld --workload basics
      dpexact audit scoreboard --python old/bin/python --history old.json --json new.json
    """
    from dpexact.audit.accountants import Limits
    from dpexact.audit.scoreboard import read_scoreboard, to_html, to_json
    from dpexact.audit.scoreboard import scoreboard as measured
    from dpexact.files import check_writable, write_atomically
    from dpexact.progress import progress_bar

    for path in (html_file, json_file):
        if path is not None:
            check_writable(path)
    history = read_scoreboard(history_file) if history_file is not None else None
    with progress_bar("judging") as progress:
        board = measured(
            accountants,
            workloads,
            pythons=pythons,
            history=history,
            limits=Limits(answer_timeout, memory),
            accountant_timeout=accountant_timeout,
            digits=digits,
            jobs=jobs or cores(),
            timeout=timeout,
            progress=progress,
        )
    for row in board.rows:
        click.echo(_line(row))
    if json_file is not None:
        write_atomically(json_file, to_json(board))
    if html_file is not None:
        write_atomically(html_file, to_html(board))
    return 0


def _line(row: Row) -> str:
    parts = [f"{row.right} of {row.claims} certified right" if row.claims else "no claims"]
    if row.wrong:
        parts.append(f"{row.wrong} wrong, at worst {row.worst}")
    if row.most:
        parts.append(f"off by {row.median} (median) to {row.most}")
    parts += [f"{row.unsupported} not supported"] * bool(row.unsupported)
    parts += [f"{row.failed} failed"] * bool(row.failed)
    parts += [f"{row.unasked} out of time"] * bool(row.unasked)
    parts.append(f"{row.seconds:.3g} s")
    return f"{row.accountant} ({row.release}), {row.family}: {', '.join(parts)}"
