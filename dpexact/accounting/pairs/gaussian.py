"""Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from flint import acb, arb

from dpexact.accounting.pairs.normal_tail import NormalTail
from dpexact.accounting.pairs.pair import Jet, LossMoments, Masses, Pair, Tails, far
from dpexact.balls import approximate, ball
from dpexact.reals import Real


@dataclass(frozen=True)
class Gaussian(Pair):
    """``N(mu, 1)`` against ``N(0, 1)``: ``M(s) = e^{s (s + 1) mu^2 / 2}``."""

    mu: Real
    lattice_points: ClassVar[int] = 512

    @property
    def decays(self) -> bool:
        """Whether there is any loss at all."""
        return self.mu.fraction != 0

    def overlap(self) -> arb:
        """``2 Phi(-mu / 2)``."""
        return (ball(self.mu) / arb(8).sqrt()).erfc()

    def largest_loss(self) -> arb | None:
        """Unbounded."""
        return None

    def _half_square(self) -> arb:
        mu = ball(self.mu)
        return mu * mu / 2

    def at(self, s: acb) -> acb:
        """Closed form."""
        return (self._half_square() * s * (s + 1)).exp()

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``|M(c + iu)| = M(c) e^{-mu^2 u^2 / 2}``, decreasing."""
        return self.moment(c, accuracy) * (-self._half_square() * arb(u) * arb(u)).exp()

    def cumulant(self, c: float) -> Jet:
        """Closed form."""
        half = approximate(self.mu) ** 2 / 2
        return Jet(half * c * (c + 1), half * (2 * c + 1), 2 * half)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """Closed form."""
        half = approximate(self.mu) ** 2 / 2
        return lambda u: half * (c * (c + 1) - u * u)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One exponential a node."""
        return 1, math.log2(1 + approximate(self.mu) ** 2 * (c + 1))

    def loss_moments(self) -> LossMoments:
        """Of a normal law."""
        mu = ball(self.mu)
        absolute = 2 * mu * mu * mu * (2 / arb.pi()).sqrt()
        return LossMoments(mu * mu / 2, mu * mu, arb(0), arb(0), absolute)

    # --- tails ------------------------------------------------------------------------------------

    def origin(self) -> arb:
        """No loss."""
        return arb(0)

    def tails(self, bits: int) -> tuple[Tails, arb]:
        """``P(N(mu, 1) > z)`` and ``P(N(0, 1) > z)``, ``z = log(r) / mu + mu / 2``."""
        mu, normal = ball(self.mu), NormalTail(bits)

        def tails(ratio: arb) -> Masses:
            if ratio > 0:
                z = ratio.log() / mu + mu / 2
                return normal(z - mu), normal(z)
            if ratio <= 0:
                return arb(1), arb(1)
            p, q = tails(ratio.upper())
            return p.union(arb(1)), q.union(arb(1))

        return tails, arb(1)

    def span(self, tail: float) -> tuple[float, float]:
        """The losses within ``far`` standard deviations of either mean."""
        mu, reach = approximate(self.mu), far(tail)
        return mu * (-reach - mu / 2), mu * (reach + mu / 2)

    def lost_bits(self) -> int:
        """The quantiles lose as many as the noise has."""
        return math.ceil(math.log2(max(1 / approximate(self.mu), 1.0)))
