"""Epsilon of one sampled Gaussian step, by the loss of the step and by that on the sample."""

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import epsilon
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.sampled_once import sampled_once
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

WAYS = ("remove", "add")


class Opaque(Profile):
    """The same profile, of which no balls are known: epsilon is sought on the sample itself."""

    def __init__(self, base):
        self.base, self.infinite, self.method = base, base.infinite, base.method

    def delta(self, epsilon, digits):
        return self.base.delta(epsilon, digits)

    def _epsilon(self, delta, digits):
        return self.base.epsilon(delta, digits)


def both(sigma, q, way):
    base = GaussianMixedWithResponse(1 / real(sigma), InfiniteLoss())
    return tuple(sampled_once(each, real(q), way) for each in (base, Opaque(base)))


def once(sigma, q, way):
    return both(sigma, q, way)[0]


@given(
    st.floats(-1, 2),
    st.floats(-9, -0.01),
    st.floats(-18, -0.1),
    st.sampled_from(WAYS),
    st.sampled_from([3, 8, 15, 40]),
)
def test_both_ways_meet(sigma, q, delta, way, digits):
    sigma, q, delta = (f"{10**x:.5g}" for x in (sigma, q, delta))
    found, other = (p.epsilon(real(delta), digits) for p in both(sigma, q, way))
    assert found.overlaps(other)
    assert found.digits >= digits


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-30", "1e-300"])
def test_a_ray_of_outcomes(way, delta):
    """The event that the loss exceeds epsilon: its divergence crosses delta between the ends."""
    found = once("0.7", "0.4", way).epsilon(real(delta), 20)
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


@pytest.mark.parametrize("way", WAYS)
def test_next_to_delta_at_zero(way):
    profile = once("2", "1/100", way)
    at_zero = profile.delta(real(0), 20)
    above, below = (
        real(str(float(end) * (1 + sign * 1e-9)))
        for end, sign in ((at_zero.upper, 1), (at_zero.lower, -1))
    )
    assert profile.epsilon(above, 15) == Enclosure.exact(Fraction(0), profile.method)
    tiny = profile.epsilon(below, 10)
    assert 0 < tiny.lower <= tiny.upper < 1e-8


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
        found, other = (p.epsilon(real(delta), 6) for p in both(sigma, q, way))
        assert found.overlaps(other)


def test_a_target_beyond_what_balls_reach_is_left_to_the_other_search():
    """Next to the largest loss of three responses, where secants find no bracket."""
    text = "poisson(pure_dp(sqrt(5)*8/3) * pure_dp(1/3) * pure_dp(5/3), 1/10)"
    started = time.process_time()
    assert str(epsilon(text, "1.76e-40", digits=6)).startswith("5.66339")
    assert epsilon(text, "1.76e-40", digits=6, direction="add").lower > 0
    assert time.process_time() - started < 30  # seconds; of the former search more than a hundred
