"""Simpler cases: fewer parts, fewer steps and rounder numbers, the boldest simplification first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from decimal import Decimal
from typing import TypeAlias

from dpexact.audits.hunt.numbers import Number, numbers, significant, with_numbers
from dpexact.audits.workloads import Case
from dpexact.mechanisms import Composition, Mechanism, Poisson, Repetition

Size: TypeAlias = tuple[int, int, float]
"""Single mechanisms and what is done to them; digits of all numbers; their distance from 1."""


def size(case: Case) -> Size:
    """What the simplifications of a case must lower, in this order."""
    found = numbers(case)
    digits = sum(_digits(number.value) for number in found)
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


def _digits(value: float) -> int:
    """Significant decimal digits of the shortest decimal that is ``value``."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


def _nodes(mechanism: Mechanism) -> int:
    if isinstance(mechanism, Composition):
        return 1 + sum(map(_nodes, mechanism.parts))
    inner = [getattr(mechanism, parameter.name) for parameter in fields(mechanism)]
    return 1 + sum(_nodes(value) for value in inner if isinstance(value, Mechanism))
