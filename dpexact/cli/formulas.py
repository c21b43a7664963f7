"""The verbs that show published formulas beside the exact value, or a closed form."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import click

import dpexact
from dpexact.arguments import APPROXIMATIONS
from dpexact.cli.options import (
    EXPR_HELP,
    FILE,
    asking_options,
    expression,
    json_option,
)
from dpexact.cli.patience import patience
from dpexact.cli.printing import answer, echo_json, echo_record


@click.command(epilog=EXPR_HELP)
@expression
@click.option("--delta", required=True, metavar="D", help="Exact number in [0, 1].")
@asking_options
def bounds(expr: str, delta: str, digits: int, direction: str, as_json: bool) -> None:
    """List classic bounds on epsilon at DELTA beside the exact one.

    \b
    Examples:
      dpexact bounds "pure_dp(0.1)^100" --delta 1e-6
      dpexact bounds "poisson(gaussian(0.7), 256/60000)^10546" --delta 1e-5 --digits 6
    """
    started = time.perf_counter()
    with patience("bounds"):
        found = dpexact.bounds(expr, delta, digits, direction)
    if as_json:
        echo_record(found.to_json(digits), direction, started)
        return
    if found.exact is None:
        click.echo(f"no exact epsilon: {found.reason}")
    else:
        click.echo(f"exact epsilon = {found.exact.shown(digits)}")
    click.echo(f"  of {found.mechanism} at delta = {delta}")
    for bound in found:
        if bound.value is None:
            click.echo(f"{bound.name}: does not apply: {bound.reason}")
            continue
        slack = "" if bound.slack is None else f", bound/exact - 1 = {bound.slack.shown(6)}"
        click.echo(f"{bound.name}: {bound.value.shown(digits)}{slack}")


@click.command(epilog=EXPR_HELP)
@expression
@click.option(
    "--method", required=True, type=click.Choice(APPROXIMATIONS), help="The published formula."
)
@click.option("--epsilon", metavar="E", help="Compare deltas at this exact number >= 0.")
@click.option("--delta", metavar="D", help="Compare epsilons at this exact number in (0, 1).")
@click.option("--distance", is_flag=True, help="Compare the whole trade-off functions (clt...).")
@click.option("--claims", type=FILE, help="Write the estimate as a claims file.")
@asking_options
def approx(
    expr: str,
    method: str,
    epsilon: str | None,
    delta: str | None,
    distance: bool,
    claims: Path | None,
    digits: int,
    direction: str,
    as_json: bool,
) -> int:
    """Enclose the error of a published approximation.

    \b
    Examples:
      dpexact approx "poisson(gaussian(0.7), 256/60000)^10546" --method clt-poisson --epsilon 7
      dpexact approx "pure_dp(0.1)^100" --method edgeworth-1 --delta 1e-6 --claims estimate.yaml
      dpexact approx "pure_dp(0.1)^100" --method clt --distance --digits 6
    """
    if [epsilon is None, delta is None, not distance].count(False) != 1:
        raise click.UsageError("give exactly one of --epsilon, --delta and --distance")
    if distance:
        if claims is not None:
            raise click.UsageError("--claims: a distance is no claim of epsilon or delta")
        from dpexact.accounting.approximate import approximation_distance

        mechanism = dpexact.parse(expr)
        return answer(
            partial(approximation_distance, mechanism, method, digits),
            mechanism,
            digits,
            as_json,
            quantity="distance",
            arguments={"approximation": method},
            direction="both",
        )
    if claims is not None:
        from dpexact.files import check_writable

        check_writable(claims)
    started = time.perf_counter()
    with patience("approx"):
        found = dpexact.approximation_error(expr, method, epsilon, digits, direction, delta=delta)
    if claims is not None:
        from dpexact.audits.claims_file import estimate_of, write_claims

        write_claims([estimate_of(found, digits, direction)], claims)
    if as_json:
        echo_record(found.to_json(digits), direction, started)
        return 0
    argument = f"epsilon = {epsilon}" if epsilon is not None else f"delta = {delta}"
    click.echo(f"{found.quantity} claimed = {found.claimed.shown(digits)}")
    click.echo(f"{found.quantity} true = {found.true.shown(digits)}")
    click.echo(f"  of {found.mechanism} at {argument}")
    for name, value in (("claimed - true", found.difference), ("true/claimed", found.ratio)):
        click.echo(f"  {name} = {'undefined' if value is None else value.shown(digits)}")
    click.echo(f"  by {found.method}; as an upper bound: {found.verdict}")
    return 0


@click.command(epilog=EXPR_HELP)
@expression
@click.option(
    "--form",
    type=click.Choice(["delta", "vertices", "conjugate", "tradeoff", "renyi"]),
    default="delta",
    show_default=True,
    help="What to write out.",
)
@click.option("--order", type=click.IntRange(2, 100), help="Integer order of --form renyi.")
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@json_option
def symbolic(expr: str, form: str, order: int | None, latex: bool, as_json: bool) -> None:
    """Print a closed form in E = e^eps, delta, and X = e^epsilon.

    \b
    Examples:
      dpexact symbolic "approx_dp(1/10, 1/1000)^3"
      dpexact symbolic "gaussian(1)" --latex
      dpexact symbolic "pure_dp(1)^2" --form vertices
      dpexact symbolic "poisson(gaussian(2), 1/10)" --form renyi --order 4
    """
    if form == "renyi" and order is None:
        raise click.UsageError("--form renyi needs --order A")
    with patience("symbolic"):
        written = dpexact.symbolic(expr, form, order=order)
    # sympy prints the number e like our symbol E
    shown = {symbol: str(value) for symbol, value in written.values.items()}
    values = {str(s): "exp(1)" if text == "E" else text for s, text in shown.items()}
    if as_json:
        record = {
            "mechanism": str(written.mechanism),
            "quantity": form,
            "expression": str(written),
            "latex": written.latex(),
            "values": values,
        }
        echo_json(record)
        return
    click.echo(written.latex() if latex else str(written))
    if not latex:
        click.echo("where " + ", ".join(f"{name} = {value}" for name, value in values.items()))
