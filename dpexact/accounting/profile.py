"""What every accounting method offers: the privacy profile of one dominating pair.

And profiles made of profiles: the worse direction, the first method to reach, what lies between.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final

from flint import arb, fmpq

from dpexact import balls, reals
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real
from dpexact.ternary import Order

#: An exact power ``(1 - delta)^k`` is written out as a ``Fraction`` up to this many bits.
EXACT_BITS: Final = 65_536
#: Digits with which the second direction is first tried: often it is plainly the smaller.
GLANCE: Final = 3
#: With this many certified digits a method is on its way: more work for it, or none for others.
ENOUGH: Final = 3
#: Of numbers below this, about 1e-150, little work is done for digits: no claim speaks of them.
FAINT: Final = Fraction(1, 1 << 500)


@dataclass(frozen=True)
class InfiniteLoss:
    """The mass of infinite loss, ``1 - prod (1 - delta_i)^(k_i)``, of pairs ``(delta_i, k_i)``."""

    masses: tuple[tuple[Real, int], ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether the mass is 1: some mechanism reveals everything."""
        return any(delta.fraction == 1 for delta, _ in self.masses)

    @cached_property
    def fraction(self) -> Fraction | None:
        """The exact mass when rational and small enough to write out."""
        if self.is_certain:
            return Fraction(1)
        survival, bits = fmpq(1), 0
        for delta, count in self.masses:
            if delta.fraction is None:
                return None
            bits += delta.fraction.denominator.bit_length() * count
            if bits > EXACT_BITS:
                return None
            kept = 1 - delta.fraction
            survival *= fmpq(kept.numerator, kept.denominator) ** count
        return Fraction(int((1 - survival).p), int((1 - survival).q))

    @property
    def mass(self) -> Real:
        """The mass as an expression."""
        if (exact := self.fraction) is not None:
            return reals.rational(exact)
        log_survival = reals.rational(0)
        for delta, count in self.masses:
            log_survival += count * reals.logarithm(1 - delta)
        return 1 - reals.exponential(log_survival)

    def ball(self) -> arb:
        """The mass as a ball at the current precision, without cancellation for small masses."""
        if self.is_certain:
            return arb(1)
        log_survival = arb(0)
        for delta, count in self.masses:
            log_survival += count * (-balls.ball(delta)).log1p()
        return -log_survival.expm1()

    def enclose(self, digits: int, method: str) -> Enclosure:
        """The mass to ``digits`` digits, or exactly."""
        if (exact := self.fraction) is not None:
            return Enclosure.exact(exact, method)
        return balls.certify(
            self.ball, digits, lowest=Fraction(0), highest=Fraction(1), method=method
        )

    def order(self, target: Real, digits: int) -> Order:
        """How the mass stands to ``target``."""
        if (exact := self.fraction) is not None and target.fraction is not None:
            return Order((exact > target.fraction) - (exact < target.fraction))
        if [(target, 1)] == list(self.masses):
            return Order.EQUAL
        bits = balls.bits_for(digits)
        for scale in (1, 4, 16, 64):
            with balls.precision(bits * scale):
                difference = self.ball() - balls.ball(target)
                if difference > 0:
                    return Order.ABOVE
                if difference < 0:
                    return Order.BELOW
        return Order.UNDECIDED

    def near(self, target: Real) -> Fraction:
        """About the mass, with the digits in which it differs from a larger ``target``.

        Proposes: where a search steers, and with how many digits it asks.
        """
        bits = 128
        while self.masses and bits <= balls.CAP_EXTRA * balls.CAP_FACTOR:
            with balls.precision(bits):
                mass = self.ball()
                if (balls.ball(target) - mass).rel_accuracy_bits() > 32:
                    return balls.midpoint(mass)
            bits *= 4
        return Fraction(0)


