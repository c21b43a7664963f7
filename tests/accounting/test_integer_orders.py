"""Samples of zCDP: bounds from integer orders, above every mechanism that is so private."""

from __future__ import annotations

from fractions import Fraction
from math import log1p

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

from dpexact import UnsupportedMechanism, calibrate, delta, epsilon, renyi
from dpexact.accounting.renyi.integer_orders import IntegerOrders

sigmas = st.fractions(min_value=Fraction(1, 2), max_value=4, max_denominator=4)
rates = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(1, 2), max_denominator=50)


def test_a_sampled_gaussian_is_no_bound_at_fractional_orders() -> None:
    discrete = renyi("poisson(discrete_gaussian(1/2), 1/1000)", "1.1", 12)
    gaussian = renyi("poisson(gaussian(1/2), 1/1000)", "1.1", 12)
    bound = renyi("poisson(zcdp(2), 1/1000)", "1.1", 12)
    assert discrete.shown(9) == "0.0000246269587..."
    assert gaussian.shown(9) == "0.0000238584559..."
    assert gaussian < discrete < bound
    for order in (2, 3, 7):
        sampled = renyi("poisson(discrete_gaussian(1/2), 1/1000)", order, 12)
        assert sampled.lower <= renyi("poisson(gaussian(1/2), 1/1000)", order, 12).upper


@given(sigmas, rates, st.integers(1, 4), st.sampled_from(["remove", "add"]))
@settings(max_examples=scaled(25), deadline=None)
def test_the_bound_is_above_noise_that_is_so_private(
    sigma: Fraction, q: Fraction, count: int, way: str
) -> None:
    rho = 1 / (2 * sigma**2)
    bound = delta(f"poisson(zcdp({rho}), {q})^{count}", "1/3", 8, way)
    assert bound.bound == "upper"
    assert delta(f"poisson(gaussian({sigma}), {q})^{count}", "1/3", 4, way).lower <= bound.upper
    epsilons = [
        f"poisson({noise}, {q})^{count}" for noise in (f"zcdp({rho})", f"gaussian({sigma})")
    ]
    above, truth = (epsilon(text, "1e-3", 4, way) for text in epsilons)
    assert truth.lower <= above.upper


@pytest.mark.slow
def test_the_value_is_that_of_the_best_integer_order() -> None:
    """Against a sum in mpmath over all orders up to 200."""
    found = delta("poisson(zcdp(1/2), 1/100)^1000", 1, 12)
    other = epsilon("poisson(zcdp(1/2), 1/100)^1000", "1e-5", 12)
    assert found.method == other.method == IntegerOrders.method
    with mp.workdps(40):
        q, best, least = mpf(1) / 100, mpf(1), mp.inf
        for order in range(2, 200):
            t = order - 1
            total = mp.fsum(
                mp.binomial(order, k) * (1 - q) ** (order - k) * q**k * mp.exp(mpf(k * (k - 1)) / 2)
                for k in range(order + 1)
            )
            divergence = 1000 * mp.log(total) / t
            log = t * (divergence - 1) + t * mp.log(t) - order * mp.log(order)
            best = min(best, mp.exp(log))
            least = min(least, 1 + (log + 5 * mp.log(10)) / t)
        for answer, truth in ((found, best), (other, least)):
            assert abs(mpf(answer.lower.numerator) / answer.lower.denominator / truth - 1) < 1e-10


