"""What every audit shares: how claims are judged, what is kept, and where the report goes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import dpexact
from dpexact.cli.certifying import certificate_option, certify_audit
from dpexact.cli.errors import EXIT_INTERRUPTED, fail
from dpexact.cli.options import (
    SECONDS,
    cores,
    digits_option,
    file_option,
    jobs_option,
    together,
)
from dpexact.cli.report_files import REPORTS, distinct_files, report_options, tell_actions

if TYPE_CHECKING:
    from dpexact.audits import Claim, Report
    from dpexact.audits.journal import Journal
    from dpexact.audits.runs import AccountantRun

#: The options that every audit shares: those that :class:`Judging` reads.
judging_options = together(
    report_options,
    jobs_option("Processes that judge at a time.  [default: one a core]"),
    click.option("--scheduler", metavar="ADDRESS", help="Judge on this Dask cluster instead."),
    click.option(
        "--timeout",
        type=SECONDS,
        default=120,
        show_default=True,
        help="Seconds of the processor that one claim may take.",
    ),
    file_option(
        "journal",
        "Keep answers and findings here as they come; an interrupted audit goes on from it.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Exit with 1 for claims that are wrong by a rounding, or invalid, too.",
    ),
    click.option(
        "--verbose",
        "-v",
        is_flag=True,
        help="Print source, contract, note and a command to reproduce under each claim.",
    ),
    certificate_option,
    digits_option,
)


class Judging:
    """An audit as the values of :data:`judging_options` want it, wherever its claims come from.

    Raises:
        InvalidInput: a file cannot be written, or is named twice, or is one of ``others``, which
            have another part in the audit.
    """

    def __init__(self, options: Mapping[str, Any], others: Mapping[Path, str]) -> None:
        from dpexact.files import check_writable

        if options["jobs"] is not None and options["scheduler"] is not None:
            raise click.UsageError("--jobs: not with --scheduler, whose workers judge")
        self._options = options
        self._started = datetime.now(UTC)
        self.jobs: int = options["jobs"] or cores()
        self._journal: Path | None = options["journal_file"]
        self._certificate: Path | None = options["certificate_file"]
        taken = dict(others)
        if self._journal is not None:
            taken[self._journal] = "the journal"
        if self._certificate is not None:
            check_writable(self._certificate)
            taken[self._certificate] = "the certificate"
        self._paths = distinct_files({name: options[f"{name}_file"] for name in REPORTS}, taken)
        self._lines = self._paths.pop("jsonl", None)

    def journal(self) -> AbstractContextManager[Journal | None]:
        """The open journal, if one is kept."""
        return kept_in(self._journal, self._options["digits"])

    def report(
        self, claims: Sequence[Claim], runs: Sequence[AccountantRun], journal: Journal | None
    ) -> Report:
        """Judge ``claims``, print the report and write its files."""
        from dpexact.audits.cluster import cluster
        from dpexact.audits.reports import JsonLines, print_report, write
        from dpexact.audits.reports.github_actions import no_commands
        from dpexact.audits.reports.wording import expectation_sentence
        from dpexact.audits.runner import audit
        from dpexact.progress import progress_bar

        scheduler = self._options["scheduler"]
        with ExitStack() as stack:
            lines = stack.enter_context(JsonLines(self._lines)) if self._lines else None
            report = audit(
                claims,
                self._options["digits"],
                jobs=self.jobs,
                executor=stack.enter_context(cluster(scheduler)) if scheduler else None,
                timeout=self._options["timeout"],
                journal=journal,
                progress=stack.enter_context(progress_bar("judging")),
                found=lines.found if lines else None,
                command=shlex.join(["dpexact", *sys.argv[1:]]),
                runs=runs,
                strict=self._options["strict"],
                started=self._started,
            )
            if lines:
                lines.end(report)
        for form, path in self._paths.items():
            write(report, form, path)
        with no_commands(os.environ, click.echo):
            print_report(report, verbose=self._options["verbose"])
        tell_actions(report)
        if self._certificate is not None:
            certify_audit(self._certificate, report)
        if expected := expectation_sentence(report):
            click.echo(expected)
        return report


@contextmanager
def kept_in(path: Path | None, digits: int) -> Iterator[Journal | None]:
    """The open journal, if one is kept; an interrupt then says that it keeps what was found."""
    from dpexact.audits.journal import Journal

    if path is None:
        yield None
        return
    try:
        with Journal(path, {"dpexact": dpexact.__version__, "digits": digits}) as journal:
            yield journal
    except KeyboardInterrupt:
        kept = f"{path} keeps what was found, the same command goes on"
        fail(f"interrupted; {kept}", EXIT_INTERRUPTED)
