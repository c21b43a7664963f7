"""Steps whose moments do not tend to zero: Laplace noise, finite laws and discrete Gaussians.

Beside a Gaussian, sampled or not, they are factors like any other: the Gaussian makes the product
decay. Proofs are in ``docs/theory/contour.md`` [10].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from flint import acb, arb

from dpexact.accounting.contour.numbers import line_sums
from dpexact.accounting.contour.shape import Jet
from dpexact.balls import approximate, ball, precision
from dpexact.reals import Real

_SMALL = 0.1
_LARGE = 20.0
_SMOOTH = 9.0
_FLOAT_REACH = 9.0
_THETA_COST = 12
_FLOAT_BITS = 64


@dataclass(frozen=True)
class LaplaceNoise:
    """``M(s) = e^{-rate/2} (cosh x + sinh x / (2 s + 1))``, ``x = rate (s + 1/2)``.

    ``rate`` is sensitivity over scale, also the largest loss.
    """

    rate: Real

    @property
    def reverse(self) -> LaplaceNoise:
        """The same pair, reflected."""
        return self

    @property
    def decays(self) -> bool:
        """Not to zero, but the continuous part of the loss does, and many steps need no more."""
        return True

    def mass(self) -> arb:
        """One: the loss is finite everywhere."""
        return arb(1)

    def overlap(self) -> arb:
        """``e^{-rate/2}``."""
        return (-ball(self.rate) / 2).exp()

    def largest_loss(self) -> arb | None:
        """``rate``."""
        return ball(self.rate)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Closed form; ``sinh x / (2 s + 1) = rate sinc(i x) / 2``, also at ``-1/2``."""
        rate = ball(self.rate)
        x = rate * (ball(c) + arb(0.5))
        return self.overlap() * (x.cosh() + rate * acb(0, x).sinc().real / 2)

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Closed form."""
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
        """The same bound in floats."""
        rate, a = approximate(self.rate), c + 0.5
        x = rate * a
        most = self.cumulant(c).value
        level = x - rate / 2 + math.log1p(math.exp(-2 * x)) - math.log(2)
        gain = a * math.tanh(x) + 0.25
        return lambda u: min(most, level + math.log1p(gain / (a * a + u * u)) / 2)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One exponential a node."""
        return 1, math.log2(2 + approximate(self.rate) * (c + 1))


@dataclass(frozen=True)
class FiniteLaw:
    """Outcomes of probability ``p[i] > 0`` under ``P``, ``q[i] > 0`` under ``Q``; both sum to 1."""

    p: tuple[Real, ...]
    q: tuple[Real, ...]

    @property
    def reverse(self) -> FiniteLaw:
        """The pair ``(Q, P)``."""
        return FiniteLaw(self.q, self.p)

    @property
    def decays(self) -> bool:
        """Never."""
        return False

    def mass(self) -> arb:
        """One: the loss is finite everywhere."""
        return arb(1)

    def overlap(self) -> arb:
        """``sum min(p, q)``."""
        return sum((arb.min(p, q) for p, q in self._balls()), arb(0))

    def _balls(self) -> list[tuple[arb, arb]]:
        return [(ball(p), ball(q)) for p, q in zip(self.p, self.q, strict=True)]

    def largest_loss(self) -> arb | None:
        """The largest ``log(p/q)``."""
        first, *others = ((p / q).log() for p, q in self._balls())
        for loss in others:
            first = arb.max(first, loss)
        return first

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``sum p (p/q)^c``."""
        order = ball(c)
        return sum((p * (order * (p / q).log()).exp() for p, q in self._balls()), arb(0))

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """All nodes at once."""
        order, rise = arb(c), arb(step)
        losses = [(p, (p / q).log()) for p, q in self._balls()]
        weights = [acb(p * (order * loss).exp()) for p, loss in losses]
        return line_sums(weights, [acb(0, rise * loss).exp() for _, loss in losses], count)

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """No decay: ``|M(c + iu)| <= M(c)``."""
        return self.moment(c, accuracy)

    @cached_property
    def _floats(self) -> list[tuple[float, float]]:
        """``(log p, loss)``."""
        with precision(_FLOAT_BITS):
            pairs = [(p.log(), (p / q).log()) for p, q in self._balls()]
            return [(float(log.mid()), float(loss.mid())) for log, loss in pairs]

    def cumulant(self, c: float) -> Jet:
        """The tilted law in floats."""
        return _tilted([(log + c * loss, loss) for log, loss in self._floats])

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """No decay."""
        value = self.cumulant(c).value
        return lambda u: value

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One product an outcome and node."""
        most = max(abs(loss) for _, loss in self._floats)
        return len(self.p), math.log2(2 + most * (c + 1))


