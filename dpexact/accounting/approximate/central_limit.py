r"""Gaussian central limits, Edgeworth expansions, and the central limit with its error.

Before them stands what every published approximation offers: the delta and epsilon that it claims.

Of the first a composition is treated as one ``mu``-GDP mechanism.

The limits are theorems about infinitely many steps; at a finite number they are estimates, in
either direction. For noisy stochastic gradient descent with noise multiplier ``sigma``, rate ``q``,
``T`` steps:

.. math:: \mu_{Poisson} = q\sqrt{T(e^{1/\sigma^2} - 1)}, \qquad
   \mu_{uniform} = \sqrt2\,q\sqrt T\sqrt{e^{\sigma^{-2}}\Phi(\tfrac{3}{2\sigma})
   + 3\Phi(-\tfrac1{2\sigma}) - 2}

(Bu, Dong, Long, Su 2020, for add/remove neighbours; Dong, Roth, Su 2022, Corollary 4, for samples
of fixed size and replacement, where the printed ``sqrt(2c)`` should be ``sqrt(2) c``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.moments import sampled_cumulants, sampled_functionals, summed
from dpexact.accounting.classic.roots import increasing_root
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import delivered
from dpexact.arguments import Direction, digits_in, integer_in, real_in
from dpexact.balls import normal_tail
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.ternary import Ternary
from dpexact.tradeoffs.noises import quantile

#: A claim that is above delta here is taken to stay above: nothing is said then.
_FAR: Final = 2**60


class Approximation(ABC):
    """A published formula for the privacy profile; ``method`` names it. It proves nothing."""

    method: str

    @abstractmethod
    def delta_ball(self, epsilon: arb) -> arb:
        """The delta that the formula gives, as a ball at the current precision."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Enclose the claimed delta at ``epsilon >= 0``."""
        return balls.certify(
            lambda: self.delta_ball(balls.ball(epsilon)), digits, method=self.method
        )

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        """Enclose an epsilon at which the claimed delta crosses ``delta``; 0 if it starts below.

        A formula that does not decrease everywhere may cross elsewhere too. Where no crossing was
        certified nothing is known.
        """
        with balls.precision(64):
            if self.delta_ball(arb(_FAR)) > balls.ball(delta):
                reason = f"the claim of {self.method} stays above delta"
                return Enclosure(Fraction(0), math.inf, self.method, reason)
        low = high = Fraction(0)  # no bracket is known yet

        def missing(epsilon: arb) -> arb:
            return balls.ball(delta) - self.delta_ball(epsilon)

        def crossing() -> arb:
            nonlocal low, high
            left, right = balls.ball(low), balls.ball(high) if high else arb(1)
            while not high and right < _FAR and not missing(right) > 0:
                right *= 2
            if low == 0 and missing(left) >= 0:
                return left
            if not (missing(left) <= 0 and missing(right) >= 0):
                return arb.nan()
            found = increasing_root(missing, left, right)
            if found.is_finite():  # of several crossings a higher precision looks at this one
                bounds = balls.to_enclosure(found)
                low, high = Fraction(bounds.lower), Fraction(bounds.upper)
            return found

        cap = 8 * balls.bits_for(digits)
        return balls.certify(crossing, digits, lowest=Fraction(0), method=self.method, cap=cap)


class Larger(Approximation):
    """The larger of what two formulas claim: the worse of two directions."""

    def __init__(self, first: Approximation, second: Approximation) -> None:
        self.first = first
        self.second = second
        self.method: str = first.method

    def delta_ball(self, epsilon: arb) -> arb:
        return self.first.delta_ball(epsilon).max(self.second.delta_ball(epsilon))


class Beside(Approximation):
    """What a formula claims of the finite losses, beside an exact mass of infinite loss."""

    def __init__(self, formula: Approximation, infinite: InfiniteLoss) -> None:
        self.formula = formula
        self.infinite = infinite
        self.method: str = f"{formula.method}, beside infinite loss"

    def delta_ball(self, epsilon: arb) -> arb:
        lost = self.infinite.ball()
        return lost + (1 - lost) * self.formula.delta_ball(epsilon)


class CentralLimit(Approximation):
    """The profile of ``mu``-GDP for a ``mu`` given as a ball function."""

    def __init__(self, mu: Callable[[], arb], method: str) -> None:
        self.mu = mu
        self.method = method

    def delta_ball(self, epsilon: arb) -> arb:
        return gaussian_divergence(self.mu(), epsilon)


