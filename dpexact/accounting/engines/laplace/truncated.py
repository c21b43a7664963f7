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

    @staticmethod
    def takes(pair: TruncatedLaplace, count: int) -> bool:
        """Proposes: whether the sum is short."""
        return count <= MAX_COUNT and count * balls.approximate(pair.width) <= MAX_LOSS

    def finite_ball(self, epsilon: arb) -> arb:
        k, width, ends = self.count, balls.ball(self.pair.width), balls.ball(self.pair.ends)
        top = (k * width - epsilon) / 2
        if not top.is_finite():
            return arb.nan()
        terms = self._terms(float(top.mid()))
        total = arb(0)
        for j in range(k + 1):
            x = (width * (2 * j - k) - epsilon) / 2
            if not x <= 0:
                total += fmpz.bin_uiui(k, j) * self._series(j, ends, x, terms)
        half = width / 2
        norm = 2 * (ends * half.cosh() + half.sinh())
        return 2 * (epsilon / 2).exp() * total / norm**k

    def _terms(self, x: float) -> int:
        """Proposes: after how many terms the rest is small; it is bounded after any number."""
        target, m = self.lost_bits + balls.current(), max(1, math.ceil(2 * max(x, 0.0)))
        while (m + 1) * math.log2(max(x, 1e-9)) - math.lgamma(m + 2) / math.log(2) > -target:
            m += 8 + m // 8
        return m

    def _series(self, j: int, ends: arb, x: arb, terms: int) -> arb:
        # proposes: how many terms; the rest is bounded
        raised = arb_poly([ends, 1]) ** j * arb_poly([ends, -1]) ** (self.count - j)
        total, power = arb(0), arb(1)
        sums = [arb(0), arb(0)]
        # proposes: likewise
        for r in range(terms):
            sums[r % 2] += raised[r]
            power *= x / (r + 1)
            total += sums[r % 2] * power
        # proposes: likewise
        ratio = x / (terms + 2)
        rest = (1 + ends) ** self.count * power * x / (terms + 1) / (1 - ratio)
        # proposes: likewise; a ball decides whether the others fall
        return total + rest * arb(-1).union(arb(1)) if ratio < 1 else arb.nan()