class Profile(ABC):
    """The privacy profile ``delta(eps) = E_P[(1 - e^(eps - Z))_+] + P(Z = inf)`` of a pair.

    ``method`` names the accounting method; ``infinite`` is the mass of infinite loss; ``sharp``
    says whether more work gives more digits, which is not so between the bounds of two theorems;
    ``shares`` whether many points take much less work than one by one, ``fewest_shared`` how many
    are sooner asked of what shares work than of this one, ``most_digits`` how many it mostly has.
    An answer may be wider than asked, and then gives its ``reason``, but never wrong.
    """

    method: str
    infinite: InfiniteLoss
    sharp: bool = True
    shares: bool = False
    fewest_shared: int = 8
    most_digits: float = math.inf

    @abstractmethod
    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Enclose ``delta(epsilon)`` to ``digits`` digits, for ``epsilon >= 0``."""

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """:meth:`delta` at each of many points, which may share work."""
        return [self.delta(epsilon, digits) for epsilon in epsilons]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """:meth:`epsilon` at each of many targets, which may share work."""
        return [self.epsilon(delta, digits) for delta in deltas]

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        """Enclose the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``.

        Infinite below the mass of infinite loss; at that mass the largest finite loss.
        """
        match self.infinite.order(delta, digits):
            case Order.ABOVE:
                return Enclosure.exact(math.inf, self.method)
            case Order.EQUAL:
                return self.largest_loss(digits)
            case Order.BELOW:
                return self._epsilon(delta, digits)
        reason = "delta cannot be told apart from the probability of infinite loss"
        return Enclosure(self._at_least(delta, digits), math.inf, self.method, reason)

    def _at_least(self, delta: Real, digits: int) -> Fraction:
        """A lower bound of ``epsilon(delta)``: ``epsilon`` of a target that is a little larger."""
        above = balls.certify(lambda: balls.ball(delta), digits, highest=Fraction(1)).upper
        larger = reals.rational(min(Fraction(above) + Fraction(1, 10**digits), Fraction(1)))
        if self.infinite.order(larger, digits) is not Order.BELOW:
            return Fraction(0)
        return Fraction(self._epsilon(larger, digits).lower)

    @abstractmethod
    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        """:meth:`epsilon` of a ``delta`` that is certainly above the mass of infinite loss."""

    def largest_loss(self, digits: int) -> Enclosure:
        """Enclose the supremum of the finite losses, at least 0; infinite unless overridden."""
        return Enclosure.exact(math.inf, self.method)


class NoLoss(Profile):
    """The profile of ``P = Q`` apart from infinite loss: ``delta(eps)`` is constant."""

    method = "closed form: no finite loss"

    def __init__(self, infinite: InfiniteLoss) -> None:
        self.infinite = infinite

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.infinite.enclose(digits, self.method)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return Enclosure.exact(Fraction(0), self.method)

    def largest_loss(self, digits: int) -> Enclosure:
        return Enclosure.exact(Fraction(0), self.method)


# --- profiles made of profiles --------------------------------------------------------------------

_Ask = Callable[[Profile, Sequence[Real], int], list[Enclosure]]


class _Combined(Profile):
    """Answers both questions, at one point as at many, by one way of asking other profiles."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.deltas([epsilon], digits)[0]

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self.epsilons([delta], digits)[0]

    _epsilon = epsilon

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        return self._ask(lambda profile, at, n: profile.deltas(at, n), epsilons, digits)

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        return self._ask(lambda profile, at, n: profile.epsilons(at, n), deltas, digits)

    def largest_loss(self, digits: int) -> Enclosure:
        return self.epsilon(self.infinite.mass, digits)

    @abstractmethod
    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        """The answers to a question at points, given how one asks another profile."""


class WorseDirection(_Combined):
    """The larger of the profiles of the two directions, ``remove`` and ``add``."""

    def __init__(self, remove: Profile, add: Profile) -> None:
        self.remove = remove
        self.add = add
        less = remove.infinite.order(add.infinite.mass, ENOUGH) is Order.BELOW
        self.infinite: InfiniteLoss = add.infinite if less else remove.infinite
        self.method: str = remove.method

    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        first = ask(self.remove, points, digits)
        return self._worse(ask, points, digits, first, range(len(points)))

    def _worse(
        self,
        ask: _Ask,
        points: Sequence[Real],
        digits: int,
        first: Sequence[Enclosure],
        places: Iterable[int],
    ) -> list[Enclosure]:
        """First with few digits the second direction, then with more where it may be the larger."""
        second: dict[int, Enclosure] = {}
        finite = (i for i in places if first[i].lower != math.inf)
        asked = dict.fromkeys(finite, min(digits, GLANCE))
        while asked:
            for needed in set(asked.values()):
                places = [i for i in asked if asked[i] == needed]
                answers = ask(self.add, [points[i] for i in places], needed)
                second.update(zip(places, answers, strict=True))
            following = {i: _needed(first[i], second[i], digits) for i in asked}
            asked = {i: more for i, more in following.items() if more > asked[i]}
        return [a.larger(second[i]) if i in second else a for i, a in enumerate(first)]


