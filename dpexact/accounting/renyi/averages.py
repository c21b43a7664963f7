r"""Means under ``Q`` of a function of ``x = dP/dQ``, certified: nothing random, and two noises.

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
class Excess:
    r"""What is averaged for a divergence on a sample, arranged so that nothing cancels.

    Let ``x = dP/dQ``, ``w = 1 - q + q x``, ``t = w - 1`` and ``c = alpha - 1 >= 0``. The functions

    .. math:: f = w\,\frac{w^c - 1}{c} - t \quad\text{(remove)}, \qquad
              f = t - \frac{1 - w^{-c}}{c} \quad\text{(add)},

    at ``c = 0`` ``w log w - t`` and ``t - log w``, are convex in ``w`` and least at ``w = 1``,
    where they are 0, hence never negative: however small ``q`` is, their mean has no cancellation.
    As ``E_Q[t] = q (E_Q[x] - 1)``, which is 0 removing, the moment is ``1 + c (E_Q[f] - E_Q[t])``.
    Here at the current precision, with ``rest = 1 - q``; no ``c`` at order 1.
    """

    q: arb
    rest: arb
    c: arb | None
    add: bool

    @classmethod
    def of(cls, q: Real, order: Real, add: bool) -> Excess:
        """For a finite order ``>= 1``."""
        c = order - 1
        exact = None if c.fraction == 0 else balls.ball(c)
        return cls(balls.ball(q), balls.ball(1 - q), exact, add)

    def at(self, x: arb) -> arb:
        """``f(x)`` for ``x >= 0``; not finite where ``w`` may be 0."""
        t = self.q * (x - 1)
        return self._of(t, t.log1p() if abs(t) < 0.5 else (self.rest + self.q * x).log())

    def continued(self, x: acb, analytic: bool) -> acb:
        """The same at complex ``x``; not finite if ``analytic`` and ``Re w`` is not positive.

        Over wide balls next to ``t = 0`` it is ``t^2/2`` times a mean of ``f''`` between 1 and
        ``w``, where terms of the size of ``t`` would cancel.
        """
        t, w = self.q * (x - 1), self.rest + self.q * x
        if analytic and not w.real > 0:
            return acb(arb.nan())
        c = arb(0) if self.c is None else self.c
        # proposes: here and below, which of two enclosures is the narrower
        if not (t * (1 + c)).abs_upper() < 0.5:
            return self._of(t, w.log())
        if 4 * t.rel_accuracy_bits() > balls.current():
            return self._of(t, t.log1p())
        power = -2 - c if self.add else c - 1
        return t * t * (1 + c) / 2 * (power * w.union(acb(1)).log()).exp()

    def _of(self, t: _Ball, log: _Ball) -> _Ball:
        """``f`` from ``t`` and ``log w``."""
        c = self.c
        if self.add:
            return t - log if c is None else t + (-c * log).expm1() / c
        return (1 + t) * (log if c is None else (c * log).expm1() / c) - t

    @property
    def growth(self) -> arb:
        """The exponent ``p`` of :meth:`most`."""
        return arb(1) if self.add else 1 + arb(1).max(arb(0) if self.c is None else self.c)

    def most(self, x: arb) -> arb:
        """A bound on ``f(x)`` of the form ``K + L w^p`` with ``K, L >= 0`` and ``p >= 1``.

        For ``w >= 1`` the quotient ``(w^c - 1)/c`` grows with ``c``, and ``w^c`` is above it from
        ``c = 1`` on; for ``w <= 1`` removing ``f <= -t <= 1``. Adding, ``w >= 1 - q`` bounds
        ``-(1 - w^-c)/c``, which falls.
        """
        w = self.rest + self.q * x
        if self.add:
            return self._of(w, self.rest.log())
        return 1 + (self.growth * w.log()).exp()


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
        inner = balls.integral(
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
            return weight(y) / (1 - shrink) * balls.UNIT

        weights = [weight(y) for y in range(-reach, last + 1)]
        left, right = rest(-reach - 1, arb(0)), rest(last + 1, drift)
        total = left * f.most(ratio(-reach - 1)) + right * f.most(ratio(last + 1))
        for y, mass in enumerate(weights, -reach):
            total += mass * f.at(ratio(y))
        return total / (sum(weights, arb(0)) + left + right)

    return average
