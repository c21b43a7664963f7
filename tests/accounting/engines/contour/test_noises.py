"""Moments of Laplace, finite and discrete Gaussian losses against their definitions."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian as DiscreteGaussianNoise
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.laplace import Laplace as LaplaceNoise
from dpexact.accounting.pairs.laplace import TruncatedLaplace
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.response import discrete_laplace, staircase
from dpexact.balls import ball
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 160


STEPS = [
    LaplaceNoise(real("1/3")),
    LaplaceNoise(real("40")),
    LaplaceNoise(real("1/10^6")),
    staircase(real(1), real("1/4")),
    discrete_laplace(real("5/2"), 7),
    Finite((Atom(real("1/3"), real("1/7")), Atom(real("2/3"), real("6/7")))),
    DiscreteGaussianNoise(real("1/9"), 1),
    DiscreteGaussianNoise(real("4"), 3),
    DiscreteGaussianNoise(real("10^6"), 2),
]


def by_definition(step, s):
    """``E_P[e^{sZ}]``: an integral for Laplace, sums for the others."""
    if isinstance(step, LaplaceNoise):
        rate = ball(step.rate)
        ends = ((s * rate).exp() + (-(s + 1) * rate).exp()) / 2
        inside = acb.integral(lambda z, _: ((s + 0.5) * z).exp(), -rate, rate)
        return ends + inside * (-rate / 2).exp() / 4
    if isinstance(step, Finite):
        pairs = [(ball(a.p), ball(a.q)) for a in step.outcomes()]
        return sum((p * (s * (p / q).log()).exp() for p, q in pairs), acb(0))
    variance = ball(step.variance)
    reach = range(-400, 401)
    rate = step.shift / variance
    weights = {x: (-(arb(x) ** 2) / (2 * variance)).exp() for x in reach}
    tilted = (acb(w) * (s * rate * (x + arb(step.shift) / 2)).exp() for x, w in weights.items())
    return sum(tilted, acb(0)) / sum(weights.values(), arb(0))


@pytest.mark.parametrize("step", STEPS[:-1])
@pytest.mark.parametrize(("c", "height"), [(0.5, 0.75), (3.0, 11.0), (0.125, 1000.0)])
def test_moments_by_definition(step, c, height):
    with balls.precision(BITS):
        at_line = step.moments(c, height, 2, 0.0)
        for n, value in enumerate(at_line):
            truth = by_definition(step, acb(c, n * height))
            assert (value - truth).abs_lower() < arb("1e-40") * step.moment(c, 0.0)
            assert value.rad() < arb("1e-35") * step.moment(c, 0.0)
        for order in (c, -0.5, -0.75):
            gap = step.moment(order, 0.0) - by_definition(step, acb(order)).real
            assert abs(gap) < arb("1e-40") * step.moment(order, 0.0)


@pytest.mark.parametrize("step", STEPS)
def test_total_mass_and_the_reversed_pair(step):
    with balls.precision(BITS):
        assert step.moment(0.0, 0.0).overlaps(step.mass())
        assert step.moment(-0.25, 0.0).overlaps(step.reverse.moment(-0.75, 0.0))
        assert step.moment(-0.875, 0.0).overlaps(step.reverse.moment(-0.125, 0.0))
        assert step.reverse.reverse == step


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("c", [-0.75, -0.25, 0.01, 0.7, 6.0, 90.0])
def test_float_cumulants_follow_the_moments(step, c):
    """The value and both derivatives by differences in long arithmetic."""
    h = 2.0**-20
    jet = step.cumulant(c)
    with balls.precision(BITS):
        low, middle, high = (step.moment(c + i * h, 0.0).log() for i in (-1, 0, 1))
        slope, bend = (high - low) / (2 * h), (high - 2 * middle + low) / arb(h) ** 2
    assert jet.value == pytest.approx(float(middle.mid()), rel=1e-9, abs=1e-13)
    assert jet.slope == pytest.approx(float(slope.mid()), rel=1e-6, abs=1e-12)
    assert jet.bend == pytest.approx(float(bend.mid()), rel=1e-5, abs=1e-9)


@settings(max_examples=scaled(30))
@given(
    rate=st.fractions(Fraction(1, 100), 50, max_denominator=100),
    c=st.integers(1, 400),
    u=st.integers(0, 2000),
    beyond=st.integers(0, 400),
    ends=st.sampled_from([None, Fraction(0), Fraction(1, 9), Fraction(1)]),
)
def test_laplace_moments_stay_below_their_bound(rate, c, u, beyond, ends):
    whole, c, u = LaplaceNoise(rational(rate)), c / 16, u / 16
    step = whole if ends is None else TruncatedLaplace(rational(rate), rational(ends))
    with balls.precision(BITS):
        bound = step.decayed(c, u, 0.0)
        (_, value) = step.moments(c, u + beyond / 8 + 2.0**-10, 1, 0.0)
        assert value.abs_lower() <= bound
        log = float(bound.log().mid())
    assert step.decay_estimate(c)(u) == pytest.approx(log, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("rate", ["1/1000", "1/3", "4", "90"])
def test_ends_of_full_weight_are_those_of_laplace_noise(rate):
    one, other = LaplaceNoise(real(rate)), TruncatedLaplace(real(rate), real(1))
    with balls.precision(BITS):
        for c in (-0.5, -0.25, 0.0, 1.5, 40.0):
            assert one.moment(c, 0.0).overlaps(other.moment(c, 0.0))
            assert one.cumulant(c) == other.cumulant(c)
            pairs = zip(one.moments(c, 0.75, 4, 0.0), other.moments(c, 0.75, 4, 0.0), strict=True)
            assert all(a.overlaps(b) for a, b in pairs)
            assert one.moments(c, 0.75, 4, 0.0)[0].real.overlaps(one.moment(c, 0.0))
        assert one.mean().overlaps(other.mean())
        assert one.overlap().overlaps(other.overlap())
        for level in (-0.3, 0.0, 2.0):
            assert one.divergence(balls.arb(level)).overlaps(other.divergence(balls.arb(level)))


def test_the_bound_on_laplace_moments_is_nearly_attained():
    """Where ``tan(rate u) = 1/(2 u)`` about, the modulus returns to its bound."""
    step = LaplaceNoise(real("1/10"))
    with balls.precision(BITS):
        for turn in range(1, 6):
            height = 10 * math.pi * turn
            values = step.moments(1.0, height / 512, 540, 0.0)
            most = max(float(value.abs_upper().mid()) for value in values[490:])
            bound = float(step.decayed(1.0, height * 490 / 512, 0.0).mid())
            assert 0.9995 < most / bound <= 1


@pytest.mark.parametrize("step", STEPS[3:])
def test_other_moments_never_exceed_the_real_one(step):
    with balls.precision(BITS):
        bound = step.decayed(0.5, 3.0, 0.0)
        assert all(value.abs_lower() <= bound.upper() for value in step.moments(0.5, 0.37, 60, 0.0))
    assert math.exp(step.decay_estimate(0.5)(7.0)) == pytest.approx(float(bound.mid()), rel=1e-9)


def test_overlaps_and_largest_losses():
    with balls.precision(BITS):
        law = staircase(real(1), real("1/4"))
        pairs = [(ball(a.p), ball(a.q)) for a in law.outcomes()]
        assert law.overlap().overlaps(1 - sum((arb.max(p - q, arb(0)) for p, q in pairs), arb(0)))
        assert law.largest_loss().overlaps(arb(1))
        assert LaplaceNoise(real(2)).overlap().overlaps(arb(-1).exp())
        assert LaplaceNoise(real(2)).largest_loss() == 2
        assert STEPS[-2].largest_loss() is None
        for variance, shift in (("1/9", 1), ("4", 3), ("25", 1)):
            step = DiscreteGaussianNoise(real(variance), shift)
            mass = {x: (-(arb(x) ** 2) / (2 * ball(step.variance))).exp() for x in range(-90, 91)}
            common = sum((arb.min(mass[x], mass[x - shift]) for x in range(-80, 91)), arb(0))
            truth = common / sum(mass.values(), arb(0))
            assert 0 <= step.overlap().lower() <= truth
            assert step.overlap() > truth**2 / 4
