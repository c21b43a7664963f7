"""Scales that a search follows: floats, so a wrong one costs looks and no truth."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import calibrate, delta, renyi, tradeoff
from dpexact.accounting.calibration.equivalent import (
    largest_loss,
    mu_of_delta,
    mu_of_errors,
    mu_squared,
    reached,
    sampled_mu_squared,
    scale,
    sketched,
)
from dpexact.accounting.composition import Composition
from dpexact.mechanisms.grammar import parse
from dpexact.mechanisms.ordering import Ordering

LOGS = st.floats(-3, 2)


def log(found):
    """The logarithm of a number between bounds that are close."""
    value = (Fraction(found.lower) + Fraction(found.upper)) / 2
    return math.log(value.numerator) - math.log(value.denominator)


@given(LOGS, st.sampled_from([0, Fraction(1, 100), 1, 30]))
def test_mu_of_delta_inverts_the_profile_of_gaussians(log_mu, epsilon):
    mu = Fraction(math.exp(log_mu))
    found = mu_of_delta(float(epsilon))(log(delta(f"gdp({mu})", epsilon, 17)))
    if found is None:  # next to 1 floats tell nothing
        assert delta(f"gdp({mu})", epsilon, 9).lower > Fraction(999, 1000)
    else:
        assert found == pytest.approx(log_mu, abs=1e-5)


@given(st.floats(-3, 1), st.floats(0.001, 0.9))
def test_mu_of_errors_inverts_the_trade_off_function_of_gaussians(log_mu, alpha):
    mu = Fraction(math.exp(log_mu))
    beta = tradeoff(f"gdp({mu})")(alpha, 17)
    lost = 1 - alpha - beta.to_float_bounds()[0]
    found = mu_of_errors(alpha)(math.log(lost)) if lost > 0 else None
    assert found is None or found == pytest.approx(log_mu, abs=1e-4)


def test_beyond_floats_there_is_no_scale():
    assert mu_of_delta(1.0)(0.0) is None
    assert mu_of_delta(math.inf)(-1.0) is None
    assert mu_of_errors(0.5)(math.log(0.6)) is None
    assert scale(mu_of_errors(0.5), Fraction(1, 2), odds=False) is None


def test_a_scale_is_0_at_the_target_and_rises():
    at = scale(mu_of_delta(1.0), Fraction(1, 10**5), odds=False)
    assert at is not None
    points = [-1e5, -3, -1e-3, -1e-5, -1e-7, 0, 1e-9, 1e-6, 1e-2, 5, 11]
    found = [at(x) for x in points]
    assert found[points.index(0)] == 0
    assert found == sorted(found)
    assert at(1e-7) * 100 == pytest.approx(at(1e-5), rel=1e-3)


def test_a_scale_of_odds_tells_what_is_next_to_1():
    """Of Gaussians it is exact, also where floats of delta are 1."""
    target = Fraction(99, 100)
    at = scale(mu_of_delta(1.0), target / (1 - target), odds=True)
    here = log_of_mu(target)
    for mu in (6, 9, 12):
        found = delta(f"gdp({mu})", 1, 40)
        odds = Fraction(found.lower) / (1 - Fraction(found.lower))
        gap = math.log(odds * (1 - target) / target)
        assert at(gap) == pytest.approx(math.log(mu) - here, abs=1e-5)


def log_of_mu(target):
    """Of the Gaussian that has the target as its delta at 1."""
    return math.log(float(calibrate("gdp(?)", 1, target).lower))


@pytest.mark.parametrize("text", ["bounded_range(1/3)", "poisson(bounded_range(1/3), 1/2)"])
def test_a_sketch_has_about_the_same_losses(text):
    assert str(sketched(parse(text))) == str(parse(text.replace("bounded_range(1/3)", "gdp(1/6)")))
    long = parse("discrete_laplace(1000, 500)^3 * gaussian(2)")
    assert str(sketched(long)) == "laplace(1000, 500)^3 * gaussian(2)"
    found = [mu_squared(Composition.of(m.steps().items())) for m in (long, sketched(long))]
    assert found[0] == pytest.approx(found[1], rel=1e-3)
    assert sketched(parse("discrete_laplace(2, 3)")) == parse("discrete_laplace(2, 3)")


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("pure_dp(1/2)^3 * laplace(2)", 2.0),
        ("poisson(pure_dp(1), 1/4)^2", 2 * math.log1p(math.expm1(1) / 4)),
        ("pure_dp(1) * gaussian(1)", math.inf),
        ("poisson(gaussian(1), 1/2)", math.inf),
    ],
)
def test_the_largest_loss(text, loss):
    assert largest_loss(Composition.of(parse(text).steps().items())) == pytest.approx(loss)


@pytest.mark.parametrize("text", ["pure_dp(1/30)^100", "laplace(30)^100", "gaussian(5)^2"])
def test_the_gaussian_of_many_small_losses(text):
    squared = mu_squared(Composition.of(parse(text).steps().items()))
    # the expected loss of a Gaussian is mu^2/2
    assert float(renyi(text, 1, 9).lower) * 2 == pytest.approx(squared, rel=1e-6)


def test_where_a_quantity_is_reached():
    at = reached(lambda x: float(x) ** 2 + 1, 5.0, Fraction(1), Ordering(), 2)
    assert float(at) == pytest.approx(2)
    assert reached(lambda x: 7.0 * float(x), 70.0, Fraction(1), Ordering(integer=True)) == 10
    assert reached(lambda _: math.inf, 5.0, Fraction(1), Ordering()) is None
    assert reached(lambda x: float(x) ** 2 + 9, 5.0, Fraction(1), Ordering(), 2) is None


def test_a_quantity_far_from_a_power_is_reached():
    """Of samples it grows with the exponential of its power: secants alone run away."""
    found = reached(
        lambda x: math.expm1(1 / float(x) ** 2) / 1000, 0.07, Fraction(1), Ordering(least=True), 2
    )
    assert math.expm1(1 / float(found) ** 2) == pytest.approx(70)
    count = Ordering(integer=True)
    assert reached(lambda x: float(x) ** 2 / 3, 1e12, Fraction(1), count, 1) == 1732051
    assert reached(lambda x: 5 + float(x) / 9, 1e3, Fraction(1000), count, 1) == 8955


def test_one_rare_sample_is_known_by_its_own_delta():
    target = delta("poisson(gaussian(3/4), 1/1000)", 1, 12, "remove")
    log_mu = mu_of_delta(1.0)
    found = sampled_mu_squared(
        Composition.of(parse("poisson(gaussian(3/4), 1/1000)").steps().items()), 1.0, log_mu
    )
    assert math.log(found) / 2 == pytest.approx(log_mu(log(target)), abs=1e-6)
    bounded = Composition.of(parse("poisson(pure_dp(1), 1/1000)").steps().items())
    assert sampled_mu_squared(bounded, 1.0, log_mu) == 0
