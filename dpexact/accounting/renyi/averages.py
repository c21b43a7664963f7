r"""Means under ``Q`` of a function of ``x = dP/dQ``, certified, of two noises.

``factor`` multiplies ``x`` throughout: the outcome of whatever runs beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import MAX_ATOMS
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

_Ball = TypeVar("_Ball", arb, acb)


@dataclass(frozen=True)
class Moment:
    r"""What is averaged for a divergence on a sample, of rate ``q`` and with ``rest = 1 - q``.

    With ``w = 1 - q + q x`` that is :math:`w^\alpha` removing and :math:`w^{1 - \alpha}` adding; at
    order 1, without a ``power``, ``w log w`` and ``-log w``. At the current precision.
    """

    q: arb
    rest: arb
    power: arb | None
    add: bool

    @classmethod
    def of(cls, q: Real, order: Real, add: bool) -> Moment:
        """For a finite order ``>= 1``."""
        power = None if order.fraction == 1 else balls.ball(1 - order if add else order)
        return cls(balls.ball(q), balls.ball(1 - q), power, add)

    def at(self, x: _Ball) -> _Ball:
        """For ``x >= 0``, or continued where ``Re w > 0``; not finite where ``w`` may be 0."""
        w = self.rest + self.q * x
        if self.power is None:
            return -w.log() if self.add else w * w.log()
        return (self.power * w.log()).exp()

    def is_analytic(self, x: acb) -> bool:
        """Whether it certainly is at all of ``x``."""
        return bool((self.rest + self.q * x).real > 0)

    @property
    def growth(self) -> arb:
        """The exponent ``p`` of :meth:`most`."""
        if self.add:
            return arb(self.power is None)
        return arb(2) if self.power is None else self.power

    def most(self, x: arb) -> arb:
        """A bound on the modulus, with a sign at order 1, of the form ``K + w^p``, ``K, p >= 0``.

        Removing ``w log w`` is between ``-1`` and ``w^2``. Adding ``w >= 1 - q`` bounds the power,
        and ``-log w`` from above, which is at least ``-w``.
        """
        least = self.at(arb(0)) if self.add else arb(1)
        found = least + (self.growth * (self.rest + self.q * x).log()).exp()
        return found * balls.AROUND if self.power is None else found


Average: TypeAlias = Callable[[Moment, arb], arb]
"""``E_Q[f(factor x)]`` from ``f`` and the factor; :meth:`Moment.at` where nothing is random."""

#: Most evaluations of an integrand; beyond them the integral is left wide.
MAX_EVALUATIONS: Final = 20_000
#: Bits that a quadrature leaves to rounding.
_SPARE: Final = 8


def laplace(rate: Real) -> Average:
    r"""Laplace noise of ``rate`` = sensitivity over scale, by adaptive certified quadrature.

    .. math:: E_Q[g(x)] = \tfrac12 e^{-r} g(e^r) + \tfrac12 g(e^{-r})
              + \tfrac14\int_{-r}^{r} e^{-(z+r)/2}\,g(e^z)\,dz .
    """

    def average(f: Moment, factor: arb) -> arb:
        r = balls.ball(rate)

        def integrand(z: acb, analytic: bool) -> acb:
            x = factor * z.exp()
            if analytic and not f.is_analytic(x):
                return acb(arb.nan())
            return (-(z + r) / 2).exp() * f.at(x)

        fine = arb(2) ** (_SPARE - balls.current())
        limits = {"abs_tol": fine, "rel_tol": fine, "eval_limit": MAX_EVALUATIONS}
        inner = balls.integral(integrand, -r, r, **limits).real
        fall = (-r).exp()
        return (fall * f.at(factor / fall) + f.at(factor * fall)) / 2 + inner / 4

    return average


def discrete_gaussian(pair: DiscreteGaussian) -> Average:
    r"""Outcomes ``y`` of mass ``e^(-y^2/(2 sigma^2))`` and loss ``(s/sigma^2)(y - s/2)``.

    From an outcome to the next outwards, ``w^p`` grows at most by ``e^(p s/sigma^2)`` on the right
    and not at all on the left, so the rest of either side is below a geometric series.
    """

    def average(f: Moment, factor: arb) -> arb:
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
            return weight(y) / (1 - shrink) * balls.UNIT

        weights = [weight(y) for y in range(-reach, last + 1)]
        left, right = rest(-reach - 1, arb(0)), rest(last + 1, drift)
        total = left * f.most(ratio(-reach - 1)) + right * f.most(ratio(last + 1))
        for y, mass in enumerate(weights, -reach):
            total += mass * f.at(ratio(y))
        return total / (sum(weights, arb(0)) + left + right)

    return average
