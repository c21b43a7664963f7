"""A lower bound on epsilon at a confidence, and the arguments that all attacks share."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any, Final

from dpexact.arguments import integer_in, rational_in
from dpexact.conversion import RealLike
from dpexact.decimals import format_decimal
from dpexact.enclosure import Enclosure
from dpexact.reals import print_fraction

#: Most trials, canaries or looks that are accepted.
MOST: Final = 10**9
#: Most digits of a bound.
DIGITS: Final = 1000
#: Significant digits of the numbers in a sentence.
SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class LowerBound:
    """What an attack shows: epsilon at ``delta`` is at least ``epsilon``, with ``confidence``.

    ``epsilon`` encloses the bound, which is a function of the outcomes; its ``lower`` end may be
    quoted. ``looks`` is among how many attacks this one was chosen: the error ``1 - confidence``
    is shared out among them (Bonferroni), so the bound holds for the best of them. ``outcome``
    says what was seen; ``one_run`` holds the numbers of canaries, of guesses and of right ones
    where it was seen in one run.
    """

    epsilon: Enclosure
    delta: Fraction
    confidence: Fraction
    looks: int
    outcome: str
    one_run: tuple[int, int, int] | None = None

    @property
    def sentence(self) -> str:
        """The bound and its confidence in words, both rounded down."""
        low = format_decimal(self.epsilon.lower, SHOWN, ROUND_FLOOR)
        percent = format_decimal(100 * self.confidence, SHOWN, ROUND_FLOOR)
        return f"epsilon is at least {low} with {percent} % confidence"

    def to_json(self, digits: int) -> dict[str, Any]:
        """The bound as plain values; ``at_least`` is an enclosure of it."""
        return {
            "quantity": "epsilon",
            "delta": print_fraction(self.delta),
            "confidence": print_fraction(self.confidence),
            "looks": self.looks,
            "outcome": self.outcome,
            "at_least": self.epsilon.to_json(digits),
            "method": self.epsilon.method,
        }


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a bound is sought, checked.

    ``significance`` is the error that one look may use: ``(1 - confidence) / looks``.
    """

    delta: Fraction
    confidence: Fraction
    looks: int

    @classmethod
    def of(cls, delta: RealLike, confidence: RealLike, looks: int) -> Terms:
        """The terms of a bound.

        Raises:
            InvalidInput: one of them is out of its domain.
        """
        return cls(
            rational_in(delta, "delta", ">= 0", "<= 1"),
            rational_in(confidence, "confidence", "> 0", "< 1"),
            integer_in(looks, "looks", 1, MOST),
        )

    @property
    def significance(self) -> Fraction:
        """The error that one look may use."""
        return (1 - self.confidence) / self.looks

    def bound(
        self, epsilon: Enclosure, outcome: str, one_run: tuple[int, int, int] | None = None
    ) -> LowerBound:
        """The bound that was found on these terms."""
        return LowerBound(epsilon, self.delta, self.confidence, self.looks, outcome, one_run)
