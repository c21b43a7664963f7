"""The trade-off function that zCDP leaves: against delta's conjugate, itself, and mechanisms."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.answers import best_of
from dpexact.errors import InvalidInput
from dpexact.tradeoffs import ConcentratedTradeoff

xis = st.fractions(0, 3, max_denominator=20)
rhos = st.fractions(Fraction(1, 100), 4, max_denominator=100)
levels = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


@given(xi=xis, rho=rhos, alpha=levels)
def test_it_is_the_conjugate_of_delta(xi, rho, alpha):
    """``1 - delta(log x) - alpha x`` is never above, and the first term where it is best."""
    found = ConcentratedTradeoff(xi, rho)(alpha, 12)
    for epsilon in (Fraction(k, 4) for k in range(0, 25, 3)):
        x = Fraction(math.exp(epsilon))
        bound = dpexact.delta(f"zcdp({xi}, {rho})", epsilon, 12).upper
        assert 1 - bound - alpha * x < found.upper + Fraction(1, 10**9)
    loss = math.log(1 / alpha) - float(xi)
    t = math.sqrt(max(loss, 0) / rho) - 1
    if t <= 0.01:  # the first term is about 0, and the inverse decides
        assert found.upper < 1e-3 * rho + math.exp(-float(xi + rho)) + 1e-9
        return
    best = (2 * t + 1) * float(rho) - math.log1p(1 / t) + float(xi)
    if best < 0:
        return
    bound = dpexact.delta(f"zcdp({xi}, {rho})", Fraction(best), 12).upper
    value = 1 - float(bound) - alpha * math.exp(best)
    assert value <= found.upper + Fraction(1, 10**9)
    first = 1 - math.exp(-((math.sqrt(loss) - math.sqrt(rho)) ** 2))
    assert abs(value - first) < 1e-9
    second = math.exp(-float(xi) - (math.sqrt(rho) + math.sqrt(-math.log1p(-alpha))) ** 2)
    assert abs(float(found.upper) - max(first, second)) < 1e-9


@given(xi=xis, rho=rhos, alpha=levels)
def test_it_is_symmetric(xi, rho, alpha):
    f = ConcentratedTradeoff(xi, rho)
    there = f(alpha, 30)
    back = f(there.lower, 20)
    assert abs(float(back.upper - alpha)) < 1e-9
    assert f.inverse() is f


@settings(max_examples=15)
@given(xi=xis, mu=st.fractions(Fraction(1, 10), 3, max_denominator=10), alpha=levels)
def test_it_is_below_what_has_these_divergences(xi, mu, alpha):
    bound = dpexact.tradeoff(f"zcdp({xi}, {mu**2 / 2})")(alpha, 6)
    assert bound.bound == "lower"
    assert bound.lower <= dpexact.tradeoff(f"gdp({mu})")(alpha, 6).upper
    assert bound.lower <= dpexact.tradeoff(f"pure_dp({xi}) * gdp({mu})")(alpha, 6).upper


@settings(max_examples=15)
@given(mu=st.fractions(Fraction(1, 10), 3, max_denominator=10), alpha=levels)
def test_beside_infinite_loss_it_is_below_the_truth(mu, alpha):
    text = f"zcdp({mu**2 / 2}) * approx_dp(0, 1/3)"
    bound = dpexact.tradeoff(text)(alpha, 6)
    truth = best_of(lambda: dpexact.tradeoff(f"gdp({mu}) * approx_dp(0, 1/3)")(alpha, 6))
    assert bound.lower <= truth.upper
    if alpha < Fraction(2, 3):
        inner = dpexact.tradeoff(f"zcdp({mu**2 / 2})")(alpha * 3 / 2, 12)
        assert abs(float(bound.upper - inner.upper * 2 / 3)) < 1e-5
    else:
        assert bound.upper == 0


def test_ends_and_extremes():
    f = dpexact.tradeoff("zcdp(1, 1/2) * approx_dp(0, 1/10)")
    assert f(0).upper == f(0).lower == Fraction(9, 10)
    assert f(1).upper == f("99/100").upper == 0
    assert dpexact.tradeoff("zcdp(1) * approx_dp(0, 1)")("1/2").upper == 0
    # log(1/alpha) - xi is rho, which no precision tells
    kink = dpexact.tradeoff("zcdp(1, 1/2)")("exp(-3/2)")
    assert kink.digits >= 15
    assert kink.lower > 0
    for text in ("zcdp(1e-300)", "zcdp(1, 1e-300)"):
        assert 0 < dpexact.tradeoff(text)("1/2").lower <= Fraction(1, 2)
    assert dpexact.tradeoff("zcdp(sqrt(2)) * approx_dp(0, exp(-3))")(0).upper < 1
    for numbers in ((-1, 1), (0, 0), (0, 1, 2)):
        with pytest.raises(InvalidInput):
            ConcentratedTradeoff(*numbers)
