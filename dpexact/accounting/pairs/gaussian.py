"""Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from flint import acb, arb, arb_poly, arb_series, ctx

from dpexact.accounting.pairs.pair import Jet, LossMoments, Masses, Pair, Tails, far
from dpexact.balls import approximate, ball, current, normal_tail
from dpexact.reals import Real


@dataclass(frozen=True)
class Gaussian(Pair):
    """``N(mu, 1)`` against ``N(0, 1)``: ``M(s) = e^{s (s + 1) mu^2 / 2}``."""

    mu: Real
    lattice_points: ClassVar[int] = 512

    @property
    def decays(self) -> bool:
        return self.mu.fraction != 0

    def overlap(self) -> arb:
        """``2 Phi(-mu / 2)``."""
        return (ball(self.mu) / arb(8).sqrt()).erfc()

    def largest_loss(self) -> arb | None:
        return None

    def _half_square(self) -> arb:
        mu = ball(self.mu)
        return mu * mu / 2

    def at(self, s: acb) -> acb:
        return (self._half_square() * s * (s + 1)).exp()

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``|M(c + iu)| = M(c) e^{-mu^2 u^2 / 2}``, decreasing."""
        return self.moment(c, accuracy) * (-self._half_square() * arb(u) * arb(u)).exp()

    def cumulant(self, c: float) -> Jet:
        half = approximate(self.mu) ** 2 / 2
        return Jet(half * c * (c + 1), half * (2 * c + 1), 2 * half)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        half = approximate(self.mu) ** 2 / 2
        return lambda u: half * (c * (c + 1) - u * u)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 1, math.log2(1 + approximate(self.mu) ** 2 * (c + 1))

    def loss_moments(self) -> LossMoments:
        """Of a normal law."""
        mu = ball(self.mu)
        absolute = 2 * mu * mu * mu * (2 / arb.pi()).sqrt()
        return LossMoments(mu * mu / 2, mu * mu, arb(0), arb(0), absolute)

    # --- tails ------------------------------------------------------------------------------------

    def origin(self) -> arb:
        return arb(0)

    def tails(self, bits: int) -> tuple[Tails, arb]:
        """``P(N(mu, 1) > z)`` and ``P(N(0, 1) > z)``, ``z = log(r) / mu + mu / 2``."""
        mu, normal = ball(self.mu), normal_tail_to(bits)

        def tails(ratio: arb) -> Masses:
            if ratio > 0:
                z = ratio.log() / mu + mu / 2
                return normal(z - mu), normal(z)
            if ratio <= 0:
                return arb(1), arb(1)
            p, q = tails(ratio.upper())
            return p.union(arb(1)), q.union(arb(1))

        return tails, arb(1)

    def span(self, tail: float) -> tuple[float, float]:
        """The losses within ``far`` standard deviations of either mean."""
        mu, reach = approximate(self.mu), far(tail)
        return mu * (-reach - mu / 2), mu * (reach + mu / 2)

    def lost_bits(self) -> int:
        """The quantiles lose as many as the noise has."""
        return math.ceil(math.log2(max(1 / approximate(self.mu), 1.0)))


#: Expansion points per unit of ``z``.
PER_UNIT = 64
#: Beyond this the tail is evaluated directly.
FAR = 60


class NormalTail:
    r"""``tail(z)`` as a ball, of absolute accuracy ``2^-bits``, at the precision it was made for.

    Around ``c`` the Taylor polynomial of degree ``n - 1`` is off by at most

    .. math:: \frac{|h|^n}{n!} \max |\bar\Phi^{(n)}| \le
              \frac{|h|^n}{n!} \frac{1.09 \sqrt{(n-1)!}}{\sqrt{2\pi}} ,

    since :math:`\bar\Phi^{(n)} = \pm He_{n-1} \phi` and, by Cramér's inequality,
    :math:`|He_k(z)| e^{-z^2/4} \le 1.0865 \sqrt{k!}`.
    """

    def __init__(self, bits: int) -> None:
        # 0.5, and room for the radius of z and for rounding
        self._reach = arb(0.51) / PER_UNIT
        self._degree, negligible = 4, arb(2) ** (-bits - 2)
        while not self._remainder() < negligible:
            self._degree += 1
        self._cut = self._remainder().abs_upper()
        self._root = 1 / arb(2).sqrt()
        self._cache: dict[int, tuple[arb, arb_poly]] = {}

    def _remainder(self) -> arb:
        """The bound above at the farthest place that is expanded."""
        n = self._degree
        derivative = arb("1.09") * arb(n).gamma().sqrt() / (2 * arb.pi()).sqrt()
        return self._reach**n / arb(n + 1).gamma() * derivative

    def __call__(self, z: arb) -> arb:
        place = float(z.mid())
        # proposes: where to expand; any place within reach serves, and a ball decides that it is
        if not -FAR < place < FAR:
            return normal_tail(z)
        key = round(place * PER_UNIT)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._expand(key)
        h = z - found[0]
        return found[1](h) if abs(h) < self._reach else normal_tail(z)

    def _expand(self, key: int) -> tuple[arb, arb_poly]:
        cap, ctx.cap = ctx.cap, self._degree
        try:
            center = arb(key) / PER_UNIT
            series = arb_series([center * self._root, self._root], self._degree).erfc()
            coefficients = [c / 2 for c in series.coeffs()]
        finally:
            ctx.cap = cap
        coefficients[0] += arb(0, 1) * self._cut
        return center, arb_poly(coefficients)


def normal_tail_to(bits: int) -> NormalTail:
    """:class:`NormalTail`, with the expansions that the last few of the same precision have."""
    return _kept(bits, current())


@lru_cache(maxsize=4)
def _kept(bits: int, _precision: int) -> NormalTail:
    return NormalTail(bits)
