r"""Different ``eps_i = n_i b``: the exact number of subsets of each loss.

Under ``P`` mechanism ``i`` has loss ``eps_i`` with probability :math:`1/(1+e^{-\epsilon_i})`, else
``-eps_i``. With ``B = e^b`` and :math:`N = \sum n_i`, a subset of sum ``m`` has

.. math:: P = B^m / \prod_i (1 + B^{n_i}), \quad Q = B^{N-m} / \prod_i (1 + B^{n_i}), \quad
          \text{loss } (2m - N)\, b,

and the number :math:`c_m` of such subsets is the coefficient of ``x^m`` in
:math:`\prod (1 + x^{n_i})`: an integer that does not depend on ``b``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb, arb_poly, fmpz, fmpz_poly

from dpexact import balls
from dpexact.accounting.engines.tangents import Tangent, TangentProfile, exact_responses, threshold
from dpexact.accounting.pairs.lattice import Strided
from dpexact.accounting.profile import InfiniteLoss
from dpexact.kept import cached_property
from dpexact.reals import Real

#: Largest degree and size in bits of a counting polynomial.
MAX_DEGREE: Final = 1 << 20
MAX_COUNT_BITS: Final = 1 << 29


class CountLaw(TangentProfile):
    """Profile of randomised responses on a lattice of losses of spacing ``unit = 2 b``."""

    method = "heterogeneous composition: exact counts"

    def __init__(self, unit: Real, parts: list[Strided], infinite: InfiniteLoss) -> None:
        self.base: Real = unit / 2
        self.parts = parts
        self.infinite = self.beside = infinite
        self.degree: int = sum(s.stride * s.count for s in parts)
        self.largest: Real = self.base * self.degree
        self._tails: dict[int, list[tuple[arb, arb]]] = {}

    @property
    def is_long(self) -> bool:
        """Whether the counts are too many, or too large, to be written out."""
        bits = sum(s.count for s in self.parts)
        return self.degree > MAX_DEGREE or (self.degree + 1) * bits > MAX_COUNT_BITS

    @cached_property
    def counts(self) -> fmpz_poly:
        """``prod (1 + x^(n_i))^count``, by a product tree."""
        factors = [fmpz_poly([1, *[0] * (s.stride - 1), 1]) ** s.count for s in self.parts]
        while len(factors) > 1:
            # proposes: the order of multiplying, the shortest ones first
            factors.sort(key=lambda factor: -factor.length())
            factors.append(factors.pop() * factors.pop())
        return factors[0]

    def tangent(self, epsilon: arb) -> Tangent:
        step = balls.ball(self.base)
        start, doubt = threshold((epsilon / step + self.degree) / 2, 2 * step, self.degree)
        bits = balls.current()
        if bits not in self._tails:
            self._tails = {bits: self._accumulated(step)}
        # the rest of its block, and all blocks after that
        block = -(-start // self._block)
        p, q = self._sums(start, block * self._block, step)
        p, q = p + self._tails[bits][block][0], q + self._tails[bits][block][1]
        return Tangent(p, q, p * doubt)

    @cached_property
    def _block(self) -> int:
        """How many counts are summed at once: neither blocks nor what they hold are many."""
        return math.isqrt(self.degree) + 1

    def _accumulated(self, step: arb) -> list[tuple[arb, arb]]:
        """``P`` and ``Q`` of the sums from the beginning of each block on, and from the end."""
        tails = [(arb(0), arb(0))]
        for block in reversed(range(self.degree // self._block + 1)):
            p, q = self._sums(block * self._block, (block + 1) * self._block, step)
            tails.append((p + tails[-1][0], q + tails[-1][1]))
        return tails[::-1]

    def _sums(self, first: int, end: int, step: arb) -> tuple[arb, arb]:
        """``P`` and ``Q`` of the sums from ``first`` to before ``end``."""
        counts = self._coefficients[first:end]
        if not counts:
            return arb(0), arb(0)
        decay, last = (-step).exp(), first + len(counts) - 1
        log_whole = arb(0)  # log prod (1 + B^(-n_i)): all powers are at most 1
        for s in self.parts:
            log_whole += s.count * (-s.stride * step).exp().log1p()
        # c_m B^(m - N) and c_m B^(-m)
        p = arb_poly(counts[::-1])(decay) * ((last - self.degree) * step - log_whole).exp()
        return p, arb_poly(counts)(decay) * (-first * step - log_whole).exp()

    @cached_property
    def _coefficients(self) -> list[fmpz]:
        return list(self.counts.coeffs())

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        responses = [(s.stride * self.base, s.count) for s in self.parts]
        return exact_responses(responses, level, [s.stride for s in self.parts])
