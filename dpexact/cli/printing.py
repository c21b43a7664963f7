"""How verbs print what the library found."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import click

import dpexact
from dpexact.answers import PrecisionNotReached
from dpexact.cli.errors import EXIT_UNDECIDED
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism


def answer(
    ask: Callable[[], Enclosure],
    of: Mechanism | str,
    digits: int,
    as_json: bool,
    *,
    quantity: str,
    arguments: dict[str, str],
    direction: str,
    safe: str = "",
    then: Callable[[Enclosure], None] | None = None,
) -> int:
    """Print one enclosure; exit code 3, with the best enclosure, if the digits were not reached.

    ``of`` is the mechanism, or the text of a template. An enclosure of all digits is handed on to
    ``then``.
    """
    from dpexact.accounting.classic.zcdp import is_only_bounded

    started = time.perf_counter()
    problem = ""
    try:
        found = ask()
    except PrecisionNotReached as error:
        found, problem = error.best, str(error)
    seconds = time.perf_counter() - started
    bounded = isinstance(of, Mechanism) and is_only_bounded(of)
    bound = {"bound": "upper"} if bounded else {}
    if as_json:
        record = {
            "mechanism": str(of),
            "quantity": quantity,
            **arguments,
            "direction": direction,
            **found.to_json(digits),
            **({"safe": safe} if safe else bound),
            "method": found.method,
            "seconds": round(seconds, 6),
            "version": dpexact.__version__,
        }
        click.echo(json.dumps(record))
    else:
        relation = "<=" if bound else "="
        click.echo(f"{quantity} {relation} {found.shown(digits)}")
        given = ", ".join(f"{name} = {value}" for name, value in arguments.items())
        click.echo(f"  of {of} at {given}")
        lower, upper = found.decimal_bounds(digits + 5)
        click.echo(f"  certified in [{lower}, {upper}]")
        if safe and not found.is_exact:
            click.echo(f"  the {safe} end certainly meets delta")
        click.echo(f"  by {found.method or 'no method'}, {seconds:.3g} s")
    if problem:
        click.echo(f"dpexact: {problem}", err=True)
        return EXIT_UNDECIDED
    if then is not None:
        then(found)
    return 0


def echo_record(found: dict[str, Any], direction: str, started: float) -> None:
    """Print a record that the library made, with how it was obtained."""
    seconds = round(time.perf_counter() - started, 6)
    record = {**found, "direction": direction, "seconds": seconds, "version": dpexact.__version__}
    click.echo(json.dumps(record))
