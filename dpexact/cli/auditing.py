"""The verbs of the audit."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dpexact.cli.hunting import hunt
from dpexact.cli.judging import Judging, judging_options
from dpexact.cli.options import (
    FILE,
    accountant_option,
    answer_timeout_option,
    json_option,
    memory_option,
    python_option,
    without_effect,
    workload_option,
)
from dpexact.cli.scoring import scoreboard


class AuditGroup(click.Group):
    """A command on its own, unless its first argument names one of its commands.

    The flags ``--hunt`` and ``--bench`` name them too.
    """

    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = args[: args.index("--")] if "--" in args else args
        for name in self.commands:
            if f"--{name}" in options:
                args.remove(f"--{name}")
                args.insert(0, name)
        if args and args[0] in self.commands:
            ctx.args = args
            return args
        return click.Command.parse_args(self, ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        # its commands take no part of these: CLAIMS does not stand in their usage
        return super().get_params(ctx) if ctx.command is self else []

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, command, args = self.resolve_command(ctx, ctx.args)
        assert command is not None
        with command.make_context(name, args, parent=ctx) as inner:
            return command.invoke(inner)


def _complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, and in the first place the commands of the group."""
    files = CompletionItem(incomplete, type="file")
    if ctx.params["claims"]:
        return [files]
    return [*ctx.command.shell_complete(ctx, incomplete), files]


@click.group(cls=AuditGroup, no_args_is_help=False, subcommand_metavar="| COMMAND ...")
@click.argument("claims", nargs=-1, type=FILE, shell_complete=_complete)
@click.option(
    "--claim",
    "sentences",
    multiple=True,
    metavar="SENTENCE",
    help='Judge "epsilon <= 2.4 of EXPR at delta 1e-5 [by SOURCE]"; or >=, ~; delta, beta, renyi; '
    "or the statement that TensorFlow Privacy prints.",
)
@accountant_option
@workload_option
@python_option
@answer_timeout_option
@memory_option
@without_effect("--seed", "--seconds")
@judging_options
def audit(
    claims: tuple[Path, ...],
    sentences: tuple[str, ...],
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    pythons: dict[str, str],
    answer_timeout: float,
    memory: int | None,
    **options: Any,
) -> int:
    """Judge claims of other software: sound, unsound or undecided, with the certified truth.

    CLAIMS are files (YAML, JSON, JSON Lines or CSV). With --accountant the named accountants
    ("all": every one that is installed) are run on the workloads (basics, if none is named), each
    in a process of its own, and what they return is judged. A claims file with the name of a
    command is ./NAME.

    \b
    Examples:
      dpexact audit docs/examples/recorded_claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics --json report.json
      dpexact audit --claim "epsilon <= 2.4 of poisson(gaussian(1.1), 1/235)^14100 at delta 1e-5"
      dpexact audit claims.csv --jobs 8 --journal journal --jsonl findings.jsonl
      dpexact audit claims.csv --scheduler tcp://10.0.0.1:8786
      dpexact audit claims.yaml --junit report.xml --sarif report.sarif --markdown report.md
      dpexact audit --accountant all --python opacus-rdp=/opt/opacus/bin/python --jobs 2
      dpexact audit hunt --accountant dp-accounting-pld --found found.yaml
      dpexact audit bench
    """
    if not (claims or sentences or accountants):
        raise click.UsageError("nothing to audit: give a claims file, --claim or --accountant NAME")
    if (workloads or pythons) and not accountants:
        raise click.UsageError("--workload and --python need --accountant NAME to ask")
    from dpexact.audits.accountants import Limits
    from dpexact.audits.live import ask
    from dpexact.audits.runner import collect
    from dpexact.audits.runs import AccountantRun
    from dpexact.audits.sentences import claims_of
    from dpexact.progress import progress_bar

    judging = Judging(options, dict.fromkeys(claims, "a claims file"))
    listed = [*collect(claims), *chain.from_iterable(map(claims_of, sentences))]
    runs: tuple[AccountantRun, ...] = ()
    with judging.journal() as journal:
        if accountants:
            with progress_bar("asking") as progress:
                answers, runs = ask(
                    accountants,
                    workloads or ("basics",),
                    progress,
                    pythons=pythons,
                    limits=Limits(answer_timeout, memory),
                    jobs=judging.jobs,
                    journal=journal,
                )
            listed += answers
        return judging.report(listed, runs, journal).exit_code


@audit.command()
@click.option(
    "--advisories",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a page for its maintainers on each claim that is wrong by more than rounding.",
)
@without_effect("--seed", "--seconds", "--answer-timeout", "--memory")
@judging_options
def bench(folder: Path | None, **options: Any) -> int:
    """Judge the recorded claims of the package: known wrong answers, and right ones as controls.

    The exit code is 0 if every verdict is as expected.

    \b
    Examples:
      dpexact audit bench
      dpexact audit bench --html report.html --jobs 2
      dpexact audit bench --advisories advisories
    """
    from dpexact.audits.bench import bench as recorded

    judging = Judging(options, {})
    with judging.journal() as journal:
        report = judging.report(recorded(), (), journal)
    if folder is not None:
        from dpexact.advisories import advisories, recorded_causes
        from dpexact.files import refusing, write_atomically

        with refusing(f"--advisories: cannot make {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in advisories(report, recorded_causes()).items():
            write_atomically(folder / name, text)
    came_true, hoped = report.expectations
    return int(came_true < hoped)


audit.add_command(hunt)
audit.add_command(scoreboard)


@click.command()
@python_option
@json_option
def accountants(pythons: dict[str, str], as_json: bool) -> None:
    """List the accountants that can be audited, and what is missing for the others.

    \b
    Example:
      dpexact accountants
    """
    from dpexact.audits import workloads
    from dpexact.audits.accountants import available

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
