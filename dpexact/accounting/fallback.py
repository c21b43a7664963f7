"""A second method for what the first one refuses or leaves wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached, UnsupportedMechanism
from dpexact.reals import Real

#: With this many certified digits the first method needs no other.
ENOUGH: Final = 3


class Fallback(Profile):
    """``first``, and ``second`` (made when needed) where the first has no answer or a wide one.

    ``thorough`` is the first method with more work allowed: for it a few digits must be in sight.
    """

    def __init__(
        self, first: Profile, second: Callable[[], Profile], thorough: Profile | None = None
    ) -> None:
        self.first = first
        self.second = second
        self.thorough = thorough
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self._ask(lambda profile: profile.delta(epsilon, digits), digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._ask(lambda profile: profile.epsilon(delta, digits), digits)

    def _ask(self, ask: Callable[[Profile], Enclosure], digits: int) -> Enclosure:
        try:
            return ask(self.first)
        except UnsupportedMechanism:
            return ask(self.second())
        except PrecisionNotReached as error:
            wide, reason = error.best, str(error)
            if wide.digits >= ENOUGH and self.thorough is None:
                raise
        if wide.digits >= ENOUGH and self.thorough is not None:
            return ask(self.thorough)
        try:
            found = ask(self.second())
        except PrecisionNotReached as error:
            found = error.best
        except UnsupportedMechanism:
            raise PrecisionNotReached(reason, wide) from None
        found = found.clamped(wide.lower, wide.upper)
        if found.digits < digits:
            raise PrecisionNotReached(f"{digits} digits were not reached: it is in {found}", found)
        return found
