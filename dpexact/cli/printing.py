"""How verbs print what the library found."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_FLOOR
from functools import partial
from typing import Any, Final

import click

import dpexact
from dpexact.answers import best_and_problem, delivered
from dpexact.cli.errors import EXIT_UNDECIDED
from dpexact.cli.patience import patience
from dpexact.decimals import format_decimal
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Composition, Mechanism
from dpexact.mechanisms.base import compose, shown
from dpexact.tokens import shorten

#: Longer mechanisms are shortened for people; JSON has them whole.
_SHOWN: Final = 400
#: Digits of what is certain below an upper bound.
_FLOOR_FIGURES: Final = 7


def answer(
    ask: Callable[[], Enclosure],
    of: Mechanism | str,
    digits: int,
    as_json: bool,
    *,
    quantity: str,
    arguments: dict[str, str],
    direction: str,
    notes: Sequence[str] = (),
    more: Mapping[str, object] | None = None,
    then: Sequence[Callable[[Enclosure], None] | None] = (),
    about: str = "",
    only_above: bool = False,
    seconds: float | None = None,
) -> int:
    """Print one enclosure; exit code 3, with the best enclosure, if the digits were not reached.

    ``of`` is the mechanism, or the text of a template. ``notes`` stand below the answer, and
    ``more`` is added to the JSON. An enclosure of all digits is handed on to what comes ``then``.
    ``about`` says how long it takes, and ``only_above`` that the answer bounds from above only what
    was asked about; ``seconds`` what it took, where it was found before.
    """
    started = time.perf_counter()
    with patience(quantity, about):
        found, problem = best_and_problem(ask)
    seconds = time.perf_counter() - started if seconds is None else seconds
    template = isinstance(of, str)
    if only_above:
        found = found.as_bound("upper", found.theorem)
    floor = ""
    if found.at_least != -math.inf:
        floor = format_decimal(found.at_least, _FLOOR_FIGURES, ROUND_FLOOR)
    if as_json:
        record = {
            "mechanism": str(of),
            "quantity": quantity,
            **arguments,
            "direction": direction,
            **found.to_json(digits),
            "safe": found.safe(),
            "bound": found.bound,
            **({"theorem": found.theorem} if found.theorem else {}),
            **({"at_least": floor} if floor else {}),
            "method": found.method,
            "seconds": round(seconds, 6),
            **(more or {}),
        }
        echo_json(record)
    else:
        relation = "=" if template else found.relation
        click.echo(f"{quantity} {relation} {found.safe()}")
        given = ", ".join(f"{name} = {value}" for name, value in arguments.items())
        click.echo(f"  of {shorten(of if isinstance(of, str) else _brief(of), _SHOWN)} at {given}")
        lower, upper = found.decimal_bounds(digits + 5)
        click.echo(f"  certified in [{lower}, {upper}]")
        if template and not found.is_exact:
            click.echo(
                f"  the {found.safe_end} end, and so {found.safe()}, certainly meets the target"
            )
        click.echo(f"  by {found.method or 'no method'}, {seconds:.3g} s")
        if found.theorem:
            click.echo(f"  {found.theorem}")
        if floor:
            click.echo(f"  the true value is at least {floor}")
        for note in notes:
            click.echo(note)
    if problem:
        click.echo(f"dpexact: {problem}", err=True)
        return EXIT_UNDECIDED
    for step in filter(None, then):
        step(found)
    return 0


def answers(
    ask: Callable[[Any], Any],
    mechanism: Mechanism,
    digits: int,
    as_json: bool,
    *,
    quantity: str,
    argument: str,
    points: Sequence[str],
    direction: str,
) -> int:
    """Print what is found at several points, which share work, and with JSON an object a line.

    ``ask`` answers a list of points, or one. Each is said to have taken its share of the time. What
    lacks digits is asked again alone: there bounds of theorems, which differ, are told from what
    fell short. Exit code 3 if anything did.
    """
    started = time.perf_counter()
    with patience(quantity):
        found: Sequence[Enclosure] = ask(list(points))
    share = (time.perf_counter() - started) / len(points)
    return max(
        answer(
            partial(delivered, one, digits) if one.digits >= digits else partial(ask, at),
            mechanism,
            digits,
            as_json,
            quantity=quantity,
            arguments={argument: at},
            direction=direction,
            seconds=share if one.digits >= digits else None,
        )
        for at, one in zip(points, found, strict=True)
    )


def _brief(mechanism: Mechanism) -> str:
    """Its text, or both ends of a very long one: each part has a letter at least."""
    if not isinstance(mechanism, Composition):
        return shown(mechanism)
    ends = mechanism.ends(_SHOWN)
    return shown(compose(*ends) if len(ends) > _SHOWN else mechanism)


def echo_record(found: dict[str, Any], direction: str, started: float) -> None:
    """Print a record that the library made, with how it was obtained."""
    seconds = round(time.perf_counter() - started, 6)
    echo_json({**found, "direction": direction, "seconds": seconds})


def echo_json(record: Mapping[str, Any]) -> None:
    """Print one JSON object, with the version that made it."""
    click.echo(json.dumps({**record, "version": dpexact.__version__}))
