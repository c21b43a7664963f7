"""The profile of Laplace mechanisms of any scales, by finite sums that neighbours share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.engines.laplace.sums import (
    TOO_LONG,
    FiniteSum,
    LaplaceParts,
    Route,
    moments,
)
from dpexact.accounting.inverted import ONE, ZERO, BallProfile
from dpexact.accounting.pairs.pair import reached
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Points that share a polynomial: fewer are not worth one, more lie far apart.
FEWEST: Final = 8
_MOST: Final = 64
#: Bits more than one point asks for, and most terms of all sums of one polynomial.
_SPARE_BITS: Final = 32
_MAX_SHARED: Final = 20_000


class LaplaceProduct(BallProfile):
    """Profile of a product of Laplace mechanisms by the finite sum, with any infinite loss."""

    method = "closed form: Laplace"

    def __init__(self, parts: LaplaceParts, infinite: InfiniteLoss) -> None:
        self.parts = parts
        self.infinite = infinite
        self.largest: Real = parts.largest

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        if self.parts.count == 1:
            return super().delta(epsilon, digits)
        wanted = balls.bits_for(digits)
        below = balls.approximate(self.largest - epsilon)
        bits = Route(self.parts, below).reachable(wanted)
        # proposes: the precision; the sum encloses at any
        if bits == wanted or self.only_infinite(epsilon, digits) is not None:
            return super().delta(epsilon, digits)
        if bits == 0:
            return Enclosure(ZERO, ONE, self.method, TOO_LONG)
        with balls.precision(bits):
            best = balls.to_enclosure(self.delta_ball(balls.ball(epsilon)), self.method)
        return best.within(ZERO, ONE).short(TOO_LONG)

    def finite_ball(self, epsilon: arb) -> arb:
        """At any real ball; not finite where the sum is too long."""
        if epsilon < 0:  # the pair is symmetric
            return -epsilon.expm1() + epsilon.exp() * self.finite_ball(-epsilon)
        below = balls.ball(self.largest) - epsilon
        if below <= 0:
            return arb(0)
        if self.parts.count == 1:
            return -(-below.max(arb(0)) / 2).expm1()
        return Route(self.parts, float(below.mid())).delta(epsilon)

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """Of many points some share polynomials."""
        found: dict[Real, Enclosure] = {}
        # proposes: whether points are enough for a polynomial
        if len(epsilons) >= FEWEST and self.parts.count > 1:
            open_ = [at for at in epsilons if self.only_infinite(at, digits) is None]
            with balls.precision(balls.bits_for(digits)):
                lost = self.infinite.ball()
                for at, value in shared(self.parts, open_, digits).items():
                    whole = lost + (1 - lost) * value
                    if whole.is_finite():
                        found[at] = balls.to_enclosure(whole, self.method).within(ZERO, ONE)
        # proposes: who is asked alone
        found = {at: answer for at, answer in found.items() if answer.digits >= digits}
        rest = [at for at in epsilons if at not in found]
        found |= zip(rest, super().deltas(rest, digits), strict=True)
        return [found[at] for at in epsilons]

    def values(self, places: Sequence[arb], digits: int, least: Real) -> list[arb]:
        points = [reals.rational(balls.midpoint(x)) for x in places]
        with balls.precision(balls.bits_for(digits)):
            found, lost = shared(self.parts, points, digits), self.infinite.ball()
            return [
                lost + (1 - lost) * found[at] if at in found else reached(self.delta_ball, x)
                for at, x in zip(points, places, strict=True)
            ]

    @property
    def is_smooth(self) -> bool:
        return self.parts.count > 1

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        r"""Of one step in closed form: ``delta_0`` is :math:`1 - e^{(\varepsilon - \lambda)/2}`."""
        if self.parts.count > 1:
            return super()._epsilon(delta, digits)
        found = balls.certify(lambda: self._once(delta), digits, lowest=ZERO, method=self.method)
        return found if found.digits else super()._epsilon(delta, digits)

    def _once(self, delta: Real) -> arb:
        lost = self.infinite.ball()
        share = (balls.ball(delta) - lost) / (1 - lost)
        return (balls.ball(self.largest) + 2 * (-share).log1p()).max(arb(0))

    def near(self, delta: Real) -> Fraction:
        found = 0.0
        with suppress(ArithmeticError, ValueError):  # of rates that floats do not tell apart
            found = moments(self.parts).epsilon(balls.approximate_log(delta), 1)
        # proposes: where the search starts
        return Fraction(found) if 0 < found < math.inf else ONE


def shared(parts: LaplaceParts, epsilons: Sequence[Real], digits: int) -> dict[Real, arb]:
    """About the profile at those of many points for which a polynomial is worth it.

    Proposes: who shares one, and its precision; each ball encloses.
    """
    near = {at: balls.approximate(at) for at in epsilons}
    largest = balls.approximate(parts.largest)
    order = sorted((at for at in near if 0 <= near[at] < largest), key=near.__getitem__)
    found: dict[Real, arb] = {}
    for begin in range(0, len(order), _MOST):
        group = order[begin : begin + _MOST]
        if len(group) < FEWEST:
            continue
        first, last = (Route(parts, largest - near[end]) for end in (group[0], group[-1]))
        bits = balls.bits_for(digits) + _SPARE_BITS
        log_error = last.log_delta - bits * math.log(2)
        plan = first.cut(log_error, _MAX_SHARED)
        if plan is None:
            continue
        with balls.precision(max(bits, plan.guard + _SPARE_BITS)):
            points = [balls.ball(at) for at in group]
            low = reduce(arb.min, (point.lower() for point in points))
            high = reduce(arb.max, (point.upper() for point in points))
            stretch = FiniteSum(parts, low, high, plan)
            found |= zip(group, map(stretch.at, points), strict=True)
    return found
