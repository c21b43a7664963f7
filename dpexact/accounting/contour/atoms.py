r"""Laws with atoms, by the contour of two blurs of them.

With :math:`\delta_v` the profile beside a Gaussian of ``mu^2 = v``, for every ``a > 1``

.. math:: \delta_v - \frac{\delta_{av} - \delta_v}{\kappa - 1} \le \delta \le \delta_v, \qquad
          \kappa = \sqrt{a}\,e^{-(a-1)v/8} > 1,

whatever the laws (``docs/theory/atoms.md``). What it leaves open is of the order of ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.contour.inversion import Contour, Terms
from dpexact.accounting.contour.many import digits_of_delta, solved
from dpexact.accounting.contour.planning import Plan, Query, planned
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.blurred import Blurred, Steps
from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import approximate
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Work allowed to one line.
_WORK: Final = 4_000_000
#: By how much the variance of the second blur exceeds that of the first.
_RATIO: Final = 4
#: Digits by which the goal is lowered where floats see that it is out of reach.
_LESS: Final = 2
#: More digits take more heights than a few seconds allow.
_MOST: Final = 10
_SPARE: Final = 4.0
_COARSE_BITS: Final = 96
_ZERO, _ONE = Fraction(0), Fraction(1)


def excess(variance: float) -> arb:
    """``kappa - 1``."""
    v = arb(variance)
    return arb(_RATIO).sqrt() * (-(_RATIO - 1) * v / 8).exp() - 1


class Line(Contour):
    """A line of one blur, whose nodes left out are bounded one by one."""

    def __init__(self, blurred: Blurred, plan: Plan) -> None:
        super().__init__(Product([(blurred, 1)]), plan)
        self._decayed = blurred.left_out(plan.abscissa, plan.step, plan.count, plan.coarse)


class TwoBlurs(Line):
    """A line of the first blur, whose lower bounds allow for what the blur adds."""

    def __init__(self, blurred: Blurred, more: Blurred, plan: Plan) -> None:
        super().__init__(blurred, plan)
        self._more = Line(more, plan)
        self._excess = excess(blurred.variance)
        if not self._excess > 0:
            raise TooExpensive("a blur as large as this says nothing from below")

    def terms(self, epsilons: Sequence[arb], repeat: int = 1) -> list[Terms]:
        assert repeat == 1  # the blur of several is another
        found = []
        for once, again in zip(super().terms(epsilons), self._more.terms(epsilons), strict=True):
            added = ((again.enclosure() - once.enclosure()) / self._excess).upper()
            found.append(once._replace(above=once.above + arb.max(added, arb(0))))
        return found


class BlurredProfile(ContourProfile):
    """The profile of ``steps`` by blurs of ``variance``, and four times as much."""

    method = "contour of atoms"

    def __init__(
        self, steps: Steps, infinite: InfiniteLoss, variance: float, depth: float, work: int
    ) -> None:
        self._steps, self._blurred = steps, Blurred(steps, variance, depth)
        super().__init__([(self._blurred, 1)], infinite, work)

    def line(self, plan: Plan) -> Contour:
        one = self._blurred
        return TwoBlurs(one, Blurred(self._steps, _RATIO * one.variance, one.depth), plan)

    def solved_epsilon(self, delta: Real, digits: int) -> Enclosure:
        """By one line, in as narrow a bracket as the blur allows."""
        log_delta = self.log_delta(delta)
        near = self.product.epsilon(log_delta, 1)
        # proposes: whether to look at 0 first
        if near <= 0:
            return super().solved_epsilon(delta, digits)
        query = Query(near, 1, log_delta)
        wanted = digits_of_delta(self.product, query, digits) + 1
        plan = planned(self.product, [query], wanted, self.max_work)
        with balls.precision(plan.bits):
            line, target = self.line(plan), balls.ball(delta)
            for lost in range(digits):
                (found,) = solved(line, [target], 1, [arb(near)], 10.0 ** (lost - digits))
                if found is not None:
                    return found.labelled(self.method)
        return self.chernoff_epsilon(delta).short("blurs differ")

    def _affordable(self, epsilon: Real, digits: int, best: Enclosure) -> Enclosure:
        """Fewer digits are for a larger blur."""
        return best

    def _bhattacharyya(self, epsilon: Real, digits: int) -> Enclosure:
        """Nothing: a lower bound for the blur is none for what is blurred."""
        return Enclosure(_ZERO, _ONE, self.method)


class AtomsProfile(Profile):
    """The profile of any pairs, each with how often it runs."""

    method = BlurredProfile.method

    def __init__(self, factors: Iterable[tuple[Pair, int]], infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        self._steps = Steps(list(factors))
        self._product = Product(self._steps.factors)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        with balls.precision(_COARSE_BITS + 4 * digits):
            if self._product.never_exceeds(balls.ball(epsilon), 1):
                lost = balls.to_enclosure(1 - self._product.mass(1), "no larger finite loss")
                return lost.within(_ZERO, _ONE)
        near = approximate(epsilon)
        return self._ask(lambda profile, goal: profile.delta(epsilon, goal), lambda: near, digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def near() -> float:
            with balls.precision(_COARSE_BITS):
                finite = balls.ball(delta) - (1 - self._product.mass(1))
                return self._product.epsilon(float(finite.log().mid()), 1)

        return self._ask(lambda profile, goal: profile.epsilon(delta, goal), near, digits)

    def largest_loss(self, digits: int) -> Enclosure:
        return self._product.largest(1, digits, self.method)

    def _ask(
        self,
        ask: Callable[[BlurredProfile, int], Enclosure],
        near: Callable[[], float],
        digits: int,
    ) -> Enclosure:
        """With blurs that leave open no more than the digits, then fewer."""
        best = Enclosure(_ZERO, math.inf, self.method)
        try:
            c = self._product.saddle(near(), 1)[0]
        except (ArithmeticError, ValueError):
            return best.short("the parameters are too extreme to plan with floats")
        goal = min(digits, _MOST)
        while goal > 0:
            # proposes: how much to blur; what that leaves open is enclosed
            variance = 10.0 ** -(goal + 1) / (c * (c + 1))
            depth = (goal + 1) * math.log(10) + _SPARE
            profile = BlurredProfile(self._steps, self.infinite, variance, depth, _WORK)
            best = best.meet(ask(profile, goal))
            # proposes: when to stop
            if best.digits >= goal - _LESS:
                break
            goal -= _LESS
        return best if best.digits >= digits else best.short(best.reason or "blurs differ")
