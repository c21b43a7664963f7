r"""Logistic noise, of density :math:`e^{-x}/(1+e^{-x})^2`, against its shift by ``rate``.

At the quantile ``u`` of ``Q``, ``dP/dQ`` is :math:`a/(a - (a-1)u)^2`, :math:`a = e^{rate}`, so

.. math:: M(s) = \int_0^1 \Big(\frac{a}{(a-(a-1)u)^2}\Big)^{1+s} du
               = \frac{\sinh(rate\,(s + 1/2))}{(2 s + 1) \sinh(rate/2)} .
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from flint import acb, arb

from dpexact.accounting.laws import PAIRS
from dpexact.accounting.pairs.pair import Jet, Masses, Pair, Tails
from dpexact.balls import approximate, ball
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.base import POSITIVE
from dpexact.mechanisms.grammar import NAMES
from dpexact.mechanisms.ordering import NOISE
from dpexact.reals import Real, rational

ONE = rational(1)


@dataclass(frozen=True, slots=True)
class Logistic(Mechanism, name="logistic"):
    """Noise of density ``exp(-x/scale) / (scale (1 + exp(-x/scale))^2)``."""

    scale: Real = field(metadata=POSITIVE | NOISE)
    sensitivity: Real = field(default=ONE, metadata=POSITIVE)


@dataclass(frozen=True)
class LogisticPair(Pair):
    """The law against its shift by ``rate``, which is also the largest loss."""

    rate: Real

    @property
    def decays(self) -> bool:
        """As ``1/u``."""
        return True

    def overlap(self) -> arb:
        """Either law below the point half way: ``2 / (1 + e^(rate/2))``."""
        return 2 / (1 + (ball(self.rate) / 2).exp())

    def largest_loss(self) -> arb:
        """``rate``."""
        return ball(self.rate)

    def at(self, s: acb) -> acb:
        """Closed form."""
        half = acb(ball(self.rate)) / 2
        return half * (acb(0, 1) * half * (2 * s + 1)).sinc() / half.sinh()

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``|sinh| <= cosh`` of the real part, over ``2 u sinh(rate/2)``."""
        half = ball(self.rate) / 2
        bound = (half * (2 * ball(c) + 1)).cosh() / (2 * arb(u) * half.sinh())
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def cumulant(self, c: float) -> Jet:
        """Proposes: an estimate by which contours are planned."""
        rate = approximate(self.rate)
        x = max(abs(rate * (c + 0.5)), 1e-3)
        value = (
            x + math.log(-math.expm1(-2 * x) / x) - rate / 2 - math.log(-math.expm1(-rate) / rate)
        )
        slope = math.copysign(1 / math.tanh(x) - 1 / x, c + 0.5)
        return Jet(
            value,
            rate * slope,
            rate**2 * (1 / x**2 - 4 * math.exp(-2 * x) / math.expm1(-2 * x) ** 2),
        )

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """The same bound in floats."""
        most, rate = self.cumulant(c).value, approximate(self.rate)
        top = rate * c - math.log(-math.expm1(-rate))
        return lambda u: min(
            most, top + math.log1p(math.exp(-rate * (2 * c + 1))) - math.log(2 * u)
        )

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One exponential a node."""
        return 1, math.log2(2 + approximate(self.rate) * (c + 1))

    def lowest(self) -> arb:
        """``-rate``."""
        return -ball(self.rate)

    def tails(self, bits: int) -> tuple[Tails, arb]:
        """Above the quantile at which ``dP/dQ`` is the ratio."""
        a = ball(self.rate).exp()

        def tails(ratio: arb) -> Masses:
            u = (a - (a / ratio.max(1 / a).min(a)).sqrt()) / (a - 1)
            return a * (1 - u) / (u + a * (1 - u)), 1 - u

        return tails, arb(1)

    def span(self, tail: float) -> tuple[float, float]:
        """Between the extreme losses."""
        return -approximate(self.rate), approximate(self.rate)


NAMES[Logistic.name] = Logistic
PAIRS[Logistic] = lambda step: LogisticPair(step.sensitivity / step.scale)