@given(
    st.fractions(min_value=Fraction(1, 9), max_value=Fraction(8, 9), max_denominator=50),
    st.fractions(min_value=Fraction(1, 9), max_value=Fraction(8, 9), max_denominator=50),
    st.sampled_from(["-1", "-1/10", "0", "1/100", "1"]),
)
@settings(max_examples=scaled(25), deadline=None)
def test_order_2_bounds_every_law_and_is_attained(p: Fraction, q: Fraction, at: str) -> None:
    """Two outcomes lose at most what their own order allows, and at one epsilon exactly that."""
    assume(p != q)
    p, q = max(p, q), min(p, q)
    if p + q > 1:  # the direction of the larger divergence
        p, q = 1 - q, 1 - p
    pair = f"pair(({p}, {q}), ({1 - p}, {1 - q}))"
    curve = f"renyi_dp((2, {renyi(pair, 2, 20).safe(18)}))"
    assert delta(pair, at, 12).lower <= delta(curve, at, 12).upper
    assert epsilon(pair, "1/100", 12).lower <= epsilon(curve, "1/100", 12).upper
    # where x = q is the best: (p - q)/2 (1 - 2q)/(q (1 - q)) = a
    away = (p - q) * (1 - 2 * q) / (2 * q * (1 - q))
    there = delta(pair, f"log({1 + away})", 12)
    bound = delta(curve, f"log({1 + away})", 12)
    assert there.lower <= bound.upper < there.upper * (1 + Fraction(1, 10**6))
    assert float(epsilon(curve, there.upper, 12).upper) == pytest.approx(log1p(away), abs=1e-6)


def test_what_loses_little_on_samples_is_known_at_epsilon_0() -> None:
    """Integer orders alone leave 0.00018 there, and 0.786 of the epsilon."""
    found = delta("poisson(zcdp(1e-8), 1/10)", 0, 9)
    assert Fraction(7, 10**6) < found.lower <= found.upper < Fraction(8, 10**6)
    assert epsilon("poisson(zcdp(1/2), 1/1000)", "1e-6", 6).safe(3) == "0.358"
    found = calibrate("poisson(zcdp(?), 1/10)", advantage="1e-6", digits=4)
    assert Fraction(19, 10**11) < found.lower <= found.upper < Fraction(21, 10**11)


def test_samples_are_calibrated_and_others_are_refused() -> None:
    found = calibrate("poisson(zcdp(?), 1/100)^100", 1, "1e-5", 4)
    assert delta(f"poisson(zcdp({found.lower}), 1/100)^100", 1).upper <= Fraction(1, 10**5)
    with pytest.raises(UnsupportedMechanism, match="no zCDP guarantee"):
        delta("fixed_size(zcdp(1), 1, 10)^2", 1)
    with pytest.raises(UnsupportedMechanism, match="no zCDP guarantee"):
        delta("poisson(zcdp(1) * approx_dp(1, 1/10), 1/10)", 1)
    assert epsilon("poisson(zcdp(1), 1/10)", 0).upper == float("inf")


ASYMMETRIC = "pair((1/100, 1/2), (99/100, 1/2))"


@pytest.mark.parametrize("beside", [ASYMMETRIC, "pair((1/10, 1/3), (9/10, 2/3))"])
@pytest.mark.parametrize("way", ["add", "both"])
def test_beside_what_is_not_symmetric_nothing_is_known_of_an_added_record(beside, way) -> None:
    """The moments of removing bound no divergence of adding: of order 2 it is 2.84 for 0.67."""
    sample = f"poisson({beside} * zcdp(1e-9), 99/100)"
    for ask in (
        lambda: renyi(sample, 2, 8, way),
        lambda: delta(sample, 1, 8, way),
        lambda: epsilon(sample, "1e-3", 8, way),
    ):
        with pytest.raises(UnsupportedMechanism):
            ask()


def test_beside_what_is_not_symmetric_removing_is_bounded() -> None:
    alone = f"poisson({ASYMMETRIC}, 99/100)"
    sample = f"poisson({ASYMMETRIC} * zcdp(1e-9), 99/100)"
    for order in (2, 3):
        found, least = renyi(sample, order, 8, "remove"), renyi(alone, order, 8, "remove")
        assert found.bound == "upper"
        assert least.lower <= found.upper < least.upper + Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("poisson(zcdp(1/2), 1/1000)", "upper bound: Rényi divergence of order 2"),
        (
            "poisson(zcdp(1/2), 1/100)^1000",
            "upper bound: Rényi at integer orders, Proposition 14",
        ),
        ("repeat_and_select(pure_dp(1), 2, 1)", "upper bound: largest loss"),
    ],
)
def test_an_answer_names_the_bound_that_it_is(text, name):
    assert epsilon(text, "1e-6", 6).method == name
