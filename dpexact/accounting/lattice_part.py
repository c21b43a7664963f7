r"""Exact loss laws on a uniform lattice: what the parts of a lattice composition are.

The finite loss of a part takes the values ``spacing * (origin + j)`` for integers ``j``. For
``theta >= 0`` its *tilted* law has masses
:math:`p_j e^{\theta l_j} / M(\theta)`, :math:`M(\theta) = \sum_j p_j e^{\theta l_j}`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exp_fraction
from dpexact.reals import Real

#: Most atoms that one part may have, and most coefficients of a composed law.
MAX_ATOMS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Tilted:
    """A tilted law: ``masses[i]`` sits at index ``first + i``; ``dropped`` bounds what is missing.

    ``masses`` and the dropped part sum to 1. ``moment`` is ``M(theta)``.
    """

    first: int
    masses: list[arb]
    dropped: arb
    moment: arb


class LatticePart(ABC):
    """One step of a composition whose loss lies on a lattice."""

    spacing: Real
    origin: Fraction

    @property
    @abstractmethod
    def highest(self) -> int | None:
        """The index of the largest loss; ``None`` when the loss is unbounded."""

    @abstractmethod
    def tilted(self, theta: Fraction) -> Tilted:
        """The tilted law at the current precision; finite laws drop nothing."""

    @abstractmethod
    def log_moment(self, theta: float) -> float:
        """About ``log M(theta)``: chooses ``theta``, decides nothing."""

    @abstractmethod
    def spread(self, theta: float) -> float:
        """About the standard deviation of the tilted law in units of the lattice."""

    def fractions(self) -> tuple[list[Fraction], list[Fraction]] | None:
        """``(P, Q)``, the exact masses if all are rational."""
        return None


class FinitePart(LatticePart):
    """A finite law: outcome ``i`` has mass ``p[i]`` under P, ``q[i]`` under Q, at index ``i``.

    Invariant: ``p[i] = q[i] * exp(spacing * (origin + i))`` and both sum to 1.
    """

    def __init__(self, spacing: Real, origin: Fraction, p: list[Real], q: list[Real]) -> None:
        self.spacing = spacing
        self.origin = origin
        self.p = p
        self.q = q

    @property
    def highest(self) -> int:
        return len(self.p) - 1

    def tilted(self, theta: Fraction) -> Tilted:
        unit = balls.ball(theta) * balls.ball(self.spacing)
        start, growth = (unit * balls.ball(self.origin)).exp(), unit.exp()
        weights = [balls.ball(p) * start * growth**i for i, p in enumerate(self.p)]
        moment = sum(weights, arb(0))
        return Tilted(0, [w / moment for w in weights], arb(0), moment)

    @cached_property
    def _floats(self) -> tuple[float, list[float]]:
        """The spacing and the logarithms of the masses."""
        return balls.approximate(self.spacing), [balls.approximate_log(p) for p in self.p]

    def _exponents(self, theta: float) -> list[float]:
        spacing, logs = self._floats
        origin = float(self.origin)
        return [log + theta * spacing * (origin + i) for i, log in enumerate(logs)]

    def log_moment(self, theta: float) -> float:
        return log_sum(self._exponents(theta))

    def spread(self, theta: float) -> float:
        exponents = self._exponents(theta)
        total = log_sum(exponents)
        weights = [math.exp(x - total) for x in exponents]
        mean = sum(i * w for i, w in enumerate(weights))
        return math.sqrt(sum((i - mean) ** 2 * w for i, w in enumerate(weights)))

    def fractions(self) -> tuple[list[Fraction], list[Fraction]] | None:
        p = [x.fraction for x in self.p if x.fraction is not None]
        q = [x.fraction for x in self.q if x.fraction is not None]
        return (p, q) if len(p) == len(q) == len(self.p) else None


class DiscreteGaussianPart(LatticePart):
    r"""Integer noise :math:`x \propto e^{-x^2/(2\sigma^2)}` on a query of sensitivity ``s``.

    Under ``P`` the loss is :math:`(s/\sigma^2)(x + s/2)` (Canonne, Kamath, Steinke 2020).
    The tilted law is proportional to :math:`w_x = e^{-x^2/(2\sigma^2) + \theta s x/\sigma^2}`.
    Beyond a point where :math:`w_{x+1}/w_x = r < 1` the ratios only fall, so
    :math:`\sum_{y \ge x} w_y \le w_x/(1-r)`; likewise on the left.
    """

    highest = None

    def __init__(self, sigma: Real, sensitivity: int) -> None:
        self.variance: Real = sigma * sigma
        self.sensitivity = sensitivity
        self.spacing: Real = sensitivity / self.variance
        self.origin: Fraction = Fraction(sensitivity, 2)
        with balls.precision(64):
            self._variance = float(balls.ball(self.variance).mid())
        self._untilted: tuple[int, arb] | None = None

    def tilted(self, theta: Fraction) -> Tilted:
        first, weights, rest = self._weights(theta)
        total = sum(weights, arb(0)) + rest
        start = (balls.ball(theta * self.origin) * balls.ball(self.spacing)).exp()
        # the common factor taken out of the weights is restored here
        centre = self._centre(theta)
        factor = (self._exponent(theta, centre) - self._exponent(Fraction(0), 0)).exp()
        moment = start * factor * total / self._whole()
        return Tilted(first, [w / total for w in weights], rest / total, moment)

    def _whole(self) -> arb:
        """The sum of the untilted weights, kept for the current precision."""
        bits = balls.current()
        if self._untilted is None or self._untilted[0] != bits:
            _, weights, rest = self._weights(Fraction(0))
            self._untilted = bits, sum(weights, arb(0)) + rest
        return self._untilted[1]

    def _centre(self, theta: Fraction) -> int:
        return round(theta * self.sensitivity)

    def _exponent(self, theta: Fraction, x: int) -> arb:
        return balls.ball(2 * theta * self.sensitivity * x - x * x) / (
            2 * balls.ball(self.variance)
        )

    def _weights(self, theta: Fraction) -> tuple[int, list[arb], arb]:
        """``(first, w / w_centre, a ball that holds the rest)``."""
        bits = balls.current()
        reach = math.ceil(math.sqrt(2 * self._variance * (bits + 8) * math.log(2))) + 2
        # proposes: what is too much work
        if 2 * reach > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified accounting for a discrete Gaussian of more than {MAX_ATOMS} "
                "outcomes: sigma is too large"
            )
        centre = self._centre(theta)
        # with x = centre + d the exponent is above that of the centre by d (2 off - d)/(2 sigma^2)
        off = balls.ball(2 * (theta * self.sensitivity - centre))
        scale = 1 / (2 * balls.ball(self.variance))
        # proposes: how far to sum; from 2 on the ratios are below 1, and `rest` bounds the rest
        weights = [(d * (off - d) * scale).exp() for d in range(-reach, reach + 1)]
        rest = arb(0)
        for edge, beyond in ((reach, reach + 1), (-reach, -reach - 1)):
            far = beyond * (off - beyond) * scale
            rest += far.exp() / -(far - edge * (off - edge) * scale).expm1()
        return centre - reach, weights, rest * arb(0).union(arb(1))

    def log_moment(self, theta: float) -> float:
        exponents, plain = self._float_exponents(theta), self._float_exponents(0.0)
        s = self.sensitivity
        return theta * s * s / (2 * self._variance) + log_sum(exponents) - log_sum(plain)

    def _float_exponents(self, theta: float) -> list[float]:
        """Proposes: some logarithms of tilted weights, for estimates of moments."""
        centre = theta * self.sensitivity
        middle, reach = round(centre), math.ceil(4 * math.sqrt(self._variance)) + 2
        step = max(1, reach // 50)
        xs = range(middle - reach // step * step, middle + reach + 1, step)
        return [x * (2 * centre - x) / (2 * self._variance) for x in xs]

    def spread(self, theta: float) -> float:
        return math.sqrt(self._variance)


def log_sum(exponents: list[float]) -> float:
    """``log(sum(exp(exponents)))`` in floats."""
    top = max(exponents)
    return top + math.log(sum(math.exp(x - top) for x in exponents))


def exponential(value: Real) -> Real:
    """``e^value``, folded to a rational where it visibly is one."""
    power = exp_fraction(value)
    return reals.exponential(value) if power is None else reals.rational(power)


def quotient(a: Real, b: Real) -> Real:
    """``a / b``, with ``a / (c / x)`` written as ``a x / c`` so that logarithms stay visible."""
    if b.operator == "/" and b.arguments[0].fraction:
        return a / b.arguments[0] * b.arguments[1]
    return a / b


def response(eps: Real) -> FinitePart:
    """Randomised response: losses ``-eps`` and ``eps``, for ``eps > 0``."""
    growth = exponential(eps)
    total = 1 + growth
    low, high = 1 / total, growth / total
    spacing = 2 * eps
    return FinitePart(spacing, Fraction(-1, 2), [low, high], [high, low])


def discrete_laplace(scale: Real, sensitivity: int) -> FinitePart:
    r"""Noise of mass :math:`\frac{1-a}{1+a} a^{|x|}`, :math:`a = e^{-1/scale}`.

    The loss is :math:`(s - 2x)/scale` for ``0 < x < s``, and :math:`\pm s/scale` outside.
    For ``s = 1`` this is the law of randomised response of ``eps = 1/scale``.
    """
    if sensitivity >= MAX_ATOMS:
        raise UnsupportedMechanism(
            f"no certified accounting for discrete_laplace of sensitivity {sensitivity}"
        )
    growth = exponential(quotient(reals.rational(1), scale))  # 1/a
    total = growth + 1
    inner = (growth - 1) / total
    decay = [growth ** (-x) for x in range(sensitivity + 1)]
    ends = growth / total
    p = [ends * decay[sensitivity]]
    p += [inner * decay[x] for x in range(sensitivity - 1, 0, -1)]
    p += [ends]
    spacing = quotient(reals.rational(2), scale)
    return FinitePart(spacing, Fraction(-sensitivity, 2), p, p[::-1])


def staircase(eps: Real, gamma: Real) -> FinitePart:
    r"""The staircase mechanism of Geng and Viswanath (2014) at a shift by its full sensitivity.

    The loss is ``eps`` with probability

    .. math:: p = \frac{m}{2(\gamma + (1-\gamma) e^{-\varepsilon})}, \qquad
              m = \min(1, 2\gamma + (1 - 2\gamma) e^{-\varepsilon}),

    ``-eps`` with probability :math:`e^{-\varepsilon} p` and 0 otherwise. For ``gamma = 1/2`` this
    is randomised response. The sensitivity cancels, and no smaller shift is worse.
    """
    if gamma.fraction == Fraction(1, 2):
        return response(eps)
    decay = exponential(-eps)

    def blend(weight: Real) -> Real:
        return weight + (1 - weight) * decay

    twice = 2 * gamma
    wide = balls.compare(twice, reals.rational(1), "gamma") > 0
    total = 2 * blend(gamma)
    high = (reals.rational(1) if wide else blend(twice)) / total
    low = decay * high
    excess = twice - 1 if wide else decay * (1 - twice)
    zero = excess * (1 - decay) / total
    return FinitePart(eps, Fraction(-1), [low, zero, high], [high, zero, low])
