r"""Sums of a function of two numbers over very many points, from its values at few.

Points have places ``x`` and ``y`` in ``[-1, 1]``. Let ``f`` be analytic, and ``|f| <= B``, where
``|x| <= (rho + 1/rho)/2`` and ``|y| <= (tau + 1/tau)/2``, ``rho, tau > 1``: discs that hold the
Bernstein ellipses. Then ``f = sum a_jl T_j(x) T_l(y)``, ``|a_jl| <= 4 B rho^-j tau^-l``, and what
takes the values of ``f`` at the ``m m'`` Chebyshev points has a Chebyshev polynomial of modulus at
most 1 for each that it lacks (Trefethen, Approximation Theory and Practice, theorems 4.2 and 8.1):
it errs by at most ``8 B (rho^-m + tau^-m') / ((1 - 1/rho)(1 - 1/tau))``. Places are rounded down to
multiples of ``u``, which moves ``f`` by at most ``u B / ((rho + 1/rho)/2 - 1)`` (Cauchy), and so in
``y``.
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any, Final

import gmpy2

from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval

_PLACE_BITS: Final = 64

Row = tuple[Any, Any, int]
"""Rate, variance over squared sensitivity (both ``mpq``), and how often it runs."""
Side = tuple[Fraction, Fraction]
"""The middle of an interval, and half of its length."""


class Places:
    """Rows in a box, and the Chebyshev points of its sides."""

    def __init__(self, sides: list[Side], a: Arithmetic) -> None:
        self.sides, self.a = sides, a
        self.rows: list[Row] = []
        self._sums: dict[tuple[int, int], Any] = {}

    def _polynomials(self, top: int) -> list[list[list[Any]]]:
        """``T_j`` of the places of the rows, exact, in units of ``2^(-j bits)``."""
        found, one = [], gmpy2.mpz(1) << _PLACE_BITS
        for side, (middle, half) in enumerate(self.sides):
            shift, scale = exact(middle), one / exact(half)
            places = [gmpy2.mpz((row[side] - shift) * scale // 1) for row in self.rows]
            columns = [[gmpy2.mpz(1)] * len(places), places]
            while len(columns) < top:
                last, before = columns[-1], columns[-2]
                pairs = zip(places, last, before, strict=True)
                columns.append([2 * x * t - (one * one * s) for x, t, s in pairs])
            found.append(columns)
        return found

    def _moments(self, many: int, more: int) -> list[list[Interval]]:
        """``sum n T_j(x) T_k(y)`` over the rows, ``j < many``, ``k < more``."""
        if (many - 1, more - 1) not in self._sums:
            self.a.spend(len(self.rows) * many * more // 4)
            counts = [n for *_, n in self.rows]
            first, second = self._polynomials(max(many, more))
            for j in range(many):
                weighted = list(map(mul, first[j], counts))
                for k in range(more):
                    self._sums[j, k] = sum(map(mul, weighted, second[k]))

        def moment(j: int, k: int) -> Interval:
            scale = 1 << _PLACE_BITS * (j + k)
            return self.a.exact(Fraction(int(self._sums[j, k]), scale))

        return [[moment(j, k) for k in range(more)] for j in range(many)]

    def weights(self, points: tuple[int, int]) -> list[list[Interval]]:
        """``sum n l_a(x) l_b(y)`` over the rows, ``l`` the Lagrange polynomials of the points."""
        self.a.spend(points[0] * points[1] * sum(points))
        one, two = (self._bases(m) for m in points)
        total = self._moments(*points)
        for bases in (two, one):  # sum over k, then over j; transposed each time
            total = [[_dot(row, base) for row in total] for base in bases]
        return total

    def _bases(self, m: int) -> list[list[Interval]]:
        """``(1/m) (1, 2 T_1, ..., 2 T_(m-1))`` at each of the ``m`` Chebyshev points."""
        weights = [self.a.exact(Fraction(2 - (j == 0), m)) for j in range(m)]
        return [[w * self._cosine(j, i, m) for j, w in enumerate(weights)] for i in range(m)]

    def _cosine(self, j: int, i: int, m: int) -> Interval:
        """``T_j`` at the point ``i`` of ``m``."""
        return (self.a.pi() * (j * (2 * i + 1)) / (2 * m)).turn().real

    def points(self, side: int, m: int) -> list[Interval]:
        middle, half = map(self.a.exact, self.sides[side])
        return [middle + half * self._cosine(1, i, m) for i in range(m)]

    def error(self, bound: Interval, radii: Side, points: tuple[int, int]) -> Interval:
        """Of one row, where ``|f|`` is at most ``bound``; ``radii`` are ``rho`` and ``tau``."""
        one = self.a.exact(1)
        left, kept, moved = self.a.exact(0), one, self.a.exact(0)
        for radius, m in zip(map(self.a.exact, radii), points, strict=True):
            left, kept = left + (one / radius).power(m), kept * (one - one / radius)
            moved = moved + one / ((radius + one / radius) / 2 - 1)
        unit = self.a.exact(Fraction(1, 1 << _PLACE_BITS))
        return bound * (left * 8 / kept + moved * unit)


def exact(x: Fraction) -> Any:
    """The same number, for quick comparisons."""
    return gmpy2.mpq(x.numerator, x.denominator)


def _dot(x: list[Interval], y: list[Interval]) -> Interval:
    total = x[0] * y[0]
    for u, v in zip(x[1:], y[1:], strict=True):
        total = total + u * v
    return total
