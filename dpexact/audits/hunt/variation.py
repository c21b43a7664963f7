"""Random variations of a case, from next to it to the extremes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from dpexact.audits.hunt.numbers import Number, numbers, significant, with_numbers
from dpexact.audits.workloads import Case

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
