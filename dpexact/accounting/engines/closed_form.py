r"""Closed forms: Gaussians, Gaussians composed with randomised response, and equal responses.

A composition of Gaussian mechanisms is one Gaussian with
:math:`\mu^2 = \sum_i k_i (\Delta_i/\sigma_i)^2` (Dong, Roth, Su 2022, Corollary 2), and for every
real ``eps``

.. math:: \delta(\varepsilon) = \Phi(-\varepsilon/\mu + \mu/2)
          - e^{\varepsilon}\,\Phi(-\varepsilon/\mu - \mu/2)

(Balle and Wang 2018, Theorem 8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb, fmpz

from dpexact import balls
from dpexact.accounting.binomial import BinomialTails
from dpexact.accounting.engines.tangents import Tangent, TangentProfile, exact_responses, threshold
from dpexact.accounting.inverted import BallProfile, enclose_largest
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)
#: Most bits by which tails are sharpened for a small delta, and how many fewer are enough.
_MOST_BITS, _COVERED = 2_000, 24
#: Newton's method in floats.
_STEPS, _CLOSE, _LARGEST, _ROOT = 20, 1e-7, 700.0, math.sqrt(0.5)


def gaussian_divergence(mu: arb, epsilon: arb) -> arb:
    """``delta(epsilon)`` of ``N(mu, 1)`` against ``N(0, 1)``, for ``mu > 0`` and real epsilon."""
    root2 = arb(2).sqrt()
    near = _erfc((epsilon / mu - mu / 2) / root2)
    far = _erfc((epsilon / mu + mu / 2) / root2)
    return (near - epsilon.exp() * far) / 2


def _erfc(x: arb) -> arb:
    """``erfc(x)``; FLINT gives an inexact large ``x`` up, but ``erfc`` decreases."""
    value = x.erfc()
    if value.rel_accuracy_bits() > 0 or not x.is_finite():
        return value
    return x.lower().erfc().union(x.upper().erfc())


def _by_newton(mu: float, log_delta: float, guess: float) -> float:
    """About epsilon of a Gaussian from a guess above it, which stands where floats do not reach.

    Proposes: where the search starts.
    """
    at = guess
    for _ in range(_STEPS):
        place, half = at / mu, mu / 2
        if at > _LARGEST:
            return guess
        far = math.exp(at) * math.erfc((place + half) * _ROOT)
        value = math.erfc((place - half) * _ROOT) - far
        if not (value > 0 and far > 0):
            return guess
        step = (math.log(value / 2) - log_delta) * value / far
        at += step
        if not 0 < at <= guess:
            return guess
        if abs(step) < _CLOSE * at:
            return at
    return guess


class GaussianMixedWithResponse(BallProfile):
    r"""A Gaussian of parameter ``mu > 0`` composed with ``count`` responses of the same ``eps``.

    .. math:: \delta(\varepsilon') = D + (1-D) \sum_{j=0}^{k} \binom{k}{j} q^j (1-q)^{k-j}\,
              \delta_\mu(\varepsilon' - (2j-k)\varepsilon), \quad q = 1/(1+e^{-\varepsilon})

    because the two losses are independent. ``count = 0`` is the Gaussian alone.
    """

    def __init__(
        self, mu: Real, infinite: InfiniteLoss, eps: Real | None = None, count: int = 0
    ) -> None:
        self.mu = mu
        self.largest = None
        self.infinite = infinite
        self.eps: Real = eps if eps is not None else rational(0)
        self.count = count
        self.method = "closed form: Gaussian"
        if count:
            self.method += " with randomised response"

    @property
    def is_smooth(self) -> bool:
        return True

    def near(self, delta: Real) -> Fraction:
        mu, log = balls.approximate(self.mu), balls.approximate_log(delta)
        guess = mu * math.sqrt(max(-2 * log, 0.0)) + mu * mu / 2
        # proposes: where the search starts
        if not 0 < guess < math.inf:
            return _ONE
        return Fraction(guess if self.count else _by_newton(mu, log, guess))

    def finite_ball(self, epsilon: arb) -> arb:
        mu = balls.ball(self.mu)
        if self.count == 0:
            return gaussian_divergence(mu, epsilon)
        step = balls.ball(self.eps)
        finite = arb(0)
        binomial = fmpz(1)
        for j in range(self.count + 1):
            shift = (2 * j - self.count) * step
            weight = binomial * (j * step).exp()
            finite += weight * gaussian_divergence(mu, epsilon - shift)
            binomial = binomial * (self.count - j) // (j + 1)
        return finite / (1 + step.exp()) ** self.count


class SinglePair(BallProfile):
    """One run of a pair, and a mass of infinite loss ``beside`` that it does not hold."""

    method = "closed form: tails of the pair"
    largest = None
    is_smooth = True

    def __init__(self, pair: Pair, infinite: InfiniteLoss, beside: InfiniteLoss) -> None:
        self.pair = pair
        self.infinite = infinite
        self.beside = beside

    def delta_ball(self, epsilon: arb) -> arb:
        return self.infinite.ball() + self.finite_ball(epsilon)

    def finite_ball(self, epsilon: arb) -> arb:
        return (1 - self.beside.ball()) * self.pair.divergence(epsilon)

    def delta_balls(self, epsilons: Sequence[arb]) -> list[arb]:
        lost, kept = self.infinite.ball(), 1 - self.beside.ball()
        return [lost + kept * x for x in self.pair.divergences(epsilons)]

    def lost_at(self, delta: Real) -> int:
        """Tails are off by as much wherever they are; some of that the guard bits cover."""
        lost = -balls.approximate_log(delta) / math.log(2)
        return max(0, math.ceil(min(lost, _MOST_BITS)) - _COVERED)

    def near(self, delta: Real) -> Fraction:
        return Fraction(max(self.pair.span(max(balls.approximate(delta), 1e-300))[1], 1e-9))

    def largest_loss(self, digits: int) -> Enclosure:
        return enclose_largest(self.pair.largest_loss, digits, self.method)


class OptimalComposition(TangentProfile):
    r"""Profile of ``k >= 1`` mechanisms of the same ``eps > 0``, with any infinite-loss mass.

    Kairouz, Oh, Viswanath (2017): under ``P`` the finite loss of the composed dominating pair is
    ``(2X - k) eps`` with ``X ~ Bin(k, q)``, ``q = 1/(1 + e^-eps)``; under ``Q``, ``X ~ Bin(k, 1 -
    q)``. With ``m`` the smallest ``X`` whose loss exceeds ``eps'`` (Theorem III.3 in closed form),

    .. math:: \delta_0(\varepsilon') = P[X \ge m] - e^{\varepsilon'} Q[X \ge m], \qquad
              \delta' = D + (1 - D)\,\delta_0, \quad D = 1 - \prod_i (1-\delta_i)^{k_i}.
    """

    method = "optimal composition"

    def __init__(self, eps: Real, count: int, infinite: InfiniteLoss) -> None:
        self.eps = eps
        self.count = count
        self.infinite = self.beside = infinite
        self.largest: Real = eps * count
        self.lost_bits = count.bit_length()
        self._laws: dict[int, tuple[BinomialTails, BinomialTails]] = {}
        self._tails: dict[tuple[int, int], tuple[arb, arb]] = {}

    def tangent(self, epsilon: arb) -> Tangent:
        eps = balls.ball(self.eps)
        m, doubt = threshold((epsilon / eps + self.count) / 2, 2 * eps, self.count)
        key = m, balls.current()
        if key not in self._tails:
            if key[1] not in self._laws:
                low, high = 1 / (1 + eps.exp()), 1 / (1 + (-eps).exp())
                self._laws[key[1]] = BinomialTails(high, low), BinomialTails(low, high)
            p, q = (law.at(self.count, [m])[0] for law in self._laws[key[1]])
            self._tails[key] = p, q
        p, q = self._tails[key]
        return Tangent(p, q, p * doubt)

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        return exact_responses([(self.eps, self.count)], level)
