"""The numbers inside a case, taken out and put back: varied up to the extremes, or made simpler."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, Final, TypeAlias

from dpexact import balls
from dpexact.audits.claims import argument_in
from dpexact.audits.workloads import Case
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Composition, Mechanism, Poisson, Repetition
from dpexact.reals import Real

#: Parameters that scale with another one: varying both finds nothing new.
_LEFT_ALONE: Final = ("sensitivity",)


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a case as a float; ``whole`` if only integers are accepted there."""

    value: float
    whole: bool = False


def numbers(case: Case) -> list[Number]:
    """The parameters of the mechanism from left to right, then the argument of the case."""
    found = [_number(value) for _, _, value in _parameters(case.mechanism)]
    return [*found, _number(case.at)]


def with_numbers(case: Case, values: Sequence[Number]) -> Case | None:
    """``case`` with other numbers, each the decimal that its float prints as; None if refused."""
    given = iter(values)
    try:
        mechanism = _rebuilt(case.mechanism, given)
        at = argument_in(repr(next(given).value), case.quantity)
    except (InvalidInput, OverflowError):
        return None
    return replace(case, mechanism=mechanism, at=at)


def significant(value: float, digits: int) -> float:
    """``value`` rounded to so many significant decimal digits."""
    return float(f"{value:.{digits - 1}e}")


def _number(value: Real | int) -> Number:
    if isinstance(value, int):
        return Number(float(value), whole=True)
    return Number(float(balls.enclosed(value, 20).lower))


def _is_varied(name: str, value: object) -> bool:
    """Whether a parameter is a number to vary; lists of weights and outcomes are left alone."""
    return name not in _LEFT_ALONE and isinstance(value, Real | int)


def _parameters(mechanism: Mechanism) -> Iterator[tuple[Mechanism, str, Any]]:
    if isinstance(mechanism, Composition):
        for part in mechanism.parts:
            yield from _parameters(part)
        return
    for parameter in fields(mechanism):
        value = getattr(mechanism, parameter.name)
        if isinstance(value, Mechanism):
            yield from _parameters(value)
        elif _is_varied(parameter.name, value):
            yield mechanism, parameter.name, value


def _rebuilt(mechanism: Mechanism, given: Iterator[Number]) -> Mechanism:
    if isinstance(mechanism, Composition):
        return Composition(tuple(_rebuilt(part, given) for part in mechanism.parts))
    changed: dict[str, Any] = {}
    for parameter in fields(mechanism):
        value = getattr(mechanism, parameter.name)
        if isinstance(value, Mechanism):
            changed[parameter.name] = _rebuilt(value, given)
        elif _is_varied(parameter.name, value):
            number = next(given)
            changed[parameter.name] = (
                int(number.value) if number.whole else real(repr(number.value))
            )
    return replace(mechanism, **changed)


#: How far numbers move, in powers of ten; one is drawn for each variation.
_SPREADS: Final = (0.1, 0.5, 1.0, 3.0)
#: The smallest delta that is asked for.
_SMALLEST: Final = 1e-16
#: The most steps that are asked for.
_MOST_STEPS: Final = 10**7
_ATTEMPTS: Final = 20


def variation(case: Case, chance: random.Random) -> Case:
    """``case`` with some of its numbers moved by random factors, to one to three digits.

    One in eight is ``case`` itself, and so is what no attempt gives a mechanism.
    """
    if chance.random() < 1 / 8:
        return case
    found = numbers(case)
    for _ in range(_ATTEMPTS):
        spread = chance.choice(_SPREADS)
        moved = [_moved(number, spread, chance) for number in found[:-1]]
        varied = with_numbers(case, [*moved, _argument(case, found[-1], spread, chance)])
        if varied is not None:
            return varied
    return case


def _moved(number: Number, spread: float, chance: random.Random) -> Number:
    if chance.random() < 1 / 3:
        return number
    value = significant(
        number.value * 10 ** chance.uniform(-spread, spread), chance.choice((1, 2, 3))
    )
    if number.whole:
        value = float(min(max(round(value), 1), _MOST_STEPS))
    return replace(number, value=value)


def _argument(case: Case, at: Number, spread: float, chance: random.Random) -> Number:
    """A delta anywhere down to the smallest, or an epsilon near that of the case."""
    if case.quantity == "delta" and at.value > 0:
        return _moved(at, min(spread, 1.0), chance)
    if chance.random() < 1 / 2:
        return at
    exponent = chance.uniform(-16, 0) if case.quantity != "delta" else chance.uniform(-3, 1)
    return Number(max(significant(10**exponent, chance.choice((1, 2))), _SMALLEST))


Size: TypeAlias = tuple[int, int, float]
"""Single mechanisms and what is done to them; digits of all numbers; their distance from 1."""


def size(case: Case) -> Size:
    """What the simplifications of a case must lower, in this order."""
    found = numbers(case)
    shortest = [Decimal(repr(number.value)).normalize() for number in found]
    digits = sum(len(decimal.as_tuple().digits) for decimal in shortest)
    orders = sum(abs(math.log10(number.value)) for number in found if number.value > 0)
    return _nodes(case.mechanism) + (case.direction != "both"), digits, orders


def simpler(case: Case) -> Iterator[Case]:
    """Cases of a smaller :func:`size`, in a fixed order."""
    bound = size(case)
    for candidate in _candidates(case):
        if candidate is not None and size(candidate) < bound:
            yield candidate


def _candidates(case: Case) -> Iterator[Case | None]:
    if case.direction != "both":
        yield replace(case, direction="both")
    for mechanism in _with_less(case.mechanism):
        yield replace(case, mechanism=mechanism)
    found = numbers(case)
    for place, number in enumerate(found):
        for value in _rounder(number):
            yield with_numbers(case, [*found[:place], value, *found[place + 1 :]])


def _with_less(mechanism: Mechanism) -> Iterator[Mechanism]:
    """``mechanism`` without one of its parts, repetitions or samplings."""
    if isinstance(mechanism, Composition):
        yield from mechanism.parts
        for place, part in enumerate(mechanism.parts):
            before, after = mechanism.parts[:place], mechanism.parts[place + 1 :]
            if len(mechanism.parts) > 2:
                yield Composition((*before, *after))
            for less in _with_less(part):
                yield Composition((*before, less, *after))
    elif isinstance(mechanism, Repetition | Poisson):
        yield mechanism.mechanism
        for less in _with_less(mechanism.mechanism):
            yield replace(mechanism, mechanism=less)


def _rounder(number: Number) -> Iterator[Number]:
    """Values to try instead: 1, powers of ten, and fewer digits; fewer steps."""
    if number.value <= 0:
        return
    values = [1.0]
    if number.whole:
        values += [10.0**power for power in range(1, int(math.log10(number.value)) + 1)]
        values += [significant(number.value / 2, 1), significant(number.value / 2, 2)]
    nearest = round(math.log10(number.value))
    values += [float(f"1e{power}") for power in (nearest, nearest - 1, nearest + 1)]
    values += [0.5, 2.0, *(significant(number.value, digits) for digits in (1, 2, 3))]
    for value in dict.fromkeys(values):
        if not number.whole or value == int(value):
            yield replace(number, value=value)


def _nodes(mechanism: Mechanism) -> int:
    return 1 + sum(map(_nodes, mechanism.inner()))
