"""Profiles whose ``epsilon`` comes from certified inversion of ``delta``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.inverse import invert
from dpexact.accounting.profile import Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, PrecisionNotReached
from dpexact.exactness import exact_ratio
from dpexact.reals import Real, rational

ZERO: Final = Fraction(0)
ONE: Final = Fraction(1)


class InvertedProfile(Profile):
    """A profile that decreases strictly from ``eps = 0`` to the largest finite loss.

    ``largest`` is that loss, or ``None`` when the loss is unbounded.
    """

    largest: Real | None

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        order = self.infinite.compare(delta, digits)
        if order is None:
            raise PrecisionNotReached(
                "delta cannot be told apart from the probability of infinite loss",
                Enclosure(ZERO, math.inf, self.method),
            )
        if order > 0 or (order == 0 and self.largest is None):
            return Enclosure.exact(math.inf, self.method)
        if order == 0 and self.largest is not None:
            return self._largest_loss(digits)
        return invert(
            lambda epsilon, d: self.delta(rational(epsilon), d),
            delta,
            digits,
            self.method,
            self.near(delta),
        )

    def near(self, delta: Real) -> Fraction:
        """About ``epsilon(delta)``, positive: where the search starts."""
        return ONE

    def _largest_loss(self, digits: int) -> Enclosure:
        largest = self.largest
        assert largest is not None
        if largest.fraction is not None:
            return Enclosure.exact(max(largest.fraction, ZERO), self.method)
        # it is negative where all that stays finite is less likely under P
        return balls.certify(lambda: balls.ball(largest).max(arb(0)), digits, method=self.method)

    def only_infinite(self, epsilon: Real, digits: int) -> Enclosure | None:
        """``delta(epsilon)`` when no finite loss exceeds ``epsilon``, else ``None``."""
        if self.largest is None or not _at_least(epsilon, self.largest):
            return None
        exact = self.infinite.fraction
        if exact is not None:
            return Enclosure.exact(exact, self.method)
        return balls.certify(self.infinite.ball, digits, highest=ONE, method=self.method)


def _at_least(a: Real, b: Real) -> bool:
    """Whether ``a >= b`` is certain."""
    if a == b:
        return True
    ratio = exact_ratio(a, b)
    if ratio is not None:
        return ratio >= 1 if balls.sign(b) > 0 else balls.compare(a, b) >= 0
    try:
        return balls.compare(a, b) >= 0
    except InvalidInput:
        return False
