"""Randomized response, with a probability of revealing everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from flint import acb, arb

from dpexact import reals
from dpexact.accounting.pairs.finite import power_moments
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.pair import Atom, Jet, Masses
from dpexact.accounting.pairs.power_sums import powers
from dpexact.balls import approximate, ball
from dpexact.exactness import exponential
from dpexact.reals import Real, rational

_ZERO: Final = rational(0)


@dataclass(frozen=True)
class Response(OnLattice):
    """``approx_dp(epsilon, lost)``: losses ``+-epsilon``, and ``+inf`` with mass ``lost``."""

    epsilon: Real
    lost: Real = _ZERO

    def mass(self) -> arb:
        """``1 - lost``."""
        return 1 - ball(self.lost)

    def overlap(self) -> arb:
        """``2 (1 - lost) / (1 + e^eps)``."""
        return 2 * self.mass() / (1 + ball(self.epsilon).exp())

    def largest_loss(self) -> arb | None:
        """``epsilon``."""
        return ball(self.epsilon)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``(1 - lost) (e^{eps (1 + c)} + e^{-eps c}) / (1 + e^eps)``."""
        epsilon, exact = ball(self.epsilon), ball(c)
        rise, fall = (epsilon * (1 + exact)).exp(), (-epsilon * exact).exp()
        return self.mass() * (rise + fall) / (1 + epsilon.exp())

    def mean(self) -> arb:
        """``(1 - lost) eps tanh(eps / 2)``."""
        epsilon = ball(self.epsilon)
        return self.mass() * epsilon * (epsilon / 2).tanh()

    def integer_moments(self, count: int) -> list[arb]:
        """One product an outcome and order."""
        return power_moments(self.atoms(0.0)[0], count)

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The same at complex points."""
        epsilon = ball(self.epsilon)
        factor = self.mass() / (1 + epsilon.exp())
        rise, fall = (epsilon * (1 + arb(c))).exp() * factor, (-epsilon * arb(c)).exp() * factor
        turns = powers(acb(0, arb(step) * epsilon).exp(), count + 1)
        return [rise * turn + fall * turn.conjugate() for turn in turns]

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        return approximate(self.epsilon), math.log1p(-approximate(self.lost))

    def cumulant(self, c: float) -> Jet:
        """Closed form; ``rise`` is the tilted probability of the loss ``+epsilon``."""
        epsilon, kept = self._sizes
        rise = 1 / (1 + math.exp(-epsilon * (1 + 2 * c)))
        ratio = -math.log(rise) - math.log1p(math.exp(-epsilon))
        value = kept + epsilon * c + ratio
        return Jet(value, epsilon * (2 * rise - 1), 4 * epsilon**2 * rise * (1 - rise))

    def outline(self, c: float) -> list[tuple[float, float]]:
        """Two outcomes.

        Proposes: an estimate by which contours are planned.
        """
        epsilon, value = self._sizes[0], self.cumulant(c).value
        low = -math.log1p(math.exp(epsilon * (1 + 2 * c))) if epsilon * (1 + 2 * c) < 700 else -700
        high = -math.log1p(math.exp(-epsilon * (1 + 2 * c)))
        return [(value + low, -epsilon), (value + high, epsilon)]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One exponential a node."""
        return 1, math.log2(2 + self._sizes[0] * (c + 1))

    def lattice(self) -> tuple[Real, Fraction]:
        """The two losses."""
        return 2 * self.epsilon, Fraction(-1, 2)

    def outcomes(self) -> tuple[Atom, ...]:
        """As exact numbers, where no loss is one outcome."""
        kept, outcomes = 1 - self.lost, []
        if self.epsilon.fraction == 0:
            outcomes = [Atom(kept, kept)]
        else:
            growth = exponential(self.epsilon)
            low, high = kept / (1 + growth), kept * growth / (1 + growth)
            outcomes = [Atom(low, high), Atom(high, low)]
        if self.lost.fraction != 0:
            outcomes += [Atom(self.lost, _ZERO), Atom(_ZERO, self.lost)]
        return tuple(outcomes)

    # --- tails ------------------------------------------------------------------------------------

    def revealed(self) -> Real:
        """``lost``."""
        return self.lost

    def lowest(self) -> arb:
        """``-epsilon``."""
        return -ball(self.epsilon)

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """The two losses."""
        growth = ball(self.epsilon).exp()
        low = self.mass() / (1 + growth)
        high = growth * low
        return [(low, high), (high, low)], (arb(0), arb(0))

    def span(self, tail: float) -> tuple[float, float]:
        """Between the losses."""
        epsilon = approximate(self.epsilon)
        return -epsilon, epsilon


def amplified(eps: Real, delta: Real, q: Real) -> tuple[Real, Real]:
    """``(log(1 + q (e^eps - 1)), q delta)``: the guarantee of a sample."""
    if q.fraction == 1:
        return eps, delta
    growth = reals.exponential(eps) - 1
    return reals.logarithm(1 + q * growth), q * delta
