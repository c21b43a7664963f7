"""The verbs that take a training run as its user knows it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import dpexact
from dpexact.answers import delivered
from dpexact.cli.certifying import certificate_option, certifier
from dpexact.cli.errors import EXIT_UNDECIDED
from dpexact.cli.options import (
    FILE,
    asking_options,
    cores,
    python_option,
)
from dpexact.cli.patience import patience
from dpexact.cli.plotting import plot_option, plotter
from dpexact.cli.printing import answer
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

#: About what each step that differs takes: at 100,000 that differ widely, and less elsewhere.
_SECONDS_A_ROW: Final = 0.0001

if TYPE_CHECKING:
    from dpexact.audits.runner import Report
    from dpexact.audits.verdicts import Finding
    from dpexact.mechanisms import Mechanism
    from dpexact.training.correlated import CorrelatedRun
    from dpexact.training.events import Neighbours
    from dpexact.training.frameworks import Run


@click.command()
@click.option("--sigma", metavar="S", help="Noise multiplier: noise over clipping norm.")
@click.option("--target-epsilon", metavar="E", help="Find the noise multiplier that meets this.")
@click.option("--delta", required=True, metavar="D", help="Exact number in [0, 1].")
@click.option("--rate", metavar="Q", help="Probability that a record is in a batch.")
@click.option("--steps", metavar="T", help="Number of noisy steps.")
@click.option("--dataset", metavar="N", help="Number of records.")
@click.option("--batch", metavar="B", help="Batch size, as given to the framework.")
@click.option("--epochs", metavar="E", help="Passes over the dataset.")
@click.option(
    "--framework",
    type=click.Choice(["plain", "opacus", "tensorflow-privacy", "jax-privacy"]),
    default="plain",
    show_default=True,
    help="Whose rate and count of steps to take.",
)
@click.option(
    "--sampling",
    metavar="[poisson|allocation|ordered|shuffled]",
    shell_complete=lambda *asked: [
        x for x in ("poisson", "allocation", "ordered", "shuffled") if x.startswith(asked[-1])
    ],
    default="poisson",
    show_default=True,
    help='How batches are made; "allocation": a random one in each epoch for every record, '
    '"ordered": every record once an epoch, in any order; "shuffled": in a random one, which is '
    "known from below only.",
)
@click.option("--microbatches", is_flag=True, help="Gradients of several records are clipped.")
@click.option(
    "--matrix",
    type=FILE,
    metavar="NPY",
    help="Correlated noise: the strategy matrix, or the first column of a Toeplitz one (--steps). "
    "With --rate banded and on cyclic samples; else records take part once, or once in each of "
    "--epochs, or --separation steps apart.",
)
@click.option("--cycle", metavar="B", help="Groups of records, with --matrix and --rate.")
@click.option("--separation", metavar="B", help="Steps between two of a record, with --matrix.")
@click.option("--participations", metavar="K", help="Most steps of a record, with --separation.")
@click.option(
    "--figures",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Round the norms of columns up to N figures: an upper bound, with --matrix and --rate.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    help='Judge this accountant on the run; "all" for every one that is installed.',
)
@python_option
@plot_option("epsilon over the steps, and the accountants")
@certificate_option
@click.option("--statement", is_flag=True, help="Say the guarantee in plain words.")
@asking_options
def dpsgd(
    sigma: str | None,
    target_epsilon: str | None,
    delta: str,
    against: tuple[str, ...],
    pythons: dict[str, str],
    plot: Path | None,
    certificate_file: Path | None,
    statement: bool,
    digits: int,
    direction: str,
    as_json: bool,
    matrix: Path | None,
    figures: int | None,
    **given: Any,
) -> int:
    """Epsilon of a training run by DP-SGD, or the noise for it.

    The run is the one that a framework makes of what you tell it.

    Give --sigma or --target-epsilon, and --rate with --steps, or --dataset, --batch and --epochs
    (or --steps). --against lists accountants on the same run, the tightest sound one first.

    \b
    Examples:
      dpexact dpsgd --framework opacus --dataset 6000 --batch 60 --epochs 60 --sigma 1 --delta 1e-5
      dpexact dpsgd --rate 0.01 --steps 1000 --target-epsilon 2 --delta 1e-6 --statement
      dpexact dpsgd --rate 0.01 --steps 1000 --sigma 1 --delta 1e-6 --against all --plot run.svg
      dpexact dpsgd --rate 0.01 --steps 1000 --sigma 1 --delta 1e-6 --certificate run.json
      dpexact dpsgd --matrix strategy.npy --rate 0.1 --sigma 1 --delta 1e-6
    """
    from dpexact.arguments import direction_in
    from dpexact.training.frameworks import Run
    from dpexact.training.frameworks import statement as in_words

    if (sigma is None) == (target_epsilon is None):
        raise click.UsageError("give one of --sigma S and --target-epsilon E")
    draw = plotter(plot, lambda runs: runs.run_figure(mechanism, delta, direction, findings))
    run = _run(matrix, statement, figures, given)
    notes, more = list(run.words), {"framework": given["framework"], "steps": run.steps}
    if isinstance(run, Run):
        sampling, only_above = given["sampling"], False
    else:
        sampling = "none" if given["rate"] is None else "cyclic"
        only_above = figures is not None or not run.attained
    more |= {"rate": str(run.rate), "sampling": sampling}
    if sigma is None:
        with patience("sigma"):
            found = dpexact.calibrate(run.template, target_epsilon or "", delta, 7, direction)
        sigma = found.safe()
        if sigma in ("0", "inf"):
            by = "any noise; give --sigma" if sigma == "0" else "no finite noise"
            raise InvalidInput(
                f"target-epsilon: {target_epsilon} at delta = {delta} is met by {by}"
            )
        if not as_json:
            click.echo(f"sigma = {sigma}, for epsilon = {target_epsilon} at delta = {delta}")
        more["target_epsilon"] = target_epsilon
    more["sigma"] = sigma
    mechanism = run.mechanism(sigma)
    certify = certifier(certificate_file, mechanism, "epsilon", delta, direction)
    findings: tuple[Finding, ...] = ()
    if against:
        from dpexact.audits.reports.json_report import to_json
        from dpexact.audits.reports.wording import accountant_lines

        report = _judged(mechanism, delta, direction, against, pythons)
        findings = report.findings
        notes += [
            "accountants on this run, the tightest sound one first:",
            *accountant_lines(report),
        ]
        judged = to_json(report)
        more |= {"against": judged["claims"], "runs": judged["runs"]}

    def say(found: Enclosure) -> None:
        assert isinstance(run, Run)
        click.echo("\n" + in_words(run, sigma, found.safe(), delta, direction_in(direction)))

    return answer(
        lambda: dpexact.epsilon(mechanism, delta, digits, direction),
        mechanism,
        digits,
        as_json,
        quantity="epsilon",
        arguments={"delta": delta},
        direction=direction,
        notes=notes,
        more=more,
        then=[draw, say if statement and not as_json else None, certify],
        only_above=only_above,
    )


#: Options that ask for a matrix.
_OF_MATRICES: Final = ("cycle", "separation", "participations")


def _run(
    matrix: Path | None, statement: bool, figures: int | None, given: dict[str, Any]
) -> Run | CorrelatedRun:
    """What runs: by a framework's rule, or with the correlated noise of a matrix."""
    own = {name: given.pop(name) for name in _OF_MATRICES}
    if matrix is None:
        for name, value in {**own, "figures": figures}.items():
            if value is not None:
                raise click.UsageError(f"--{name} goes with --matrix")
        from dpexact.training.frameworks import training_run

        run = training_run(**given)
        if run.shuffled and statement:
            raise click.UsageError("--statement promises nothing of what is known from below only")
        return run
    if statement:
        raise click.UsageError("--statement has no words for correlated noise")
    for name in ("dataset", "batch", "microbatches"):
        if given[name]:
            raise click.UsageError(f"--{name} does not go with --matrix; give --rate or --epochs")
    from dpexact.training.correlated import banded_run, jax_privacy_words, matrix_run
    from dpexact.training.matrices import read_matrix

    entries, steps, rate = read_matrix(matrix), given["steps"], given["rate"]
    if rate is None:
        if own["cycle"] is not None or figures is not None:
            raise click.UsageError("--cycle and --figures go with --matrix and --rate")
        return matrix_run(
            entries,
            steps=steps,
            epochs=given["epochs"],
            separation=own["separation"],
            participations=own["participations"],
        )
    for name in ("separation", "participations", "epochs"):
        if {**given, **own}[name] is not None:
            raise click.UsageError(f"--{name} does not go with --matrix and --rate")
    banded = banded_run(entries, rate, steps=steps, cycle=own["cycle"], figures=figures)
    if given["framework"] == "jax-privacy":
        banded = replace(banded, words=(*banded.words, *jax_privacy_words(banded)))
    return banded


