"""What every published approximation offers: the delta and epsilon that it claims."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.roots import increasing_root
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_BRACKET_BITS: Final = 256
_LARGEST: Final = 2.0**60


class Approximation(ABC):
    """A published formula for the privacy profile; ``method`` names it. It proves nothing."""

    method: str

    @abstractmethod
    def delta_ball(self, epsilon: arb) -> arb:
        """The delta that the formula gives, as a ball at the current precision."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Enclose the claimed delta at ``epsilon >= 0``."""
        return balls.certify(
            lambda: self.delta_ball(balls.ball(epsilon)), digits, method=self.method
        )

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        """Enclose an epsilon at which the claimed delta crosses ``delta``; 0 if it starts below.

        A formula that does not decrease everywhere may cross elsewhere too. Where no crossing was
        certified nothing is known.
        """
        found = self._bracket(delta)
        if found.is_exact or not isinstance(found.upper, Fraction):
            return found
        low, high = Fraction(found.lower), found.upper
        return balls.certify(
            lambda: increasing_root(
                lambda point: balls.ball(delta) - self.delta_ball(point),
                balls.ball(low),
                balls.ball(high),
            ),
            digits,
            lowest=low,
            highest=high,
            method=self.method,
        )

    def _bracket(self, delta: Real) -> Enclosure:
        """A short interval with the claim above ``delta`` on the left, below on the right."""
        unknown = Enclosure(Fraction(0), math.inf, self.method)
        with balls.precision(_BRACKET_BITS):
            target = balls.ball(delta)
            low, high = arb(0), arb(1)
            if self.delta_ball(low) <= target:
                return Enclosure.exact(Fraction(0), self.method)
            while not self.delta_ball(high) < target:
                low, high = high, 2 * high
                # proposes: when to give up, and then nothing is claimed
                if high > _LARGEST:
                    return unknown.short(f"the claim of {self.method} stays above delta")
            # proposes: how long to go on; any bracket whose ends have certified signs is valid
            while high - low > high * arb(2) ** (-_BRACKET_BITS // 4):
                # proposes: a point; on which side it lies is certified
                middle = ((low + high) / 2).mid()
                value = self.delta_ball(middle)
                if value > target:
                    low = middle
                elif value < target:
                    high = middle
                else:
                    break
            if not self.delta_ball(low) > target:  # it was doubled past unknown signs
                return unknown.short(f"the crossing of {self.method} is unclear")
            return balls.to_enclosure(low).between(balls.to_enclosure(high), self.method)


class Larger(Approximation):
    """The larger of what two formulas claim: the worse of two directions."""

    def __init__(self, first: Approximation, second: Approximation) -> None:
        self.first = first
        self.second = second
        self.method: str = first.method

    def delta_ball(self, epsilon: arb) -> arb:
        return self.first.delta_ball(epsilon).max(self.second.delta_ball(epsilon))


class Beside(Approximation):
    """What a formula claims of the finite losses, beside an exact mass of infinite loss."""

    def __init__(self, formula: Approximation, infinite: InfiniteLoss) -> None:
        self.formula = formula
        self.infinite = infinite
        self.method: str = f"{formula.method}, beside infinite loss"

    def delta_ball(self, epsilon: arb) -> arb:
        lost = self.infinite.ball()
        return lost + (1 - lost) * self.formula.delta_ball(epsilon)


def normal_tail(x: arb) -> arb:
    """``P[N(0, 1) > x]``."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_density(x: arb) -> arb:
    """The standard normal density."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
