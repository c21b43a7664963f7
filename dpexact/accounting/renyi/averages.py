r"""Means under ``Q`` of a function of ``x = dP/dQ``, certified: nothing random, and two noises.

``factor`` multiplies ``x`` throughout: the outcome of whatever runs beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import MAX_ATOMS
from dpexact.accounting.renyi.excess import Excess
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

Average: TypeAlias = Callable[[Excess, arb], arb]
"""``E_Q[f(factor x)]`` from ``f`` and the factor, at the current precision."""

#: Most evaluations of an integrand; beyond them the integral is left wide.
MAX_EVALUATIONS: Final = 5_000
#: Bits that a quadrature leaves to rounding.
_SPARE: Final = 8


def certain(f: Excess, factor: arb) -> arb:
    """Nothing random: ``x = 1``."""
    return f.at(factor)


def laplace(rate: Real, lost_bits: int) -> Average:
    r"""Laplace noise of ``rate`` = sensitivity over scale, by adaptive certified quadrature.

    .. math:: E_Q[g(x)] = \tfrac12 e^{-r} g(e^r) + \tfrac12 g(e^{-r})
              + \tfrac14\int_{-r}^{r} e^{-(z+r)/2}\,g(e^z)\,dz .

    ``lost_bits`` is how far below its terms ``f`` is expected to lie.
    """

    def average(f: Excess, factor: arb) -> arb:
        r = balls.ball(rate)

        def integrand(z: acb, analytic: bool) -> acb:
            return (-(z + r) / 2).exp() * f.continued(factor * z.exp(), analytic)

        tolerance = arb(2) ** (lost_bits + _SPARE - balls.current())
        inner = acb.integral(
            integrand, -r, r, rel_tol=tolerance, abs_tol=arb(0), eval_limit=MAX_EVALUATIONS
        ).real
        fall = (-r).exp()
        return (fall * f.at(factor / fall) + f.at(factor * fall)) / 2 + inner / 4

    return average


def discrete_gaussian(pair: DiscreteGaussian) -> Average:
    r"""Outcomes ``y`` of mass ``e^(-y^2/(2 sigma^2))`` and loss ``(s/sigma^2)(y - s/2)``.

    From an outcome to the next outwards, ``w^p`` grows at most by ``e^(p s/sigma^2)`` on the right
    and not at all on the left, so the rest of either side is below a geometric series.
    """

    def average(f: Excess, factor: arb) -> arb:
        variance, s = balls.ball(pair.variance), pair.shift
        spacing, drift = s / variance, f.growth * s
        reach = math.ceil((2 * variance * balls.current() * arb(2).log()).sqrt().abs_upper()) + 2
        last = math.ceil(drift.abs_upper()) + reach
        if last + reach > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified Rényi divergence: more than {MAX_ATOMS} outcomes of the discrete "
                "Gaussian matter"
            )

        def weight(y: int) -> arb:
            return (-arb(y * y) / (2 * variance)).exp()

        def ratio(y: int) -> arb:
            return factor * (spacing * (arb(y) - arb(s) / 2)).exp()

        def rest(y: int, push: arb) -> arb:
            """The mass from ``y`` outwards, even where ``w^p`` multiplies it."""
            shrink = ((2 * push - (2 * abs(y) + 1)) / (2 * variance)).exp()
            return weight(y) / (1 - shrink) * arb(0).union(arb(1))

        weights = [weight(y) for y in range(-reach, last + 1)]
        left, right = rest(-reach - 1, arb(0)), rest(last + 1, drift)
        total = left * f.most(ratio(-reach - 1)) + right * f.most(ratio(last + 1))
        for y, mass in enumerate(weights, -reach):
            total += mass * f.at(ratio(y))
        return total / (sum(weights, arb(0)) + left + right)

    return average