def poisson_mu(sigma: RealLike, q: RealLike, steps: RealLike, digits: int = 15) -> Enclosure:
    """Enclose ``q sqrt(T (e^(1/sigma^2) - 1))``.

    Args:
        sigma: noise multiplier ``> 0``.
        q: sampling rate in ``(0, 1]``.
        steps: number ``T`` of steps.
        digits: certified significant digits.

    >>> print(poisson_mu("0.7", "256/60000", 10547, 12).shown(12))
    1.13393918828...
    """
    return _published(poisson_limit, sigma, q, steps, digits)


def uniform_mu(sigma: RealLike, q: RealLike, steps: RealLike, digits: int = 15) -> Enclosure:
    """Enclose the ``mu`` of Corollary 4, for samples of a share ``q`` of all records.

    >>> print(uniform_mu("0.7", "256/60000", 10547, 12).shown(12))
    1.55363...
    """
    return _published(uniform_limit, sigma, q, steps, digits)


def _published(
    limit: Callable[[Real, Real, int], CentralLimit],
    sigma: RealLike,
    q: RealLike,
    steps: RealLike,
    digits: int,
) -> Enclosure:
    noise, rate = real_in(sigma, "sigma", "> 0"), real_in(q, "q", "> 0", "<= 1")
    formula, wanted = limit(noise, rate, integer_in(steps, "steps", 1)), digits_in(digits)
    found = balls.certify(formula.mu, wanted, lowest=Fraction(0), method=formula.method)
    return delivered(found, wanted)


def poisson_limit(sigma: Real, q: Real, steps: int) -> CentralLimit:
    """For Poisson samples."""

    def mu() -> arb:
        square = balls.ball(sigma) ** 2
        return balls.ball(q) * (steps * (1 / square).expm1()).sqrt()

    return CentralLimit(mu, "central limit, Poisson sampling")


def uniform_limit(sigma: Real, q: Real, steps: int) -> CentralLimit:
    """For samples of fixed size."""

    def mu() -> arb:
        shift = 1 / balls.ball(sigma)
        total = (shift * shift).exp() * normal_tail(-3 * shift / 2)
        total += 3 * normal_tail(shift / 2) - 2
        return balls.ball(q) * (2 * steps * total).sqrt()

    return CentralLimit(mu, "central limit, uniform sampling")


class Edgeworth(Approximation):
    r"""The expansion of ``order`` 1 or 2 from the first four cumulants under ``P`` and ``Q``.

    With ``h`` the standardised epsilon and ``rho_3``, ``rho_4`` the skewness and excess kurtosis of
    the total loss (Zheng, Dong, Long, Su 2020),

    .. math:: 1 - F(h) = Q(h) + \varphi(h)\Big[\frac{\rho_3}{6}(h^2 - 1)
              + \frac{\rho_4}{24}(h^3 - 3h) + \frac{\rho_3^2}{72}(h^5 - 10h^3 + 15h)\Big],

    the first order being the term in ``rho_3`` alone, and ``delta = (1 - F_P) - e^eps (1 - F_Q)``.
    Nothing ensures that this is positive or decreases.
    """

    def __init__(self, cumulants: Callable[[], Sequence[arb]], order: int) -> None:
        self.cumulants = cumulants
        self.order = order
        self.method: str = f"Edgeworth, order {order}"

    def delta_ball(self, epsilon: arb) -> arb:
        found = self.cumulants()
        return self._tail(epsilon, *found[:4]) - epsilon.exp() * self._tail(epsilon, *found[4:])

    def _tail(self, epsilon: arb, mean: arb, variance: arb, third: arb, fourth: arb) -> arb:
        scale = variance.sqrt()
        h = (epsilon - mean) / scale
        skewness, kurtosis = third / (variance * scale), fourth / (variance * variance)
        square = h * h  # powers of balls that hold 0 are no numbers
        correction = skewness / 6 * (square - 1)
        if self.order == 2:
            correction += kurtosis / 24 * h * (square - 3)
            correction += skewness * skewness / 72 * h * (square * (square - 10) + 15)
        density = (-h * h / 2).exp() / (2 * arb.pi()).sqrt()
        return normal_tail(h) + density * correction


