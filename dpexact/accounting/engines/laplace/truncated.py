r"""Equal runs of truncated Laplace noise: the profile as a finite sum of power series.

Given an output of finite loss, the loss of one run has the law :math:`e^{z/2}\,\nu(dz)/N`, ``nu``
symmetric: ``a`` at each of :math:`\pm w`, and density 1/2 between
(:mod:`dpexact.accounting.pairs.laplace`). The Laplace transform of ``nu`` is
:math:`e^{sw}(a + v) + e^{-sw}(a - v)`, ``v = 1/(2s)``, and that of :math:`2\sinh(t/2)_+` is
:math:`4v^2/(1-v^2)`. Expanding the ``k``-th power and inverting term by term

.. math:: \delta(\varepsilon) = \frac{2\,e^{\varepsilon/2}}{N^k} \sum_{x_j > 0} \binom kj
          \sum_{r \ge 0} c_r(j) \frac{x_j^{r+1}}{(r+1)!}, \qquad
          x_j = \tfrac12 (w (2j - k) - \varepsilon),

with :math:`c_r(j) = [v^r] (a+v)^j (a-v)^{k-j} / (1-v^2)`. As :math:`|c_r| \le (1+a)^k`, what
follows ``m`` terms is at most :math:`(1+a)^k x^{m+1}/(m+1)! \cdot 1/(1 - x/(m+2))`.
"""

from __future__ import annotations

import math
from typing import Final

from flint import arb, arb_poly, fmpz

from dpexact import balls
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.pairs.laplace import TruncatedLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import Real

#: Most runs, and the largest loss of them all.
MAX_COUNT: Final = 400
MAX_LOSS: Final = 2_000.0


class TruncatedLaplaceSums(BallProfile):
    """``count`` runs of ``pair``, with the mass ``infinite`` of infinite loss."""

    method = "closed form: truncated Laplace"
    is_smooth = True

    def __init__(self, pair: TruncatedLaplace, count: int, infinite: InfiniteLoss) -> None:
        self.pair, self.count, self.infinite = pair, count, infinite
        self.largest: Real | None = count * pair.width
        width, ends = balls.approximate(pair.width), balls.approximate(pair.ends)
        self.lost_bits = math.ceil(count * (math.log2(1 + ends) + 1 + 1.5 * width)) + 32
        #: Power series of so many bits.
        self._bits, self._kept = 0, dict[tuple[int, int], arb_poly]()

    @staticmethod
    def takes(pair: TruncatedLaplace, count: int) -> bool:
        """Proposes: whether the sum is short."""
        return count <= MAX_COUNT and count * balls.approximate(pair.width) <= MAX_LOSS

    def finite_ball(self, epsilon: arb) -> arb:
        k, width, ends = self.count, balls.ball(self.pair.width), balls.ball(self.pair.ends)
        if self._bits != balls.current():
            self._bits, self._kept = balls.current(), {}
        top = (k * width - epsilon) / 2
        if not top.is_finite():
            return arb.nan()
        total, size = arb(0), math.frexp(float(top.mid()))[1]
        for j in range(k + 1):
            x = (width * (2 * j - k) - epsilon) / 2
            if not x <= 0:
                total += fmpz.bin_uiui(k, j) * self._series(j, size, x)
        half = width / 2
        norm = 2 * (ends * half.cosh() + half.sinh())
        return 2 * (epsilon / 2).exp() * total / norm**k

    def _terms(self, x: float) -> int:
        """Proposes: after how many terms the rest is small; it is bounded after any number."""
        target, m = self.lost_bits + balls.current(), max(1, math.ceil(2 * max(x, 0.0)))
        while (m + 1) * math.log2(max(x, 1e-9)) - math.lgamma(m + 2) / math.log(2) > -target:
            m += 8 + m // 8
        return m

    def _series(self, j: int, size: int, x: arb) -> arb:
        # proposes: how many terms, alike where losses are about as large; the rest is bounded
        if (j, size) not in self._kept:
            self._kept[j, size] = self._expansion(j, self._terms(math.ldexp(1.0, size)))
        # proposes: likewise
        sums, far = self._kept[j, size], x.abs_upper()  # x may be around 0
        m, most = sums.length(), (1 + balls.ball(self.pair.ends)) ** self.count
        ratio = far / (m + 2)
        rest = most * far ** (m + 1) / fmpz.fac_ui(m + 1) / (1 - ratio)
        # proposes: nothing; a ball decides whether the others fall
        return x * sums(x) + rest * balls.AROUND if ratio < 1 else arb.nan()

    def _expansion(self, j: int, terms: int) -> arb_poly:
        """The first ``c_r / (r + 1)!``, which are the same wherever one asks."""
        ends = balls.ball(self.pair.ends)
        raised = (arb_poly([ends, 1]) ** j * arb_poly([ends, -1]) ** (self.count - j)).coeffs()
        for r in range(2, len(raised)):
            raised[r] += raised[r - 2]
        found, factorial = [], arb(1)
        # proposes: likewise
        for r in range(terms):
            factorial *= r + 1
            # of degree count, so that only what is summed goes on
            last = r if r <= self.count else self.count - (r - self.count) % 2
            found.append(raised[last] / factorial)
        return arb_poly(found)
