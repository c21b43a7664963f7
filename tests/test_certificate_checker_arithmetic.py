"""The arithmetic of the checker encloses, closely, and each error term is needed."""

import math
import random
from contextlib import nullcontext
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from oracles import scaled

from dpexact import certificate_checker as checker


@given(
    st.fractions(Fraction(-300), Fraction(300), max_denominator=10**9),
    st.fractions(Fraction(1, 10**9), Fraction(10**9), max_denominator=10**9),
    st.integers(40, 400),
)
def test_elementary_functions_enclose_closely(x, y, bits):
    a = checker.Arithmetic(bits)
    ctx.prec = 4 * bits + 600
    try:
        for found, truth in (
            (checker.exp(a.exact(x)), _ball(x).exp()),
            (checker.log(a.exact(y)), _ball(y).log()),
            (checker.sqrt(a.exact(y)), _ball(y).sqrt()),
            (checker.pi(a), arb.pi()),
        ):
            assert _ball(found.lo) <= truth + abs(truth) * arb(2) ** (-4 * bits)
            assert _ball(found.hi) >= truth - abs(truth) * arb(2) ** (-4 * bits)
            assert found.hi - found.lo <= abs(found.hi) / 2 ** (bits - 40) + Fraction(1, 2**bits)
    finally:
        ctx.prec = 53


@given(st.fractions(Fraction(-40), Fraction(40), max_denominator=10**6), st.integers(40, 300))
def test_the_normal_tail_encloses_closely(x, bits):
    a = checker.Arithmetic(bits)
    found = checker.upper_tail(a.exact(x))
    ctx.prec = 4 * bits + 6000
    try:
        truth = (_ball(x) / arb(2).sqrt()).erfc() / 2
        assert _ball(found.lo) <= truth <= _ball(found.hi)
    finally:
        ctx.prec = 53
    assert found.hi - found.lo <= found.hi / 2 ** (bits - 16)


# --- each error term is needed: the series, and cuts that precision would hide ---


def encloses(found, truth):
    """Whether the interval holds the number, to thousands of bits."""
    low, high = found if isinstance(found, tuple) else (found.lo, found.hi)
    return bool(_ball(low) <= truth) and bool(truth <= _ball(high))


@pytest.fixture
def fine():
    ctx.prec = 4000
    yield
    ctx.prec = 53


def exponential_series(y, shift):
    return checker._series(y**0, y, 0, 1, shift)


def normal_series(x, shift):
    return checker._series(x, x * x, 1, 2, shift)


def normal_integral(x):
    """``int_0^x e^((x^2-t^2)/2) dt``."""
    return (x * x / 2).exp() * (x / arb(2).sqrt()).erf() * (arb.pi() / 2).sqrt()


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("shift", [8, 33, 200])
@pytest.mark.parametrize("size", [-200, -33, -8, 0])
def test_series_bound_what_they_leave_out(shift, size):
    """Numbers of one unit, where nothing is rounded and the second term is already left out."""
    x = Fraction(2) ** size
    assert encloses(exponential_series(x / 256, shift), _ball(x / 256).exp())
    assert encloses(normal_series(x, shift), normal_integral(_ball(x)))
    z = x / 3
    for point in (z, Fraction(1, 1 << shift), Fraction(1, 1 << max(shift // 2, 2))):
        assert encloses(checker._artanh_series(point, shift), _ball(point).atanh())
        assert encloses(exponential_series(point, shift), _ball(point).exp())
        assert encloses(normal_series(point, shift), normal_integral(_ball(point)))


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("shift", [4, 7, 10, 31, 64, 300])
def test_series_enclose_closely(shift):
    rng = random.Random(shift)
    for _ in range(scaled(150)):
        z = Fraction(rng.randrange(1, 1000), 3000)
        x, n = 12 * z, rng.randrange(2, 300)
        for found, truth in (
            (checker._artanh_series(z, shift), _ball(z).atanh()),
            (exponential_series(z, shift), _ball(z).exp()),
            (normal_series(x, shift), normal_integral(_ball(x))),
            (checker._arctan(n, shift), (1 / arb(n)).atan()),
        ):
            assert encloses(found, truth)
            assert found[1] - found[0] <= (1 + found[1]) * (shift + 20) / Fraction(2) ** shift


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("bits", [4, 8, 24, 53, 300])
def test_exponentials_enclose_closely(bits):
    rng = random.Random(bits)
    for _ in range(scaled(100)):
        x = Fraction(rng.randrange(-(10**6), 10**6), rng.choice([1 << 20, 10**4, 10**9, 21]))
        found = checker._exp_end(x, checker.Arithmetic(bits))
        assert encloses((found.lo, found.hi), _ball(x).exp())
        assert found.hi - found.lo <= found.lo / 2 ** (bits + 8)


@pytest.mark.usefixtures("fine")
def test_a_series_goes_on_until_its_terms_halve():
    """From a first term of one unit they grow to millions."""
    tiny = Fraction(1, 1 << 40)
    truth = normal_integral(arb(6)) / 6 * _ball(tiny)
    assert encloses(checker._series(tiny, Fraction(36), 1, 2, 40), truth)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("depth", range(7))
@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(2), Fraction(7)])
def test_two_convergents_enclose_the_ratio_of_mills(x, depth):
    point = _ball(x)
    truth = (point * point / 2).exp() * (point / arb(2).sqrt()).erfc() * (arb.pi() / 2).sqrt()
    found = checker._mills(x, depth, checker.Arithmetic(300))
    assert encloses(found, truth)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("last", [1, 2, 5, 9])
@pytest.mark.parametrize("decay", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_the_weights_left_out_of_a_discrete_gaussian_are_counted(decay, last):
    weights, total = checker._weights(checker.Arithmetic(400).exact(decay), last)
    assert len(weights) == last + 1
    assert weights[last].lo <= decay ** (last * last) <= weights[last].hi
    whole = sum((_ball(decay) ** (x * x) for x in range(1, 3000)), arb(0)) * 2 + 1
    assert encloses(total, whole)
    assert total.lo < total.hi


@pytest.mark.parametrize("width", [Fraction(0), Fraction(1, 7), Fraction(3)])
@pytest.mark.parametrize("x", [Fraction(n, 3) for n in (-20, -4, -1, 0, 1, 5, 26)])
def test_functions_of_intervals_hold_both_ends(x, width):
    a = checker.Arithmetic(60)
    wide = checker.Interval(x, x + width, a)
    ends = [a.exact(x), a.exact(x + width)]
    above = checker.Interval(x + 10, x + width + 10, a)
    pairs = [(checker.exp(wide), map(checker.exp, ends))]
    pairs += [(checker.upper_tail(wide), map(checker.upper_tail, ends))]
    pairs += [(f(above), [f(y + 10) for y in ends]) for f in (checker.log, checker.sqrt)]
    pairs += [(wide * wide, [y * z for y in ends for z in ends])]
    for found, narrow in pairs:
        for part in narrow:
            assert found.lo <= part.lo
            assert found.hi >= part.hi


@pytest.mark.parametrize("bits", [4, 30, 200])
@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-2, 7), Fraction(10**40, 9), Fraction(5)])
def test_what_does_not_fit_is_rounded_outward(x, bits):
    a, tiny = checker.Arithmetic(bits), Fraction(1, 1 << 300)
    found = a.make(x, x + tiny)
    assert found.lo <= x < x + tiny <= found.hi
    assert found.hi - found.lo <= abs(x) / 2 ** (bits - 2)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("bits", [8, 50])
