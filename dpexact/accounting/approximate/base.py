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

        A formula that does not decrease everywhere may cross elsewhere too. Where no crossing was
        certified nothing is known.
        """
        with balls.precision(64):
            if self.delta_ball(arb(_FAR)) > balls.ball(delta):
                reason = f"the claim of {self.method} stays above delta"
                return Enclosure(Fraction(0), math.inf, self.method, reason)
        low = high = Fraction(0)  # no bracket is known yet

        def missing(epsilon: arb) -> arb:
            return balls.ball(delta) - self.delta_ball(epsilon)

        def crossing() -> arb:
            nonlocal low, high
            left, right = balls.ball(low), balls.ball(high) if high else arb(1)
            while not high and right < _FAR and not missing(right) > 0:
                right *= 2
            if low == 0 and missing(left) >= 0:
                return left
            if not (missing(left) <= 0 and missing(right) >= 0):
                return arb.nan()
            found = increasing_root(missing, left, right)
            if found.is_finite():  # of several crossings a higher precision looks at this one
                bounds = balls.to_enclosure(found)
                low, high = Fraction(bounds.lower), Fraction(bounds.upper)
            return found

        cap = 8 * balls.bits_for(digits)
        return balls.certify(crossing, digits, lowest=Fraction(0), method=self.method, cap=cap)


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
