import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from dpexact import certificate_checker as standard
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval, Rectangle, power_sums

FINE = Arithmetic(300)
COARSE = Arithmetic(24)
numbers = st.fractions(-30, 30, max_denominator=10**6)
positive = st.fractions(Fraction(1, 1000), 30, max_denominator=10**6)


def exactly(x):
    return Fraction(*map(int, x.as_integer_ratio()))


def encloses(wide, narrow):
    return wide.lo <= narrow.lo <= narrow.hi <= wide.hi


@given(numbers, positive)
def test_coarse_intervals_enclose_fine_ones(x, y):
    def results(a):
        u, v = a.exact(x), a.exact(y)
        log = Rectangle(u, v).log()
        turn = u.turn()
        power = Rectangle(u, v) ** 5
        parts = [turn.real, turn.imag, log.real, log.imag, power.real, power.imag]
        inverse = Rectangle(v, u).inverse()
        parts += [inverse.real, inverse.imag, v.increasing("sqrt"), v.increasing("expm1")]
        return [u + v, u - v, u * v, u / v, u.exp(), v.log(), v.power(u), *parts]

    for wide, narrow in zip(results(COARSE), results(FINE), strict=True):
        assert encloses(wide, narrow)
        assert narrow.hi - narrow.lo < Fraction(1, 2**200) * (1 + abs(narrow.hi))


@given(numbers, positive)
def test_values_are_those_of_the_standard_arithmetic(x, y):
    a = standard.Arithmetic(200)
    pairs = [
        (FINE.exact(x).exp(), standard.exp(a.exact(x))),
        (FINE.exact(y).log(), standard.log(a.exact(y))),
        (FINE.pi(), standard.pi(a)),
    ]
    for one, other in pairs:
        low, high = (Fraction(*end.as_integer_ratio()) for end in (one.lo, one.hi))
        assert other.lo <= high
        assert low <= other.hi
        assert high - low < Fraction(1, 2**180) * (1 + abs(high))


@given(numbers, st.fractions(0, 3, max_denominator=1000))
def test_turns_and_logarithms_of_wide_intervals(x, width):
    wide = FINE.between(x, x + width)
    box = wide.turn()
    for part in (0, Fraction(1, 3), 1):
        point = FINE.exact(x + part * width).turn()
        assert encloses(box.real, point.real)
        assert encloses(box.imag, point.imag)
    corner = Rectangle(wide, FINE.between(Fraction(1, 10), Fraction(2)))
    angles = corner.log().imag
    for u in (x, x + width / 2, x + width):
        for v in (Fraction(1, 10), Fraction(1), Fraction(2)):
            assert angles.lo <= math.atan2(v, u) * (1 + 1e-12)
            assert angles.hi >= math.atan2(v, u) * (1 - 1e-12)


@given(st.lists(st.tuples(numbers, positive, numbers), min_size=1, max_size=4))
def test_sums_of_powers(triples):
    def results(a, sums):
        starts = [Rectangle(a.exact(x), a.exact(y)) for x, y, _ in triples]
        ratios = [(-a.exact(y / 9)).turn().scaled(a.exact(z / 30)) for _, y, z in triples]
        return sums(starts, ratios, a)

    def plain(starts, ratios, a):
        sums = [Rectangle(a.exact(0), a.exact(0))] * 7
        for start, ratio in zip(starts, ratios, strict=True):
            for n in range(7):
                sums[n] = sums[n] + (start * ratio**n if n else start)
        return sums

    fine = results(FINE, plain)
    for a, tolerance in ((COARSE, 2.0**-12), (FINE, 2.0**-250)):
        found = results(a, lambda starts, ratios, a: power_sums(starts, ratios, 6, a))
        for wide, narrow in zip(found, fine, strict=True):
            for one, other in ((wide.real, narrow.real), (wide.imag, narrow.imag)):
                assert one.lo <= other.hi
                assert other.lo <= one.hi
                assert a is FINE or encloses(one, other)
                assert one.hi - one.lo < 1000 * tolerance


def test_sums_are_rounded():
    """Exact powers whose sum is not a number of so few bits."""
    one, tiny = (Rectangle(COARSE.exact(x), COARSE.exact(x)) for x in (1, Fraction(1, 2**26)))
    unit = Rectangle(COARSE.exact(1), COARSE.exact(0))
    starts = [one, *[tiny] * 3]
    for found in power_sums(starts, [unit] * 4, 2, COARSE):
        for part in (found.real, found.imag):
            assert part.lo <= 1 + Fraction(3, 2**26) <= part.hi


def test_powers_of_a_box_hold_those_of_its_points():
    """Of the corners of rectangles, and of numbers that are rounded at every power."""
    ends = Fraction(-3, 5), Fraction(-599, 1000)
    wide = Rectangle(FINE.between(*ends), FINE.between(Fraction(1, 3), Fraction(1004, 3000)))
    third = Rectangle(COARSE.exact(Fraction(1, 3)), COARSE.exact(Fraction(5, 7)))
    for a, box in ((FINE, wide), (COARSE, third)):
        points = [(x, y) for x in (box.real.lo, box.real.hi) for y in (box.imag.lo, box.imag.hi)]
        one = Rectangle(a.exact(1), a.exact(0))
        found = power_sums([one], [box], 60, a)
        for x, y in points:
            real, imag = exactly(x), exactly(y)
            u, v = Fraction(1), Fraction(0)
            for value in found:
                assert exactly(value.real.lo) <= u <= exactly(value.real.hi)
                assert exactly(value.imag.lo) <= v <= exactly(value.imag.hi)
                u, v = u * real - v * imag, u * imag + v * real


def test_what_has_no_number_is_refused():
    zero, one = FINE.exact(0), FINE.exact(1)
    with pytest.raises(standard.Undecided):
        one / zero
    with pytest.raises(standard.Undecided):
        zero.log()
    with pytest.raises(standard.Undecided):
        Rectangle(-one, zero).log()
    with pytest.raises(standard.Invalid):
        FINE.exact(2**41).turn()
    with pytest.raises(ArithmeticError):
        FINE.exact(10**10).exp()
    with pytest.raises(ArithmeticError):
        Interval(FINE.up.div(1, 3), FINE.exact(1).hi, FINE) - FINE.exact(10**10).exp()
    with pytest.raises(standard.Invalid):
        Arithmetic(64).spend(10**9)
