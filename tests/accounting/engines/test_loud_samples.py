"""Sampled Gaussians of little noise: against other engines and quadrature, at any noise."""

import math

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import inf, mp, mpf, npdf, quad

import dpexact
from dpexact import balls
from dpexact.accounting.engines import loud_samples
from dpexact.accounting.engines.gaussian_twice import GaussianTwice
from dpexact.accounting.engines.loud_samples import LoudSamples
from dpexact.conversion import real

WAYS = ("remove", "add")


def loud(sigma, q, count, way):
    return LoudSamples(real(sigma), real(q), count, way == "add")


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-1.1, 0.2),
    st.floats(-4, -0.03),
    st.integers(1, 6),
    st.floats(-2, 1.2),
    st.sampled_from(WAYS),
)
def test_it_holds_what_other_engines_say(sigma, q, count, at, way):
    """Its bounds are for any noise, though close for little noise alone."""
    sigma, q, at = (f"{10**x:.5g}" for x in (sigma, q, at))
    found = loud(sigma, q, count, way).delta(real(at), 3)
    text = f"poisson(gaussian({sigma}), {q})^{count}"
    assert found.overlaps(dpexact.delta(text, at, digits=6, direction=way))


@pytest.mark.parametrize("sigma", ["1/3", "1/5", "1"])
@pytest.mark.parametrize("q", ["0.02", "0.3", "0.9"])
@pytest.mark.parametrize("way", WAYS)
def test_of_one_step_the_error_is_of_the_right_size(sigma, q, way):
    """Somewhere delta is farther than a tenth of the bound from what is counted."""
    with balls.precision(100):
        a, rate = 1 / balls.ball(real(sigma)), balls.ball(real(q))
        error = float(loud_samples.unsure(a, rate))
        if way == "add":
            error /= 2 * (1 - float(rate))
    most, width = 0.0, 0.0
    for i in range(1, 60):
        at = str(i / 20 if way == "remove" else -i * math.log1p(-float(q)) / 60)
        true = dpexact.delta(f"poisson(gaussian({sigma}), {q})", at, digits=12, direction=way)
        found = loud(sigma, q, 1, way).delta(real(at), 12)
        assert found.overlaps(true)
        off = true.lower - found.lower if way == "remove" else found.upper - true.upper
        most, width = max(most, float(off)), max(width, float(found.upper - found.lower))
    assert width <= error * (1 + 1e-6)
    assert most > error / 40


@pytest.mark.parametrize(("a", "q"), [(2, "0.3"), (5, "0.01"), (8, "0.9"), (20, "0.001")])
def test_what_a_step_does_not_tell_is_the_overlap(a, q):
    """``2 Int min(q n(x - a), (1 - q) n(x)) dx``."""
    with mp.workdps(30):
        rate = mpf(q)
        tie = mpf(a) / 2 + mp.log((1 - rate) / rate) / a
        true = 2 * quad(lambda x: rate * npdf(x - a), [-inf, tie - 9, tie - 1, tie])
        true += 2 * quad(lambda x: (1 - rate) * npdf(x), [tie, tie + 1, tie + 9, inf])
        with balls.precision(90):
            found = loud_samples.unsure(arb(a), balls.ball(real(q)))
        assert abs(mpf(str(found.mid().str(25, radius=False))) / true - 1) < mpf(10) ** -12


@pytest.mark.parametrize("sigma", ["0.02", "0.05"])
@pytest.mark.parametrize("q", ["0.001", "0.3"])
@pytest.mark.parametrize("share", ["0.3", "0.9", "1.6"])
def test_two_steps_are_those_of_the_integral(sigma, q, share):
    at = real(share) / (real(sigma) * real(sigma))
    found = loud(sigma, q, 2, "remove").delta(at, 10)
    other = GaussianTwice(real(sigma), real(q), False).delta(at, 4)
    assert found.overlaps(other)
    assert found.digits >= 10 or found.upper < 1e-16


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sigma", ["0.004", "0.01", "0.05"])
@pytest.mark.parametrize(("q", "count"), [("1e-3", 2), ("0.5", 3), ("0.9", 100), ("1e-9", 10**6)])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_epsilon_is_answered_and_delta_there_is_the_target(way, sigma, q, count, delta):
    text = f"poisson(gaussian({sigma}), {q})^{count}"
    found = dpexact.epsilon(text, delta, digits=8, direction=way)
    assert found.digits >= 8 or found.upper == 0
    profile, target = loud(sigma, q, count, way), balls.enclosed(real(delta), 30)
    assert profile.delta(real(found.upper), 12).lower <= target.upper
    if found.lower > 0:
        assert profile.delta(real(found.lower), 12).upper >= target.lower


def test_at_the_chance_of_two_participations_delta_is_flat():
    """``q^2``: below it by what two steps may miss, above by what one of them may reach."""
    found = dpexact.epsilon("poisson(gaussian(0.01), 1/1000)^2", "1e-6", digits=15)
    assert 7081.76 < found.lower <= found.upper < 7081.77
    assert found.digits >= 15


@pytest.mark.parametrize("delta", ["8e-4", "1e-3", "1e-4"])
@pytest.mark.parametrize("count", [3, 5])
def test_windows_begin_where_participations_say(delta, count):
    """The line of floats missed epsilon by a fiftieth there, and no bracket was found."""
    text = f"poisson(gaussian(0.1), 1e-3)^{count}"
    found = dpexact.epsilon(text, delta, digits=8, direction="remove")
    assert found.digits >= 8
    assert found.overlaps(loud("0.1", "1e-3", count, "remove").epsilon(real(delta), 8))


@pytest.mark.parametrize("sigma", ["1e-52", "1e-60", "1e-90"])
@pytest.mark.parametrize("target", ["1e-30", "1/3"])
def test_where_no_point_is_certain_nothing_bounds_epsilon(sigma, target):
    """Some records of nine take part in all steps, each of loss ``1/(2 sigma^2)``."""
    profile = LoudSamples(real(sigma), real("1/2"), 9, add=False)
    found = profile.epsilon(real(target), 8)
    most = 9 * (1 / real(sigma).fraction) ** 2 / 2
    assert found.lower <= most
    assert found.upper >= most / 3
    coarse = profile._between(real(target), 20)
    assert coarse.upper >= most / 3


@pytest.mark.parametrize(("sigma", "q"), [("0.132", "0.411"), ("0.1", "0.01"), ("0.06", "1e-5")])
@pytest.mark.parametrize("target", ["1e-11", "2.6e-13"])
def test_adding_is_next_to_its_largest_loss(sigma, q, target):
    """An event of most outputs shows nearly all of delta, also where single steps do not tell."""
    found = loud(sigma, q, 1, "add").epsilon(real(target), 8)
    true = dpexact.epsilon(f"poisson(gaussian({sigma}), {q})", target, digits=15, direction="add")
    assert found.overlaps(true)
    assert found.digits >= 8
    many = dpexact.epsilon(f"poisson(gaussian({sigma}), {q})^24", target, 8, "add")
    assert many.digits >= 8
    assert many.upper < -24 * math.log1p(-float(q)) * (1 + 1e-12)
