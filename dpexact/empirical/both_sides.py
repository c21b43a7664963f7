"""Both sides of an audit: at least so much by an attack, at most so much by the accounting."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING
from typing import Any

from dpexact.accounting.queries import epsilon_answer
from dpexact.accounting.standing import from_above
from dpexact.arguments import digits_in
from dpexact.conversion import real
from dpexact.decimals import format_decimal
from dpexact.empirical.lower_bound import SHOWN, LowerBound, Terms
from dpexact.empirical.one_run_profile import MOST_CORRECT, mechanism_p_value
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.ternary import Ternary


@dataclass(frozen=True, slots=True)
class BothSides:
    """An attack's lower bound beside the certified epsilon of the mechanism that is said to run.

    ``convicted`` holds where the lower bound certainly exceeds the upper one, or where ``p_value``
    is at most the error of a look: with the confidence of the bound the implementation does not run
    this mechanism, or the attack's theorem does not apply to how it was run. Both bound the chance
    of one event, as many right guesses as these, so that asking both costs no look. ``p_value`` is
    what ``mechanism_p_value`` bounds; None where the attack is not one run.
    """

    attack: LowerBound
    mechanism: Mechanism
    upper: Enclosure
    p_value: Enclosure | None = None

    @property
    def convicted(self) -> Ternary:
        """Whether the attack shows more than the mechanism can leak."""
        attack = self.attack
        error = Terms(attack.delta, attack.confidence, attack.looks).significance
        if self.p_value is not None and self.p_value.upper <= error:
            return Ternary.HOLDS
        return self.upper.less_than(attack.epsilon)

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
            "p_value": None if self.p_value is None else self.p_value.safe(SHOWN),
            "convicted": {Ternary.HOLDS: True, Ternary.FAILS: False}.get(self.convicted),
        }


def both_sides(attack: LowerBound, mechanism: Mechanism | str, digits: int = 15) -> BothSides:
    """Join an attack's lower bound with the certified epsilon of ``mechanism`` at its delta.

    The neighbours that the attack told apart must be those of the mechanism. An epsilon that falls
    short of ``digits`` joins too, and may leave the two undecided. An attack in one run is held
    against the whole privacy profile of the mechanism too.

    Raises:
        InvalidInput, UnsupportedMechanism: as :func:`dpexact.epsilon`; also where the mechanism is
            known from below only.

    >>> from dpexact.empirical import from_counts
    >>> print(both_sides(from_counts(90, 10, 100, 100, delta="1e-5"), "gaussian(2)").sentence)
    epsilon is at least 1.5421... with 95 % confidence, at most 1.99...
    """
    parsed = mechanism_in(mechanism)
    from_above(parsed)
    upper = epsilon_answer(parsed, real(attack.delta), digits_in(digits), "both")
    run = attack.one_run
    chance = None if run is None or run[2] > MOST_CORRECT else mechanism_p_value(*run, parsed)
    return BothSides(attack, parsed, upper, chance)
