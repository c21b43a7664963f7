"""Bounds without an engine: they hold the truth where an engine has it, and are worth reading."""

import math
from fractions import Fraction

import pytest

from dpexact.accounting.coarse import coarse_delta, coarse_epsilon
from dpexact.accounting.queries import delta_answer, epsilon_answer
from dpexact.conversion import real
from dpexact.mechanisms import parse


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
@pytest.mark.parametrize(
    "text",
    ["poisson(gaussian(1/10), 1/10)^20", "poisson(gaussian(2), 1/100)^100", "gdp(1)*gaussian(1/3)"],
)
def test_the_truth_lies_between_the_bounds(text, direction):
    m = parse(text)
    for target in ("1e-2", "1e-6"):
        found = coarse_epsilon(m, real(target), direction)
        truth = epsilon_answer(m, real(target), 8, direction)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper < 2 * truth.upper + 3
    for point in ("1", "20"):
        found, truth = (
            coarse_delta(m, real(point), direction),
            delta_answer(m, real(point), 8, direction),
        )
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper <= 1


def test_little_noise_is_bounded_from_below_by_a_threshold():
    """A sampled record is seen at once, so the loss is about 1/(2 sigma^2) for each time."""
    found = coarse_epsilon(parse("poisson(gaussian(1/1000), 1e-6)^(10^9)"), real("1e-5"), "both")
    # 1000 times in the mean, 32 the standard deviation: 1140 times at 1e-5, about
    per_time = Fraction(500_000)
    assert 1000 * per_time < found.lower < found.upper < 1300 * per_time
    seen = coarse_delta(parse("poisson(gaussian(1/1000), 1/2)^10"), real(100), "remove")
    assert seen.lower > Fraction(99, 100)
    assert coarse_delta(parse("poisson(gaussian(1/1000), 1/2)^10"), real(100), "add").lower == 0


def test_a_threshold_is_nearly_the_best_test_where_that_is_best():
    """At ``Phi(2) - delta/q = phi(2)/8.1``: what it misses are two digits of either chance."""
    m = parse("poisson(gaussian(1/10), 1/2)")
    found = coarse_epsilon(m, real("0.97058/2"), "remove")
    truth = epsilon_answer(m, real("0.97058/2"), 8, "remove")
    assert truth.lower - Fraction(1, 10) < found.lower <= truth.upper


@pytest.mark.parametrize("text", ["laplace(1)", "gdp(1)*pure_dp(1)", "poisson(zcdp(1), 1/2)"])
def test_beside_other_mechanisms_nothing_is_said(text):
    found = coarse_epsilon(parse(text), real("1e-5"), "both")
    assert (found.lower, found.upper) == (0, math.inf)
