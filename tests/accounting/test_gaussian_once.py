"""One sampled Gaussian step by outcomes, against the profile of the step and against mpmath."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls, epsilon
from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.sampled_once import GaussianOnce, _Outcomes, sampled_once
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

WAYS = ("remove", "add")


def once(sigma, q, way):
    mu = 1 / real(sigma)
    plain = sampled_once(GaussianMixedWithResponse(mu, InfiniteLoss()), real(q), way)
    return GaussianOnce(plain, mu, real(q), way == "add")


class Silent:
    """In place of the plain profile: what it would answer is not asked."""

    method = "silent"

    def epsilon(self, delta, digits):
        return Enclosure(Fraction(0), math.inf, self.method)


@given(
    st.floats(-1, 2),
    st.floats(-9, -0.01),
    st.floats(-18, -0.1),
    st.sampled_from(WAYS),
    st.sampled_from([3, 8, 15, 40]),
)
def test_both_ways_meet(sigma, q, delta, way, digits):
    sigma, q, delta = (f"{10**x:.5g}" for x in (sigma, q, delta))
    profile = once(sigma, q, way)
    found, other = profile.epsilon(real(delta), digits), profile.plain.epsilon(real(delta), digits)
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    profile.plain = Silent()
    assert profile.epsilon(real(delta), digits).digits >= digits


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-30", "1e-300"])
def test_a_ray_of_outcomes(way, delta):
    """The event that the loss exceeds epsilon: its divergence crosses delta between the ends."""
    profile = once("0.7", "0.4", way)
    profile.plain = Silent()
    found = profile.epsilon(real(delta), 20)
    assert found.digits >= 20

    def divergence(end):
        loss, mu, q = mpf(end.numerator) / end.denominator, 1 / mpf("0.7"), mpf("0.4")
        odds = (mp.exp(loss if way == "remove" else -loss) - 1 + q) / q
        at = mp.log(odds) / mu + mu / 2

        def beyond(mean):
            return mp.ncdf(mean - at) if way == "remove" else mp.ncdf(at - mean)

        mixed, still = (1 - q) * beyond(0) + q * beyond(mu), beyond(0)
        p, other = (mixed, still) if way == "remove" else (still, mixed)
        return p - mp.exp(loss) * other

    with mp.workdps(700):
        assert divergence(found.lower) > mpf(delta) > divergence(found.upper)


def test_zero_and_what_is_left_to_others():
    for way in WAYS:
        profile = once("2", "1/100", way)
        at_zero = profile.delta(real(0), 20)
        above, below = (
            real(str(float(end) * (1 + sign * 1e-9)))
            for end, sign in ((at_zero.upper, 1), (at_zero.lower, -1))
        )
        assert profile.epsilon(above, 15) == Enclosure.exact(Fraction(0), profile.method)
        tiny = profile.epsilon(below, 10)
        assert 0 < tiny.lower <= tiny.upper < 1e-8
        assert profile.epsilon(real(0), 10) == profile.plain.epsilon(real(0), 10)
        assert profile.largest_loss(10) == profile.plain.largest_loss(10)


def test_delta_of_thresholds_is_the_profile_at_their_losses():
    for add in (False, True):
        profile = once("1.3", "1/5", "add" if add else "remove")
        with balls.precision(150):
            outcomes = _Outcomes(profile.mu, profile.q, add)
            for w in (0.6, 2.0, 9.0):
                at = balls.ball(Fraction(w))
                loss = real(balls.midpoint(outcomes.epsilon(at)))
                found = balls.to_enclosure(outcomes.delta(at))
                other = profile.plain.delta(loss, 20)
                assert abs(found.lower / other.lower - 1) < Fraction(1, 10**15)


def test_the_question_is_asked_here():
    assert str(epsilon("poisson(gaussian(1), 1/20)", "1e-12", digits=20)).startswith("3.8224")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_extremes(way):
    for sigma, q, delta in (
        ("1e-3", "0.5", "1e-9"),
        ("1e6", "1e-3", "1e-12"),
        ("1e-300", "0.5", "0.1"),
        ("1e300", "0.5", "1e-310"),
        ("1", "1e-300", "1e-305"),
        ("1", "1-1e-30", "1e-5"),
    ):
        profile = once(sigma, q, way)
        found, other = (p.epsilon(real(delta), 6) for p in (profile, profile.plain))
        assert found.lower <= other.upper
        assert other.lower <= found.upper
