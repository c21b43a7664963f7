"""Comparisons that may stay open: values of their own, which nothing takes for true or false."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn


class _WithoutTruth(Enum):
    """An enumeration whose members have no truth value."""

    def __bool__(self) -> NoReturn:
        kind = type(self).__name__
        raise TypeError(f"{self} has no truth value: compare it with a member of {kind}")


class Ternary(_WithoutTruth):
    """Whether a statement certainly holds, certainly fails, or is undecided.

    >>> from fractions import Fraction
    >>> from dpexact import Enclosure
    >>> Enclosure(Fraction(1), Fraction(2)).at_most(2) is Ternary.HOLDS
    True
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, holds: bool, fails: bool) -> Ternary:
        """``holds`` and ``fails`` say what is certain; not both are."""
        return cls.HOLDS if holds else cls.FAILS if fails else cls.UNDECIDED


class Order(_WithoutTruth):
    """How one number certainly stands to another: by the sign of the difference, if it is known.

    >>> Order(-1)
    <Order.BELOW: -1>
    """

    BELOW = -1
    EQUAL = 0
    ABOVE = 1
    UNDECIDED = None
