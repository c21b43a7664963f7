"""What every accounting method offers: the privacy profile of one dominating pair."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from flint import arb, fmpq

from dpexact import balls, reals
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real

#: An exact power ``(1 - delta)^k`` is written out as a ``Fraction`` up to this many bits.
EXACT_BITS: Final = 65_536
#: Digits with which the second direction is first tried: often it is plainly the smaller.
_GLANCE: Final = 3


@dataclass(frozen=True, slots=True)
class InfiniteLoss:
    """The mass of infinite privacy loss, ``1 - prod (1 - delta_i)^(k_i)``.

    ``masses`` holds the pairs ``(delta_i, k_i)``.
    """

    masses: tuple[tuple[Real, int], ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether the mass is 1: some mechanism reveals everything."""
        return any(delta.fraction == 1 for delta, _ in self.masses)

    @property
    def fraction(self) -> Fraction | None:
        """The exact mass when rational and small enough to write out."""
        if self.is_certain:
            return Fraction(1)
        survival = fmpq(1)
        bits = 0
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
        exact = self.fraction
        if exact is not None:
            return reals.rational(exact)
        one, survival = reals.rational(1), reals.rational(1)
        for delta, count in self.masses:
            kept = reals.add(one, reals.negate(delta))
            survival = reals.multiply(survival, reals.power(kept, reals.rational(count)))
        return reals.add(one, reals.negate(survival))

    def ball(self) -> arb:
        """The mass as a ball at the current precision, without cancellation for small masses."""
        if self.is_certain:
            return arb(1)
        log_survival = arb(0)
        for delta, count in self.masses:
            log_survival += count * (-balls.ball(delta)).log1p()
        return -log_survival.expm1()

    def compare(self, target: Real, digits: int) -> int | None:
        """-1, 0, 1 as the mass is below, equal to or above ``target``; None if undecided."""
        exact = self.fraction
        if exact is not None and target.fraction is not None:
            return (exact > target.fraction) - (exact < target.fraction)
        bits = balls.bits_for(digits)
        for scale in (1, 4, 16):
            with balls.precision(bits * scale):
                difference = self.ball() - balls.ball(target)
                if difference > 0:
                    return 1
                if difference < 0:
                    return -1
        return None


class Profile(ABC):
    """The privacy profile ``delta(eps) = E_P[(1 - e^(eps - Z))_+] + P(Z = inf)`` of a pair.

    ``method`` names the accounting method; ``infinite`` is the mass of infinite loss.
    """

    method: str
    infinite: InfiniteLoss

    @abstractmethod
    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Enclose ``delta(epsilon)`` to ``digits`` digits, for ``epsilon >= 0``."""

    @abstractmethod
    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        """Enclose the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""


class Repeatable(ABC):
    """A profile whose repetitions share work."""

    @abstractmethod
    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        """``epsilon(delta)`` after each number of repetitions; wider where digits are missing."""


class NoLoss(Profile):
    """The profile of ``P = Q`` apart from infinite loss: ``delta(eps)`` is constant."""

    method = "closed form: no finite loss"

    def __init__(self, infinite: InfiniteLoss) -> None:
        self.infinite = infinite

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        exact = self.infinite.fraction
        if exact is not None:
            return Enclosure.exact(exact, self.method)
        return balls.certify(self.infinite.ball, digits, highest=Fraction(1), method=self.method)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        order = self.infinite.compare(delta, digits)
        if order is None:
            raise PrecisionNotReached(
                "delta cannot be told apart from the probability of infinite loss",
                Enclosure(Fraction(0), math.inf, self.method),
            )
        return Enclosure.exact(math.inf if order > 0 else Fraction(0), self.method)


class WorseDirection(Profile):
    """The larger of the profiles of the two directions, ``remove`` and ``add``."""

    def __init__(self, remove: Profile, add: Profile) -> None:
        self.remove = remove
        self.add = add
        self.infinite: InfiniteLoss = remove.infinite
        self.method: str = remove.method

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self._larger(lambda profile, d: profile.delta(epsilon, d), digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._larger(lambda profile, d: profile.epsilon(delta, d), digits)

    def _larger(self, ask: Callable[[Profile, int], Enclosure], digits: int) -> Enclosure:
        first = _best(lambda: ask(self.remove, digits))
        second = _best(lambda: ask(self.add, min(digits, _GLANCE)))
        asked = 0
        while not second.at_most(first):
            # beside a wide first, more digits of the second would be lost
            needed = digits if first.at_most(second) else min(digits, first.digits)
            if second.digits >= needed or needed <= asked:
                break
            asked = needed
            second = _best(partial(ask, self.add, needed))
        found = first.larger(second)
        if found.digits < digits:
            raise PrecisionNotReached(f"{digits} digits were not reached: it is in {found}", found)
        return found


class WorseCurve(Repeatable):
    """The larger of the two directions of profiles whose repetitions share work."""

    def __init__(self, remove: Repeatable, add: Repeatable) -> None:
        self.remove = remove
        self.add = add

    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        first = self.remove.epsilons(repeats, delta, digits)
        second = self.add.epsilons(repeats, delta, min(digits, _GLANCE))
        close = [t for t, a, b in zip(repeats, first, second, strict=True) if not b.at_most(a)]
        finer = dict(zip(close, self.add.epsilons(close, delta, digits), strict=True))
        others = (finer.get(t, b) for t, b in zip(repeats, second, strict=True))
        return [a.larger(b) for a, b in zip(first, others, strict=True)]


def _best(ask: Callable[[], Enclosure]) -> Enclosure:
    try:
        return ask()
    except PrecisionNotReached as error:
        return error.best
