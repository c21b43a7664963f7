"""The verbs of the audit."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

import dpexact
from dpexact.cli.certifying import certificate_option, certify_audit
from dpexact.cli.errors import EXIT_INTERRUPTED, fail
from dpexact.cli.options import (
    SECONDS,
    SecondsRange,
    cores,
    digits_option,
    json_option,
    python_option,
)
from dpexact.cli.report_files import ReportFiles, report_options, tell_actions


@click.command()
@click.argument("claims", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--claim",
    "sentences",
    multiple=True,
    metavar="SENTENCE",
    help='Judge "epsilon <= 2.4 of EXPR at delta 1e-5 [by SOURCE]"; also >=, ~, delta.',
)
@click.option(
    "--accountant",
    "accountants",
    multiple=True,
    metavar="NAME",
    help='Audit this too; "all" for every one that is installed.',
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="Cases that the accountants are asked.  [default: basics]",
)
@python_option
@click.option(
    "--answer-timeout",
    type=SECONDS,
    default=60,
    show_default=True,
    help="Seconds for an answer of an accountant.",
)
@click.option(
    "--memory",
    type=click.IntRange(64, 1 << 24),
    metavar="MIB",
    help="Memory for an accountant.  [default: any]",
)
@click.option("--bench", is_flag=True, help="Judge the recorded claims of the package.")
@click.option("--hunt", is_flag=True, help="Search for wrong answers of the accountants.")
@click.option(
    "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Of the hunt."
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
    type=click.Path(path_type=Path),
    help="Write the wrong claims that were hunted down, as a claims file.",
)
@report_options
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    help="Claims judged at a time, each in its own process.  [default: one a core]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Judge on this Dask cluster instead.")
@click.option(
    "--timeout",
    type=SECONDS,
    default=120,
    show_default=True,
    help="Seconds that one claim may take.",
)
@click.option(
    "--journal",
    "journal_file",
    type=click.Path(path_type=Path),
    help="Keep answers and findings here as they come; an interrupted audit goes on from it.",
)
@certificate_option
@digits_option
def audit(
    claims: tuple[Path, ...],
    sentences: tuple[str, ...],
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    pythons: dict[str, str],
    answer_timeout: float,
    memory: int | None,
    bench: bool,
    hunt: bool,
    seed: int,
    seconds: float,
    found: Path | None,
    jobs: int | None,
    scheduler: str | None,
    timeout: float,
    journal_file: Path | None,
    certificate_file: Path | None,
    digits: int,
    **report_files: Path | None,
) -> int:
    """Judge claims of other software: sound, unsound or undecided, with the certified truth.

    CLAIMS are files (YAML, JSON or CSV). With --accountant the named accountants are run on the
    workloads, each in a process of its own, and what they return is judged. With --hunt cases of
    the workloads (all, if none is named) are varied at random, and wrong answers are simplified.
    With --bench the exit code is 0 if every verdict is as expected.

    \b
    Examples:
      dpexact audit docs/examples/recorded_claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics --json report.json
      dpexact audit --claim "epsilon <= 2.4 of poisson(gaussian(1.1), 1/235)^14100 at delta 1e-5"
      dpexact audit --bench
      dpexact audit --hunt --accountant dp-accounting-pld --seconds 60 --found found.yaml
      dpexact audit claims.csv --jobs 8 --journal findings.jsonl
      dpexact audit claims.csv --scheduler tcp://10.0.0.1:8786
      dpexact audit claims.yaml --junit report.xml --sarif report.sarif --markdown report.md
      dpexact audit --accountant all --python opacus-rdp=/opt/opacus/bin/python --jobs 2
    """
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs: not with --scheduler, whose workers judge")
    if bench and (claims or sentences or accountants):
        raise click.UsageError("--bench: judges its own claims alone")
    if hunt and not accountants:
        raise click.UsageError("--hunt: needs --accountant NAME to ask")
    if hunt and "all" in accountants:
        raise click.UsageError("--hunt: name the accountants; each takes --seconds")
    if found is not None and not hunt:
        raise click.UsageError("--found: needs --hunt")
    if not (claims or sentences or accountants or bench):
        raise click.UsageError("nothing to audit: give a claims file, --accountant NAME or --bench")
    if (workloads or pythons) and not accountants:
        raise click.UsageError("--workload and --python need --accountant NAME to ask")
    from dpexact.audit import Claim
    from dpexact.audit.accountants import Limits
    from dpexact.audit.bench import bench as recorded
    from dpexact.audit.claims_file import write_claims
    from dpexact.audit.cluster import cluster
    from dpexact.audit.journal import Journal
    from dpexact.audit.live import ask
    from dpexact.audit.reports import print_report
    from dpexact.audit.reports.wording import expectation_sentence
    from dpexact.audit.reports.writing import check_writable
    from dpexact.audit.runner import audit as judge_all
    from dpexact.audit.runner import collect
    from dpexact.audit.runs import AccountantRun
    from dpexact.audit.sentences import claim_of
    from dpexact.cli.hunting import hunted
    from dpexact.progress import progress_bar

    others = dict.fromkeys(claims, "a claims file")
    if journal_file is not None:
        others[journal_file] = "the journal"
    if found is not None:
        check_writable(found)
        others[found] = "the file of --found"
    if certificate_file is not None:
        check_writable(certificate_file)
        others[certificate_file] = "the certificate"
    files = ReportFiles(report_files, others)
    listed: list[Claim] = recorded() if bench else [*collect(claims), *map(claim_of, sentences)]
    runs: tuple[AccountantRun, ...] = ()
    command = shlex.join(["dpexact", *sys.argv[1:]])
    settings = {"dpexact": dpexact.__version__, "digits": digits}
    with ExitStack() as stack:
        stack.push(partial(_interrupted, journal_file))
        journal = stack.enter_context(Journal(journal_file, settings)) if journal_file else None
        if hunt:
            caught, runs = hunted(accountants, workloads, seed, seconds, pythons, memory)
            if found is not None and caught:
                write_claims(caught, found)
            elif found is not None:
                click.echo(f"dpexact: no violation found, so {found} is not written", err=True)
            listed += caught
        elif accountants:
            with progress_bar("asking") as progress:
                answers, runs = ask(
                    accountants,
                    workloads or ("basics",),
                    progress,
                    pythons=pythons,
                    limits=Limits(answer_timeout, memory),
                    jobs=jobs or cores(),
                    journal=journal,
                )
            listed += answers
        executor = stack.enter_context(cluster(scheduler)) if scheduler else None
        report = judge_all(
            listed,
            digits,
            jobs=jobs or cores(),
            executor=executor,
            timeout=timeout,
            journal=journal,
            progress=stack.enter_context(progress_bar("judging")),
            command=command,
            runs=runs,
        )
    files.write(report)
    print_report(report)
    tell_actions(report)
    if certificate_file is not None:
        certify_audit(certificate_file, report)
    if expected := expectation_sentence(report):
        click.echo(expected)
    came_true, hoped = report.expectations
    return int(came_true < hoped) if bench else report.exit_code


def _interrupted(journal: Path | None, kind: type[BaseException] | None, *_: object) -> None:
    """Say that what was found is kept."""
    if journal is not None and kind is KeyboardInterrupt:
        fail(
            f"interrupted; {journal} keeps what was found, the same command goes on",
            EXIT_INTERRUPTED,
        )


@click.command()
@python_option
@json_option
def accountants(pythons: dict[str, str], as_json: bool) -> None:
    """List the accountants that can be audited, and what is missing for the others.

    \b
    Example:
      dpexact accountants
    """
    from dpexact.audit import workloads
    from dpexact.audit.accountants import available

    grids = [workloads.load(name) for name in workloads.names()]
    found = available(pythons)
    if as_json:
        record = {
            "accountants": [asdict(info) for info in found],
            "workloads": [grid.name for grid in grids],
            "cases": {grid.name: len(grid.cases) for grid in grids},
        }
        click.echo(json.dumps(record))
        return
    for info in found:
        versions = ", ".join(f"{name} {number}" for name, number in info.versions.items())
        click.echo(f"{info.name}: {versions if info.installed else info.reason}")
    click.echo("workloads:")
    for grid in grids:
        click.echo(f"  {grid.name}: {len(grid.cases)} cases: {grid.description}")
