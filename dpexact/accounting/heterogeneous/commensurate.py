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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

from flint import arb, arb_poly, fmpz, fmpz_poly

from dpexact import balls
from dpexact.accounting.profile import EXACT_BITS
from dpexact.exactness import exact_ratio
from dpexact.reals import Real

Parameters: TypeAlias = Sequence[tuple[Real, int]]
"""Pairs ``(eps_i, count)`` with ``eps_i > 0``."""

#: Largest degree and size in bits of a counting polynomial.
MAX_DEGREE: Final = 1 << 20
MAX_COUNT_BITS: Final = 1 << 29
#: An exact answer is written out while degree times bits stay below this.
_EXACT_WORK: Final = 1 << 26


def on_lattice(parameters: Parameters) -> tuple[Real, list[tuple[int, int]]] | None:
    """``(b, [(n_i, count)])`` with ``eps_i = n_i b``; None if some ratio is not visibly rational.

    >>> from dpexact.reals import real
    >>> print(*on_lattice([(real("3*sqrt(2)"), 1), (real("sqrt(2)*2"), 5)]))
    3*sqrt(2)*(1/3) [(3, 1), (2, 5)]
    """
    first = parameters[0][0]
    ratios = []
    for eps, _ in parameters:
        ratio = exact_ratio(eps, first)
        if ratio is None:
            return None
        ratios.append(ratio)
    scale = math.lcm(*(ratio.denominator for ratio in ratios))
    numerators = [int(ratio * scale) for ratio in ratios]
    shared = math.gcd(*numerators)
    base = first * Fraction(shared, scale)
    counts = [count for _, count in parameters]
    return base, [(n // shared, count) for n, count in zip(numerators, counts, strict=True)]


@dataclass(frozen=True)
class CountLaw:
    """The law of the composition for ``multiples = ((n_i, count), ...)`` of ``base``."""

    base: Real
    multiples: tuple[tuple[int, int], ...]

    #: No precision cap but the usual one, and hardly any cancellation.
    cap = None
    lost_bits = 0
    method = "heterogeneous composition: exact counts"

    @classmethod
    def of(cls, parameters: Parameters) -> CountLaw | None:
        """The law, or None without a common base or when it is too long."""
        found = on_lattice(parameters)
        if found is None:
            return None
        degree = sum(n * count for n, count in found[1])
        bits = sum(count for _, count in found[1])
        if degree > MAX_DEGREE or (degree + 1) * bits > MAX_COUNT_BITS:
            return None
        return cls(found[0], tuple(found[1]))

    @cached_property
    def degree(self) -> int:
        """``N``, the largest sum."""
        return sum(n * count for n, count in self.multiples)

    @cached_property
    def counts(self) -> fmpz_poly:
        """``prod (1 + x^(n_i))^count``, by a product tree."""
        factors = [_binomial(n) ** count for n, count in self.multiples]
        while len(factors) > 1:
            factors.sort(key=lambda factor: factor.length())
            pairs = zip(factors[::2], factors[1::2], strict=False)
            odd = factors[-1:] if len(factors) % 2 else []
            factors = [a * b for a, b in pairs] + odd
        return factors[0]

    def divergence(self, epsilon: arb) -> arb:
        r"""The part :math:`\delta_0` of finite losses, at the current precision.

        A sum from any ``m`` on is a test, hence at most :math:`\delta_0`, which one of the
        candidates attains.
        """
        step = balls.ball(self.base)
        place = (epsilon / step + self.degree) / 2
        if not balls.in_range(place):
            return arb.nan()
        bounds = balls.to_enclosure(place)
        first, last = (
            min(math.floor(end) + 1, self.degree + 1) for end in (bounds.lower, bounds.upper)
        )
        if last - first > 8:
            return arb.nan()
        level = epsilon.exp()
        best = arb(0)
        for m in range(max(first, 0), max(last, 0) + 1):
            p, q = self._masses(m, step)
            best = best.max(p - level * q)
        return best

    def _masses(self, start: int, step: arb) -> tuple[arb, arb]:
        """``P`` and ``Q`` of the subsets of sum ``start`` and more."""
        if start > self.degree:
            return arb(0), arb(0)
        kept = self.counts.right_shift(start)
        decay = (-step).exp()
        log_whole = arb(0)  # log prod (1 + B^(-n_i)): all powers are at most 1
        for n, count in self.multiples:
            log_whole += count * (-n * step).exp().log1p()
        whole = (-log_whole).exp()
        reversed_kept = fmpz_poly(kept.coeffs()[::-1])  # c_m B^(m - N) is its coefficient N - m
        p = arb_poly(reversed_kept)(decay) * whole
        q = arb_poly(kept)(decay) * (-start * step).exp() * whole
        return p, q

    def exact(self, growth: Fraction, level: Fraction) -> Fraction | None:
        r""":math:`\delta_0` for ``growth = e^base > 1`` and ``level = e^eps``, if not too long."""
        size = growth.numerator.bit_length() + growth.denominator.bit_length()
        bits = size * self.degree
        if bits > EXACT_BITS or bits * self.degree > _EXACT_WORK:
            return None
        a, b = fmpz(growth.numerator), fmpz(growth.denominator)
        top, cut = fmpz(level.denominator), fmpz(level.numerator)
        term_p, term_q = a**self.degree, b**self.degree  # masses times b^N, from the top down
        p = q = fmpz(0)
        for m in range(self.degree, -1, -1):
            if term_p * top <= cut * term_q:
                break
            p, q = p + self.counts[m] * term_p, q + self.counts[m] * term_q
            term_p, term_q = term_p // a * b, term_q // b * a
        whole = fmpz(1)
        for n, count in self.multiples:
            whole *= (a**n + b**n) ** count
        return Fraction(int(p * top - q * cut), int(whole * top))


def _binomial(n: int) -> fmpz_poly:
    """``1 + x^n`` for ``n >= 1``."""
    return fmpz_poly([1] + [0] * (n - 1) + [1])
