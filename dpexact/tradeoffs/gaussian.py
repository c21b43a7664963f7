r""":math:`G_\mu(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu)`, of Gaussian differential privacy.

It is parametrised by ``t = Phi^-1(1 - alpha)``: ``alpha = Phi(-t)``, ``G_mu = Phi(t - mu)`` and the
slope is ``-e^(mu t - mu^2/2)``.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpexact import balls, reals
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.base import SymmetricCurve, level_in
from dpexact.tradeoffs.numbers import Number, ball, certify_level, enclose_level


class GaussianTradeoff(SymmetricCurve):
    """``G_mu = T(N(0, 1), N(mu, 1))``, ``mu >= 0`` any exact real (Dong, Roth, Su 2022, (5)).

    ``G * G'`` and ``G ** n`` are Gaussian too: the squares of ``mu`` add up (Corollary 2).

    >>> print(GaussianTradeoff(1)("1/20"))
    0.74048897715855592935169...
    """

    method = "closed form: Gaussian"

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        if alpha in (0, 1) or self.mu.fraction == 0:
            return enclose_level(1 - alpha, digits, self.method)
        return certify_level(
            lambda: normal_cdf(quantile(ball(alpha)) - balls.ball(self.mu)), digits, self.method
        )

    def slope(self, alpha: RealLike, digits: int = 15) -> Enclosure:
        """Enclose the derivative ``-e^(mu t - mu^2/2)`` at ``0 < alpha < 1``."""
        x, wanted = level_in(alpha), digits_in(digits)
        if x in (0, 1):
            raise InvalidInput(f"alpha: {alpha} is not accepted; must be > 0 and < 1")
        if self.mu.fraction == 0:
            return Enclosure.exact(Fraction(-1), self.method)

        def derivative() -> arb:
            mu = balls.ball(self.mu)
            return -(mu * quantile(ball(x)) - mu * mu / 2).exp()

        found = balls.certify(derivative, wanted, highest=Fraction(0), method=self.method)
        return delivered(found, wanted)

    def __mul__(self, other: GaussianTradeoff) -> GaussianTradeoff:
        if not isinstance(other, GaussianTradeoff):
            return NotImplemented
        return GaussianTradeoff(reals.square_root(self.mu * self.mu + other.mu * other.mu))

    def __pow__(self, times: RealLike) -> GaussianTradeoff:
        root = reals.square_root(reals.rational(integer_in(times, "times", 0)))
        return GaussianTradeoff(root * self.mu)

    def group(self, k: int) -> GaussianTradeoff:
        """``1 - (1 - G_mu)^(o k) = G_(k mu)``, ``k >= 1`` (Theorem 3)."""
        return GaussianTradeoff(integer_in(k, "k", 1) * self.mu)


def quantile(alpha: arb) -> arb:
    """``t = Phi^-1(1 - alpha)`` for ``0 < alpha < 1``."""
    return arb(2).sqrt() * (2 * alpha).erfcinv()


def normal_cdf(t: arb) -> arb:
    """``Phi(t)``, accurate in both tails."""
    return balls.normal_tail(-t)
