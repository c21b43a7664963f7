"""The named upper bounds: published numbers, dominance over the truth, hypotheses."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.accounting.renyi import (
    fixed_size_bound,
    poisson_general_bound,
    poisson_large_order_bound,
    poisson_small_rate_bound,
    poisson_zcdp_bound,
    renyi,
)
from dpexact.errors import InvalidInput
from dpexact.ternary import Ternary


def gaussian_curve(rho):
    return lambda order: order * Fraction(rho)


@pytest.mark.parametrize(
    ("order", "exact", "small", "large"),
    [
        (2, "0.00428650437", "0.013801644", "0.0638422399"),
        (5, "0.0185892354", "0.524971481", "0.346521386"),
        (10, "1.67406056", "4.11276922", "1.88419196"),
        (20, "6.84659771", "9.94600705", "6.84809357"),
        (50, "21.9431303", "25.9143755", "21.9431303"),
    ],
)
def test_three_bounds_at_rate_a_twentieth(order, exact, small, large):
    """Steinke (2022), Figure 2: ``p = 0.05``, ``rho = 0.5``."""
    curve = gaussian_curve("0.5")
    assert poisson_general_bound(curve, "0.05", order).shown(15).startswith(exact)
    assert poisson_small_rate_bound(curve, "0.05", order).shown(15).startswith(small)
    found = poisson_large_order_bound(curve(order), "0.05", order)
    assert found.shown(15).startswith(large)


@settings(deadline=None)
@given(
    sigma=st.fractions(Fraction(1, 4), 20, max_denominator=50),
    q=st.fractions(Fraction(1, 10**6), Fraction(6, 10)),
    order=st.fractions(Fraction(9, 8), 30, max_denominator=8),
)
def test_bounds_dominate_the_sampled_gaussian(sigma, q, order):
    curve = gaussian_curve(1 / (2 * sigma**2))
    true = renyi(dpexact.poisson(dpexact.gaussian(sigma), q), order)
    general = poisson_general_bound(curve, q, order)
    assert true <= general if order.denominator > 1 else true.overlaps(general)
    assert true.at_most(poisson_small_rate_bound(curve, q, order)) is not Ternary.FAILS
    assert true.at_most(poisson_large_order_bound(curve(order), q, order)) is not Ternary.FAILS


@given(
    rho=st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    q=st.fractions(Fraction(1, 10**5), Fraction(1, 60)),
    order=st.fractions(Fraction(11, 10), 12, max_denominator=10),
)
@settings(deadline=None)
def test_the_zcdp_bound_holds_wherever_it_applies(rho, q, order):
    log = math.log(1 / q)
    omega = min(log / (4 * rho), 1 + q**-0.25)
    applies = omega >= 3 + 2 * math.log(1 / rho) / log and order < omega
    try:
        bound = poisson_zcdp_bound(rho, q, order)
    except InvalidInput:
        assert not applies
        return
    assert applies
    assert bound.lower == bound.upper == 10 * q * q * rho * order
    assert renyi(dpexact.poisson(dpexact.gdp(f"sqrt({2 * rho})"), q), order, 8) <= bound


def test_any_curve_and_directions_in_theorem_34():
    """Randomised response on one record: the bound is attained by the two-point pair."""
    base, q, order = Fraction(3), Fraction(1, 4), 5
    p, other = (base / (1 + base), 1 / (1 + base)), (1 / (1 + base), base / (1 + base))
    moment = sum(
        (q * x + (1 - q) * y) ** order * y ** (1 - order) for x, y in zip(p, other, strict=True)
    )
    found = poisson_general_bound(lambda k: renyi("pure_dp(log(3))", k, 30), q, order)
    assert abs(math.exp(float(found.upper) * (order - 1)) - moment) < 1e-12
    assert found.digits >= 15
    assert poisson_general_bound(lambda _: math.inf, q, order).upper == math.inf
    assert poisson_general_bound(lambda _: 1, 0, order).upper == 0
    assert 1 in poisson_general_bound(lambda _: 1, 1, order)


def wbk(gamma, order, curve, loss):
    """Theorem 9 of Wang, Balle and Kasiviswanathan in plain floats."""
    growth = math.expm1(loss)
    total = 1.0
    for j in range(2, order + 1):
        term = math.exp((j - 1) * curve(j)) * min(2, growth**j)
        if j == 2:
            term = min(term, 4 * math.expm1(curve(2)))
        total += gamma**j * math.comb(order, j) * term
    return math.log(total) / (order - 1)


@given(
    m=st.integers(1, 100),
    order=st.integers(2, 12),
    rho=st.floats(0.01, 1),
    loss=st.sampled_from([0.05, 0.5, 2.0, 20.0]),
)
def test_fixed_size_bound_against_floats(m, order, rho, loss):
    found = fixed_size_bound(lambda j: float(rho * float(j)), m, 100, order, loss)
    plain = wbk(m / 100, order, lambda j: rho * j, loss)
    assert float(found.upper) == pytest.approx(plain, rel=1e-9)


def test_fixed_size_bound_without_a_largest_loss():
    curve = gaussian_curve(2)
    unbounded = fixed_size_bound(curve, 1, 1000, 4)
    assert unbounded.overlaps(fixed_size_bound(curve, 1, 1000, 4, 1000))
    assert fixed_size_bound(curve, 1, 1000, "7/2") == unbounded
    assert fixed_size_bound(lambda _: math.inf, 1, 10, 2).upper == math.inf


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: poisson_general_bound(gaussian_curve(1), 2, 3), "q: 2"),
        (lambda: poisson_general_bound(gaussian_curve(1), 0.5, 1), "order: 1"),
        (lambda: poisson_general_bound(gaussian_curve(1), 0.5, 10**9), "order"),
        (lambda: poisson_general_bound(gaussian_curve(-1), 0.5, 3), "divergence"),
        (lambda: poisson_small_rate_bound(gaussian_curve(1), "0.64", 3), "1 - 1/e"),
        (lambda: poisson_small_rate_bound(gaussian_curve(1), "0.5", 3, 2), "omega: 2"),
        (lambda: poisson_small_rate_bound(gaussian_curve(1), "0.5", 3, "sqrt(11)"), "omega"),
        (lambda: poisson_large_order_bound(1, "0.5", "inf"), "order"),
        (lambda: poisson_zcdp_bound(2, "0.001", 2), "rho: 2"),
        (lambda: poisson_zcdp_bound("0.5", "0.05", "1.1"), "log(1/q)/(4 rho)"),
        (lambda: poisson_zcdp_bound("0.1", "0.001", 7), "order: 7"),
        (lambda: poisson_zcdp_bound("0.1", "0.6", 2), "1/2"),
        (lambda: fixed_size_bound(gaussian_curve(1), 5, 4, 2), "m: 5"),
    ],
)
def test_hypotheses_are_checked(call, part):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert part in str(caught.value)
