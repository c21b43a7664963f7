r"""The pair with its laws exchanged: delta at a negative epsilon, and the larger of both.

The best test of ``(P, Q)`` is the complement of the best test of ``(Q, P)``, so for every real
``eps`` (``docs/theory/dominating-pairs.md``, Lemma 1 (b))

.. math:: \delta_{P,Q}(\varepsilon)
          = 1 - e^{\varepsilon} + e^{\varepsilon}\,\delta_{Q,P}(-\varepsilon).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.profile import ENOUGH, GLANCE, Ask, Combined, InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.exactness import exp_fraction
from dpexact.reals import Real
from dpexact.ternary import Order

#: Digits of delta that mostly tell it from the target.
_GLANCE: Final = 2
#: So many points are looked at together, and how often some are; bits of the least of them.
_TOGETHER: Final = 32
_LOOKS: Final = 64
_LEAST_BITS: Final = 96
#: Of so many points so many neighbours may be told by one answer of the second direction, as long
#: as so many are.
_MANY, _NEIGHBOURS, _FEWEST = 256, 16, 4
#: The direction whose pair has its laws exchanged.
OPPOSITE: Final[dict[Direction, Direction]] = {"remove": "add", "add": "remove", "both": "both"}


def reflected(found: Enclosure, epsilon: Real, digits: int) -> Enclosure:
    """``delta(epsilon)``, ``epsilon < 0``, from ``found`` at ``-epsilon`` the other way round.

    It increases with ``found``, so the larger of two directions comes from the larger.
    """
    level = exp_fraction(epsilon)
    if level is not None and isinstance(found.lower, Fraction) and found.is_exact:
        return Enclosure.exact(1 - level + level * found.lower, found.method)

    def whole(delta: arb) -> arb:
        growth = balls.ball(epsilon)
        return growth.exp() * delta - growth.expm1()

    known = {"lowest": Fraction(0), "highest": Fraction(1)}
    return balls.image(found, whole, digits + 2, **known, method=found.method)


class WorseDirection(Combined):
    """The larger of the profiles of the two directions, ``remove`` and ``add``."""

    def __init__(self, remove: Profile, add: Profile) -> None:
        self.remove = remove
        self.add = add
        less = remove.infinite.order(add.infinite.mass, ENOUGH) is Order.BELOW
        self.infinite: InfiniteLoss = add.infinite if less else remove.infinite
        self.method: str = remove.method

    def _ask(self, ask: Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        first = ask(self.remove, points, digits)
        return self._worse(ask, points, digits, first, range(len(points)))

    def _worse(
        self,
        ask: Ask,
        points: Sequence[Real],
        digits: int,
        first: Sequence[Enclosure],
        places: Iterable[int],
    ) -> list[Enclosure]:
        """First with few digits the second direction, then with more where it may be the larger."""
        second: dict[int, Enclosure] = {}
        finite = [i for i in places if first[i].lower != math.inf]
        asked = dict.fromkeys(self._perhaps(ask, points, first, finite), min(digits, GLANCE))
        while asked:
            for needed in set(asked.values()):
                places = [i for i in asked if asked[i] == needed]
                answers = ask(self.add, [points[i] for i in places], needed)
                second.update(zip(places, answers, strict=True))
            following = {i: _needed(first[i], second[i], digits) for i in asked}
            asked = {i: more for i, more in following.items() if more > asked[i]}
        return [a.larger(second[i]) if i in second else a for i, a in enumerate(first)]

    def _perhaps(
        self, ask: Ask, points: Sequence[Real], first: Sequence[Enclosure], places: list[int]
    ) -> list[int]:
        """Where few answers of the second direction do not prove that it is the smaller.

        Its answers fall: what is at most some first answers at a point is so at those beyond.
        """
        # proposes: whether they are worth it
        if len(places) < _MANY:
            return places
        # proposes: who is looked at together
        order = sorted(places, key=lambda i: balls.approximate(points[i]))
        groups = [order[k : k + _NEIGHBOURS] for k in range(0, len(order), _NEIGHBOURS)]
        told = len(order)
        while told >= _FEWEST * len(groups) > 0:
            least = [_least([points[i] for i in group]) for group in groups]
            answers = zip(groups, ask(self.add, least, GLANCE), strict=True)
            left = [[i for i in group if a.upper > first[i].lower] for group, a in answers]
            told = sum(map(len, groups)) - sum(map(len, left))
            groups = [group for group in left if group]
        return sorted(i for group in groups for i in group)


def in_direction(direction: Direction, of: Callable[[Direction], Profile]) -> Profile:
    """The profile of a direction; of both, the larger."""
    return of(direction) if direction != "both" else WorseDirection(of("remove"), of("add"))


def _needed(first: Enclosure, second: Enclosure, digits: int) -> int:
    """The digits of the second direction that the larger of both asks for; 0 where it has them."""
    # beside a wide first, more digits of the second would be lost
    needed = min(digits, first.digits) if first.upper > second.lower else digits
    return needed if second.upper > first.lower and second.digits < needed else 0


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
        asked = {
            i: (at, _at_least(first[i]))
            for i, at in enumerate(epsilons)
            if at.fraction != 0 or first[i].digits < digits
        }
        places = self._unproved(asked)
        return self._worse(lambda p, at, n: p.deltas(at, n), epsilons, digits, first, places)

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """Delta decreases: where it is below the target at a lower bound, epsilon is below that."""
        first = self.remove.epsilons(deltas, digits)
        places = [i for i, e in enumerate(first) if e.lower != math.inf and e.upper != 0]
        if self.is_below:
            least = {i: _at_least(first[i]) for i in places}
            places = self._unproved({i: (least[i], deltas[i]) for i in places})
            found = self.add.deltas([least[i] for i in places], min(digits, _GLANCE))
            near = zip(places, found, strict=True)
            places = [i for i, delta in near if not balls.at_most(delta, deltas[i])]
        return self._worse(lambda p, at, n: p.epsilons(at, n), deltas, digits, first, places)

    def _unproved(self, asked: dict[int, tuple[Real, Real]]) -> list[int]:
        """Where delta of the second direction is not proved to be at most a level at a point.

        It decreases: if it is at most the least level of some at their least point, it is for all.
        After some looks what is left is asked for together.
        """
        if self.is_below is None:
            return [*asked]
        # proposes: which are looked at together
        order = sorted(asked, key=lambda i: balls.approximate(asked[i][0]))
        groups = [order[k : k + _TOGETHER] for k in range(0, len(order), _TOGETHER)]
        left: list[int] = []
        tried = 0
        while groups:
            group, tried = groups.pop(), tried + 1
            at, level = map(_least, zip(*map(asked.__getitem__, group), strict=True))
            if at.fraction != 0 and self.is_below(at, level):
                continue
            half = len(group) // 2 if tried < _LOOKS else 0
            groups += [group[:half], group[half:]] if half else []
            left += [] if half else group
        return sorted(left)


def _least(numbers: Sequence[Real]) -> Real:
    """About the least of some that are not negative, and at most that; of one that itself."""
    if len(numbers) == 1:
        return numbers[0]
    with balls.precision(_LEAST_BITS):
        least = reduce(arb.min, (balls.ball(x).lower() for x in numbers)).max(arb(0))
        return _at_least(balls.to_enclosure(least)) if least.is_finite() else reals.ZERO


def _at_least(found: Enclosure) -> Real:
    """The lower end, or 0 where that takes more bits than numbers may have."""
    lower = Fraction(found.lower)
    # proposes: a level, since what is below a lower one is below the end too
    return reals.rational(lower) if reals.bits_of(lower) <= reals.MAX_BITS else reals.ZERO


def unproved(epsilon: Real, level: Real) -> bool:
    """No bound that costs little: one point of the second direction may show that it is smaller."""
    return False
