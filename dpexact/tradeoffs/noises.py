r"""The trade-off functions of Gaussian and of Laplace noise, in closed form.

That of the first is :math:`G_\mu(\alpha) = \Phi(\Phi^{-1}(1-\alpha) - \mu)`, parametrised by
``t = Phi^-1(1 - alpha)``: ``alpha = Phi(-t)``, ``G_mu = Phi(t - mu)`` and the slope is
``-e^(mu t - mu^2/2)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.base import SymmetricCurve, level_in
from dpexact.tradeoffs.numbers import (
    Number,
    ball,
    certify_level,
    compare,
    enclose_level,
    exponential,
)
from dpexact.tradeoffs.piecewise import Atom, PiecewiseLinear

#: Largest shift of discrete noise.
MAX_SENSITIVITY: Final = 1_000
_HALF: Final = Fraction(1, 2)


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
        return certify_level(lambda: self._ball(alpha), digits, self.method)

    def _enclose_many(self, alphas: Sequence[Number], digits: int) -> list[Enclosure]:
        if self.mu.fraction == 0:
            return super()._enclose_many(alphas, digits)
        between = Enclosure(Fraction(0), Fraction(1), self.method)
        ask = [x for x in alphas if x not in (0, 1)], digits, between
        found = iter(balls.certify_each(lambda x: [*map(self._ball, x)], *ask))
        return [self._enclose(x, digits) if x in (0, 1) else next(found) for x in alphas]

    def _ball(self, alpha: Number) -> arb:
        return normal_cdf(quantile(ball(alpha)) - balls.ball(self.mu))

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


class LaplaceTradeoff(SymmetricCurve):
    r"""``T(Lap(0, 1), Lap(mu, 1))`` for ``mu = sensitivity / scale >= 0``.

    .. math:: f(\alpha) = 1 - e^{\mu}\alpha \ (\alpha < e^{-\mu}/2), \quad
              e^{-\mu}/(4\alpha) \ (\alpha \le 1/2), \quad e^{-\mu}(1-\alpha) \ (\alpha > 1/2)

    (Dong, Roth, Su 2022, Proposition 7). Symmetric, and exact at every exact ``alpha``.

    >>> print(LaplaceTradeoff("log(2)").value("1/3"))
    3/8
    """

    method = "closed form: Laplace"

    def __init__(self, mu: RealLike) -> None:
        super().__init__(mu)
        self._shrink = exponential(-self.mu)

    def value(self, alpha: RealLike) -> Number:
        """The exact ``f(alpha)``, ``0 <= alpha <= 1``."""
        x = level_in(alpha)
        if compare(x, self._shrink / 2) < 0:
            return 1 - x / self._shrink
        if compare(x, _HALF) <= 0:
            return self._shrink / (4 * x)
        return self._shrink * (1 - x)

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        return enclose_level(self.value(alpha), digits, self.method)


def discrete_laplace_pair(scale: RealLike, sensitivity: RealLike = 1) -> PiecewiseLinear:
    r"""``T(P, Q)`` of discrete Laplace noise against itself moved by an integer ``sensitivity``.

    With ``a = e^(-1/scale)`` the noise has mass ``(1-a)/(1+a) a^|x|``. The loss is constant below 0
    and above ``sensitivity``, so the pair is finite: ``sensitivity + 1`` atoms.

    >>> discrete_laplace_pair("1/log(2)").atoms[0]
    Atom(p=Fraction(1, 3), q=Fraction(2, 3))
    """
    inverse_scale = 1 / real_in(scale, "scale", "> 0")
    shift = integer_in(sensitivity, "sensitivity", 1, MAX_SENSITIVITY)
    a = exponential(-inverse_scale)
    tail, point = 1 / (1 + a), (1 - a) / (1 + a)
    inner = [Atom(point * a**x, point * a ** (shift - x)) for x in range(1, shift)]
    return PiecewiseLinear([Atom(tail, tail * a**shift), *inner, Atom(tail * a**shift, tail)])
