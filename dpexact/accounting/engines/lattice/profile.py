"""The lattice engine as a privacy profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpexact.accounting.composition import Composition, Sample
from dpexact.accounting.engines.lattice import engine
from dpexact.accounting.engines.lattice.nested import NestedStep
from dpexact.accounting.engines.lattice.steps import PLAIN, PairStep, Sampling, Step
from dpexact.accounting.inverted import enclose_largest
from dpexact.accounting.pairs.finite import Finite, sampled
from dpexact.accounting.pairs.pair import added
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import ball, certify, precision, to_enclosure
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real, rational
from dpexact.ternary import Ternary

_ZERO: Final = Fraction(0)
_BISECTIONS: Final = 60
#: Digits of delta that decide about one more digit of epsilon.
_MORE_DIGITS: Final = 2
_LARGEST: Final = 4096
_SMALLEST: Final = Fraction(1, 1 << 200)
_COARSE_PASSES: Final = 24
#: The share of the work for a first look at ``epsilon = 0``.
_GLANCE: Final = 32
_PLANNING_BITS: Final = 256


class LatticeProfile(Profile):
    """Profile of any composition of steps on the lattice."""

    method = engine.METHOD

    def __init__(
        self, steps: Sequence[Step], infinite: InfiniteLoss, work: int = engine.WORK
    ) -> None:
        self.steps: tuple[Step, ...] = tuple(steps)
        self.infinite = infinite
        self.work = work
        self._laws: engine.Composed | None = None

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        trivial = Enclosure(_ZERO, Fraction(1), self.method)
        return _guarded(lambda: self._solved(epsilon, digits), trivial)

    def _solved(self, epsilon: Real, digits: int) -> Enclosure:
        """By the laws of the last question where they are fine enough here."""
        if self._laws is not None:
            found = self._laws.enclose(epsilon)
            if found.digits >= digits:
                return found
        found, self._laws = engine.solve(self.steps, epsilon, digits, self.work)
        return found

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        trivial = Enclosure(_ZERO, self._largest(), self.method)
        return _guarded(lambda: self._searched(delta, digits), trivial)

    def largest_loss(self, digits: int) -> Enclosure:
        if any(step.largest() is None for step in self.steps):
            return Enclosure.exact(math.inf, self.method)
        if self._supremum() is not None:
            return enclose_largest(self._supremum, digits, f"{self.method}: largest loss")
        highest = self._largest()
        lost = Fraction(self.infinite.enclose(2 * digits, self.method).upper)
        above = rational(min(lost + Fraction(1, 10 ** (2 * digits)), Fraction(1)))
        reason = "the lattice bounds the largest loss"
        return Enclosure.bracket(self._epsilon(above, digits).lower, highest, self.method, reason)

    def _searched(self, delta: Real, digits: int) -> Enclosure:
        highest = self._largest()
        target = certify(lambda: ball(delta), 2 * digits + 20, lowest=_ZERO, highest=Fraction(1))
        start, _ = engine.solve(self.steps, rational(0), 3, self.work // _GLANCE)
        if start.at_most(target) is Ternary.HOLDS:
            return Enclosure.exact(_ZERO, self.method)
        near = self._near(target, Fraction(min(Fraction(1), highest / 2)))
        _, laws = engine.solve(self.steps, rational(near), digits + _MORE_DIGITS, self.work)
        found = Enclosure(_ZERO, highest, self.method, "no lattice was fine enough")
        return found if laws is None else found.meet(self._between(laws, target, near, digits + 1))

    def _supremum(self) -> arb | None:
        """The supremum of the losses of the composition, where it is known."""
        return added((step.supremum(), step.count) for step in self.steps)

    def _largest(self) -> Bound:
        """A bound of the finite losses, at least 0; infinite if there is none."""
        with precision(_PLANNING_BITS):
            total = added((step.largest(), step.count) for step in self.steps)
            if total is None or not total.is_finite():
                return math.inf
            return max(to_enclosure(total).upper, _ZERO)

    def _near(self, target: Enclosure, start: Fraction) -> Fraction:
        """About epsilon, from coarse passes around ever better guesses."""
        near, highest, share = start, Fraction(_LARGEST), 32
        for _ in range(_COARSE_PASSES):
            _, laws = engine.solve(self.steps, rational(near), 1, self.work // share)
            if laws is None:
                return near
            found = self._between(laws, target, near, 4)
            low, high = Fraction(found.lower), Fraction(min(found.upper, highest))
            before, near = near, low or min(high, near) / 4
            if high == 0 or (low > 0 and before < 2 * low < 4 * before):
                return near
            if 2 * high > highest:  # no progress: a finer pass where the last one was
                if share == 4:
                    return near
                near, share = before, 4
            highest = high
        return near

    def _between(
        self, laws: engine.Composed, target: Enclosure, start: Fraction, digits: int
    ) -> Enclosure:
        """Where the two laws cross the target: certified on both sides of the truth."""
        low = _crossing(lambda e: laws.enclose(rational(e)).lower > target.upper, start, digits)
        high = _crossing(lambda e: laws.enclose(rational(e)).upper > target.lower, start, digits)
        lowest = _ZERO if low is None else low[0]
        highest = math.inf if high is None else high[1]
        return Enclosure.bracket(lowest, highest, self.method, "the two laws of the lattice differ")


def _guarded(ask: Callable[[], Enclosure], trivial: Enclosure) -> Enclosure:
    """``ask()``; where the float planning cannot handle the parameters, ``trivial`` is left."""
    try:
        with np.errstate(all="ignore"):
            return ask()
    except (ArithmeticError, ValueError):
        return trivial.short("the parameters are too extreme to plan a lattice with floats")


def _crossing(
    is_above: Callable[[Fraction], bool], start: Fraction, digits: int
) -> tuple[Fraction, Fraction] | None:
    """``(low, high)`` with ``is_above(low)`` (or both 0) and not ``is_above(high)``.

    None if it stays above up to the largest epsilon tried.
    """
    if not is_above(_ZERO):
        return _ZERO, _ZERO
    low, high = _ZERO, max(start, _SMALLEST)
    while is_above(high):
        low, high = high, 2 * high
        # proposes: when to give up, and then nothing is claimed
        if high > _LARGEST:
            return None
    for _ in range(_BISECTIONS):
        middle = Fraction(float((low + high) / 2))
        # proposes: points and when to stop; on which side both ends lie was asked there
        if not low < middle < high or (high - low) * 10**digits < low:
            break
        low, high = (middle, high) if is_above(middle) else (low, middle)
    return low, high


#: Work allowed: some seconds a direction.
WORK: Final = 12_000_000


def lattice_profile(composition: Composition, add: bool, work: int = WORK) -> LatticeProfile:
    """The profile of the composition in one direction.

    Raises:
        UnsupportedMechanism: nothing loses anything.
    """
    steps = steps_of(composition, add)
    if not steps:
        raise UnsupportedMechanism("the lattice engine needs a step that loses privacy")
    return LatticeProfile(steps, composition.infinite(add), work)


def steps_of(composition: Composition, add: bool) -> list[Step]:
    """The steps of a composition in one direction.

    Raises:
        UnsupportedMechanism: of a pair only the moments are known.
    """
    if not composition.has_tails:
        raise UnsupportedMechanism("only the contour engine accounts for allocation")
    steps: list[Step] = [PairStep(pair, count) for pair, count in composition.pairs()]
    return steps + [_sampled(sample, add, count) for sample, count in composition.samples]


def _sampled(sample: Sample, add: bool, count: int) -> Step:
    """One step on a sample: directly where its law is at hand, else by its own lattice."""
    sampling = Sampling(sample.q, add)
    steps = steps_of(sample.inner, add=False)
    match steps:
        case [PairStep(pair, 1)] if pair.outcomes():
            atoms = sampled(pair.outcomes(), sample.q, "add" if add else "remove")
            return PairStep(Finite(tuple(atoms)), count)
        case [PairStep(pair, 1, sampling=given)] if given == PLAIN:
            return PairStep(pair, count, sampling)
    return NestedStep(tuple(steps), sampling, count)
