"""Numbers in fixed point: powers and products hold the exact ones."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

import gmpy2

from dpexact import certificate_checker as standard
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Fixed,
    Interval,
    Rectangle,
    dot_products,
    geometric,
    rounded,
)

COARSE = Arithmetic(40)
numbers = st.fractions(-3, 3, max_denominator=1000)
vectors = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=3)


@settings(max_examples=scaled(60))
@given(st.lists(vectors, min_size=1, max_size=3), st.lists(vectors, min_size=1, max_size=3))
def test_dot_products_hold_the_exact_ones(rows, columns):
    def boxes(vectors):
        return [[Rectangle(*map(COARSE.exact, z)) for z in vector] for vector in vectors]

    places = list(map(list, zip(*columns, strict=True)))
    found, radius = dot_products(rounded(boxes(rows), COARSE), across(boxes(columns)), COARSE)
    assert radius < 1e-8
    assert len(places) == 3
    for row, line in zip(rows, found, strict=True):
        for column, box in zip(columns, line, strict=True):
            pairs = list(zip(row, column, strict=True))
            real_part = sum(x * u - y * v for (x, y), (u, v) in pairs)
            imaginary = sum(x * v + y * u for (x, y), (u, v) in pairs)
            for part, truth in zip(box, (real_part, imaginary), strict=True):
                assert abs(Fraction(int(part), 1 << 80) - truth) <= Fraction(float(radius))


def across(columns):
    """Columns by places, as products take them."""
    whole = rounded(columns, COARSE)
    lists = [
        tuple(map(list, zip(*place, strict=True)))
        for place in zip(*(list(zip(*pair, strict=True)) for pair in whole.lists), strict=True)
    ]
    return Fixed(lists, whole.off, whole.size)


def test_dot_products_of_wide_numbers():
    wide = Rectangle(Interval(gmpy2.mpfr(1), gmpy2.mpfr(2), COARSE), COARSE.exact(0))
    one = Rectangle(COARSE.exact(1), COARSE.exact(0))
    for row, column, most in ((wide, one, 4), (one, wide, 4), (wide, wide, 8)):
        (((real_part, _),),), radius = dot_products(
            rounded([[row] * 2], COARSE), across([[column] * 2]), COARSE
        )
        middle = float(real_part) / 2**80
        assert middle - float(radius) <= 2
        assert middle + float(radius) >= most


@settings(max_examples=scaled(60))
@given(vectors, st.lists(st.tuples(st.floats(0, 1), st.floats(-4, 4)), min_size=3, max_size=3))
def test_geometric_numbers_hold_the_exact_ones(starts, ratios):
    """Of wide starts and ratios: ends of both."""

    def wide(x, y):
        return [COARSE.between(z - Fraction(1, 2**30), z) for z in (x, y)]

    first = [Rectangle(*wide(*z)) for z in starts]
    exact = [
        tuple(Fraction(x) for x in (r * math.cos(t) * 0.999, r * math.sin(t) * 0.999))
        for r, t in ratios
    ]
    found = geometric(first, [Rectangle(*wide(*z)) for z in exact], 30, COARSE)
    total = [0] * 31
    for (x, y), (u, v), (real_parts, imaginary) in zip(starts, exact, found.lists, strict=True):
        for n, pair in enumerate(zip(real_parts, imaginary, strict=True)):
            error = sum(
                (Fraction(int(z), 1 << 40) - t) ** 2 for z, t in zip(pair, (x, y), strict=True)
            )
            assert error <= Fraction(float(found.off)) ** 2
            total[n] += math.hypot(x, y)
            x, y = x * u - y * v, x * v + y * u
    assert max(total) <= found.size
    assert found.off < 1e-5


def test_ratios_that_are_hardly_known_are_refused():
    wide = Rectangle(COARSE.between(Fraction(1, 2), Fraction(3, 4)), COARSE.exact(0))
    with pytest.raises(standard.Undecided, match="not known well enough"):
        geometric([wide], [wide], 4, COARSE)
