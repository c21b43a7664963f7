r"""One Gaussian step on a Poisson sample, by the outcome at which the loss is epsilon.

With :math:`\mu = 1/\sigma`, :math:`r(w) = e^{\mu w - \mu^2/2}` and
:math:`g(w) = \bar\Phi(w - \mu) - r(w)\,\bar\Phi(w)`, the optimal events are rays, so

.. math:: \mathrm{remove:}\quad \varepsilon = \log(1 - q + q r),\quad \delta = q g,

.. math:: \mathrm{add:}\quad \varepsilon = -\log(1 - q + q/r),\quad
          \delta = \frac{q g}{(1-q) r + q},

where epsilon increases with :math:`w` and delta decreases (``docs/theory/sampling.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import ball, normal_tail
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_ZERO: Final = Fraction(0)
_STEPS: Final = 60
_SCALES: Final = (1, 2, 4)
_COARSE_BITS: Final = 96


class GaussianOnce(Profile):
    """The profile of one sampled step, ``plain``, with epsilon by Newton's method on outcomes."""

    infinite = InfiniteLoss()

    def __init__(self, plain: Profile, mu: Real, q: Real, add: bool) -> None:
        self.plain, self.mu, self.q, self.add = plain, mu, q, add
        self.method = plain.method

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.plain.delta(epsilon, digits)

    def largest_loss(self, digits: int) -> Enclosure:
        return self.plain.largest_loss(digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        with balls.precision(_COARSE_BITS):
            at_zero, target = _Outcomes(self.mu, self.q, self.add).delta_at_zero(), ball(delta)
            if at_zero <= target:
                return Enclosure.exact(_ZERO, self.method)
            if not (at_zero > target and target > 0):
                return self.plain.epsilon(delta, digits)
        for scale in _SCALES:
            with balls.precision(scale * (balls.bits_for(digits) + _COARSE_BITS // 2)):
                found = self._bracket(delta, digits)
            # proposes: whether more bits are tried, or another way; any answer is certified
            if found is not None and found.digits >= digits:
                return found
        return self.plain.epsilon(delta, digits)

    def _bracket(self, delta: Real, digits: int) -> Enclosure | None:
        """Delta is certainly above the target at the left end, below at the right."""
        outcomes, target = _Outcomes(self.mu, self.q, self.add), ball(delta)
        at = outcomes.near(target)
        if at is None:
            return None
        width = outcomes.epsilon(at) / outcomes.speed(at) / arb(10) ** digits
        # proposes: a width; where epsilon hardly moves no more is gained
        half = arb.min(width * arb(0.4), arb(0.01)).mid()
        left, right = (at - half).mid(), (at + half).mid()
        if not (outcomes.delta(left) > target and outcomes.delta(right) < target):
            return None
        ends = outcomes.epsilon(left).union(outcomes.epsilon(right))
        return balls.to_enclosure(ends, self.method).within(_ZERO, math.inf)


@dataclass
class _Outcomes:
    """Delta and epsilon where the threshold is the outcome ``w``, at the current precision."""

    mu: arb
    q: arb
    add: bool

    def __init__(self, mu: Real, q: Real, add: bool) -> None:
        self.mu, self.q, self.add = ball(mu), ball(q), add

    def delta_at_zero(self) -> arb:
        """``q (2 Phi(mu/2) - 1)``."""
        return self.q * (self.mu / arb(8).sqrt()).erf()

    def _ratio(self, w: arb) -> arb:
        return (self.mu * (w - self.mu / 2)).exp()

    def _mixed(self, ratio: arb) -> arb:
        """``dP/dQ`` of remove at the outcome, and of add the inverse."""
        return 1 - self.q + self.q * (1 / ratio if self.add else ratio)

    def epsilon(self, w: arb) -> arb:
        """The loss at the threshold."""
        gain = self.q * (self.mu * (w - self.mu / 2) * (-1 if self.add else 1)).expm1()
        return -gain.log1p() if self.add else gain.log1p()

    def speed(self, w: arb) -> arb:
        """The derivative of the loss. Proposes: a width."""
        ratio = self._ratio(w)
        return self.q * self.mu * (1 / ratio if self.add else ratio) / self._mixed(ratio)

    def delta(self, w: arb) -> arb:
        """What the ray beyond ``w`` gives."""
        return self._delta(w, self._ratio(w))

    def _delta(self, w: arb, ratio: arb) -> arb:
        gain = self.q * (normal_tail(w - self.mu) - ratio * normal_tail(w))
        return gain / (ratio * self._mixed(ratio)) if self.add else gain

    def near(self, target: arb) -> arb | None:
        """About where delta is the target.

        ``log delta`` is concave, so Newton's method converges from the right. Proposes: a point.
        """
        excess = (self.q / target).log().max(arb(0))
        w, close = (self.mu + (2 * excess).sqrt() + 1).mid(), arb(2) ** (-balls.current() // 2)
        for _ in range(_STEPS):
            ratio = self._ratio(w)
            value = self._delta(w, ratio).mid()
            # proposes: Newton's method; both sides of where it ends are certified
            if not value > 0:
                return None
            slope = -self.mu * self.q * ratio * normal_tail(w)
            if self.add:
                slope = slope / (ratio * self._mixed(ratio))
                slope -= value * (1 - self.q) * self.mu / self._mixed(ratio)
            step = ((target / value).log() * value / slope).mid()
            w = (w + step).mid()
            # proposes: when to stop
            if abs(step) < close * abs(w):
                return w
        return None
