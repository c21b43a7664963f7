"""The scoreboard of the audit verb: every release on every workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpexact.cli.judging import kept_in
from dpexact.cli.options import (
    SECONDS,
    accountant_option,
    answer_timeout_option,
    cores,
    digits_option,
    file_option,
    jobs_option,
    memory_option,
    program,
    workload_option,
)
from dpexact.cli.report_files import distinct_files

if TYPE_CHECKING:
    from dpexact.audits.scoreboard import Row


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
@file_option("history", "An older scoreboard in JSON, whose rows stay where nothing replaces them.")
@file_option("html", "Write a page.")
@file_option("json", "Write the rows in JSON.")
@file_option("markdown", "Write tables.")
@file_option(
    "journal",
    "Keep answers and findings here as they come; an interrupted scoreboard goes on from it.",
)
@answer_timeout_option
@click.option(
    "--accountant-timeout",
    type=SECONDS,
    help="Seconds for all answers of an accountant; what is left then is not asked.",
)
@click.option(
    "--timeout", type=SECONDS, default=120, show_default=True, help="Seconds to judge one claim."
)
@jobs_option("Asked or judged at a time.  [default: one a core]")
@memory_option
@digits_option
def scoreboard(
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    pythons: list[str],
    history_file: Path | None,
    html_file: Path | None,
    json_file: Path | None,
    markdown_file: Path | None,
    journal_file: Path | None,
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
    from dpexact.audits.accountants import Limits
    from dpexact.audits.scoreboard import read_scoreboard, to_html, to_json, to_markdown
    from dpexact.audits.scoreboard import scoreboard as measured
    from dpexact.files import write_atomically
    from dpexact.progress import progress_bar

    named = {"html": html_file, "json": json_file, "markdown": markdown_file}
    taken = {} if journal_file is None else {journal_file: "the journal"}
    written = distinct_files(named, taken)
    history = read_scoreboard(history_file) if history_file is not None else None
    with kept_in(journal_file, digits) as journal, progress_bar("judging") as progress:
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
            journal=journal,
            progress=progress,
        )
    for row in board.rows:
        click.echo(_line(row))
    texts = {"html": to_html, "json": to_json, "markdown": to_markdown}
    for name, path in written.items():
        write_atomically(path, texts[name](board))
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