def in_direction(direction: Direction, of: Callable[[Direction], Profile]) -> Profile:
    """The profile of a direction; of both, the larger."""
    return of(direction) if direction != "both" else WorseDirection(of("remove"), of("add"))


def _needed(first: Enclosure, second: Enclosure, digits: int) -> int:
    """The digits of the second direction that the larger of both asks for; 0 where it has them."""
    # beside a wide first, more digits of the second would be lost
    needed = min(digits, first.digits) if first.upper > second.lower else digits
    return needed if second.upper > first.lower and second.digits < needed else 0


class FirstToReach(_Combined):
    """The profile of one pair by the first of several methods that gives the digits asked for.

    When none does, the answer is the intersection of theirs. Of many points those that share work
    are asked first, and those last whose digits are fewer.
    """

    def __init__(self, first: Profile, *others: Profile) -> None:
        self.routes: Sequence[Profile] = (first, *others)
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        many = len(points) >= self.routes[0].fewest_shared
        # proposes: who is asked first
        first, *rest = sorted(self.routes, key=lambda x: (digits > x.most_digits, many > x.shares))
        best = ask(first, points, digits)
        for route in rest:
            short = [i for i, a in enumerate(best) if a.digits < digits]
            best = _met(best, short, ask, route, points, digits)
        return best


class TighterBound(_Combined):
    """The smaller of two upper bounds."""

    def __init__(self, first: Profile, second: Profile) -> None:
        self.bounds = (first, second)
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        answers = (ask(bound, points, digits) for bound in self.bounds)
        return [self.tighter(*pair) for pair in zip(*answers, strict=True)]

    @staticmethod
    def tighter(one: Enclosure, other: Enclosure) -> Enclosure:
        least = one if one.upper <= other.upper else other
        return replace(least, lower=min(one.lower, other.lower))


class Fallback(_Combined):
    """``first``, and ``second`` (made when needed) where the first has no answer or a wide one.

    ``thorough`` is the first method with more work allowed: for it a few digits must be in sight.
    Of what is below ``least`` the second is not asked.
    """

    def __init__(
        self,
        first: Profile,
        second: Callable[[], Profile],
        thorough: Profile | None = None,
        least: Fraction = balls.TINY,
    ) -> None:
        self.first = first
        self.second: Callable[[], Profile] = cache(second)
        self.thorough, self.least = thorough, least
        self.infinite: InfiniteLoss = first.infinite
        self.method: str = first.method

    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        try:
            found = ask(self.first, points, digits)
        except UnsupportedMechanism:
            if len(points) == 1:
                return ask(self.second(), points, digits)
            known: dict[Real, Enclosure] = {}
            for at in points:
                with suppress(UnsupportedMechanism):
                    known[at] = ask(self.first, [at], digits)[0]
            rest = [at for at in points if at not in known]
            if rest:
                known |= dict(zip(rest, ask(self.second(), rest, digits), strict=True))
            found = [known[at] for at in points]
        few = min(digits, ENOUGH)
        if self.thorough is not None:
            begun = [i for i, a in enumerate(found) if few <= a.digits < digits]
            found = _met(found, begun, ask, self.thorough, points, digits)
        # proposes: where more work is worth it
        lost = [i for i, a in enumerate(found) if a.digits < few and a.upper > self.least]
        with suppress(UnsupportedMechanism):
            return _met(found, lost, ask, self.second(), points, digits) if lost else found
        return found


def _met(
    found: list[Enclosure],
    places: Sequence[int],
    ask: _Ask,
    profile: Profile,
    points: Sequence[Real],
    digits: int,
) -> list[Enclosure]:
    """``found``, at some places met by what ``profile`` answers at the points there."""
    more = ask(profile, [points[i] for i in places], digits) if places else []
    others = dict(zip(places, more, strict=True))
    return [a.meet(others[i]) if i in others else a for i, a in enumerate(found)]


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

    def _ask(self, ask: _Ask, points: Sequence[Real], digits: int) -> list[Enclosure]:
        low, high = self._digits or (digits + 1, digits + 1)
        pairs = zip(ask(self.below, points, low), ask(self.above, points, high), strict=True)
        found = [below.between(above, self.method) for below, above in pairs]
        return [a.short(a.reason or "the bounds below and above differ") for a in found]
