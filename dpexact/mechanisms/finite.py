"""Finite pairs of laws: as the user gives them, or by a published rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from typing import Any, Final

from dpexact import balls
from dpexact.decimals import format_decimal
from dpexact.errors import InvalidInput, UndecidedComparison
from dpexact.mechanisms.base import NOT_NEGATIVE, Mechanism, integers
from dpexact.mechanisms.entries import MAX_ROWS, listed
from dpexact.mechanisms.ordering import (
    DETERMINED,
    GUARANTEE,
    Ordering,
    entries_ordered,
    ordered,
)
from dpexact.reals import Real, rational
from dpexact.tokens import shorten

#: Most outcomes of a pair, and how many of them may have probabilities that are not rational.
MAX_OUTCOMES: Final = MAX_ROWS
MAX_IRRATIONAL: Final = 1_000
#: The titles of the columns of a file.
COLUMNS: Final = ("p", "q")
#: Most bits of a common denominator of the probabilities.
MAX_BITS: Final = 1 << 17

#: Sums of larger denominators are rounded where they are shown.
_SHOWN: Final = 10**15


def _laws_in(pairs: tuple[tuple[Any, Any], ...], name: str) -> tuple[tuple[Any, Any], ...]:
    """Two laws; outcomes that neither of them has are left out."""
    if len(pairs) > MAX_OUTCOMES:
        raise InvalidInput(f"pair: {len(pairs)} outcomes are too many (limit {MAX_OUTCOMES})")
    for law, masses in (("p", [p for p, _ in pairs]), ("q", [q for _, q in pairs])):
        for place, mass in enumerate(masses, 1):
            if balls.sign(mass, law) < 0:
                raise InvalidInput(
                    f"pair: {law} of outcome {place} is {shorten(str(mass))}; must be >= 0"
                )
        _sums_to_one(law, masses)
    return tuple((p, q) for p, q in pairs if p.fraction != 0 or q.fraction != 0)


def _sums_to_one(law: str, masses: Sequence[Real]) -> None:
    total = _sum([mass.fraction for mass in masses if mass.fraction is not None])
    others = [mass for mass in masses if mass.fraction is None]
    if len(others) > MAX_IRRATIONAL:
        raise InvalidInput(
            f"pair: {len(others)} probabilities {law} are not rational (limit {MAX_IRRATIONAL})"
        )
    about = f"about {format_decimal(total, 17, ROUND_HALF_EVEN)}"
    said = shorten(str(rational(total))) if total.denominator < _SHOWN else about
    if others:
        from dpexact.tradeoffs import numbers

        try:
            whole = sum(map(numbers.number, others), numbers.number(total))
            told = numbers.compare(whole, 1)
        except (UndecidedComparison, InvalidInput):
            raise InvalidInput(
                f"pair: whether the probabilities {law} sum to 1 cannot be told; "
                "write them in rationals and exp, as exp(1)/(1+exp(1))"
            ) from None
        said = f"about {numbers.approximate(whole):.17g}"
        if told == 0:
            return
    elif total == 1:
        return
    hint = "" if total.denominator < _SHOWN else "; a float means its exact binary value: use text"
    raise InvalidInput(f"pair: the probabilities {law} sum to {said}, not 1{hint}")


def _sum(values: Sequence[Fraction]) -> Fraction:
    """The exact sum, of numbers with a common denominator that can be written out."""
    common = 1
    for denominator in {value.denominator for value in values}:
        common = math.lcm(common, denominator)
        if common.bit_length() > MAX_BITS:
            raise InvalidInput(
                f"pair: the common denominator of the probabilities has more than {MAX_BITS} "
                "bits; write them over one denominator"
            )
    return Fraction(sum(v.numerator * (common // v.denominator) for v in values), common)


@dataclass(frozen=True, slots=True, repr=False)
class FinitePair(Mechanism, name="pair"):
    """The laws ``P`` (with the record) and ``Q`` (without), outcome by outcome ``(p, q)``.

    Outcomes with ``q = 0`` are infinite loss, also ``p = 0`` in the other direction.
    """

    outcomes: tuple[tuple[Real, Real], ...] = field(
        metadata=listed("(number, number)", _laws_in, COLUMNS)
        | entries_ordered(DETERMINED, DETERMINED)
    )


@dataclass(frozen=True, slots=True, repr=False)
class RandomizedResponse(Mechanism, name="randomized_response"):
    """One of ``k >= 2`` answers: the true one with ``e^eps`` times the probability of another."""

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)
    k: int = field(
        default=2, metadata=integers(2) | ordered(Ordering(least=True, integer=True, lowest=2))
    )
