"""Certified inversion of a strictly decreasing privacy profile.

The secant search only proposes points. The answer is ``[low, high]`` with
``delta(low) >= target >= delta(high)``, both certified, hence it contains the smallest ``epsilon``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Final

from dpexact import balls
from dpexact.enclosure import Enclosure, format_decimal
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)
_MAX_DOUBLINGS: Final = 4096
_FAR_BELOW: Final = Fraction(-100)

DeltaAt = Callable[[Fraction, int], Enclosure]
"""``delta_at(epsilon, digits)``: an enclosure of ``delta(epsilon)``."""


def invert(
    delta_at: DeltaAt, target: Real, digits: int, method: str, start: Fraction = _ONE
) -> Enclosure:
    """Enclose the smallest ``epsilon >= 0`` with ``delta(epsilon) <= target``.

    ``start > 0`` is where the search begins: near the answer it saves evaluations.

    ``delta_at`` must enclose a continuous function that decreases strictly, while positive, to a
    limit below ``target``.

    Raises:
        PrecisionNotReached: with the bracket that was certified.
    """
    search = _Search(delta_at, target, digits)
    if search.side(_ZERO) >= 0:
        return Enclosure.exact(_ZERO, method)
    search.bracket(start)
    search.narrow()
    return Enclosure(search.low, search.high, method)


class _Search:
    """Keeps ``delta(low) >= target >= delta(high)``, certified."""

    low: Fraction = _ZERO
    high: Fraction | float = math.inf

    def __init__(self, delta_at: DeltaAt, target: Real, digits: int) -> None:
        self.delta_at = delta_at
        self.digits = digits
        if target.fraction is not None:
            self.target = Enclosure.exact(target.fraction)
        else:
            self.target = balls.certify(lambda: balls.ball(target), 2 * digits + 20)

    def side(self, epsilon: Fraction) -> int:
        """The certified sign of ``target - delta(epsilon)``, 0 when equal; moves the bracket."""
        digits = 8
        while digits <= 8 * self.digits + 64:
            found = self.enclose(epsilon, digits)
            if found.at_most(self.target):
                self.high = min(self.high, epsilon)
                return 0 if self.target.at_most(found) else 1
            if self.target.at_most(found):
                self.low = max(self.low, epsilon)
                return -1
            digits *= 2
        point = format_decimal(epsilon, 6, ROUND_FLOOR)
        raise PrecisionNotReached(
            f"delta({point}) cannot be told apart from the target",
            Enclosure(self.low, self.high),
        )

    def enclose(self, epsilon: Fraction, digits: int) -> Enclosure:
        """``delta(epsilon)``; a wide enclosure may decide too."""
        try:
            return self.delta_at(epsilon, digits)
        except PrecisionNotReached as error:
            return error.best

    def bracket(self, point: Fraction) -> None:
        """Find ``low`` and ``high`` a factor 2 apart, starting from ``point``."""
        step = Fraction(2) if self.side(point) < 0 else Fraction(1, 2)
        for _ in range(_MAX_DOUBLINGS):
            if self.low > 0 and self.high < math.inf:
                return
            point *= step
            self.side(point)
        raise PrecisionNotReached(
            f"epsilon lies beyond 2^(+-{_MAX_DOUBLINGS})", Enclosure(self.low, self.high)
        )

    def narrow(self) -> None:
        """Shrink the bracket to the requested relative width by safeguarded secant steps.

        Proposals are worthless where delta hardly changes; then every fourth step halves.
        """
        x0, x1 = self.low, Fraction(self.high)
        g0, g1 = self.gap(x0), self.gap(x1)
        width = Fraction(self.high) - self.low
        for step in range(32 + 16 * self.digits):
            tolerance = Fraction(self.high) / 10 ** (self.digits + 1)
            if self.high - self.low <= tolerance:
                return
            guess = x1 - g1 * (x1 - x0) / (g1 - g0) if g1 != g0 else self.low
            stalled = False
            if step % 4 == 3:
                before, width = width, Fraction(self.high) - self.low
                stalled = 2 * width > before
            if stalled or not self.low < guess < self.high:
                guess = (self.low + Fraction(self.high)) / 2
            guess = self.rounded(guess)
            x0, g0, x1, g1 = x1, g1, guess, self.gap(guess)
            if abs(x1 - x0) <= tolerance:
                self.side(x1 - tolerance / 3)
                self.side(x1 + tolerance / 3)
            else:
                self.side(x1)
        raise PrecisionNotReached(
            f"{self.digits} digits of epsilon were not reached", Enclosure(self.low, self.high)
        )

    def gap(self, epsilon: Fraction) -> Fraction:
        """About ``log(delta(epsilon)/target)``, for the proposals only."""
        found = self.enclose(epsilon, self.digits + 6)
        if found.upper <= 0:  # beyond the largest loss
            return _FAR_BELOW
        with balls.precision(balls.bits_for(self.digits + 10)):
            value = balls.ball(Fraction(found.upper)) / balls.ball(Fraction(self.target.upper))
            return balls.midpoint(value.log())

    def rounded(self, value: Fraction) -> Fraction:
        """A short fraction close to ``value``, to keep the numbers small."""
        with balls.precision(balls.bits_for(self.digits + 10)):
            return balls.midpoint(balls.ball(value))
