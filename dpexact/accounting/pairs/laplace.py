"""Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet, LossMoments, Masses, Pair, Tails
from dpexact.balls import approximate, ball
from dpexact.reals import Real

#: Below and above, the float estimates take a series and an asymptote.
_SMALL: Final = 0.1
_LARGE: Final = 20.0


@dataclass(frozen=True)
class Laplace(Pair):
    """``M(s) = e^{-rate/2} (cosh x + sinh x / (2 s + 1))``, ``x = rate (s + 1/2)``.

    ``rate`` is sensitivity over scale, also the largest loss.
    """

    rate: Real

    @property
    def decays(self) -> bool:
        """Not to zero, but the continuous part of the loss does, and many steps need no more."""
        return True

    def overlap(self) -> arb:
        """``e^{-rate/2}``."""
        return (-ball(self.rate) / 2).exp()

    def largest_loss(self) -> arb | None:
        return ball(self.rate)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Closed form; ``sinh x / (2 s + 1) = rate sinc(i x) / 2``, also at ``-1/2``."""
        rate = ball(self.rate)
        x = rate * (ball(c) + arb(0.5))
        return self.overlap() * (x.cosh() + rate * acb(0, x).sinc().real / 2)

    def mean(self) -> arb:
        """``rate + e^-rate - 1``."""
        rate = ball(self.rate)
        return rate + (-rate).expm1()

    def integer_moments(self, count: int) -> list[arb]:
        """``e^{k rate} (k + 1 + k e^{-(2 k + 1) rate}) / (2 k + 1)``."""
        rise, fall = ball(self.rate).exp(), self.lowest().exp()
        power, low, found = arb(1), fall, []
        for k in range(1, count + 1):
            power, low = power * rise, low * fall * fall
            found.append(power * (k + 1 + k * low) / (2 * k + 1))
        return found

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        rate, scale = ball(self.rate), self.overlap() / 2
        found = []
        for n in range(count + 1):
            sigma = acb(arb(c) + arb(0.5), n * arb(step))
            rise, inverse = (rate * sigma).exp(), 1 / (2 * sigma)
            found.append(scale * (rise * (1 + inverse) + (1 - inverse) / rise))
        return found

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``e^{-rate/2} cosh x sqrt(1 + (a tanh x + 1/4) / (a^2 + u^2))``, ``a = c + 1/2`` [10]."""
        a, height = ball(c) + arb(0.5), arb(u)
        x = ball(self.rate) * a
        excess = (a * x.tanh() + arb(0.25)) / (a * a + height * height)
        bound = self.overlap() * x.cosh() * (1 + excess).sqrt()
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def cumulant(self, c: float) -> Jet:
        """Closed form, scaled by ``e^-|x|``; symmetric about ``-1/2``.

        Proposes: an estimate by which contours are planned.
        """
        rate = approximate(self.rate)
        a = abs(c + 0.5)
        x = rate * a
        if x > _LARGE:  # sinh and cosh agree
            inner = a * (2 * a + 1)
            slope = rate - 1 / inner
            value = x - rate / 2 + math.log1p(1 / (2 * a)) - math.log(2)
            return Jet(value, math.copysign(slope, c + 0.5), (4 * a + 1) / inner**2)
        fall = math.exp(-2 * x)
        cosh, sinh = (1 + fall) / 2, (1 - fall) / 2
        if x < _SMALL:  # sinh(x)/x and its derivatives, by their series
            scale, square = math.exp(-x), x * x
            g = 1 + square / 6 * (1 + square / 20 * (1 + square / 42))
            g1 = x / 3 * (1 + square / 10 * (1 + square / 28))
            g2 = 1 / 3 + square / 10 * (1 + 5 * square / 84)
            g, g1, g2 = g * scale, g1 * scale, g2 * scale
        else:
            g = sinh / x
            g1 = (cosh - g) / x
            g2 = g - 2 * g1 / x
        value = cosh + rate / 2 * g
        slope = rate * (sinh + rate / 2 * g1) / value
        bend = rate**2 * (cosh + rate / 2 * g2) / value - slope**2
        return Jet(x - rate / 2 + math.log(value), math.copysign(slope, c + 0.5), bend)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        rate, a = approximate(self.rate), c + 0.5
        x = rate * a
        most = self.cumulant(c).value
        level = x - rate / 2 + math.log1p(math.exp(-2 * x)) - math.log(2)
        gain = a * math.tanh(x) + 0.25
        return lambda u: min(most, level + math.log1p(gain / (a * a + u * u)) / 2)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 1, math.log2(2 + approximate(self.rate) * (c + 1))

    def loss_moments(self) -> LossMoments:
        r"""From the atoms and the density :math:`e^{(z - rate)/2}/4` between, with

        .. math:: \int (z-c)^n e^{z/2}\,dz = e^{z/2} A_n(z-c), \qquad A_0 = 2,\quad
                  A_n(u) = 2u^n - 2n A_{n-1}(u).
        """
        rate = ball(self.rate)
        mean, low = rate + (-rate).expm1(), (-rate).exp() / 2
        scale = (-rate / 2).exp() / 4

        def power(x: arb, n: int) -> arb:  # FLINT gives up a power of a ball that holds 0
            return math.prod([x] * n, start=arb(1))

        def integral_to(z: arb, n: int) -> arb:
            found = arb(2)
            for k in range(1, n + 1):
                found = 2 * power(z - mean, k) - 2 * k * found
            return scale * (z / 2).exp() * found

        def central(n: int) -> arb:
            atoms = power(rate - mean, n) / 2 + power(-rate - mean, n) * low
            return atoms + integral_to(rate, n) - integral_to(-rate, n)

        second, third, fourth = map(central, (2, 3, 4))
        # below the mean the third power changes its sign
        absolute = third + 2 * (integral_to(-rate, 3) - integral_to(mean, 3))
        absolute += 2 * power(rate + mean, 3) * low
        return LossMoments(mean, second, third, fourth - 3 * second * second, absolute)

    # --- tails ------------------------------------------------------------------------------------

    def lowest(self) -> arb:
        """``-rate``, the loss of an atom."""
        return -ball(self.rate)

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """``-rate`` and ``rate``, of mass ``e^-rate / 2`` and ``1/2`` under ``P``."""
        low, half = self.lowest().exp() / 2, arb(1) / 2
        return [(low, half), (half, low)], (arb(0), arb(0))

    def tails(self, bits: int) -> tuple[Tails, arb]:
        r"""Between the atoms, with ``low`` for :math:`e^{-rate}`,

        .. math:: P(e^Z > r) = \frac{1 - \sqrt{r\,low}}{2}, \qquad
                  Q(e^Z > r) = \frac{\sqrt{low/r} - low}{2}.
        """
        low = self.lowest().exp()
        top = 1 / low

        def tails(ratio: arb) -> Masses:
            ratio = ratio.max(low).min(top)
            return (1 - (ratio * low).sqrt()) / 2, ((low / ratio).sqrt() - low) / 2

        return tails, (1 - low) / 2

    def span(self, tail: float) -> tuple[float, float]:
        rate = approximate(self.rate)
        return -rate, rate

    def lost_bits(self) -> int:
        """Those of factors up to ``e^rate``."""
        return math.ceil(3 * approximate(self.rate))
