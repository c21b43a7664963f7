"""The command line: parse, call, print. Nothing here computes."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

import dpexact
from dpexact.cli import (
    auditing,
    empirical,
    figures,
    formulas,
    oracle,
    proving,
    quantities,
    selftesting,
)
from dpexact.cli.errors import OneLineErrors


@click.group(
    cls=OneLineErrors,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpexact.__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Certified differential-privacy accounting, and audits of other accountants.

    \b
    Examples:
      dpexact delta "approx_dp(1/10, 1/1000)^30" --epsilon 3/2 --digits 30
      dpexact epsilon "gaussian(1.3)^100" --delta 1e-5
      dpexact audit claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics

    \b
    Exit codes: 0 done (audit: every claim sound), 1 a claim is certified unsound,
    2 bad input or usage, 3 undecided at the precision cap.
    """


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples:
      eval "$(dpexact completion bash)"
      dpexact completion fish > ~/.config/fish/completions/dpexact.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "dpexact", "_DPEXACT_COMPLETE").source())


for verb in (
    quantities.delta,
    quantities.epsilon,
    quantities.renyi,
    quantities.tradeoff,
    quantities.calibrate,
    formulas.bounds,
    formulas.approx,
    formulas.symbolic,
    auditing.audit,
    auditing.accountants,
    empirical.empirical,
    oracle.oracle,
    proving.prove,
    figures.figure,
    selftesting.selftest,
):
    main.add_command(verb)
