"""Both sides of an audit: at least so much by an attack, at most so much by the accounting."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING
from typing import Any

from dpexact.accounting.queries import epsilon_answer
from dpexact.arguments import digits_in
from dpexact.empirical.lower_bound import SHOWN, LowerBound
from dpexact.enclosure import Enclosure, format_decimal
from dpexact.mechanisms import Mechanism, parse
from dpexact.reals import real
from dpexact.ternary import Ternary


@dataclass(frozen=True, slots=True)
class BothSides:
    """An attack's lower bound beside the certified epsilon of the mechanism that is said to run.

    ``convicted`` holds where the lower bound certainly exceeds the upper one: with the confidence
    of the bound the implementation does not run this mechanism, or the attack's theorem does not
    apply to how it was run.
    """

    attack: LowerBound
    mechanism: Mechanism
    upper: Enclosure

    @property
    def convicted(self) -> Ternary:
        """Whether the lower bound exceeds the upper bound."""
        return self.upper.less_than(self.attack.epsilon)

    @property
    def sentence(self) -> str:
        """At least L with its confidence, at most U; both rounded outward."""
        high = format_decimal(self.upper.upper, SHOWN, ROUND_CEILING)
        return f"{self.attack.sentence}, at most {high} by accounting"

    @property
    def verdict(self) -> str:
        """What the two sides say together, in words."""
        if self.convicted is Ternary.HOLDS:
            return "convicted: this mechanism cannot have leaked so much"
        if self.convicted is Ternary.FAILS:
            return "consistent: the attack does not contradict the mechanism"
        return "undecided: more digits tell the two apart"

    def to_json(self, digits: int) -> dict[str, Any]:
        """The other side as plain values; ``at_most`` encloses the epsilon of the mechanism."""
        return {
            "mechanism": str(self.mechanism),
            "at_most": self.upper.to_json(digits),
            "at_most_method": self.upper.method,
            "convicted": {Ternary.HOLDS: True, Ternary.FAILS: False}.get(self.convicted),
        }


def both_sides(attack: LowerBound, mechanism: Mechanism | str, digits: int = 15) -> BothSides:
    """Join an attack's lower bound with the certified epsilon of ``mechanism`` at its delta.

    The neighbours that the attack told apart must be those of the mechanism. An epsilon that falls
    short of ``digits`` joins too, and may leave the two undecided.

    Raises:
        InvalidInput, UnsupportedMechanism: as :func:`dpexact.epsilon`.

    >>> from dpexact.empirical import from_counts
    >>> print(both_sides(from_counts(90, 10, 100, 100, delta="1e-5"), "gaussian(2)").sentence)
    epsilon is at least 1.5421... with 95 % confidence, at most 1.99...
    """
    parsed = parse(mechanism) if isinstance(mechanism, str) else mechanism
    upper = epsilon_answer(parsed, real(attack.delta), digits_in(digits), "both")
    return BothSides(attack, parsed, upper)
