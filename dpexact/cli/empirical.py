"""The verb that bounds epsilon from below, by what an attack saw."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpexact.cli.errors import EXIT_UNDECIDED
from dpexact.cli.options import FILE, complete_mechanism, digits_of, json_option, together
from dpexact.cli.printing import echo_json
from dpexact.ternary import Ternary

if TYPE_CHECKING:
    from dpexact.empirical import LowerBound

_CODES = {Ternary.HOLDS: 1, Ternary.FAILS: 0, Ternary.UNDECIDED: EXIT_UNDECIDED}


#: The options of every kind of attack.
_shared = together(
    click.option(
        "--delta", default="0", show_default=True, metavar="D", help="Rational in [0, 1]."
    ),
    click.option(
        "--confidence", default="0.95", show_default=True, metavar="C", help="Rational in (0, 1)."
    ),
    click.option(
        "--looks",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Attacks, thresholds or runs that this was chosen from; shares out the error.",
    ),
    click.option(
        "--mechanism",
        metavar="EXPR",
        shell_complete=complete_mechanism,
        help="What is said to run: its certified epsilon is the other side.",
    ),
    digits_of(15, 1000),
    json_option,
)


@click.group()
def empirical() -> None:
    """Bound epsilon from below, by what an attack saw.

    Each kind of attack has its command. With --mechanism both sides of an audit stand in one
    report: at least L by the attack, at most U by accounting. L > U convicts the implementation:
    exit code 1.
    """


@empirical.command()
@click.option("--tp", required=True, type=int, help="Runs with the record, said to have it.")
@click.option("--fp", required=True, type=int, help="Runs without the record, said to have it.")
@click.option("--positives", required=True, type=int, help="Runs with the record.")
@click.option("--negatives", required=True, type=int, help="Runs without the record.")
@_shared
def counts(tp: int, fp: int, positives: int, negatives: int, **terms: Any) -> int:
    """From true and false positives of many runs (Clopper and Pearson's limits).

    \b
    Examples:
      dpexact empirical counts --tp 90 --fp 10 --positives 100 --negatives 100
      dpexact empirical counts --tp 99 --fp 0 --positives 100 --negatives 100 --looks 3 --json
      dpexact empirical counts --tp 9 --fp 2 --positives 9 --negatives 9 --mechanism "pure_dp(1)"
    """
    from dpexact.empirical import from_counts

    return _report(partial(from_counts, tp, fp, positives, negatives), **terms)


@empirical.command()
@click.argument("file", type=FILE)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="T",
    help='A score from which on it is "member", fixed before; several are as many looks.',
)
@click.option(
    "--split",
    type=click.IntRange(0),
    metavar="SEED",
    help="Choose the threshold on half of the scores, shuffled by SEED; count the others.",
)
@_shared
def scores(file: Path, thresholds: tuple[str, ...], split: int | None, **terms: Any) -> int:
    """From scores of many runs: FILE is CSV with the columns score and member (1 or 0).

    \b
    Examples:
      dpexact empirical scores scores.csv --threshold 0.5 --threshold 0.9 --delta 1e-5
      dpexact empirical scores scores.csv --split 0 --mechanism "poisson(gaussian(1), 1/10)^100"
    """
    from dpexact.empirical import from_scores, read_scores

    members, others = read_scores(file)

    return _report(partial(from_scores, members, others, thresholds, split=split), **terms)


@empirical.command()
@click.option("--canaries", required=True, type=int, help="Each in the data by a fair coin.")
@click.option("--guesses", required=True, type=int, help="On so many, a number fixed before.")
@click.option("--correct", required=True, type=int, help="Guesses that were right.")
@_shared
def guesses(canaries: int, guesses: int, correct: int, **terms: Any) -> int:
    """From one run with many canaries (Steinke, Nasr and Jagielski).

    With --mechanism also by its whole privacy profile (Mahloujifar, Melis and Chaudhuri).

    \b
    Examples:
      dpexact empirical guesses --canaries 1000 --guesses 100 --correct 95 --delta 1e-5
      dpexact empirical guesses --canaries 99 --guesses 50 --correct 48 --mechanism "laplace(1)"
    """
    from dpexact.empirical import from_guesses

    return _report(partial(from_guesses, canaries, guesses, correct), **terms)


def _report(
    ask: Callable[..., LowerBound],
    *,
    delta: str,
    confidence: str,
    looks: int,
    mechanism: str | None,
    digits: int,
    as_json: bool,
) -> int:
    """Print the bound, and the other side if there is one; 1 if they convict."""
    from dpexact.empirical import both_sides

    started = time.perf_counter()
    attack = ask(delta=delta, confidence=confidence, looks=looks, digits=digits)
    joined = both_sides(attack, mechanism, digits) if mechanism is not None else None
    seconds = time.perf_counter() - started
    if as_json:
        record = {
            **attack.to_json(digits),
            **(joined.to_json(digits) if joined else {}),
            "seconds": round(seconds, 6),
        }
        echo_json(record)
    else:
        click.echo(joined.sentence if joined else attack.sentence)
        click.echo(f"  at delta = {delta}, from {attack.outcome}")
        looked = "one look, declared" if attack.looks == 1 else f"the best of {attack.looks} looks"
        click.echo(f"  by {attack.epsilon.method}, {looked}, {seconds:.3g} s")
        if joined:
            click.echo(f"  of {joined.mechanism} by {joined.upper.method or 'no method'}")
            if joined.p_value is not None:
                low = joined.p_value.safe(4)
                click.echo(f"  so many right guesses have a probability of at most {low} under it")
            elif attack.one_run is not None:
                click.echo("  too many right guesses to hold them against its whole profile")
            click.echo(f"  {joined.verdict}")
    return _CODES[joined.convicted] if joined else 0
