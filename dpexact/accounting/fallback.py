"""A second method for what the first one refuses or leaves wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpexact.accounting.profile import Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached, UnsupportedMechanism
from dpexact.reals import Real

#: With this many certified digits the first method is not helped any more.
ENOUGH: Final = 3


class Fallback(Profile):
    """``first``, and ``second`` (made when needed) where the first has no answer or a wide one."""

    def __init__(self, first: Profile, second: Callable[[], Profile]) -> None:
        self.first = first
        self.second = second
        self.infinite = first.infinite
        self.method = first.method

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
            if error.best.digits >= ENOUGH:
                raise
            wide, reason = error.best, str(error)
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
