"""What divergences at some orders leave: against delta's conjugate, itself, and mechanisms."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.errors import InvalidInput
from dpexact.tradeoffs import RenyiTradeoff

orders = st.fractions(Fraction(11, 10), 40, max_denominator=10)
bounds = st.fractions(0, 3, max_denominator=20)
levels = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


@settings(max_examples=20)
@given(order=orders, eps=bounds, alpha=levels)
def test_it_is_the_conjugate_of_delta(order, eps, alpha):
    """``1 - delta(log x) - alpha x`` is never above, and the first term where it is best."""
    found = RenyiTradeoff((order, eps))(alpha, 12)
    curve = f"renyi_dp(({order}, {eps}))"
    for epsilon in (Fraction(1, 10), Fraction(3, 2), Fraction(4)):
        lost = dpexact.delta(curve, epsilon, 12).upper
        assert 1 - lost - alpha * Fraction(math.exp(epsilon)) < found.upper + Fraction(1, 10**9)
    share = float((order - 1) / order)
    first = 1 - (alpha * math.exp(eps)) ** share
    # the slope of the first term is -x of the line that touches it
    best = share * (math.log(alpha) + float(eps)) - math.log(alpha) + math.log(share)
    if best > 0 and first > 0:
        lost = float(dpexact.delta(curve, Fraction(best), 12).upper)
        assert abs(1 - lost - alpha * math.exp(best) - first) < 1e-9
    second = math.exp(-eps) * float(1 - alpha) ** (1 / share)
    assert abs(float(found.upper) - max(first, second, 0)) < 1e-9


@settings(max_examples=20)
@given(rows=st.dictionaries(orders, bounds, min_size=1, max_size=3), alpha=levels)
def test_it_is_symmetric(rows, alpha):
    f = RenyiTradeoff(*rows.items())
    there = f(alpha, 40)
    if there.lower > 0:
        assert abs(float(f(there.lower, 20).upper - alpha)) < 1e-9
    assert f.inverse() is f


@settings(max_examples=15)
@given(mu=st.fractions(Fraction(1, 10), 3, max_denominator=10), alpha=levels)
def test_it_is_below_what_has_these_divergences(mu, alpha):
    rows = ", ".join(f"({a}, {a * mu**2 / 2})" for a in (Fraction(3, 2), 2, 8))
    bound = dpexact.tradeoff(f"renyi_dp({rows})")(alpha, 6)
    assert bound.bound == "lower"
    assert bound.lower <= dpexact.tradeoff(f"gdp({mu})")(alpha, 6).upper
    beside = dpexact.tradeoff(f"renyi_dp({rows})^2 * gdp({mu})")(alpha, 6)
    assert beside.lower <= dpexact.tradeoff(f"gdp({mu})^3")(alpha, 6).upper
    best = dpexact.tradeoff(f"zcdp({mu**2 / 2})")(alpha, 6)
    assert bound.lower <= best.upper  # which is that of all orders


def test_ends_and_what_is_no_row():
    f = RenyiTradeoff((2, 1), ("5/2", "log(7)"))
    assert (f(0).lower, f(1).upper) == (1, 0)
    assert RenyiTradeoff((2, 700))("1/2").lower >= 0
    assert f("exp(-1)", 12).digits >= 12
    for rows in ((), ((1, 1),), ((2, -1),)):
        with pytest.raises(InvalidInput):
            RenyiTradeoff(*rows)
