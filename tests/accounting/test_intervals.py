"""Differences and ratios contain those of all points, and are attained at the ends."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpexact.accounting.intervals import difference, ratio
from dpexact.enclosure import Enclosure

numbers = st.fractions(-100, 100, max_denominator=100)
INFINITE = Enclosure.exact(math.inf)


@given(numbers, numbers, numbers, numbers)
def test_both_are_the_exact_images(a, b, c, d):
    x, y = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    ends = [p - q for p in (a, b) for q in (c, d)]
    found = difference(x, y)
    assert (found.lower, found.upper) == (min(ends), max(ends))
    found = ratio(x, y)
    if min(c, d) <= 0:
        assert found is None
        return
    ends = [p / q for p in (a, b) for q in (c, d)]
    assert (found.lower, found.upper) == (min(ends), max(ends))


def test_infinities():
    one, above = Enclosure.exact(Fraction(1)), Enclosure(Fraction(2), math.inf)
    assert difference(INFINITE, one) is None
    assert difference(one, INFINITE) is None
    assert difference(above, one).upper == math.inf
    assert difference(above, one).lower == 1
    below = Enclosure(-math.inf, Fraction(2))
    assert difference(below, one) is None
    assert difference(one, below) == Enclosure(Fraction(-1), math.inf)
    for a, b in ((INFINITE, one), (one, INFINITE), (above, one), (below, one), (one, below)):
        assert ratio(a, b) is None
