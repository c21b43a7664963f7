"""What every published approximation offers: the delta and epsilon that it claims."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.inverse import invert
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: A claim that is above delta here is taken to stay above: nothing is said then.
_FAR: Final = 2**60


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

        A formula that does not decrease everywhere may cross elsewhere too.
        """
        with balls.precision(64):
            if self.delta_ball(arb(_FAR)) > balls.ball(delta):
                reason = f"the claim of {self.method} stays above delta"
                return Enclosure(Fraction(0), math.inf, self.method, reason)
        return invert(
            lambda epsilon, d: self.delta(rational(epsilon), d), delta, digits, self.method
        )


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
