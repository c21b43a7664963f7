"""Intervals and complex rectangles of MPFR numbers, every end rounded outward.

Not-a-number, overflow and division by zero raise ``ArithmeticError``: no comparison ever meets a
number that is not one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import gmpy2

from dpexact.certificate_checker import Invalid, Undecided

MAX_WORK: Final = 20_000_000
"""Operations on a statement: some twenty seconds."""
_FARTHEST: Final = 1 << 40
_ROUGH: Final = 53
_TRAPS: Final = dict.fromkeys(
    ("trap_invalid", "trap_divzero", "trap_overflow", "trap_underflow"), True
)


class Arithmetic:
    """Rounding down and up to ``bits`` bits, and a budget of work."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.down: Any = gmpy2.context(precision=bits, round=gmpy2.RoundDown, **_TRAPS)
        self.up: Any = gmpy2.context(precision=bits, round=gmpy2.RoundUp, **_TRAPS)
        self.near: Any = gmpy2.context(precision=bits, **_TRAPS)
        self.rough: Any = gmpy2.context(precision=_ROUGH, round=gmpy2.RoundUp, **_TRAPS)
        self.left = MAX_WORK

    def spend(self, operations: int) -> None:
        """Count operations of about this precision."""
        self.left -= operations * (1 + self.bits // 512)
        if self.left < 0:
            raise Invalid("more work than this checker does")

    def between(self, low: Fraction, high: Fraction) -> Interval:
        """An interval around two rationals."""
        ends = [gmpy2.mpq(x.numerator, x.denominator) for x in (low, high)]
        return Interval(gmpy2.mpfr(ends[0], 0, self.down), gmpy2.mpfr(ends[1], 0, self.up), self)

    def exact(self, x: Fraction | int) -> Interval:
        """An interval around one rational."""
        if isinstance(x, int) and abs(x) < _FARTHEST:
            return Interval(gmpy2.mpfr(x, _ROUGH), gmpy2.mpfr(x, _ROUGH), self)
        return self.between(Fraction(x), Fraction(x))

    def pi(self) -> Interval:
        """The number pi."""
        return Interval(self.down.const_pi(), self.up.const_pi(), self)


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers between two MPFR numbers."""

    lo: Any
    hi: Any
    a: Arithmetic

    def __add__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        return Interval(self.a.down.add(self.lo, y.lo), self.a.up.add(self.hi, y.hi), self.a)

    def __neg__(self) -> Interval:
        return Interval(self.a.down.minus(self.hi), self.a.up.minus(self.lo), self.a)

    def __sub__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        return Interval(self.a.down.sub(self.lo, y.hi), self.a.up.sub(self.hi, y.lo), self.a)

    def __mul__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        down, up = self.a.down.mul, self.a.up.mul
        if self.lo >= 0 and y.lo >= 0:
            return Interval(down(self.lo, y.lo), up(self.hi, y.hi), self.a)
        ends = [(u, v) for u in (self.lo, self.hi) for v in (y.lo, y.hi)]
        low, high = min(down(u, v) for u, v in ends), max(up(u, v) for u, v in ends)
        return Interval(low, high, self.a)

    def __truediv__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        if y.lo <= 0 <= y.hi:
            raise Undecided("a divisor cannot be told from 0")
        return self * Interval(self.a.down.div(1, y.hi), self.a.up.div(1, y.lo), self.a)

    def increasing(self, function: str) -> Interval:
        """``exp``, ``expm1``, ``log`` or ``sqrt``, which increase."""
        if function in ("log", "sqrt") and self.lo <= 0:
            raise Undecided("an argument cannot be told from 0")
        down, up = getattr(self.a.down, function), getattr(self.a.up, function)
        return Interval(down(self.lo), up(self.hi), self.a)

    def exp(self) -> Interval:
        """``e^x``."""
        return self.increasing("exp")

    def log(self) -> Interval:
        """``log x`` of positive numbers."""
        return self.increasing("log")

    def power(self, exponent: Interval | int) -> Interval:
        """A real power of positive numbers."""
        return (self.log() * exponent).exp()

    def square(self) -> Interval:
        """``x^2``, from 0 where the sign of ``x`` is not known."""
        product = self * self
        return product.up_to() if self.lo <= 0 <= self.hi else product

    def up_to(self) -> Interval:
        """From 0 to the upper end."""
        return Interval(gmpy2.mpfr(0), max(gmpy2.mpfr(0), self.hi), self.a)

    def turn(self) -> Rectangle:
        """``e^{ix}``: both parts move no faster than ``x``."""
        if not -_FARTHEST < self.lo <= self.hi < _FARTHEST:
            raise Invalid("an angle beyond the range of this checker")
        down, up = self.a.down, self.a.up
        width = up.sub(self.hi, self.lo)
        parts = [
            Interval(down.sub(below(self.lo), width), up.add(above(self.lo), width), self.a)
            for below, above in ((down.cos, up.cos), (down.sin, up.sin))
        ]
        return Rectangle(*parts)

    def _other(self, other: Interval | int) -> Interval:
        return other if isinstance(other, Interval) else self.a.exact(other)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """All complex numbers with parts in two intervals."""

    real: Interval
    imag: Interval

    def __add__(self, other: Rectangle) -> Rectangle:
        return Rectangle(self.real + other.real, self.imag + other.imag)

    def __mul__(self, other: Rectangle) -> Rectangle:
        u, v, x, y = self.real, self.imag, other.real, other.imag
        return Rectangle(u * x - v * y, u * y + v * x)

    def __pow__(self, exponent: int) -> Rectangle:
        """A positive integer power."""
        result, square, left = None, self, exponent
        while True:
            if left & 1:
                result = square if result is None else result * square
            left >>= 1
            if not left:
                assert result is not None
                return result
            square = square * square

    def scaled(self, factor: Interval) -> Rectangle:
        """The product with real numbers."""
        return Rectangle(self.real * factor, self.imag * factor)

    def conjugate(self) -> Rectangle:
        """The mirror image in the real line."""
        return Rectangle(self.real, -self.imag)

    def modulus(self) -> Interval:
        """``|z|``."""
        square = self.real.square() + self.imag.square()
        if square.lo > 0:
            return square.increasing("sqrt")
        return Interval(square.lo, square.a.up.sqrt(square.hi), square.a).up_to()

    def inverse(self) -> Rectangle:
        """``1/z``."""
        size = self.real * self.real + self.imag * self.imag
        return self.conjugate().scaled(self.real.a.exact(1) / size)

    def widened(self, radius: Interval) -> Rectangle:
        """All numbers within a distance of the rectangle, and some more."""
        error = Interval((-radius).lo, radius.hi, radius.a)
        return Rectangle(self.real + error, self.imag + error)

    def log(self) -> Rectangle:
        """The principal logarithm, above the real line or right of the imaginary one.

        The angle of a point above the real line falls with the real part, and with the imaginary
        part it rises or falls according to the sign of the real part: its extremes are at corners.
        So are they on the right, where it rises with the imaginary part.
        """
        x, y, a = self.real, self.imag, self.real.a
        if x.lo <= 0 and y.lo <= 0:
            raise Undecided("a point cannot be told from the negative half line")
        modulus = (x.square() + y.square()).log() / 2
        corners = [(v, u) for u in (x.lo, x.hi) for v in (y.lo, y.hi)]
        low = min(a.down.atan2(v, u) for v, u in corners)
        return Rectangle(modulus, Interval(low, max(a.up.atan2(v, u) for v, u in corners), a))


@dataclass
class Fixed:
    """Complex multiples of ``2^-bits``, as lists of real and of imaginary parts.

    ``off`` is the most that a number is away from what it stands for; the moduli of one list are at
    most ``size`` together.
    """

    lists: list[tuple[list[Any], list[Any]]]
    off: Any
    size: Any


def rounded(vectors: list[list[Rectangle]], a: Arithmetic) -> Fixed:
    """Lists of numbers, each rounded."""
    units, add = gmpy2.mpfr(1 << a.bits, 1), a.rough.add
    found, off, largest = [], gmpy2.mpfr(0), gmpy2.mpfr(0)
    for vector in vectors:
        size = gmpy2.mpfr(0)
        for z in vector:
            x, y, radius = _centre(z)
            off = max(off, add(radius, a.rough.div(2, units)))
            size = add(size, add(a.rough.hypot(x, y), radius))
        largest = max(largest, size)
        parts = [[gmpy2.mpz(a.down.mul(x, units)) for x in row] for row in _corners(vector)]
        found.append((parts[0], parts[1]))
    return Fixed(found, off, largest)


def geometric(starts: list[Rectangle], ratios: list[Rectangle], count: int, a: Arithmetic) -> Fixed:
    r"""A list ``w t^n``, ``n = 0 .. count``, for each start ``w`` and ratio ``t``, ``|t| <= 1``.

    With ``s`` the most that ``t`` is off and ``u`` a unit, the distance from ``w t^n`` grows in
    each step by the factor ``1 + s`` and by ``|w| s + 2u``: from ``r`` to at most ``2 (r + count
    (|w| s + 2u))``, as ``count s <= 1/2``. ``size`` is that of one power of every start.
    """
    first, turns = rounded([starts], a), rounded([ratios], a)
    add, times, unit = a.rough.add, a.rough.mul, a.rough.div(1, gmpy2.mpfr(1 << a.bits, 1))
    if not times(count, turns.off) <= 0.5:
        raise Undecided("ratios that are not known well enough for so many powers")
    most = max(z.modulus().hi for z in starts)
    step = add(times(most, turns.off), times(2, unit))
    off = times(2, add(first.off, times(count, step)))
    found, bits = [], a.bits
    (real, imag), (right, up) = first.lists[0], turns.lists[0]
    for x, y, u, v in zip(real, imag, right, up, strict=True):
        row: tuple[list[Any], list[Any]] = ([], [])
        for _ in range(count + 1):
            row[0].append(x)
            row[1].append(y)
            x, y = (x * u - y * v) >> bits, (x * v + y * u) >> bits
        found.append(row)
    return Fixed(found, off, add(first.size, times(len(starts), off)))


def power_sums(
    starts: list[Rectangle], ratios: list[Rectangle], count: int, a: Arithmetic
) -> list[Rectangle]:
    """``sum_j w_j t_j^n``, ``n = 0 .. count``, ``|t_j| <= 1``, in units of the largest ``w_j``."""
    sizes = (z.modulus().hi for z in starts)
    exponent = max((gmpy2.get_exp(size) for size in sizes if size > 0), default=0)
    down, back = (a.exact(Fraction(2) ** power) for power in (-exponent, exponent))
    found = geometric([z.scaled(down) for z in starts], ratios, count, a)
    radius = a.rough.mul(found.off, len(starts))
    error, unit = Interval(radius, radius, a), Fraction(1, 1 << a.bits)
    sums = (
        [sum(column) for column in zip(*rows, strict=True)]
        for rows in zip(*found.lists, strict=True)
    )
    return [
        Rectangle(*(a.exact(int(z) * unit) for z in pair)).widened(error).scaled(back)
        for pair in zip(*sums, strict=True)
    ]


def dot_products(rows: Fixed, places: Fixed, a: Arithmetic) -> tuple[list[list[Any]], Any]:
    r"""``sum_i x_i y_i`` of every row and every column, in units of ``2^(-2 bits)``, and a radius.

    The lists of ``places`` hold the ``y_i`` of all columns for one ``i`` each: the digits of a long
    integer. With ``e`` the most that a number of a row moves and ``f`` that of one of a column, a
    sum moves by at most ``f sum |x_i| + e sum |y_i| + n e f``.
    """
    columns = len(places.lists[0][0])
    shift = 1 << max(abs(x).bit_length() for pair in places.lists for part in pair for x in part)
    sizes = max(sum(map(abs, real)) + sum(map(abs, imag)) for real, imag in rows.lists)
    half = 1 << (2 * shift * sizes + 1).bit_length()
    width = half.bit_length() + 1
    ones = gmpy2.pack([gmpy2.mpz(1)] * columns, width)
    digits = [
        [gmpy2.pack([x + shift for x in part], width) for part in pair] for pair in places.lists
    ]
    found = []
    for real, imag in rows.lists:
        parts = []
        for one, other, sign in ((0, 1, -1), (1, 0, 1)):
            sums = half * ones
            for x, y, pair in zip(real, imag, digits, strict=True):
                sums += x * pair[one] + sign * y * pair[other]
            moved = half + shift * (sum(real) + sign * sum(imag))
            parts.append([z - moved for z in gmpy2.unpack(sums, width)])
        found.append(list(zip(*parts, strict=True)))
    add, times = a.rough.add, a.rough.mul
    error = add(times(places.off, rows.size), times(rows.off, places.size))
    return found, add(error, times(times(rows.off, places.off), len(places.lists)))


def _corners(vector: list[Rectangle]) -> tuple[list[Any], list[Any]]:
    return [z.real.lo for z in vector], [z.imag.lo for z in vector]


def _centre(box: Rectangle) -> tuple[Any, Any, Any]:
    """A corner, and the radius of a disc around it with all of the rectangle."""
    a = box.real.a
    sides = [a.rough.sub(part.hi, part.lo) for part in (box.real, box.imag)]
    return box.real.lo, box.imag.lo, a.rough.add(*sides)
