"""The best of a random number of runs: bounds against the exact laws of what is published."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

import dpexact
from dpexact import (
    InvalidInput,
    UnsupportedMechanism,
    delta,
    epsilon,
    gaussian,
    pair,
    parse,
    poisson,
    pure_dp,
    renyi,
    repeat_and_select,
)
from dpexact.accounting.renyi import selected
from dpexact.accounting.renyi.integer_orders import SelectedOrders
from dpexact.conversion import real


def generating(mean, shape):
    """``x -> E x^K``; gamma by bisection."""
    if shape is None:
        return lambda x: mp.exp(mean * (x - 1))

    def expected(gamma):
        if shape == 0:
            return (1 / gamma - 1) / mp.log(1 / gamma)
        return shape * (1 - gamma) / (gamma * (1 - gamma**shape))

    low, high = mpf(10) ** -12, 1 - mpf(10) ** -12
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > mean else (low, middle)
    gamma = low
    if shape == 0:
        return lambda x: mp.log(1 - (1 - gamma) * x) / mp.log(gamma)
    return lambda x: ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)


def best_of(law, f):
    """The law of the best of K outputs, the last outcome the best; first that of no run."""
    found, below, before = [f(mpf(0))], mpf(0), f(mpf(0))
    for p in law:
        below += p
        after = f(below)
        found.append(after - before)
        before = after
    return found


def divergence(p, q, order):
    if order == mp.inf:
        return max(mp.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
    total = mp.fsum(a * (a / b) ** (order - 1) for a, b in zip(p, q, strict=True) if a > 0)
    return mp.log(total) / (order - 1)


def to_mpf(x):
    return mpf(x.numerator) / x.denominator


masses = st.lists(st.integers(1, 9), min_size=3, max_size=3)


@pytest.mark.parametrize("at", ["-1", "-299/10000", "299/10000", "1/32"])
def test_a_small_largest_loss_bounds_as_randomized_response_does(at):
    """Of shape 1 that is three times the one of a run; of losses between, order 2 says more."""
    text = "repeat_and_select(pure_dp(1/100), 20, 1)"
    truth = dpexact.delta("pure_dp(3/100)", at, 8)
    alone = SelectedOrders(dpexact.parse(text), "both").delta(real(at), 8)
    assert dpexact.delta(text, at, 8).overlaps(truth)
    assert alone.overlaps(truth)
    found = dpexact.epsilon(text, "1/100000", 8)
    assert found.overlaps(dpexact.epsilon("pure_dp(3/100)", "1/100000", 8))


def test_as_randomized_response_counts_the_largest_loss_of_both_directions():
    """A record removed loses less here, and of randomized response neither is larger."""
    text = "repeat_and_select(pair((1/100, 1/10), (99/100, 9/10)), 5, 0)"
    less, more = (renyi(text, math.inf, 8, way).upper for way in ("remove", "add"))
    assert less < more
    bound = SelectedOrders(dpexact.parse(text), "remove")
    for level in ("0", "1/2"):
        assert bound.delta(real(level), 8).lower > dpexact.delta(f"pure_dp({less})", level, 8).upper
    target = dpexact.delta(f"pure_dp({less})", "1/2", 8).lower
    assert bound._epsilon(real(target), 8).lower > Fraction(1, 2)
    assert bound._epsilon(real("1e-9"), 8).upper <= less * Fraction(10**7 + 1, 10**7)


@given(
    masses,
    masses,
    st.sampled_from([Fraction(5, 4), Fraction(3), Fraction(20)]),
    st.sampled_from([None, Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(5, 2)]),
    st.sampled_from(["3/2", "2", "7", "inf"]),
)
@pytest.mark.slow
@settings(max_examples=scaled(60), deadline=None)
def test_no_selection_exceeds_the_bound(one, two, mean, shape, order) -> None:
    p = [Fraction(x, sum(one)) for x in one]
    q = [Fraction(x, sum(two)) for x in two]
    m = repeat_and_select(pair(*zip(p, q, strict=True)), mean, shape)
    with mp.workdps(40):
        f = generating(to_mpf(mean), None if shape is None else to_mpf(shape))
        alpha = mp.inf if order == "inf" else to_mpf(Fraction(order))
        for ways, direction in (((p, q), "remove"), ((q, p), "add")):
            laws = [best_of(list(map(to_mpf, law)), f) for law in ways]
            truth = divergence(*laws, alpha)
            bound = renyi(m, order, 8, direction)
            assert bound.bound == "upper"
            assert to_mpf(bound.upper) >= truth - mpf(10) ** -20
            stick = mp.fsum(max(a - 2 * b, 0) for a, b in zip(*laws, strict=True))
            assert to_mpf(delta(m, "log(2)", 4, direction).upper) >= stick - mpf(10) ** -20
            # the first outcomes as a test of one law against the other
            missed = dpexact.tradeoff(m, direction)(Fraction(str(laws[0][0] + laws[0][1])), 4).lower
            assert to_mpf(missed) <= laws[1][2] + laws[1][3] + mpf(10) ** -20


@pytest.mark.parametrize("mean", [1.25, 7.0, 300.0])
@pytest.mark.parametrize(("shape", "order"), [(0.0, 3.0), (1.0, 9.0), (-0.75, 2.0), (3.5, 30.0)])
def test_the_bound_is_the_published_formula_at_a_good_order(mean, shape, order) -> None:
    """Between the infimum over all orders and the least at those of dp-accounting."""
    m = repeat_and_select(gaussian(3), mean, shape)
    with mp.workdps(30):
        low, high = mpf(10) ** -12, mpf(400)
        eta = mpf(shape)
        for _ in range(120):
            spread = (low + high) / 2
            expected = (
                eta * mp.expm1(spread) / -mp.expm1(-eta * spread)
                if eta
                else mp.expm1(spread) / spread
            )
            low, high = (spread, high) if expected < mean else (low, spread)
        rate = mpf(1) / 18  # D_h = h rate
        best = 1 if (low / rate) < 1 else mp.sqrt(low / rate)
        least = (1 + eta) * ((1 - 1 / best) * best * rate + low / best)
        own = mp.sqrt(mp.log(mean) / rate) + 1
        at = max(mpf(order), own)
        least += at * rate + mp.log(mean) / (at - 1)
        found = to_mpf(renyi(m, order, 8).lower)
        assert least - mpf(10) ** -9 <= found <= least * mpf("1.15")


def test_pure_dp_and_one_run() -> None:
    """``(2 + eta) eps`` at every order: Papernot and Steinke (2022), Corollary 3."""
    m = repeat_and_select(pure_dp("1/10"), 10, 1)
    assert Fraction(3, 10) in epsilon(m, 0, 8)
    assert delta(m, "31/100").upper == 0
    assert repeat_and_select(gaussian(2), 1, 0).epsilon("1e-5") == gaussian(2).epsilon("1e-5")
    assert renyi(repeat_and_select(pure_dp(0), 10), 3).upper == 0
    two = repeat_and_select(gaussian(9), 5) ** 2 * gaussian(4)
    one = renyi(repeat_and_select(gaussian(9), 5), 3, 10)
    total = renyi(two, 3, 10)
    assert abs(total.lower - 2 * one.lower - Fraction(3, 32)) < Fraction(1, 10**8)


def test_both_directions_and_orders_next_to_one() -> None:
    sample = poisson(gaussian(2), "1/10")
    m = repeat_and_select(sample, 4, 1)
    ways = [renyi(m, 3, 8, way).upper for way in ("remove", "add")]
    assert renyi(m, 3, 8).upper == max(ways)
    assert renyi(m, 1, 6).upper <= renyi(m, 2, 6).upper
    assert renyi(repeat_and_select(sample, 4), "1.001", 6).upper < 5


def test_the_runs_that_are_none_count() -> None:
    """Without them the bound of few runs would be negative."""
    assert renyi(repeat_and_select(gaussian("1e-300"), 2, 0), 2, 4).lower > 10**500
    few = repeat_and_select(gaussian(100), "1/100")
    assert renyi(few, 2, 8).lower > 0
    everything = {
        "class_name": "RepeatAndSelectDpEvent",
        "event": {"class_name": "NonPrivateDpEvent"},
        "mean": 3.0,
        "shape": float("inf"),
    }
    assert str(dpexact.from_dp_event(everything)) == "approx_dp(0, 1+(-1)*exp(-3))"


@pytest.mark.slow
def test_texts_and_refusals() -> None:
    for text in ("repeat_and_select(gaussian(5), 10)", "repeat_and_select(gaussian(5)^3, 10, 0)"):
        assert str(parse(text)) == text
    for bad, why in (
        ("repeat_and_select(gaussian(5), 0)", "mean"),
        ("repeat_and_select(gaussian(5), 1/2, 1)", "must be >= 1"),
        ("repeat_and_select(gaussian(5), 3, -1)", "must be > -1"),
        ("repeat_and_select(gaussian(5), 3, sqrt(2))", "must be rational"),
    ):
        with pytest.raises(InvalidInput, match=why):
            parse(bad)
    m = repeat_and_select(gaussian(5), 10, 0)
    for inside in (poisson(m, "1/2"), dpexact.group(m, 2), dpexact.fixed_size(m, 2, 9)):
        with pytest.raises(UnsupportedMechanism, match="repeat_and_select"):
            delta(inside, 1)
    with pytest.raises(UnsupportedMechanism, match="infinite"):
        delta(repeat_and_select(dpexact.approx_dp(1, "1/9"), 3), 1)
    with pytest.raises(UnsupportedMechanism, match="only a bound is known"):
        dpexact.calibrate("repeat_and_select(gaussian(5), ?)", 1, "1e-5")
    sigma = dpexact.calibrate("repeat_and_select(gaussian(?), 10, 0)", 1, "1e-5", digits=2)
    assert delta(repeat_and_select(gaussian(sigma.upper), 10, 0), 1, 4).upper <= Fraction(1, 10**5)


def test_any_order_of_the_proposals_gives_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    m, best = repeat_and_select(gaussian(3), 7, 1), []
    best.append(renyi(m, 4, 8).lower)
    monkeypatch.setattr(selected, "_other_order", lambda *_: dpexact.parse("gaussian(99)").sigma)
    assert renyi(m, 4, 8).lower >= best[0]
