r"""One step on a Poisson sample of rate ``q``, from the profile of the step without sampling.

With ``D`` the profile of ``(P, Q)`` and ``D'`` that of ``(Q, P)``, for ``eps >= 0``
(Balle, Barthe, Gaboardi 2018, Theorem 2; both follow by rearranging the supremum):

.. math:: \mathrm{remove:}\quad \delta(\varepsilon) = q\,D(\log(1 + (e^\varepsilon - 1)/q)),

.. math:: \mathrm{add:}\quad \delta(\varepsilon) = (1 - (1-q)e^\varepsilon)_+\,
          D'\Big(\log\frac{q\,e^\varepsilon}{1 - (1-q) e^\varepsilon}\Big).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.inverted import ONE, ZERO, invert
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.balls import ball, normal_tail
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.exactness import exponential
from dpexact.reals import Real
from dpexact.ternary import Order


def sampled_once(base: Profile, q: Real, direction: Direction) -> Profile:
    """The profile of one step on a sample of rate ``0 < q < 1``.

    ``base`` is the profile of the step itself in the same ``direction``, which is not ``both``.
    """
    return _Remove(base, q) if direction == "remove" else _Add(base, q)


def divergence_on_sample(
    divergence: Callable[[arb], arb], q: Real, direction: Direction
) -> Callable[[arb], arb]:
    """The same profile as a function of any real ball, negative ones too.

    ``divergence`` is that of the step itself. Where ``q P - (e^eps - 1 + q) Q`` has no negative
    part all of it counts, and where ``(1 - (1-q) e^eps) Q - q e^eps P`` has no positive one, none.
    """

    def remove(epsilon: arb) -> arb:
        rate = balls.ball(q)
        rest = epsilon.expm1() + rate
        if rest > 0:
            return rate * divergence((rest / rate).log())
        # near 0 it is between `rate - rest` and `rate`
        return -epsilon.expm1() if rest <= 0 else rate + arb(0, rest.abs_upper())

    def add(epsilon: arb) -> arb:
        rate = balls.ball(q)
        rest = -epsilon.expm1() + rate * epsilon.exp()
        if rest > 0:
            return rest * divergence((rate * epsilon.exp() / rest).log())
        return arb(0) if rest <= 0 else arb(0).union(rest.abs_upper())

    return remove if direction == "remove" else add


class _SampledOnce(Profile):
    def __init__(self, base: Profile, q: Real) -> None:
        self.base = base
        self.q = q
        self.method = f"{base.method}, sampled once"

    @abstractmethod
    def _point(self, epsilon: Real) -> Real:
        """Where the profile of the base is asked."""

    @abstractmethod
    def _factor(self, epsilon: Real) -> Real:
        """What it is multiplied with."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        factor = self._factor(epsilon)
        found = self.base.delta(self._point(epsilon), digits + 2)
        exact, scale = found.lower if found.is_exact else None, factor.fraction
        if isinstance(exact, Fraction) and scale is not None:
            return Enclosure.exact(exact * scale, self.method)
        return self._image(found, lambda x: x * balls.ball(factor), digits).within(ZERO, ONE)

    def _image(self, found: Enclosure, function: Callable[[arb], arb], digits: int) -> Enclosure:
        """``found`` under an increasing function with ``function(0) >= 0``, rounded outward."""

        def image(end: Bound) -> Enclosure:
            if not isinstance(end, Fraction):
                return Enclosure.exact(end, self.method)
            return balls.certify(
                lambda: function(balls.ball(end)), digits + 2, lowest=ZERO, method=self.method
            )

        low, high = image(found.lower), image(found.upper)
        return low.between(high, self.method).within(ZERO, math.inf).short(found.reason)


