"""Profiles made of profiles: the worse direction, the first method to reach, what lies between."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from dpexact.accounting.profile import InfiniteLoss, Profile, Repeatable
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real
from dpexact.ternary import Ternary

#: Digits with which the second direction is first tried: often it is plainly the smaller.
_GLANCE: Final = 3
#: With this many certified digits a method is on its way: more work for it, or none for others.
ENOUGH: Final = 3

_Ask = Callable[[Profile, int], Enclosure]


class _Combined(Profile):
    """Answers both questions by one way of asking other profiles."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self._ask(lambda profile, d: profile.delta(epsilon, d), digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._ask(lambda profile, d: profile.epsilon(delta, d), digits)

    _epsilon = epsilon

    @abstractmethod
    def _ask(self, ask: _Ask, digits: int) -> Enclosure:
        """The answer to a question, given how one asks another profile."""


class WorseDirection(_Combined):
    """The larger of the profiles of the two directions, ``remove`` and ``add``."""

    def __init__(self, remove: Profile, add: Profile) -> None:
        self.remove = remove
        self.add = add
        self.infinite: InfiniteLoss = remove.infinite
        self.method: str = remove.method

    def _ask(self, ask: _Ask, digits: int) -> Enclosure:
        first = ask(self.remove, digits)
        if first.lower == math.inf:
            return first
        second = ask(self.add, min(digits, _GLANCE))
        asked = 0
        while second.at_most(first) is not Ternary.HOLDS:
            # beside a wide first, more digits of the second would be lost
            wide = first.at_most(second) is not Ternary.HOLDS
            needed = min(digits, first.digits) if wide else digits
            if second.digits >= needed or needed <= asked:
                break
            asked = needed
            second = ask(self.add, needed)
        return first.larger(second)


class WorseCurve(Repeatable):
    """The larger of the two directions of profiles whose repetitions share work."""

    def __init__(self, remove: Repeatable, add: Repeatable) -> None:
        self.remove = remove
        self.add = add

    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        first = self.remove.epsilons(repeats, delta, digits)
        second = self.add.epsilons(repeats, delta, min(digits, _GLANCE))
        close = [
            t
            for t, a, b in zip(repeats, first, second, strict=True)
            if b.at_most(a) is not Ternary.HOLDS
        ]
        finer = dict(zip(close, self.add.epsilons(close, delta, digits), strict=True))
        others = (finer.get(t, b) for t, b in zip(repeats, second, strict=True))
        return [a.larger(b) for a, b in zip(first, others, strict=True)]


class FirstToReach(_Combined):
    """The profile of one pair by the first of several methods that gives the digits asked for.

    When none does, the answer is the intersection of theirs.
    """

    def __init__(self, first: Profile, *others: Profile) -> None:
        self.routes: Sequence[Profile] = (first, *others)
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def _ask(self, ask: _Ask, digits: int) -> Enclosure:
        best = ask(self.routes[0], digits)
        for route in self.routes[1:]:
            if best.digits >= digits:
                break
            best = best.meet(ask(route, digits))
        return best


class Fallback(_Combined):
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

    def _ask(self, ask: _Ask, digits: int) -> Enclosure:
        try:
            found = ask(self.first, digits)
        except UnsupportedMechanism:
            return ask(self.second(), digits)
        if found.digits >= min(digits, ENOUGH):
            if found.digits >= digits or self.thorough is None:
                return found
            return found.meet(ask(self.thorough, digits))
        try:
            return found.meet(ask(self.second(), digits))
        except UnsupportedMechanism:
            return found


class Between(_Combined):
    """Between the profiles of a pair that is at most, and of one that is at least as informative.

    Where these are bounds of theorems (not ``sharp``) some ``digits`` of each are enough, as they
    differ by more.
    """

    def __init__(
        self, below: Profile, above: Profile, method: str, digits: tuple[int, int] | None = None
    ) -> None:
        self.below = below
        self.above = above
        self.method = method
        self.infinite: InfiniteLoss = below.infinite
        self.sharp: bool = digits is None
        self._digits = digits

    def _ask(self, ask: _Ask, digits: int) -> Enclosure:
        low, high = self._digits or (digits + 1, digits + 1)
        found = ask(self.below, low).between(ask(self.above, high), self.method)
        return found.short(found.reason or "the bounds below and above differ")