@pytest.mark.parametrize("x", [Fraction(n, 7) for n in (1, 2, 3, 5, 20, 7**9, 2 * 7**5)])
def test_roots_are_enclosed(x, bits):
    found = checker.sqrt(checker.Arithmetic(bits).exact(x))
    assert encloses(found, _ball(x).sqrt())
    assert found.hi - found.lo <= found.hi / 2 ** (bits - 3)


@pytest.mark.parametrize("bits", [6, 20, 60])
@pytest.mark.parametrize(("p", "q", "count"), [(1, 2, 3), (2, 5, 9), (90, 7, 40), (1, 1, 7)])
def test_binomial_masses_are_at_most_the_true_ones(p, q, count, bits):
    scale = p + q
    terms = checker._binomial_terms(p, q, scale, count, checker.Arithmetic(bits))
    for j in range(count + 1):
        truth = Fraction(math.comb(count, j) * p**j * q ** (count - j), scale**count)
        mass = Fraction(terms.get(j, 0), 1 << bits)
        assert mass <= truth
        assert truth - mass <= Fraction(4 * count, 1 << bits)


class Fixed:
    """A profile that is ``low .. high`` everywhere."""

    def __init__(self, low, high):
        self.enclosure = low, high

    def delta(self, point):
        return checker.Interval(*map(Fraction, self.enclosure), point.a)


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ("3/20", "4/25", None),
        ("1/10", "4/25", checker.Undecided),
        ("3/20", "1/5", checker.Undecided),
        ("1/20", "4/25", checker.Undecided),
        ("3/20", "3/10", checker.Undecided),
        ("1/20", "3/10", checker.Undecided),
        ("1/20", "1/10", checker.Refuted),
        ("1/5", "3/10", checker.Refuted),
    ],
)
def test_a_delta_is_verified_with_all_of_its_enclosure_inside(low, high, error):
    bounds = Fraction(1, 10), Fraction(1, 5)
    with pytest.raises(error) if error else nullcontext():
        claim = checker.Claim([], "", "delta", "1", (), *bounds, {}, checker.Arithmetic(64), False)
        checker._check_delta([Fixed(low, high)], claim)


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ("1/20", "1/10", checker.Refuted),  # delta(lower) is to be above the target
        ("1/5", "3/10", checker.Refuted),  # and delta(upper) not
        ("1/20", "3/10", checker.Undecided),
        ("1/10", "3/10", checker.Undecided),
    ],
)
def test_an_epsilon_is_verified_with_delta_on_either_side(low, high, error):
    bounds = Fraction(1), Fraction(2)
    with pytest.raises(error):
        checker._check_epsilon([Fixed(low, high)], "1/10", *bounds, checker.Arithmetic(64))


def _ball(x):
    return arb(x.numerator) / x.denominator
