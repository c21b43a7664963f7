"""Several certified methods for one profile, asked in turn until one reaches the digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real


class FirstToReach(Profile):
    """The profile of one pair by the first of several methods that gives the digits asked for.

    When none does, the error carries the intersection of what they certified.
    """

    def __init__(self, first: Profile, *others: Profile) -> None:
        self.routes: Sequence[Profile] = (first, *others)
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self._ask(lambda route: route.delta(epsilon, digits), digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._ask(lambda route: route.epsilon(delta, digits), digits)

    def _ask(self, question: Callable[[Profile], Enclosure], digits: int) -> Enclosure:
        best: Enclosure | None = None
        reason = ""
        for route in self.routes:
            try:
                return question(route)
            except PrecisionNotReached as error:
                best = error.best if best is None else _common(best, error.best)
                reason = reason or str(error)
                if best.digits >= digits:
                    return best
        assert best is not None
        raise PrecisionNotReached(reason, best)


def _common(one: Enclosure, other: Enclosure) -> Enclosure:
    """The intersection of two enclosures of one number, named after the narrower."""
    narrow = other if other.upper - other.lower < one.upper - one.lower else one
    return Enclosure(max(one.lower, other.lower), min(one.upper, other.upper), narrow.method)
