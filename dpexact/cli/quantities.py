"""The verbs that enclose one quantity of one mechanism."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

import dpexact
from dpexact.arguments import MAX_COUNT
from dpexact.cli.certifying import certificate_option, certifier
from dpexact.cli.options import (
    EXPR_HELP,
    FILE,
    asking_options,
    complete_mechanism,
    digits_of,
    digits_option,
    direction_option,
    expression,
    json_option,
    method_option,
)
from dpexact.cli.plotting import plot_option, plotter
from dpexact.cli.printing import answer, answers
from dpexact.enclosure import Enclosure


@click.command(epilog=EXPR_HELP)
@expression
@click.option(
    "--epsilon",
    "points",
    required=True,
    multiple=True,
    metavar="E",
    help="Exact number, of any sign. Several are answered in turn.",
)
@digits_option
@direction_option
@method_option
@plot_option("delta over epsilon")
@certificate_option
@json_option
def delta(**asked: Any) -> int:
    """Enclose the smallest delta at EPSILON.

    \b
    Examples:
      dpexact delta "approx_dp(1/10, 1/1000)^30" --epsilon 3/2
      dpexact delta "gdp(1/100)" --epsilon 0.7 --digits 30 --json
      dpexact delta "gaussian(1)" --epsilon 1 --epsilon 2 --epsilon 3
    """
    return _asked("delta", "epsilon", "profile_figure", **asked)


@click.command(epilog=EXPR_HELP)
@expression
@click.option(
    "--delta",
    "points",
    required=True,
    multiple=True,
    metavar="D",
    help="Exact number in [0, 1]. Several are answered in turn.",
)
@digits_option
@direction_option
@method_option
@plot_option("epsilon over the repetitions")
@certificate_option
@json_option
def epsilon(**asked: Any) -> int:
    """Enclose the smallest epsilon at DELTA.

    It is "inf" where there is none.

    \b
    Examples:
      dpexact epsilon "gaussian(1)" --delta 1e-300 --digits 30
      dpexact epsilon "pure_dp(0.1)^100" --delta 1e-6
    """
    return _asked("epsilon", "delta", "run_figure", **asked)


def _asked(
    quantity: Literal["delta", "epsilon"],
    argument: str,
    drawn: str,
    *,
    expr: str,
    points: tuple[str, ...],
    digits: int,
    direction: str,
    method: str,
    plot: Path | None,
    certificate_file: Path | None,
    as_json: bool,
) -> int:
    """Answer at one point or at several; ``drawn`` is the figure of one."""
    mechanism = dpexact.parse(expr)
    question = dpexact.delta if quantity == "delta" else dpexact.epsilon

    def ask(at: str) -> Enclosure:
        return question(mechanism, at, digits, direction, method=method)

    common: dict[str, Any] = {"quantity": quantity, "direction": direction}
    if len(points) > 1:
        if plot or certificate_file:
            raise click.UsageError("--plot and --certificate take one point")
        return answers(ask, mechanism, digits, as_json, argument=argument, points=points, **common)
    (at,) = points
    then = [
        certifier(certificate_file, mechanism, quantity, at, direction),
        plotter(plot, lambda runs: getattr(runs, drawn)(mechanism, at, direction)),
    ]
    arguments = {argument: at}
    return answer(
        lambda: ask(at), mechanism, digits, as_json, arguments=arguments, then=then, **common
    )


@click.command(epilog=EXPR_HELP)
@expression
@click.option("--order", required=True, metavar="A", help='Exact number >= 1, or "inf".')
@click.option(
    "--method",
    type=click.Choice(["auto", "binomial", "series", "trapezoid", "sandwich"]),
    default="auto",
    show_default=True,
    help="Force a method for sampled Gaussians.",
)
@asking_options
def renyi(expr: str, order: str, method: str, digits: int, direction: str, as_json: bool) -> int:
    """Enclose the Renyi divergence of the order A.

    \b
    Examples:
      dpexact renyi "poisson(gaussian(1), 0.01)" --order 2.5 --digits 25
      dpexact renyi "laplace(2)^3" --order inf
    """
    mechanism = dpexact.parse(expr)
    return answer(
        partial(dpexact.renyi, mechanism, order, digits, direction, method=method),
        mechanism,
        digits,
        as_json,
        quantity="renyi",
        arguments={"order": order},
        direction=direction,
    )


@click.command(epilog=EXPR_HELP)
@expression
@click.option("--alpha", metavar="A", help="Type I error: an exact number in [0, 1].")
@click.option("--plot", type=FILE, help="Draw the whole function here.")
@asking_options
def tradeoff(
    expr: str, alpha: str | None, plot: Path | None, digits: int, direction: str, as_json: bool
) -> int:
    """Enclose the least type II error at type I error ALPHA.

    This is the trade-off function, f(ALPHA).

    \b
    Examples:
      dpexact tradeoff "gaussian(1)" --alpha 0.05
      dpexact tradeoff "pure_dp(1/2)^10" --plot tradeoff.svg
    """
    if alpha is None and plot is None:
        raise click.UsageError("give --alpha A, or --plot FILE")
    mechanism = dpexact.parse(expr)
    found = dpexact.tradeoff(mechanism, direction)
    if plot is not None:
        from dpexact.files import write_figure

        write_figure(found.plot(), plot)
    if alpha is None:
        return 0
    return answer(
        lambda: found(alpha, digits),
        mechanism,
        digits,
        as_json,
        quantity="tradeoff",
        arguments={"alpha": alpha},
        direction=direction,
    )


@click.command()
@click.argument("template", shell_complete=complete_mechanism)
@click.option("--epsilon", metavar="E", help="Exact number; with --delta.")
@click.option("--delta", metavar="D", help="Exact number in [0, 1]; with --epsilon.")
@click.option("--advantage", metavar="A", help="Total variation, in place of epsilon and delta.")
@click.option("--alpha", metavar="A", help="Type I error; with --beta.")
@click.option("--beta", metavar="B", help="Least type II error; with --alpha.")
@click.option("--gdp", metavar="MU", help="mu of Gaussian differential privacy.")
@click.option("--order", metavar="A", help='Renyi order >= 1, or "inf"; with --renyi.')
@click.option("--renyi", metavar="R", help="Largest Renyi divergence; with --order.")
@digits_of(6)
@direction_option
@json_option
def calibrate(template: str, digits: int, direction: str, as_json: bool, **target: str) -> int:
    """Enclose the value of "?" that just meets a target.

    TEMPLATE is a mechanism with one "?" in place of a number or of a repetition count. The
    smallest noise, or crowd, is sought, or the largest of any other parameter. The target is
    EPSILON and DELTA, or an advantage, or ALPHA and BETA, or mu of GDP, or a Renyi divergence of an
    order.

    \b
    Examples:
      dpexact calibrate "poisson(gaussian(?), 256/60000)^3515" --epsilon 1 --delta 1e-5
      dpexact calibrate "poisson(gaussian(1), 1/100)^?" --epsilon 5 --delta 1e-6
      dpexact calibrate "gaussian(?)^10" --advantage 0.1
      dpexact calibrate "shuffle(pure_dp(2), ?)" --epsilon 1/2 --delta 1e-6
      dpexact calibrate "fixed_size(gaussian(1), ?, 1000)" --epsilon 1 --delta 1e-3
    """
    from dpexact.accounting.calibrate import ordering_of
    from dpexact.mechanisms.grammar import parse_template

    blank = parse_template(template)
    ordering = ordering_of(blank)
    given = {name: value for name, value in target.items() if value is not None}
    return answer(
        partial(dpexact.calibrate, blank, digits=digits, direction=direction, **given),
        template,
        len(str(MAX_COUNT)) if ordering.integer else digits,
        as_json,
        quantity=blank.parameter,
        arguments=given,
        direction=direction,
    )
