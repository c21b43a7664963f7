"""The verb for steps that are chosen one after another within a budget."""

from __future__ import annotations

import click

import dpexact
from dpexact.cli.options import digits_option, json_option
from dpexact.cli.patience import patience
from dpexact.cli.printing import echo_json
from dpexact.mechanisms.base import shown
from dpexact.ternary import Ternary


@click.command()
@click.argument("steps", nargs=-1, required=True, metavar="STEP...")
@click.option("--budget", metavar="EXPR", help="pure_dp(E), gdp(MU), gaussian(S) or zcdp(RHO).")
@click.option("--order", metavar="A", help="Instead: a Rényi order above 1, with --bound.")
@click.option("--bound", metavar="B", help="The budget at that order.")
@click.option("--delta", metavar="D", help="Print an epsilon that the whole run keeps at D.")
@digits_option
@json_option
def filter(  # noqa: A001  # the name of the verb
    steps: tuple[str, ...],
    budget: str | None,
    order: str | None,
    bound: str | None,
    delta: str | None,
    digits: int,
    as_json: bool,
) -> int:
    """Admit steps one by one while they certainly stay within a budget fixed beforehand.

    Each STEP may depend on all results before it. The run keeps the guarantee of the budget,
    whichever steps were chosen; one that is refused must not run, and costs nothing. The exit code
    is 1 if one is.

    \b
    Examples:
      dpexact filter --budget "gdp(1)" "gaussian(2)" "gaussian(5/4)" "gaussian(3)" --delta 1e-5
      dpexact filter --order 8 --bound 1 "poisson(gaussian(1), 0.01)^100" "laplace(20)"
    """
    if (budget is None) == (order is None) or (order is None) != (bound is None):
        raise click.UsageError("give either --budget, or --order and --bound")
    if budget is not None:
        chosen = dpexact.Filter(budget)
    else:
        assert order is not None
        assert bound is not None
        chosen = dpexact.Filter.renyi(order, bound)
    rows = []
    with patience("filter"):
        for step in map(dpexact.parse, steps):
            admitted = chosen.spend(step)
            over = not admitted and chosen.fits(step) is Ternary.FAILS
            said = "admitted" if admitted else "over the budget" if over else "not certain to fit"
            rows.append((step, admitted, said, chosen.spent))
        epsilon = None if delta is None else chosen.epsilon(delta, digits)
    refused = not all(admitted for _, admitted, _, _ in rows)
    if as_json:
        record = {
            "guarantee": chosen.guarantee,
            "theorem": chosen.theorem,
            "budget": str(chosen.budget),
            "odometer": chosen.is_odometer,
            "steps": [
                {"mechanism": str(step), "admitted": admitted, "spent": spent.to_json(digits)}
                for step, admitted, _, spent in rows
            ],
            "epsilon": None if epsilon is None else epsilon.to_json(digits),
            "delta": delta,
        }
        echo_json(record)
        return int(refused)
    for step, _, said, spent in rows:
        click.echo(f"{said}: {shown(step)}; spent {spent.shown(digits)} of {chosen.budget}")
    click.echo(f"the run is {chosen.guarantee}: {chosen.theorem}")
    if epsilon is not None:
        click.echo(f"epsilon <= {epsilon.safe()} at delta = {delta}")
    until_now = (
        "what was spent bounds the loss at every time, also one that results choose"
        if chosen.is_odometer
        else "what was spent is no guarantee by itself, only the budget is (Rogers et al. 2016)"
    )
    click.echo(f"odometer: {until_now}")
    return int(refused)
