r"""The normal tail :math:`\bar\Phi(z) = P(N(0,1) > z)` at very many points: Taylor series."""

from __future__ import annotations

from flint import arb, arb_poly, arb_series, ctx

from dpexact.balls import normal_tail

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
        coefficients[0] += arb(0, 1) * self._remainder().abs_upper()
        return center, arb_poly(coefficients)
