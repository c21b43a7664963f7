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
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.base import Approximation, normal_tail
from dpexact.accounting.approximate.functionals import Functionals, functionals
from dpexact.accounting.approximate.normal import quantile
from dpexact.accounting.closed_form import gaussian_divergence
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real
from dpexact.ternary import Ternary

METHOD = "Berry-Esseen"


class BerryEsseen(Approximation):
    """The upper bound on delta that follows from ``mu`` and ``gamma``; this one is a theorem."""

    method = METHOD

    def __init__(self, total: Callable[[], Functionals]) -> None:
        self.total = total
        gamma = balls.certify(lambda: self.constants()[1], 5)
        if gamma.less_than(Fraction(1, 2)) is not Ternary.HOLDS:
            raise InvalidInput("gamma: the error of Theorem 5 is not certainly below 1/2 here")

    def constants(self) -> tuple[arb, arb]:
        """``mu`` and ``gamma``."""
        total = self.total()
        gamma = arb(56) / 100 * total.third / (total.variance * total.variance.sqrt())
        return 2 * total.kl / total.variance.sqrt(), gamma

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


def theorem_5(mechanism: Mechanism) -> BerryEsseen:
    """Theorem 5 for a composition; for sampled Gaussians this is Corollary 5.

    Raises:
        UnsupportedMechanism: the functionals of a step are infinite or not known.
        InvalidInput: ``gamma >= 1/2``.
    """
    return BerryEsseen(total_functionals(mechanism))


def total_functionals(mechanism: Mechanism) -> Callable[[], Functionals]:
    """The sums of the functionals over all steps, as a ball function; kept for each precision."""
    parts = [(functionals(step), count) for step, count in mechanism.steps().items()]
    kept: dict[int, Functionals] = {}

    def compute() -> Functionals:
        bits = balls.current()
        if bits not in kept:
            total = Functionals(arb(0), arb(0), arb(0), arb(0))
            for part, count in parts:
                total += part().times(count)
            kept[bits] = total
        return kept[bits]

    return compute