@click.command()
@click.argument("file", type=FILE)
@click.option("--delta", required=True, metavar="D", help="Exact number in [0, 1].")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "zero-out", "replace"]),
    default="add-remove",
    show_default=True,
    help="Of a serialised DpEvent.",
)
@click.option(
    "--figures",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Round sigma down and q up to N figures first: an upper bound, sooner.",
)
@click.option(
    "--curve",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Epsilon after each of N equal parts of the run, in the order of FILE, too.",
)
@plot_option("epsilon along the run, with --curve,")
@certificate_option
@asking_options
def log(
    file: Path,
    delta: str,
    neighbours: Neighbours,
    figures: int | None,
    curve: int | None,
    plot: Path | None,
    certificate_file: Path | None,
    digits: int,
    direction: str,
    as_json: bool,
) -> int:
    """Epsilon of the training run that FILE records.

    FILE is CSV with the columns sigma, q and steps; the statement that TensorFlow Privacy prints;
    or JSON: the history or state_dict() of an accountant of Opacus, or a DpEvent of dp-accounting
    as an object with class_name.

    \b
    Examples:
      dpexact log training.csv --delta 1e-5
      dpexact log decaying_noise.csv --delta 1e-5 --figures 3
      dpexact log training.csv --delta 1e-5 --curve 200 --plot budget.svg
    """
    from dpexact.mechanisms.table import Table
    from dpexact.training.logs import read_log

    if plot is not None and curve is None:
        raise click.UsageError("--plot goes with --curve")
    along: dict[int, Enclosure] = {}
    draw = plotter(
        plot, lambda runs: runs.along_figure(mechanism, delta, [*along], [*along.values()])
    )
    mechanism = read_log(file, neighbours=neighbours, figures=figures, ordered=curve is not None)
    table = mechanism.rows if isinstance(mechanism, Table) else list(mechanism.inner())
    about = _announced(len(table))
    notes = []
    more: dict[str, object] = {"log": str(file)}
    seconds = None
    if figures is not None:
        notes.append(f"sigma was rounded down and q up to {figures} figures: an upper bound")
    if curve is not None:
        started = time.perf_counter()
        along = _along(mechanism, curve, delta, digits, direction)
        seconds = time.perf_counter() - started
        relation = "<=" if figures else None
        for steps, found in along.items():
            shown = f"{relation or found.relation} {found.safe()}"
            notes.append(f"after {steps:,} step{'s' * (steps > 1)}: epsilon {shown}")
        more["curve"] = [
            {"steps": steps, **found.to_json(digits), "safe": found.safe()}
            for steps, found in along.items()
        ]

    def ask() -> Enclosure:
        if not along:
            return dpexact.epsilon(mechanism, delta, digits, direction)
        return delivered([*along.values()][-1], digits)

    code = answer(
        ask,
        mechanism,
        digits,
        as_json,
        quantity="epsilon",
        arguments={"delta": delta},
        direction=direction,
        notes=notes,
        more=more,
        then=[certifier(certificate_file, mechanism, "epsilon", delta, direction), draw],
        about=about,
        only_above=figures is not None,
        seconds=seconds,
    )
    short = any(found.digits < digits for found in along.values())
    return max(code, EXIT_UNDECIDED) if short else code


