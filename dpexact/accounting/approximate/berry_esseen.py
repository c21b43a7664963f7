r"""The central limit with error of Dong, Roth, Su (2022), Theorem 5 and Corollary 5.

With the sums ``K``, ``K_2``, ``K_3`` of the functionals over all steps, which are symmetric, and
``V = K_2 - sum kl_i^2``,

.. math:: \mu = \frac{2K}{\sqrt V}, \qquad \gamma = 0.56\,\frac{K_3}{V^{3/2}}, \qquad
          f \ge \max\{G_\mu(\alpha + \gamma) - \gamma,\ 0\} \quad (\gamma < 1/2).

The dual of that lower bound is what is claimed. With ``beta = alpha + gamma`` and
``beta* = Phi(-eps/mu - mu/2)``, where ``G_mu`` has slope ``-e^eps``, it is

.. math:: \delta = \delta_\mu(\varepsilon) + \gamma(1 + e^\varepsilon) \ (\beta^* \ge \gamma),
          \qquad \delta = 1 - G_\mu(\gamma) + \gamma \ (\beta^* \le \gamma),

and never more than 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.base import Approximation
from dpexact.accounting.approximate.moments import sampled_functionals, summed
from dpexact.accounting.closed_form import gaussian_divergence
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.pair import Pair
from dpexact.balls import normal_tail
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.ternary import Ternary
from dpexact.tradeoffs.gaussian import quantile

METHOD = "Berry-Esseen"


class BerryEsseen(Approximation):
    """The upper bound on delta that follows from ``mu`` and ``gamma``; this one is a theorem.

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
