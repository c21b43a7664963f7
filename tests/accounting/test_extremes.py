"""Where floats do not reach to plan, questions are answered, or refused with what is certain."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpexact import PrecisionNotReached, calibrate, delta, epsilon, renyi, tradeoff
from dpexact.accounting.inverted import _at_least
from dpexact.conversion import real

_ALLOCATED = "poisson(allocation(gaussian(sqrt(2)), 10, 2), 1-1e-12)"

QUESTIONS: list[Callable[[], Any]] = [
    lambda: tradeoff("poisson(truncated_discrete_gaussian(1e300, 5), exp(-50))")("1e-300"),
    lambda: renyi("gaussian_mixture(3/7, 0: 1/2, 10^400: 1/2)^9", "1e300", digits=6),
    lambda: renyi("allocation(gaussian(1e6), 1000)^3", "1 + 1e-12", digits=6),
    lambda: renyi("allocation(gaussian(exp(1000)), 100)", "1 + 1e-100", digits=6),
    lambda: delta("allocation(gaussian(exp(-50)), 1000)", "1e300", 6, "remove"),
    lambda: calibrate("threshold(laplace(1e-1000), ?)^7", 1, "1e-5", digits=6),
    lambda: calibrate("discrete_gaussian(1e-30000, ?)", 1, "1e-5", digits=6),
    lambda: calibrate("discrete_gaussian(1e-300, 2)^?", 1, "1e-5", digits=6),
    lambda: delta("laplace(7e-9)", 1, 5, method="lattice"),
    lambda: delta("bounded_range(pi)^1000000000000000000", 1, 6),
    lambda: delta("bounded_range(1e9)^1000000000000000000", "log(2)", 6),
    lambda: epsilon("bounded_range(1e-300)^1000000000", "1/2", 6),
    lambda: epsilon("laplace(1e-15)^3", "1/2"),
    lambda: epsilon("pure_dp(1e300) * pure_dp(sqrt(2))", "1e-6", 6),
    lambda: delta("pure_dp(1e300)^3 * pure_dp(sqrt(2))^5", "1e299", 6),
    lambda: epsilon("group(poisson(gdp(1e-1000), 1-1e-300), 1000)", "1-1e-300", 1),
    lambda: tradeoff("repeat_and_select(pure_dp(1e1000), 1)")("1/100", 6),
    lambda: epsilon("laplace(1e-300)^1000", "1e-18", 3),
]


@pytest.mark.parametrize("ask", QUESTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_extremes_are_answered_or_refused(ask):
    try:
        found = ask()
    except PrecisionNotReached as error:
        found = error.best
    assert found.lower <= found.upper


@pytest.mark.parametrize(
    ("text", "at", "way", "most"),
    [
        (f"poisson({_ALLOCATED}, 1e-30)", "1e-400", "add", "1e-30"),
        ("poisson(discrete_gaussian(1e-12, 100), 1e-6)^2", "700", "remove", "2.1e-6"),
        ("poisson(discrete_gaussian(0.3, 200), 1/100)^100", "1", "both", "0.634"),
        ("poisson(laplace(1e30, 1/1000), sqrt(2)/2)^5", "0", "remove", "7e-34"),
        ("poisson(laplace(1e300), 1e-30)^10000", "1e-300", "remove", "1e-3"),
        ("allocation(gaussian(0.13), 2)", "1e9", "both", "1e-6"),
    ],
)
def test_what_floats_do_not_plan_is_bounded(text, at, way, most):
    """Balls wider than ranges, laws of one outcome, losses next to 0, levels beyond floats."""
    try:
        found = delta(text, at, 2, way)
    except PrecisionNotReached as error:
        found = error.best
    assert 0 <= found.lower <= found.upper < Fraction(most)


@pytest.mark.parametrize("sigma", ["1", "3", "1/2"])
@pytest.mark.parametrize("rate", [7, 8, 9])
def test_many_rare_steps_are_about_one_gaussian(sigma, rate):
    """Of the same variance of the loss, ``T q^2 (e^(1/sigma^2) - 1)``."""
    found = epsilon(f"poisson(gaussian({sigma}), 1e-{rate})^{10 ** (2 * rate)}", "1e-6", 8)
    near = epsilon(f"gaussian(1/sqrt(exp(1/({sigma})^2) - 1))", "1e-6", 8)
    assert abs(float(found.lower) / float(near.lower) - 1) < 10.0 ** (3 - rate)


def test_losses_whose_sign_no_precision_tells_are_not_compared():
    tiny = real("log(1 - exp(-1000000000000))")
    assert not _at_least(2 * tiny, tiny)
    assert _at_least(tiny, tiny)
    assert _at_least(real("2*sqrt(2)"), real("sqrt(2)"))