def _along(
    mechanism: Mechanism, points: int, delta: str, digits: int, direction: str
) -> dict[int, Enclosure]:
    """Epsilon after each of so many equal parts of a run."""
    from dpexact.accounting.along import length
    from dpexact.progress import progress_bar

    total = length(mechanism)
    if points > total:
        raise InvalidInput(
            f"curve: {points} is not accepted; the run has {total} step{'s' * (total > 1)}"
        )
    steps = [total * k // points for k in range(1, points + 1)]
    with progress_bar("curve") as progress:
        found = dpexact.epsilon_along(mechanism, steps, delta, digits, direction, progress=progress)
    return dict(zip(steps, found, strict=True))


def _announced(distinct: int) -> str:
    """How long so many steps that differ take, which is said beforehand if it is long."""
    seconds = distinct * _SECONDS_A_ROW
    if seconds < 60:
        return ""
    about = f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
    click.echo(
        f"dpexact: {distinct:,} steps differ in sigma or q: this takes {about} or more; "
        "--figures 3 rounds them, for an upper bound that comes sooner",
        err=True,
    )
    return about


def _judged(
    mechanism: Mechanism,
    delta: str,
    direction: str,
    names: tuple[str, ...],
    pythons: dict[str, str],
) -> Report:
    """What the accountants claim of the run, judged; the tightest sound claim first."""
    from dpexact.arguments import direction_in
    from dpexact.audits.live import ask
    from dpexact.audits.runner import audit
    from dpexact.audits.verdicts import tightest_first
    from dpexact.audits.workloads import Case
    from dpexact.conversion import real
    from dpexact.progress import progress_bar

    case = Case(mechanism, "epsilon", real(delta), direction_in(direction))
    with progress_bar("asking") as progress:
        claims, runs = ask(names, [case], progress, pythons=pythons, jobs=cores())
    report = audit(claims, runs=runs)
    return replace(report, findings=tuple(tightest_first(report.findings)))
