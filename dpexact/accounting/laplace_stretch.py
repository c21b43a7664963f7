r"""The finite sum of Laplace noise at many points of a stretch: one polynomial for all of them.

With :math:`u = (\varepsilon - c)/2` the ``x`` of every term of the sum is :math:`x_0 - u`, so that
terms whose ``x`` is not negative anywhere on the stretch are one polynomial in ``u`` together, and
a multiple of :math:`e^{-u}` where the last series does not end. Terms that begin within the stretch
are added one by one (:mod:`~dpexact.accounting.laplace`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final

from flint import arb, arb_poly, fmpz

from dpexact import balls
from dpexact.accounting.inverted import ONE, ZERO
from dpexact.accounting.laplace import (
    LaplaceParts,
    LaplaceProduct,
    Route,
    SumPlan,
    coefficients,
    plan_sum,
    points_above,
    remainder,
)
from dpexact.balls import approximate
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: From so many points on they may share polynomials.
_MANY: Final = 8
#: Points that share a polynomial: fewer are not worth one, more lie far apart.
FEWEST: Final = 8
_MOST: Final = 64
#: Bits more than one point asks for.
_SPARE_BITS: Final = 32
#: Terms of all sums of one polynomial, at most.
_MAX_TERMS: Final = 20_000


class Stretch:
    """The sum for ``epsilon`` from ``low`` to ``high``, at the current precision."""

    def __init__(self, parts: LaplaceParts, low: arb, high: arb, plan: SumPlan) -> None:
        steps, terms = parts.count, plan.terms
        self.steps = steps
        self.span = balls.ball(parts.largest)
        self.centre = ((low + high) / 2).mid()
        self.polynomial, self.growth = arb_poly([0]), arb(0)
        #: Series, the part that does not end, weight, and ``x`` at the centre.
        self.others: list[tuple[arb_poly, arb_poly | None, fmpz, arb]] = []
        inverse = [arb(1)]
        # proposes: the number of terms; `remainder` bounds the others
        for i in range(1, terms + 1):
            inverse.append(inverse[-1] / i)
        for j, group in points_above(parts, low).items():
            krawtchouk = coefficients(steps - 2, j - 1, terms)
            series = arb_poly(
                [arb(0), *(c * f for c, f in zip(krawtchouk, inverse[1:], strict=True))]
            )
            # proposes: the number of terms; with all of them the rest is in closed form
            endless = arb_poly(inverse) if j == steps and terms == steps - 1 else None
            for weight, x in group:
                at = x + (low - self.centre) / 2
                if x + (low - high) / 2 >= 0:
                    self._merge(series, endless, weight, at)
                else:
                    self.others.append((series, endless, weight, at))
        self.rest = arb(0)
        # proposes: likewise; with fewer than all the rest is bounded, and grows with x
        if terms < steps - 1:
            self.rest = arb(2) ** steps * remainder(steps, terms, (self.span - low) / 2)

    def _merge(self, series: arb_poly, endless: arb_poly | None, weight: fmpz, at: arb) -> None:
        shifted = arb_poly([at, -1])
        self.polynomial += arb(weight) * series(shifted)
        if endless is not None:
            whole = weight * arb(2) ** (self.steps - 1)
            self.polynomial -= whole * endless(shifted)
            self.growth += whole * at.exp()

    def delta(self, epsilon: arb) -> arb:
        """At a point of the stretch."""
        u = (epsilon - self.centre) / 2
        total = self.polynomial(u) + self.growth * (-u).exp() + self.rest
        for series, endless, weight, at in self.others:
            x = at - u
            # proposes: the place from which x is counted; it is a ball about the true one
            if not x <= 0:
                value = series(x)
                if endless is not None:
                    value += arb(2) ** (self.steps - 1) * (x.exp() - endless(x))
                total += weight * value  # holds 0 if x does
        return ((epsilon - self.span) / 2).exp() * arb(2) ** (1 - self.steps) * total


def shared(parts: LaplaceParts, epsilons: Sequence[Real], digits: int) -> dict[Real, arb]:
    """About the profile at those of many points for which a polynomial is worth it.

    Proposes: who shares one, and its precision; each ball encloses.
    """
    near = {at: approximate(at) for at in epsilons}
    largest = approximate(parts.largest)
    order = sorted((at for at in near if 0 <= near[at] < largest), key=near.__getitem__)
    found: dict[Real, arb] = {}
    for begin in range(0, len(order), _MOST):
        group = order[begin : begin + _MOST]
        if len(group) < FEWEST:
            continue
        first, last = Route(parts, near[group[0]]), Route(parts, near[group[-1]])
        bits = balls.bits_for(digits) + _SPARE_BITS
        plan = plan_sum(first.rates, first.epsilon, last.log_delta - bits * math.log(2), _MAX_TERMS)
        if plan is None:
            continue
        with balls.precision(max(bits, plan.guard + _SPARE_BITS)):
            points = [balls.ball(at) for at in group]
            low = reduce(arb.min, (point.lower() for point in points))
            high = reduce(arb.max, (point.upper() for point in points))
            stretch = Stretch(parts, low, high, plan)
            found |= zip(group, map(stretch.delta, points), strict=True)
    return found


class LaplaceOnStretches(LaplaceProduct):
    """The finite sum, of which many points share polynomials."""

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        found: dict[Real, Enclosure] = {}
        # proposes: whether points are enough for a polynomial
        if len(epsilons) >= _MANY and self.parts.count > 1:
            open_ = [at for at in epsilons if self.only_infinite(at, digits) is None]
            with balls.precision(balls.bits_for(digits)):
                lost = self.infinite.ball()
                for at, value in shared(self.parts, open_, digits).items():
                    whole = lost + (1 - lost) * value
                    if whole.is_finite():
                        found[at] = balls.to_enclosure(whole, self.method).within(ZERO, ONE)
        # proposes: who is asked alone
        found = {at: answer for at, answer in found.items() if answer.digits >= digits}
        return [found[at] if at in found else self.delta(at, digits) for at in epsilons]
