r"""Gaussian central limits: a composition is treated as one ``mu``-GDP mechanism.

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

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.base import Approximation
from dpexact.accounting.closed_form import gaussian_divergence
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in, real_in
from dpexact.balls import normal_tail
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.reals import Real


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
