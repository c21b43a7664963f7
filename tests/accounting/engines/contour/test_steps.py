"""Each step against its closed form or by direct integration."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, one_shift, remove
from dpexact.accounting.pairs.response import Response
from dpexact.balls import ball
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 160

#: Standard deviation, and how often each law moves.
MIXED = [
    (real("1.3"), real("0.01"), rational(0)),
    (real("0.4"), rational(0), real("1/3")),
    (real(2), real("1/5"), real("1/7")),
]
STEPS = [
    *(one_shift(*numbers) for numbers in MIXED),
    Gaussian(real("sqrt(2)")),
    Response(real("1/5"), real("1/1000")),
]


@pytest.mark.parametrize("sigma", ["0.3", "1", "100"])
def test_always_sampled_is_gaussian(sigma):
    """At rate 1 both directions have the moments ``e^{s (s + 1) / (2 sigma^2)}``."""
    plain = Gaussian(rational(1 / real(sigma).fraction))
    for make in (remove, add):
        sampled = make(real(sigma), rational(1))
        with balls.precision(BITS):
            for c in (-0.5, 0.25, 4.0):
                assert sampled.moment(c, 70.0).overlaps(plain.moment(c, 70.0))
            for a, b in zip(
                sampled.moments(0.5, 0.75, 20, 70.0),
                plain.moments(0.5, 0.75, 20, 70.0),
                strict=True,
            ):
                assert a.overlaps(b)
                assert (a - b).abs_upper() < arb("1e-25") * plain.moment(0.5, 70.0)
            assert sampled.decayed(0.5, 3.0, 20.0) > plain.decayed(0.5, 3.0, 20.0) * arb("0.999")


@given(
    eps=st.fractions(0, 20, max_denominator=50),
    delta=st.fractions(0, 1, max_denominator=50).filter(lambda d: d < 1),
    c=st.integers(0, 6),
)
def test_atoms_by_enumeration(eps, delta, c):
    """``P`` puts ``(1 - delta) e^eps / (1 + e^eps)`` on the loss ``eps``, the rest on ``-eps``."""
    step = Response(rational(eps), rational(delta))
    with balls.precision(BITS):
        e = ball(eps)
        up = (1 - ball(delta)) / (1 + (-e).exp())
        down = (1 - ball(delta)) / (1 + e.exp())
        assert (up + down).overlaps(step.mass())
        assert step.moment(float(c), 50.0).overlaps(up * (c * e).exp() + down * (-c * e).exp())
        s = acb(c + 1, 5)
        value = step.moments(float(c + 1), 5.0, 1, 50.0)[1]
        assert value.overlaps(up * (s * e).exp() + down * (-s * e).exp())
        assert value.abs_lower() <= step.decayed(float(c + 1), 4.0, 20.0)
        assert step.overlap().overlaps(2 * down)
    jet = step.cumulant(2.0)
    with balls.precision(BITS):
        log = step.moment(2.0, 50.0).log()
    assert jet.value == pytest.approx(float(log.mid()), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("step", STEPS)
def test_the_reversed_pair(step):
    """``E_P[e^{sZ}; Z finite]`` is the moment of the reversed loss at ``-1 - s``."""
    with balls.precision(BITS):
        assert step.moment(-0.25, 60.0).overlaps(step.reverse.moment(-0.75, 60.0))
        assert step.moment(-0.5, 60.0).overlaps(step.reverse.moment(-0.5, 60.0))
        assert step.mass().overlaps(step.reverse.mass())
        assert step.reverse.reverse == step


@pytest.mark.parametrize("step", STEPS)
def test_cumulants_have_these_derivatives(step):
    """The floats agree with the certified moments and with their own differences."""
    c, h = 1.75, 1e-4
    jet = step.cumulant(c)
    with balls.precision(BITS):
        true = float(step.moment(c, 60.0).log().mid())
    before, after = step.cumulant(c - h), step.cumulant(c + h)
    assert jet.value == pytest.approx(true, rel=1e-9)
    assert jet.slope == pytest.approx((after.value - before.value) / (2 * h), rel=1e-5)
    assert jet.bend == pytest.approx((after.slope - before.slope) / (2 * h), rel=1e-5)
    assert jet.along(h) == pytest.approx(after.value, rel=1e-9)


@pytest.mark.parametrize("step", STEPS)
def test_the_decay_estimate_is_about_the_bound(step):
    estimate = step.decay_estimate(1.5)
    for u in (0.5, 4.0, 20.0):
        with balls.precision(BITS):
            bound = float(step.decayed(1.5, u, 40.0).log().mid())
        assert estimate(u) >= bound - 0.01 - 0.01 * abs(bound)
        assert estimate(u) <= max(bound, float(step.cumulant(1.5).value)) + 1


@pytest.mark.parametrize("numbers", MIXED)
@pytest.mark.slow
def test_mixtures_share_at_least_their_overlap(numbers):
    """``Int min(P, Q)`` by quadrature."""
    s, up, down = (mpf(float(x.fraction)) for x in numbers)

    def least(z):
        p = 1 - up + up * mp.exp(z / s - 1 / (2 * s * s))
        q = 1 - down + down * mp.exp(-z / s - 1 / (2 * s * s))
        return mp.npdf(z) * min(p, q)

    shared = mp.quad(least, mp.linspace(-12, 12, 97))
    with balls.precision(BITS):
        bound = one_shift(*numbers).overlap()
        # all of it where one law moves, else what both hold of no shift
        _, right, left = map(ball, numbers)
        assert not (up and down) or bound.overlaps(1 - arb.max(right, left))
    assert float(bound) <= shared + mpf("1e-9")
    assert (up and down) or float(bound) >= shared - mpf("1e-9")
    assert float(bound) > 0


def test_gaussians_share_exactly_their_overlap():
    mu = mpf(1) / 3
    with balls.precision(BITS):
        low, high = balls.to_enclosure(Gaussian(real("1/3")).overlap()).to_mpmath(30)
    with mp.workdps(30):
        assert low <= 2 * mp.ncdf(-mpf(1) / 6) <= high
    assert high - low < 1e-25 * mu


def test_largest_losses():
    q = Fraction(1, 100)
    with balls.precision(BITS):
        assert remove(real(1), rational(q)).largest_loss() is None
        assert add(real(1), rational(q)).largest_loss().overlaps(-(1 - ball(q)).log())
        assert add(real(1), rational(1)).largest_loss() is None
        assert one_shift(real(1), rational(q), rational(q)).largest_loss() is None
        assert Gaussian(real(1)).largest_loss() is None
        assert Response(real("1/3"), real("1/2")).largest_loss().contains(arb(1) / 3)


def test_what_decays():
    assert [step.decays for step in STEPS] == [True, True, True, True, False]
    assert not Gaussian(rational(0)).decays
    assert not one_shift(real(1), rational(0), rational(0)).decays
    for step in STEPS:
        assert step.line_cost(1.5, 40.0)[0] >= 1
        assert math.isfinite(step.line_cost(1.5, 40.0)[1])