class _Remove(_SampledOnce):
    def __init__(self, base: Profile, q: Real) -> None:
        super().__init__(base, q)
        self.infinite = InfiniteLoss(((q * base.infinite.mass, 1),))

    def _point(self, epsilon: Real) -> Real:
        gain = (exponential(epsilon) - 1) / self.q
        return reals.logarithm(1 + gain)

    def _factor(self, epsilon: Real) -> Real:
        return self.q

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        if delta == self.q or balls.order(delta, self.q) in (Order.ABOVE, Order.EQUAL):
            return Enclosure.exact(ZERO, self.method)
        found = self.base.epsilon(delta / self.q, digits + 2)
        if found.is_exact and found.lower in (0, math.inf):
            return found.labelled(self.method)
        return self._image(found, self._loss, digits)

    def _loss(self, x: arb) -> arb:
        """``log(1 + q (e^x - 1))``, which for large ``x`` must not overflow."""
        q = balls.ball(self.q)
        return (x.expm1() * q).log1p() if x < 1 else x + (q + (1 - q) * (-x).exp()).log()

    _epsilon = epsilon


class _Add(_SampledOnce):
    infinite = InfiniteLoss()

    def _rest(self, epsilon: Real) -> Real:
        """``1 - (1-q) e^eps``."""
        stay = 1 - self.q
        return 1 - stay * exponential(epsilon)

    def _point(self, epsilon: Real) -> Real:
        odds = self.q * exponential(epsilon) / self._rest(epsilon)
        return reals.logarithm(odds)

    def _factor(self, epsilon: Real) -> Real:
        return self._rest(epsilon)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        match balls.order(self._rest(epsilon), reals.ZERO):
            case Order.ABOVE:
                return super().delta(epsilon, digits)
            case Order.UNDECIDED:
                return self._near_the_end(epsilon, digits)
        return Enclosure.exact(ZERO, self.method)

    def _near_the_end(self, epsilon: Real, digits: int) -> Enclosure:
        """``delta <= (1 - (1-q) e^eps)_+``, where that is hardly told from 0 or overflows."""

        def most() -> arb:
            beyond = balls.ball(epsilon) + (-balls.ball(self.q)).log1p()
            return arb(0) if beyond > 0 else (-beyond.expm1()).max(arb(0))

        upper = balls.certify(most, digits, lowest=ZERO, highest=ONE).upper
        return Enclosure(ZERO, upper, self.method, "epsilon is next to the largest loss")

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        if delta.fraction == 0:
            return self.largest_loss(digits)
        half = -math.log1p(-min(balls.approximate(self.q), 0.999)) / 2
        # proposes: where the search starts
        start = Fraction(half) if half > 0 else ONE
        return invert(self.delta, delta, digits, self.method, start)

    _epsilon = epsilon

    def largest_loss(self, digits: int) -> Enclosure:
        found = self.base.epsilon(reals.ZERO, digits + 2)
        if found.lower == 0 and found.is_exact:
            return found.labelled(self.method)
        edge = balls.certify(
            lambda: -(-balls.ball(self.q)).log1p(), digits, lowest=ZERO, method=self.method
        )
        if found.lower == math.inf:
            return edge
        image = self._image(found, lambda x: -((-x).expm1() * balls.ball(self.q)).log1p(), digits)
        return image.within(ZERO, edge.upper)


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
                return Enclosure.exact(ZERO, self.method)
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
        return balls.to_enclosure(ends, self.method).within(ZERO, math.inf)


class _Outcomes:
    r"""Delta and epsilon where the threshold is the outcome ``w``, at the current precision.

    With :math:`\mu = 1/\sigma`, :math:`r(w) = e^{\mu w - \mu^2/2}` and
    :math:`g(w) = \bar\Phi(w - \mu) - r(w)\,\bar\Phi(w)`, the optimal events are rays, so

    .. math:: \mathrm{remove:}\quad \varepsilon = \log(1 - q + q r),\quad \delta = q g,

    .. math:: \mathrm{add:}\quad \varepsilon = -\log(1 - q + q/r),\quad
              \delta = \frac{q g}{(1-q) r + q},

    where epsilon increases with :math:`w` and delta decreases (``docs/theory/sampling.md``).
    """

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
