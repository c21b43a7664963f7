r"""Sums of a function of two numbers over very many points, from its values at few.

A side of a box goes from ``m/r`` to ``mr``; the place of a number in it is ``log(number/m)/log r``,
in ``[-1, 1]``. Let ``f`` be analytic in the places, and ``|f| <= B``, on two Bernstein ellipses of
the radii ``rho, tau > 1``. Then ``f = sum a_jl T_j(x) T_l(y)``, ``|a_jl| <= 4 B rho^-j tau^-l``,
and what takes the values of ``f`` at the ``m m'`` Chebyshev points has a Chebyshev polynomial of
modulus at most 1 for each that it lacks (Trefethen, Approximation Theory and Practice, theorems 4.2
and 8.1): it errs by at most ``8 B (rho^-m + tau^-m') / ((1 - 1/rho)(1 - 1/tau))``. Places are
rounded, by at most ``u``, which moves ``f`` by at most ``u B / ((rho + 1/rho)/2 - 1)`` (Cauchy), in
``y`` likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Any, Final, NamedTuple

import gmpy2

from dpexact.certificate_checker import Invalid
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval

_PLACE_BITS: Final = 64
BITS: Final = 96
"""Weights are multiples of ``2^-96``."""
_WEIGHT_BITS: Final = 80
"""They are off by less than ``2^-80`` of the number of steps."""
_OWN_BITS: Final = 160
MAX_POINTS: Final = 60
_NARROWEST: Final = 1 + Fraction(1, 2**20)

Side = tuple[Fraction, Fraction]
"""The middle of an interval, and how many times it the end is."""


class Row(NamedTuple):
    """Rate, variance over squared sensitivity (both ``mpq``), their logarithms, and how often."""

    q: Any
    v: Any
    logs: tuple[Any, Any]
    times: int

    @classmethod
    def of(cls, q: Any, v: Any, times: int) -> Row:
        """A step, with logarithms for every box that asks for them."""
        log = Arithmetic(_OWN_BITS).near.log
        return cls(q, v, (log(q), log(v)), times)


class Places:
    """Rows in a box, and the Chebyshev points of its sides."""

    def __init__(self, sides: list[Side], a: Arithmetic) -> None:
        if not all(middle > 0 and ratio >= _NARROWEST for middle, ratio in sides):
            raise Invalid("a box without an inside")
        self.sides, self.a, self._own = sides, a, Arithmetic(_OWN_BITS)
        self.rows: list[Row] = []
        #: The ends of the sides, and half of their lengths, which are those of logarithms.
        self.ends = [(_exact(m / r), _exact(m * r)) for m, r in sides]
        self.halves = [a.exact(ratio).log() for _, ratio in sides]
        self._weights: dict[tuple[int, int], list[list[Any]]] = {}

    def take(self, row: Row) -> bool:
        """Take a row if it is in the box."""
        inside = all(low <= x <= high for x, (low, high) in zip(row, self.ends, strict=False))
        if inside:
            self.rows.append(row)
        return inside

    @property
    def count(self) -> int:
        """How many steps there are."""
        return sum(row.times for row in self.rows)

    def _polynomials(self, side: int, top: int) -> list[list[Any]]:
        """``T_j`` of the places of the rows, ``j < top``, to within ``j^2`` units of ``2^-96``."""
        near, one = self._own.near, gmpy2.mpz(1) << _PLACE_BITS
        middle, half = (near.log(gmpy2.mpq(x)) for x in self.sides[side])
        logs = (row.logs[side] for row in self.rows)
        places = [gmpy2.mpz(near.mul(near.div(near.sub(x, middle), half), one)) for x in logs]
        places = [max(-one, min(one, x)) for x in places]
        columns = [[one << BITS - _PLACE_BITS] * len(places)]
        columns.append([x << BITS - _PLACE_BITS for x in places])
        while len(columns) < top:
            pairs = zip(places, columns[-1], columns[-2], strict=True)
            columns.append([(x * t >> _PLACE_BITS - 1) - s for x, t, s in pairs])
        return columns[:top]

    def _moments(self, many: int, more: int) -> Iterator[list[Any]]:
        """``sum n T_j(x) T_l(y)`` over the rows, ``l < more``, for each ``j``: units of ``2^-192``.

        The second polynomials of a row are digits of one long integer.
        """
        counts, offset = [row.times for row in self.rows], gmpy2.mpz(1) << BITS + 1
        half = gmpy2.mpz(1) << 2 * BITS + 3 + sum(counts).bit_length()
        width = half.bit_length() + 1
        packed = [
            gmpy2.pack([t + offset for t in row], width)
            for row in zip(*self._polynomials(1, more), strict=True)
        ]
        ones = half * gmpy2.pack([gmpy2.mpz(1)] * more, width)
        for column in self._polynomials(0, many):
            weighted = list(map(mul, column, counts))
            moved = half + offset * sum(weighted)
            digits = gmpy2.unpack(ones + sum(map(mul, weighted, packed)), width)
            yield [x - moved for x in digits]

    def weights(self, points: tuple[int, int]) -> list[list[Any]]:
        """``sum n l_a(x) l_b(y)`` over the rows, ``l`` Lagrange's polynomials, as integers.

        In units of ``2^-96``. Moments are off by at most ``2^13 n`` of these, bases, ``(1/m) (1, 2
        T_1, ...)`` at Chebyshev's points, by 2, and the moduli of one add up to at most 2.
        """
        if points not in self._weights:
            many, more = points
            self.a.spend(len(self.rows) * (many + more) + many * more * (many + more) // 4)
            one, two = (self._bases(m) for m in points)
            half = [
                [sum(map(mul, row, base)) >> 2 * BITS for base in two]
                for row in self._moments(many, more)
            ]
            columns = list(zip(*half, strict=True))
            self._weights[points] = [
                [sum(map(mul, column, base)) >> BITS for column in columns] for base in one
            ]
        return self._weights[points]

    def _bases(self, m: int) -> list[list[Any]]:
        found = []
        for i in range(m):
            cosines = (self._cosine(j, i, m, self._own) * (2 - (j == 0)) / m for j in range(m))
            found.append([gmpy2.mpz(self._own.down.mul_2exp(x.lo, BITS)) for x in cosines])
        return found

    @staticmethod
    def _cosine(j: int, i: int, m: int, a: Arithmetic) -> Interval:
        """``T_j`` at the point ``i`` of ``m``."""
        return (a.pi() * (j * (2 * i + 1)) / (2 * m)).turn().real

    def points(self, side: int, m: int) -> list[Interval]:
        """The Chebyshev points of a side."""
        middle, half = self.a.exact(self.sides[side][0]), self.halves[side]
        return [middle * (half * self._cosine(1, i, m, self.a)).exp() for i in range(m)]

    def error(
        self, bound: Interval, radii: tuple[Fraction, Fraction], points: tuple[int, int]
    ) -> Interval:
        """Of one row, where ``|f|`` is at most ``bound`` on ellipses of the radii."""
        one = self.a.exact(1)
        left, kept, moved = self.a.exact(0), one, self.a.exact(0)
        for radius, m in zip(map(self.a.exact, radii), points, strict=True):
            left, kept = left + (one / radius).power(m), kept * (one - one / radius)
            moved = moved + one / ((radius + one / radius) / 2 - 1)
        unit = self.a.exact(Fraction(2, 1 << _PLACE_BITS))
        return bound * (left * 8 / kept + moved * unit)

    def off(self, points: tuple[int, int]) -> Interval:
        """How far all weights are off together, for each point of :attr:`count`, at most."""
        return self.a.exact(Fraction(points[0] * points[1], 1 << _WEIGHT_BITS))


def _exact(x: Fraction) -> Any:
    """The same number, for quick comparisons."""
    return gmpy2.mpq(x.numerator, x.denominator)
