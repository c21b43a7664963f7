"""How privacy moves with each number of a mechanism: what may be sought, and why others may not.

It stands in the metadata of the field that holds the number, beside its domain. The proofs are in
``docs/theory/calibration.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpexact.arguments import MAX_COUNT

_ONE: Final = Fraction(1)
#: The key of the metadata.
_KEY: Final = "ordering"


@dataclass(frozen=True, slots=True)
class Ordering:
    """Privacy is monotone in a number.

    ``least``: whether the smallest value is sought (more of it is more private). ``from_zero``:
    whether 0 is a value, and the most private one. ``lowest`` and ``highest`` are the ends of the
    domain, or name the parameter that is one; without a highest it goes on, though none beyond
    ``limit`` is tried. ``start``: where a search may begin. ``towards`` makes of the other
    arguments what the mechanism tends to as it grows more private, a step without loss where None.
    """

    least: bool = False
    integer: bool = False
    from_zero: bool = False
    lowest: int | str = 1
    highest: int | str | None = None
    limit: int = MAX_COUNT
    start: Fraction = _ONE
    towards: Callable[..., Any] | None = None


def ordered(ordering: Ordering) -> dict[str, Any]:
    """The metadata of a number in which privacy is monotone."""
    return {_KEY: ordering}


def unordered(reason: str) -> dict[str, Any]:
    """The metadata of a number that is not sought, with the reason."""
    return {_KEY: reason}


def entries_ordered(first: Ordering | str, second: Ordering | str | None) -> dict[str, Any]:
    """The metadata of a list of pairs: how privacy moves with either number of an entry."""
    return {_KEY: (first, second)}


def ordering_of(metadata: Any, place: int = 0) -> Ordering | str | None:
    """What is known of the number of a field, of a list that in a ``place`` of its entries."""
    told = metadata.get(_KEY)
    if isinstance(told, tuple):
        told = told[place]
    assert told is None or isinstance(told, Ordering | str)
    return told


NOISE: Final = ordered(Ordering(least=True))
SENSITIVITY: Final = ordered(Ordering())
GUARANTEE: Final = ordered(Ordering(from_zero=True))
COUNT: Final = ordered(Ordering(integer=True))
#: What privacy grows with, in whole numbers.
CROWD: Final = ordered(Ordering(least=True, integer=True))
RATE: Final = ordered(Ordering(from_zero=True, highest=1, start=Fraction(1, 100)))

#: Of lists of probabilities.
DETERMINED: Final = "the probabilities add up to 1, so the others leave no choice"

FAILURE: Final = ordered(Ordering(from_zero=True, highest=1, start=Fraction(1, 10**6)))
TIMES: Final = ordered(Ordering(integer=True, start=Fraction(1000)))
#: Sizes of a sample and of what it is drawn from.
DRAWN: Final = ordered(Ordering(integer=True, highest="n"))
DRAWN_FROM: Final = ordered(Ordering(least=True, integer=True, lowest="m"))

FEW_INTEGERS: Final = unordered(
    "privacy is not monotone in sigma of discrete_gaussian: delta at epsilon = 2 is 0.10477 "
    "at sigma = 0.5 and 0.15330 at sigma = 0.65; calibrate gaussian, or rho of zcdp"
)
STAIRS: Final = unordered(
    "privacy is not monotone in gamma of staircase: delta at epsilon = 0.5 falls and rises"
)
SCALED: Final = unordered("the sensitivity of staircase has no influence")
FLATTER: Final = unordered(
    "privacy is not monotone in the scale of truncated noise: more of it is next to the ends of "
    "the support, where everything is revealed; calibrate bound"
)
CORNERS: Final = unordered(
    "privacy is not proved monotone in the guarantee of partition_selection: the corners of its "
    "tests move with it"
)
REPEATED: Final = unordered(
    "privacy is not proved monotone in the number of runs of repeat_and_select: only a bound is "
    "known"
)
BELOW: Final = unordered(
    "shuffled batches are known from below only, which no target is certain by"
)
