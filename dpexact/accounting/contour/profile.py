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
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real, rational


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

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        trivial = Enclosure(Fraction(0), math.inf, self.method)
        order = self.infinite.compare(delta, digits)
        if order is None:
            raise PrecisionNotReached(
                "delta cannot be told apart from the probability of infinite loss", trivial
            )
        if order > 0 or (order == 0 and not self._is_bounded()):
            return Enclosure.exact(math.inf, self.method)
        if order == 0:
            return balls.certify(self._largest_loss, digits, method=f"{self.method}: largest loss")
        most = deltas.total_variation(self.composition)
        if balls.compare(rational(Fraction(most.upper)), delta, "delta") <= 0:
            return Enclosure.exact(Fraction(0), most.method)
        return _guarded(
            lambda: epsilons.epsilon(self.composition, delta, digits, max_work=self.max_work),
            trivial,
        )

    def epsilons(self, repeats: Sequence[int], delta: Real, digits: int) -> list[Enclosure]:
        if delta.fraction == 0 or self.infinite.masses:  # the edge cases of each number differ
            return [self._repeated(repeat, delta, digits) for repeat in repeats]
        try:
            with np.errstate(all="ignore"):
                found = epsilons.epsilon_curve(
                    self.composition, repeats, delta, digits, max_work=self.max_work
                )
        except (ArithmeticError, ValueError):  # some number of repetitions cannot be planned
            return [self._repeated(repeat, delta, digits) for repeat in repeats]
        return [e.best if isinstance(e, PrecisionNotReached) else e for e in found]

    def _repeated(self, repeat: int, delta: Real, digits: int) -> Enclosure:
        composition = tuple((step, n * repeat) for step, n in self.composition)
        infinite = InfiniteLoss(tuple((mass, n * repeat) for mass, n in self.infinite.masses))
        try:
            return ContourProfile(composition, infinite, self.max_work).epsilon(delta, digits)
        except PrecisionNotReached as error:
            return error.best

    def _is_bounded(self) -> bool:
        return all(step.largest_loss() is not None for step, _ in self.composition)

    def _largest_loss(self) -> arb:
        total = largest_loss(self.composition, 1)
        assert total is not None
        return total


def _guarded(ask: Callable[[], Enclosure], trivial: Enclosure) -> Enclosure:
    """``ask()``; where the float planning cannot handle the parameters, ``trivial`` is left."""
    try:
        with np.errstate(all="ignore"):  # infinities and NaN in float planning are handled there
            return ask()
    except PrecisionNotReached as error:
        if trivial.upper >= error.best.upper:
            raise
        best = error.best.clamped(trivial.lower, trivial.upper).labelled(trivial.method)
        raise PrecisionNotReached(str(error), best) from None
    except TooExpensive as error:
        raise PrecisionNotReached(f"no contour was found: {error}", trivial) from None
    except (ArithmeticError, ValueError):
        raise PrecisionNotReached(
            "no contour was found: the parameters are too extreme to plan with floats", trivial
        ) from None
