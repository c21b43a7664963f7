r"""Optimal composition of ``k`` mechanisms of equal ``eps``: Kairouz, Oh, Viswanath (2017).

Under ``P`` the finite loss of the composed dominating pair is ``(2X - k) eps`` with
``X ~ Bin(k, q)``, ``q = 1/(1 + e^-eps)``; under ``Q``, ``X ~ Bin(k, 1 - q)``. With ``m`` the
smallest ``X`` whose loss exceeds ``eps'`` (Theorem III.3 in closed form),

.. math:: \delta_0(\varepsilon') = P[X \ge m] - e^{\varepsilon'} Q[X \ge m], \qquad
          \delta' = D + (1 - D)\,\delta_0, \quad D = 1 - \prod_i (1-\delta_i)^{k_i}.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_tail
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.tangents import Tangent, TangentProfile, exact_responses, threshold
from dpexact.reals import Real


class OptimalComposition(TangentProfile):
    """Profile of ``k >= 1`` mechanisms of the same ``eps > 0``, with any infinite-loss mass."""

    method = "optimal composition"

    def __init__(self, eps: Real, count: int, infinite: InfiniteLoss) -> None:
        self.eps = eps
        self.count = count
        self.infinite = self.beside = infinite
        self.largest: Real = eps * count
        self.lost_bits = count.bit_length()
        self._tails: dict[tuple[int, int], tuple[arb, arb]] = {}

    def tangent(self, epsilon: arb) -> Tangent:
        eps = balls.ball(self.eps)
        m, doubt = threshold((epsilon / eps + self.count) / 2, 2 * eps, self.count)
        key = m, balls.current()
        if key not in self._tails:
            decay = (-eps).exp()
            low, high = decay / (1 + decay), 1 / (1 + decay)
            self._tails[key] = (
                binomial_tail(self.count, m, high, low),
                binomial_tail(self.count, m, low, high),
            )
        p, q = self._tails[key]
        return Tangent(p, q, p * doubt)

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        return exact_responses([(self.eps, self.count)], level)
