r"""The normal tail :math:`\bar\Phi(z) = P(N(0,1) > z)` at very many points: Taylor series."""

from __future__ import annotations

import math

from flint import arb, arb_poly, arb_series, ctx

#: Expansion points per unit of ``z``.
PER_UNIT = 64
#: Beyond this the tail is evaluated directly.
FAR = 60


def direct_tail(z: arb) -> arb:
    """The normal tail with relative accuracy."""
    return (z / arb(2).sqrt()).erfc() / 2


class NormalTail:
    r"""``tail(z)`` as a ball, of absolute accuracy ``2^-bits``, at the precision it was made for.

    Around ``c`` the Taylor polynomial of degree ``n - 1`` is off by at most

    .. math:: \frac{|h|^n}{n!} \max |\bar\Phi^{(n)}| \le
              \frac{|h|^n}{n!} \frac{1.09 \sqrt{(n-1)!}}{\sqrt{2\pi}} ,

    since :math:`\bar\Phi^{(n)} = \pm He_{n-1} \phi` and, by Cramér's inequality,
    :math:`|He_k(z)| e^{-z^2/4} \le 1.0865 \sqrt{k!}`.
    """

    def __init__(self, bits: int) -> None:
        self._reach = 0.51 / PER_UNIT  # 0.5, and room for the radius of z and for rounding
        self._degree = 4
        while self._log_remainder() > -bits - 2:
            self._degree += 1
        remainder = arb(2) ** math.ceil(self._log_remainder() + 0.01)
        self._remainder = arb(0, 1) * remainder
        self._small = arb(2) ** -14
        self._root = 1 / arb(2).sqrt()
        self._cache: dict[int, tuple[arb, arb_poly]] = {}

    def _log_remainder(self) -> float:
        n = self._degree
        factorials = (math.lgamma(n) / 2 - math.lgamma(n + 1)) / math.log(2)
        return n * math.log2(self._reach) + factorials - 1.2  # log2(1.0865/sqrt(2 pi)) < -1.2

    def __call__(self, z: arb) -> arb:
        place = float(z.mid())
        if not (-FAR < place < FAR and z.rad() < self._small):
            return direct_tail(z)
        key = round(place * PER_UNIT)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._expand(key)
        return found[1](z - found[0])

    def _expand(self, key: int) -> tuple[arb, arb_poly]:
        cap, ctx.cap = ctx.cap, self._degree
        try:
            center = arb(key) / PER_UNIT
            series = arb_series([center * self._root, self._root], self._degree).erfc()
            coefficients = [c / 2 for c in series.coeffs()]
        finally:
            ctx.cap = cap
        coefficients[0] += self._remainder
        return center, arb_poly(coefficients)