def edgeworth(c: Composition, order: int, direction: Direction) -> Approximation:
    """The expansion for a composition of responses, additive noise and samples of Gaussians.

    Raises:
        UnsupportedMechanism: another sample.
    """
    if direction == "both" and c.is_directed:
        return Larger(edgeworth(c, order, "remove"), edgeworth(c, order, "add"))

    def of_pair(pair: Pair) -> list[arb]:  # Z under Q is -Z of the reverse under its P
        loss, back = pair.loss_moments(), pair.reverse.loss_moments()
        return [*loss[:4], *_negated(back[:4])]

    def of_sample(mu: arb, q: arb) -> list[arb]:
        mixture, normal = (sampled_cumulants(mu, q, weighted) for weighted in (True, False))
        return [*_negated(normal), *_negated(mixture)] if direction == "add" else mixture + normal

    return Edgeworth(summed(c.facing(direction), of_pair, of_sample), order)


def _negated(cumulants: Sequence[arb]) -> list[arb]:
    """Those of ``-Z``."""
    return [-c if j % 2 == 0 else c for j, c in enumerate(cumulants)]


METHOD = "Berry-Esseen"


class BerryEsseen(Approximation):
    r"""An upper bound on delta, and a theorem: Dong, Roth, Su (2022), Theorem 5 and Corollary 5.

    With the sums ``K``, ``K_2``, ``K_3`` of the functionals over all steps, which are symmetric,
    and ``V = K_2 - sum kl_i^2``,

    .. math:: \mu = \frac{2K}{\sqrt V}, \qquad \gamma = 0.56\,\frac{K_3}{V^{3/2}}, \qquad
              f \ge \max\{G_\mu(\alpha + \gamma) - \gamma,\ 0\} \quad (\gamma < 1/2).

    The dual of that lower bound is what is claimed. With ``beta = alpha + gamma`` and
    ``beta* = Phi(-eps/mu - mu/2)``, where ``G_mu`` has slope ``-e^eps``, it is

    .. math:: \delta = \delta_\mu(\varepsilon) + \gamma(1 + e^\varepsilon) \ (\beta^* \ge \gamma),
              \qquad \delta = 1 - G_\mu(\gamma) + \gamma \ (\beta^* \le \gamma),

    and never more than 1.

    Raises:
        UnsupportedMechanism: the functionals of a step are infinite or not known.
        InvalidInput: ``gamma >= 1/2``.
    """

    method = METHOD

    def __init__(self, functionals: Callable[[], Sequence[arb]]) -> None:
        self.functionals = functionals
        gamma = balls.certify(lambda: self.constants()[1], 5)
        if gamma.less_than(Fraction(1, 2)) is not Ternary.HOLDS:
            raise InvalidInput("gamma: the error of Theorem 5 is not certainly below 1/2 here")

    def constants(self) -> tuple[arb, arb]:
        """``mu`` and ``gamma``."""
        found = self.functionals()
        _, variance, third = found
        return central_mu(found), arb(56) / 100 * third / (variance * variance.sqrt())

    def delta_ball(self, epsilon: arb) -> arb:
        mu, gamma = self.constants()
        place = normal_tail(epsilon / mu + mu / 2)
        inside = gaussian_divergence(mu, epsilon) + gamma * (1 + epsilon.exp())
        edge = self._edge(mu, gamma)
        if place > gamma:
            return inside.min(arb(1))
        return edge if place < gamma else inside.union(edge).min(arb(1))

    def _edge(self, mu: arb, gamma: arb) -> arb:
        """``1 - G_mu(gamma) + gamma``, with ``1 - G_mu(x) = P[N > q - mu]``, ``P[N > q] = x``."""
        return (normal_tail(quantile(gamma) - mu) + gamma).min(arb(1))

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        least = balls.certify(lambda: self._edge(*self.constants()), 10)
        target = balls.certify(lambda: balls.ball(delta), 10)
        if target.less_than(least) is Ternary.HOLDS:
            return Enclosure.exact(math.inf, self.method)
        return super().epsilon(delta, digits)


def functionals(c: Composition) -> Callable[[], list[arb]]:
    """``sum kl_i``, ``V`` and ``K_3``; a sample stands for ``C_p`` of its Gaussian."""

    def of_pair(pair: Pair) -> tuple[arb, arb, arb]:
        loss = pair.loss_moments()
        return loss.mean, loss.variance, loss.absolute

    return summed(c, of_pair, sampled_functionals)


def central_mu(functionals: Sequence[arb]) -> arb:
    """``2 K / sqrt(V)``."""
    kl, variance, _ = functionals
    return 2 * kl / variance.sqrt()
