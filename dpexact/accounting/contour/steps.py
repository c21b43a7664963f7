"""The steps a composition is made of, each with the moments of its privacy loss.

Products of pairs stand for adaptive compositions (``docs/theory/dominating-pairs.md``, Theorem 3).
For a dominating pair ``(P, Q)`` with loss ``Z = log dP/dQ``, ``M(s) = E_P[e^{sZ}; Z finite]``.
Methods that return balls are certified at the current precision; ``cumulant`` and
``decay_estimate`` are float heuristics.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from flint import acb, arb

from dpexact.accounting.contour.shape import Jet, Shape
from dpexact.accounting.contour.trapezoid import (
    Integrand,
    oblique_moments,
    positive_sum,
    real_moment,
)
from dpexact.balls import approximate, ball
from dpexact.reals import Real, rational

#: Floats take a larger sigma for this one, and a smaller one for its inverse: they only propose.
_LARGE: Final = 1e100


class Step(Protocol):
    """One step of a composition. Accuracies are natural logarithms of a relative error."""

    @property
    def reverse(self) -> Step:
        """The pair ``(Q, P)``."""

    @property
    def decays(self) -> bool:
        """Whether ``M(c + iu)`` tends to zero as ``u`` grows."""

    def mass(self) -> arb:
        """``P(Z finite)``, which for every step here equals ``Q(Z finite)``."""

    def overlap(self) -> arb:
        """A lower bound on ``Int min(P, Q)``."""

    def largest_loss(self) -> arb | None:
        """Supremum of the finite losses, None when unbounded."""

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``M(c)`` for real ``c > -1``; a float means its exact value."""

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """``M(c + i n step)``, ``n = 0 .. count``, to about ``e^-accuracy M(c)``."""

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """An upper bound on ``|M(c + iu')|`` for every ``u' >= u``."""

    def cumulant(self, c: float) -> Jet:
        """``log M(c)`` and two derivatives, approximately."""

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """``u -> log`` of about what ``decayed`` will certify."""

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """``(nodes, bits lost to cancellation)`` of one evaluation in ``moments``."""


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture of two normal laws against its mirror image, each with its own weight.

    ``P = (1 - up) N(0, sigma^2) + up N(1, sigma^2)`` and ``Q = (1 - down) N(0, sigma^2) + down
    N(-1, sigma^2)``. Poisson sampling at rate ``q``: ``remove(sigma, q)`` has ``up = q, down = 0``
    and ``add(sigma, q)`` is its reverse, reflected.
    """

    sigma: Real
    up: Real
    down: Real

    @cached_property
    def reverse(self) -> GaussianMixture:
        """The pair ``(Q, P)``, reflected in the origin."""
        return GaussianMixture(self.sigma, self.down, self.up)

    @cached_property
    def _shape(self) -> Shape:
        sigma = min(max(approximate(self.sigma), 1 / _LARGE), _LARGE)
        return Shape(sigma, approximate(self.up), approximate(self.down))

    def _integrand(self, c: float | Real) -> Integrand:
        return Integrand.of(self.sigma, self.up, self.down, c)

    @property
    def decays(self) -> bool:
        """Whether there is any loss at all."""
        return self.up.fraction != 0 or self.down.fraction != 0

    def mass(self) -> arb:
        """One: the loss is finite everywhere."""
        return arb(1)

    def overlap(self) -> arb:
        """``1 - max(up, down)``: both laws hold that much of ``N(0)``."""
        return 1 - arb.max(ball(self.up), ball(self.down))

    def largest_loss(self) -> arb | None:
        """``-log(1 - down)`` when only ``Q`` is a mixture."""
        if self.up.fraction != 0 or self.down.fraction == 1:
            return None
        return -(1 - ball(self.down)).log()

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The trapezoidal rule on the real axis."""
        return real_moment(self._integrand(c), self._shape.real(approximate(c), accuracy))

    def moment_cost(self, c: float | Real, accuracy: float) -> int:
        """About how many nodes ``moment`` sums."""
        return self._shape.real(approximate(c), accuracy).heavy

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The trapezoidal rule on a line above the real axis, all nodes at once."""
        moment = self.moment(c, 8.0).upper()
        rule = self._shape.oblique(c, accuracy)
        return oblique_moments(self._integrand(c), rule, moment, step, count)

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The integral of the modulus on the line above the axis that makes it least."""
        log_bound, shift = self._shape.decay(c).best(u)
        fine = accuracy + max(0.0, self._shape.cumulant(c).value - log_bound)
        integrand, rule = self._integrand(c), self._shape.positive(c, fine, shift)
        total, tail, strip = positive_sum(integrand, rule, u)
        moment = self.moment(c, accuracy).upper()
        return arb.min((total + tail + strip * moment).upper(), moment)

    def cumulant(self, c: float) -> Jet:
        """The same sum in floats."""
        return self._shape.cumulant(c)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """The same bound in floats."""
        return self._shape.decay(c).log_bound

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nodes of the oblique rule; its terms exceed the sum by ``e^{shift^2/2} cos^-c``."""
        rule = self._shape.oblique(c, accuracy)
        lost = rule.shift**2 / 2
        # proposes: an estimate of the bits lost
        if self._shape.down:
            lost -= c * math.log(math.cos(rule.shift / (2 * self._shape.sigma)))
        farthest = max(-rule.first, rule.last) * rule.spacing / self._shape.sigma
        return rule.heavy, (lost + math.log1p((c + 1) * farthest)) / math.log(2)


def remove(sigma: Real, q: Real) -> GaussianMixture:
    """Poisson-subsampled Gaussian, record removed: ``P = (1-q) N(0) + q N(1)``, ``Q = N(0)``."""
    return GaussianMixture(sigma, q, rational(0))


def add(sigma: Real, q: Real) -> GaussianMixture:
    """Poisson-subsampled Gaussian, the record added: ``P = N(0)``, ``Q = (1-q) N(0) + q N(1)``."""
    return GaussianMixture(sigma, rational(0), q)


@dataclass(frozen=True)
class Gaussian:
    """``N(mu, 1)`` against ``N(0, 1)``: ``M(s) = e^{s (s + 1) mu^2 / 2}``."""

    mu: Real

    @property
    def reverse(self) -> Gaussian:
        """The same pair, reflected."""
        return self

    @property
    def decays(self) -> bool:
        """Whether there is any loss at all."""
        return self.mu.fraction != 0

    def mass(self) -> arb:
        """One: the loss is finite everywhere."""
        return arb(1)

    def overlap(self) -> arb:
        """``2 Phi(-mu / 2)``."""
        return (ball(self.mu) / arb(8).sqrt()).erfc()

    def largest_loss(self) -> arb | None:
        """Unbounded."""
        return None

    def _half_square(self) -> arb:
        mu = ball(self.mu)
        return mu * mu / 2

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Closed form."""
        return (self._half_square() * ball(c) * (ball(c) + 1)).exp()

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Closed form."""
        half, exact, rise = acb(self._half_square()), arb(c), arb(step)
        nodes = (acb(exact, n * rise) for n in range(count + 1))
        return [(half * s * (s + 1)).exp() for s in nodes]

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


@dataclass(frozen=True)
class Atoms:
    """``approx_dp(epsilon, delta)``: losses ``+-epsilon``, and ``+inf`` with mass ``delta``."""

    epsilon: Real
    delta: Real

    @property
    def reverse(self) -> Atoms:
        """The same pair."""
        return self

    @property
    def decays(self) -> bool:
        """Never."""
        return False

    def mass(self) -> arb:
        """``1 - delta``."""
        return 1 - ball(self.delta)

    def overlap(self) -> arb:
        """``2 (1 - delta) / (1 + e^eps)``."""
        return 2 * self.mass() / (1 + ball(self.epsilon).exp())

    def largest_loss(self) -> arb | None:
        """``epsilon``."""
        return ball(self.epsilon)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``(1 - delta) (e^{eps (1 + c)} + e^{-eps c}) / (1 + e^eps)``."""
        epsilon, exact = ball(self.epsilon), ball(c)
        rise, fall = (epsilon * (1 + exact)).exp(), (-epsilon * exact).exp()
        return self.mass() * (rise + fall) / (1 + epsilon.exp())

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The same at complex points."""
        epsilon = ball(self.epsilon)
        factor = self.mass() / (1 + epsilon.exp())
        rise, fall = (epsilon * (1 + arb(c))).exp() * factor, (-epsilon * arb(c)).exp() * factor
        angles = (n * arb(step) * epsilon for n in range(count + 1))
        turns = (acb(0, angle).exp() for angle in angles)
        return [rise * turn + fall * turn.conjugate() for turn in turns]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """No decay: ``|M(c + iu)| <= M(c)``."""
        return self.moment(c, accuracy)

    def cumulant(self, c: float) -> Jet:
        """Closed form; ``rise`` is the tilted probability of the loss ``+epsilon``."""
        epsilon = approximate(self.epsilon)
        rise = 1 / (1 + math.exp(-epsilon * (1 + 2 * c)))
        ratio = -math.log(rise) - math.log1p(math.exp(-epsilon))
        value = math.log1p(-approximate(self.delta)) + epsilon * c + ratio
        return Jet(value, epsilon * (2 * rise - 1), 4 * epsilon**2 * rise * (1 - rise))

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """No decay."""
        value = self.cumulant(c).value
        return lambda u: value

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One exponential a node."""
        return 1, math.log2(2 + approximate(self.epsilon) * (c + 1))