@dataclass(frozen=True)
class DiscreteGaussianNoise:
    """Integers ``x`` of mass proportional to ``e^{-x^2 / (2 variance)}``, shifted.

    ``M(s) = e^{r s / 2} theta_3(i r s / (2 pi shift), tau) / theta_3(0, tau)`` with ``tau = i / (2
    pi variance)`` and ``r = shift^2 / variance``: the loss is ``r (x / shift + 1/2)``.
    """

    variance: Real
    shift: int

    @property
    def reverse(self) -> DiscreteGaussianNoise:
        """The same pair, reflected."""
        return self

    @property
    def decays(self) -> bool:
        """Never: the moments are periodic along vertical lines, up to a turn."""
        return False

    def mass(self) -> arb:
        """One: the loss is finite everywhere."""
        return arb(1)

    def overlap(self) -> arb:
        """``1 - sqrt(1 - M(-1/2)^2)``, which is no more by Le Cam's inequality."""
        affinity = self.moment(-0.5, 0.0).lower()
        return 1 - (1 - affinity * affinity).sqrt().upper()

    def largest_loss(self) -> arb | None:
        """Unbounded."""
        return None

    def _theta(self, s: acb) -> acb:
        variance = ball(self.variance)
        z = acb(0, 1) * s * self.shift / (2 * arb.pi() * variance)
        values = z.modular_theta(acb(0, 1 / (2 * arb.pi() * variance)))
        found: acb = values[2]
        return found

    def _moment(self, s: acb, plain: arb) -> acb:
        half = self.shift**2 / (2 * ball(self.variance))
        return (half * s).exp() * self._theta(s) / plain

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Jacobi's theta function, certified by the ball library."""
        return self._moment(acb(ball(c)), self._theta(acb(0)).real).real

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The same at complex points."""
        plain = self._theta(acb(0)).real
        rise = arb(step)
        return [self._moment(acb(arb(c), n * rise), plain) for n in range(count + 1)]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """No decay: ``|M(c + iu)| <= M(c)``."""
        return self.moment(c, accuracy)

    def cumulant(self, c: float) -> Jet:
        """That of the Gaussian unless the noise is small.

        Proposes: an estimate by which contours are planned.
        """
        variance = approximate(self.variance)
        half = self.shift**2 / (2 * variance)
        if variance > _SMOOTH:
            return Jet(half * c * (c + 1), half * (2 * c + 1), 2 * half)

        def tilted(order: float) -> Jet:
            centre = order * self.shift
            reach = math.ceil(_FLOAT_REACH * math.sqrt(variance)) + 2
            xs = range(round(centre) - reach, round(centre) + reach + 1)
            rate = self.shift / variance
            return _tilted(
                [(x * (2 * centre - x) / (2 * variance), rate * (x + self.shift / 2)) for x in xs]
            )

        found = tilted(c)
        return found._replace(value=found.value - tilted(0.0).value + half * c)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """No decay."""
        value = self.cumulant(c).value
        return lambda u: value

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """A theta function a node."""
        rate = self.shift**2 / approximate(self.variance)
        return _THETA_COST, math.log2(2 + rate * (c + 1))


def _tilted(pairs: list[tuple[float, float]]) -> Jet:
    """From pairs ``(log weight, loss)``: the log of the total weight, the mean, the variance."""
    top = max(log for log, _ in pairs)
    weights = [(math.exp(log - top), loss) for log, loss in pairs]
    total = sum(w for w, _ in weights)
    mean = sum(w * loss for w, loss in weights) / total
    spread = sum(w * (loss - mean) ** 2 for w, loss in weights) / total
    return Jet(top + math.log(total), mean, spread)
