"""Equal shifts of a binomial number: what is cut off, and waves above the axis, by brute force."""

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpexact import balls
from dpexact.accounting.pairs.binomial_shifts import BinomialShifts, EqualWaves, cut
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.shifts import Waves
from dpexact.balls import ball
from dpexact.conversion import real
from dpexact.reals import rational

#: A failure is not made small: following an argument takes time.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
RATES = st.fractions(Fraction(1, 50), 4, max_denominator=100)
CHANCES = st.fractions(Fraction(1, 1000), Fraction(99, 100), max_denominator=1000)


def exact(shifts, j):
    q = shifts.q.fraction
    return math.comb(shifts.k, j) * q**j * (1 - q) ** (shifts.k - j)


@st.composite
def kept(draw):
    k = draw(st.integers(1, 40))
    first = draw(st.integers(0, k))
    last = draw(st.integers(max(first, 1), k))
    rate, q = rational(draw(RATES)), rational(draw(CHANCES))
    return BinomialShifts(rate, q, k, first, last)


@given(kept())
@settings(max_examples=60, deadline=None)
def test_weights_are_binomial(shifts):
    with balls.precision(120):
        for j, weight in enumerate(shifts.weights(), shifts.first):
            assert weight.overlaps(ball(exact(shifts, j)))
        total = sum(exact(shifts, j) for j in range(shifts.first, shifts.last + 1))
        for j, (rate, weight) in enumerate(shifts.masses(), shifts.first):
            assert rate.overlaps(ball(j * shifts.rate.fraction))
            assert weight.overlaps(ball(exact(shifts, j) / total))


@given(kept(), st.floats(0.5, 12))
@settings(max_examples=100, deadline=None)
@pytest.mark.slow
def test_what_is_left_out_is_bounded(shifts, reach):
    out = [j for j in range(shifts.k + 1) if not shifts.first <= j <= shifts.last]
    with balls.precision(160):
        assert shifts.neglected() >= ball(sum(exact(shifts, j) for j in out)) * (1 - arb(2) ** -99)
        bound, rate = shifts.excess(arb(reach)), shifts.rate.fraction

        def waves(indices, x):
            sizes = (
                ball(exact(shifts, j)) * ball(j * rate * x - (j * rate) ** 2 / 2).exp()
                for j in indices
            )
            return sum(sizes, arb(0))

        inside = range(shifts.first, shifts.last + 1)
        for share in (-1, Fraction(-1, 2), 0, Fraction(1, 3), 1):
            x = share * Fraction(reach)
            assert bound >= waves(out, x) / waves(inside, x) * (1 - arb(2) ** -99)


def test_a_bound_is_near_where_tails_fall():
    """A hundred and fifty shifts of ten thousand hold all but 1e-18, and the bound knows."""
    shifts = cut(rational(1), rational(Fraction(1, 100)), 10_000, -40.0)
    assert 100 < shifts.last - shifts.first < 250
    with balls.precision(128):
        assert arb("1e-22") < shifts.neglected() < arb("1e-15")


@st.composite
def log_concave(draw):
    """Weights whose ratios fall, not binomial ones."""
    ratios = sorted(draw(st.lists(st.floats(0.01, 20), min_size=1, max_size=12)), reverse=True)
    weights = [1.0]
    for ratio in ratios:
        weights.append(weights[-1] * ratio)
    return draw(st.integers(0, 4)), weights


@given(log_concave(), st.floats(0.05, 4), st.floats(-20, 30), st.floats(0.01, 0.989))
@settings(max_examples=40, deadline=None, phases=QUICK)
def test_waves_above_the_axis(law, rate, x, share):
    """Against mpmath, with the argument followed from the axis in small steps."""
    first, weights = law
    with balls.precision(200), mpmath.workdps(40):
        waves = EqualWaves(arb(rate), first, [arb(w) for w in weights])
        height = float(share / math.sqrt(1 + rate * rate / 2))
        found = waves.turned(arb(height))(arb(x))

        def at(y):
            z = mpmath.mpc(x, y)
            return sum(
                w * mpmath.exp(j * rate * z - (mpmath.mpf(j) * rate) ** 2 / 2)
                for j, w in enumerate(weights, first)
            )

        angle, before, steps = mpmath.mpf(0), at(0), 60
        for n in range(1, steps + 1):
            following = at(height * mpmath.mpf(n) / steps)
            turn = mpmath.arg(following / before)
            assert turn > -(mpmath.mpf(10) ** -30)  # the argument increases with the height
            angle, before = angle + turn, following
        assert abs(float(found.real.mid()) - float(mpmath.log(abs(before)))) < 1e-9
        assert abs(float(found.imag.mid()) - float(angle)) < 1e-9
        assert abs(before) <= at(0).real
        assert mpmath.mpf(float(waves.cosine(arb(height)).mid())) * at(0).real <= abs(before) * (
            1 + 1e-15
        )
        slope = height * float(waves.slope(arb(x)).mid())
        assert abs(float(angle) - slope) <= (math.atanh(share) - share) / math.sqrt(2) + 1e-9


@given(log_concave(), st.floats(0.01, 1), st.floats(-9, 9), st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_few_waves_are_as_those_of_any_shifts(law, rate, x, share):
    first, weights = law
    with balls.precision(150):
        masses = [(j * arb(rate), arb(w)) for j, w in enumerate(weights, first)]
        few = EqualWaves(arb(rate), first, [w for _, w in masses], True)
        any_shifts = Waves(masses)
        assert few.strip.overlaps(any_shifts.strip)
        assert few.rising.overlaps(any_shifts.rising)
        height = arb(share) * few.strip
        assert few.cosine(height).overlaps(any_shifts.cosine(height))
        for sign in (1, -1):
            found = few.turned(sign * height)(arb(x))
            assert found.overlaps(any_shifts.turned(sign * height)(arb(x)))


def test_the_wider_strip_is_taken():
    for rate, k, few in ((1, 3, True), (1, 4, False), ("1/10", 30, True), ("1/10", 40, False)):
        shifts = BinomialShifts(real(rate), rational(Fraction(1, 100)), k, 0, k)
        with balls.precision(100):
            near, waves = shifts.outline.strip, shifts.waves()
            assert shifts.outline.is_few == few
            assert near == pytest.approx(float(waves.strip.mid()))
            assert float(shifts.outline.cosine(near / 2)) == pytest.approx(
                float(waves.cosine(waves.strip / 2).mid())
            )


@pytest.mark.parametrize("rate", ["1e-6", "0.1", "1", "3"])
def test_two_equal_shifts_bring_the_modulus_near_its_bound(rate):
    """Of two shifts the square is ``cos^2(rate y/2)``; of many and small ones ``e^{-y^2}``."""
    with balls.precision(100):
        step = arb(rate)
        waves = EqualWaves(step, 0, [(step * step * j * j / 2).exp() / 2 for j in range(2)])
        height = waves.strip * arb("0.7")
        line = waves.turned(height)(arb(0)).real.exp()
        assert line.overlaps((step * height / 2).cos())
        assert waves.cosine(height) <= line


def test_too_few_bits_for_an_argument_are_refused():
    with balls.precision(24):
        waves = EqualWaves(arb("0.1"), 10**9, [arb("0.3 +/- 0.01"), arb("0.7 +/- 0.01")])
        with pytest.raises(TooExpensive):
            waves.turned(arb("0.5"))(arb("0.1 +/- 1e-3"))
