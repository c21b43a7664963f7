"""The contour engine as a privacy profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.contour import deltas, epsilons
from dpexact.accounting.contour.inversion import largest_loss
from dpexact.accounting.contour.numbers import TooExpensive
from dpexact.accounting.contour.planning import Composition
from dpexact.accounting.profile import InfiniteLoss, Profile, Repeatable
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational
from dpexact.ternary import Order


class ContourProfile(Profile, Repeatable):
    """Profile of any composition that holds at least one step with decaying moments."""

    method = deltas.METHOD

    def __init__(
        self, composition: Composition, infinite: InfiniteLoss, max_work: int = deltas.MAX_WORK
    ) -> None:
        self.composition = composition
        self.infinite = infinite
        self.max_work = max_work

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return _guarded(
            lambda: deltas.delta(self.composition, epsilon, digits, max_work=self.max_work),
            deltas.total_variation(self.composition),
        )

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        most = deltas.total_variation(self.composition)
        if balls.order(rational(Fraction(most.upper)), delta) in (Order.BELOW, Order.EQUAL):
            return Enclosure.exact(Fraction(0), most.method)
        return _guarded(
            lambda: epsilons.epsilon(self.composition, delta, digits, max_work=self.max_work),
            Enclosure(Fraction(0), math.inf, self.method),
        )

    def largest_loss(self, digits: int) -> Enclosure:
        if any(step.largest_loss() is None for step, _ in self.composition):
            return Enclosure.exact(math.inf, self.method)
        method = f"{self.method}: largest loss"
        return balls.certify(self._largest_loss, digits, lowest=Fraction(0), method=method)

    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        if delta.fraction == 0 or self.infinite.masses:  # the edge cases of each number differ
            return [self._repeated(repeat, delta, digits) for repeat in repeats]
        try:
            with np.errstate(all="ignore"):
                return epsilons.epsilon_curve(
                    self.composition, repeats, delta, digits, max_work=self.max_work
                )
        except (ArithmeticError, ValueError):  # some number of repetitions cannot be planned
            return [self._repeated(repeat, delta, digits) for repeat in repeats]

    def _repeated(self, repeat: int, delta: Real, digits: int) -> Enclosure:
        composition = tuple((step, n * repeat) for step, n in self.composition)
        infinite = InfiniteLoss(tuple((mass, n * repeat) for mass, n in self.infinite.masses))
        return ContourProfile(composition, infinite, self.max_work).epsilon(delta, digits)

    def _largest_loss(self) -> arb:
        total = largest_loss(self.composition, 1)
        assert total is not None
        return total.max(arb(0))


def _guarded(ask: Callable[[], Enclosure], trivial: Enclosure) -> Enclosure:
    """``ask()`` within ``trivial``: all that is left of parameters that cannot be planned with."""
    try:
        with np.errstate(all="ignore"):  # infinities and NaN in float planning are handled there
            return trivial.meet(ask())
    except TooExpensive as error:
        return trivial.short(f"no contour was found: {error}")
    except (ArithmeticError, ValueError):
        reason = "no contour was found: the parameters are too extreme to plan with floats"
        return trivial.short(reason)
