"""The larger profile of a pair and its reverse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.profile import Profile, WorseDirection
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Digits of delta that mostly tell it from the target.
_GLANCE: Final = 2


class Mirrored(WorseDirection):
    """The larger profile of a pair ``(P, Q)`` and its reverse ``(Q, P)``, which is ``add``.

    At 0 both are the total variation. Elsewhere one point of the second direction mostly shows that
    it is the smaller: ``is_below`` says, next to free, whether its delta is proved at most a level.
    """

    def __init__(
        self, remove: Profile, add: Profile, is_below: Callable[[Real, Real], bool] | None = None
    ) -> None:
        super().__init__(remove, add)
        self.is_below = is_below

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        first = self.remove.deltas(epsilons, digits)
        places = [
            i
            for i, at in enumerate(epsilons)
            if (at.fraction != 0 or first[i].digits < digits)
            and not (self.is_below and self.is_below(at, _lowest(first[i])))
        ]
        return self._worse(lambda p, at, n: p.deltas(at, n), epsilons, digits, first, places)

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """Delta decreases: where it is below the target at a lower bound, epsilon is below that."""
        first = self.remove.epsilons(deltas, digits)
        places = [i for i, e in enumerate(first) if e.lower != math.inf and e.upper != 0]
        if self.is_below:
            least = {i: _lowest(first[i]) for i in places}
            places = [i for i in places if not self.is_below(least[i], deltas[i])]
            found = self.add.deltas([least[i] for i in places], min(digits, _GLANCE))
            near = zip(places, found, strict=True)
            places = [i for i, delta in near if not balls.at_most(delta, deltas[i])]
        return self._worse(lambda p, at, n: p.epsilons(at, n), deltas, digits, first, places)


def _lowest(found: Enclosure) -> Real:
    return reals.rational(Fraction(found.lower))
