import math
from fractions import Fraction

import pytest

import dpexact
from dpexact.accounting.tradeoff_of import tradeoff
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.tradeoff import (
    GaussianTradeoff,
    LaplaceTradeoff,
    PiecewiseLinear,
    delta_of,
    discrete_laplace_pair,
    f_eps_delta,
    tightest,
)
from dpexact.tradeoff.numbers import enclose

F = Fraction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pure_dp(1/3)^4", f_eps_delta("1/3", 0) ** 4),
        ("approx_dp(1, 1/9) * pure_dp(2)", f_eps_delta(1, "1/9") * f_eps_delta(2, 0)),
        ("poisson(approx_dp(1, 1/9), 1)", f_eps_delta(1, "1/9")),
        ("gdp(3) * gaussian(1/4)", GaussianTradeoff(5)),
        ("gaussian(2, 3)^4", GaussianTradeoff(3)),
        ("laplace(2, 3)", LaplaceTradeoff("3/2")),
        ("discrete_laplace(2, 3)^2", discrete_laplace_pair(2, 3) ** 2),
    ],
)
def test_choice(text, expected):
    assert tradeoff(text) == expected


@pytest.mark.parametrize("text", ["pure_dp(1/10)^12", "approx_dp(log(3/2), 1/50)^9"])
@pytest.mark.parametrize("epsilon", ["0", "1/4", "log(3/2)", "1"])
def test_delta_agrees_with_the_accountant(text, epsilon):
    """Two routes: a conjugate at an exact level, and binomial tails."""
    f = tradeoff(text)
    assert isinstance(f, PiecewiseLinear)
    found = enclose(delta_of(f, epsilon), 20, "")
    assert found.overlaps(dpexact.delta(text, epsilon, digits=20))


@pytest.mark.parametrize("delta", ["1/100000", "1/1000", "1/5"])
def test_epsilon_agrees_with_the_accountant(delta):
    text = "approx_dp(1/5, 1/1000000)^10"
    f = tradeoff(text)
    assert isinstance(f, PiecewiseLinear)
    best, theirs = tightest(f, delta), dpexact.epsilon(text, delta, digits=20)
    if best is None:
        assert theirs.lower == math.inf
    else:
        assert best.epsilon(20).overlaps(theirs)


def test_values():
    assert tradeoff("pure_dp(log(2))^2")("1/5").lower == F(7, 15)
    assert tradeoff("pure_dp(0)")("1/5").lower == F(4, 5)
    assert tradeoff("gdp(1)")("1/2").lower < F(1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "laplace(1)^2",
        "laplace(1) * gdp(1)",
        "pure_dp(1) * gdp(1)",
        "zcdp(1)",
        "poisson(gdp(1), 1/2)",
    ],
)
def test_unsupported(text):
    with pytest.raises(UnsupportedMechanism, match="no exact trade-off function"):
        tradeoff(text)


def test_too_many_repetitions_are_refused_at_once():
    with pytest.raises(UnsupportedMechanism, match="not written out"):
        tradeoff("pure_dp(1/10)^1000000")


def test_refusals():
    with pytest.raises(InvalidInput):
        tradeoff("pure_dp(")
    with pytest.raises(InvalidInput):
        tradeoff(3)
