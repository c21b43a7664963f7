"""The optimal conversion: a second route through the boundary pairs, and dominance."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf
from oracles import to_fraction

import dpexact
from dpexact import balls
from dpexact.accounting.classic import optimal_order
from dpexact.accounting.classic.optimal_order import enclose_optimal
from dpexact.accounting.classic.orders import renyi_epsilon
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.ternary import Ternary


def reached(p, gamma, alpha, delta):
    """The epsilon of the two-outcome pair ``(p, q)`` with divergence ``gamma``, by bisection."""

    def divergence(q):
        total = p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
        return log(total) / (alpha - 1)

    # one of the outcomes alone has at most this loss
    low, high = -gamma + log(p) * alpha / (alpha - 1), log(p)
    for _ in range(mp.prec):
        middle = (low + high) / 2
        if divergence(exp(middle)) > gamma:
            low = middle
        else:
            high = middle
    return log(p - delta) - high


def most(gamma, alpha, delta, steps):
    """The largest over ``p``, on the logistic scale, by ternary search."""

    def at(u):
        return reached(delta + (1 - delta) / (1 + exp(-u)), gamma, alpha, delta)

    low, high = 2 * log(delta), mpf(20)
    for _ in range(steps):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if at(a) > at(b):
            high = b
        else:
            low = a
    return at((low + high) / 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gamma", "alpha", "delta", "places"),
    [
        ("3", "6", "1e-6", 40),
        ("0.5", "2", "1e-5", 40),
        ("0.01", "20", "1e-3", 40),
        ("2", "1.5", "0.05", 40),
        ("2", "3", "1/3", 40),
        ("380000", "1.0188", "1e-50", 80),
        ("1e-57", "1244", "1e-50", 130),
        ("5e-20", "3", "1e-15", 70),
        ("4", "1000000", "1e-90", 130),
    ],
)
def test_the_worst_pair_of_two_outcomes(gamma, alpha, delta, places):
    with mp.workdps(places):
        exact = [Fraction(x) for x in (gamma, alpha, delta)]
        given = [mpf(x.numerator) / x.denominator for x in exact]
        expected = to_fraction(most(*given, 60))
    found = enclose_optimal(gamma, alpha, delta, 12)
    assert abs(expected / found.upper - 1) < Fraction(1, 10**11)
    assert found.digits >= 12


@settings(max_examples=10)
@given(
    rho=st.fractions(Fraction(1, 20), 3, max_denominator=20),
    alpha=st.fractions(Fraction(3, 2), 30, max_denominator=4),
    power=st.integers(1, 8),
)
def test_between_the_truth_and_proposition_14(rho, alpha, power):
    delta = Fraction(1, 10**power)
    line = lambda order, digits: Enclosure.exact(order.fraction * rho)  # noqa: E731
    weaker = renyi_epsilon(line, delta, 12, order=alpha).epsilon
    found = enclose_optimal(alpha * rho, alpha, delta, 12)
    assert found.at_most(weaker) is not Ternary.FAILS
    assert dpexact.epsilon(f"gdp(sqrt({2 * rho}))", delta, 8).at_most(found) is not Ternary.FAILS


def test_no_divergence_or_much_delta_needs_no_epsilon():
    assert enclose_optimal(0, 2, "0.1", 15).upper == 0
    assert enclose_optimal("1e-6", 2, "0.1", 15).upper == 0


@pytest.mark.slow
@pytest.mark.parametrize("place", ["-1", "5", "12"])
def test_a_wrong_minimiser_certifies_nothing(monkeypatch, place):
    """The tangent bound, not the proposed ``p``, is what is trusted."""
    true = enclose_optimal("3", "6", "0.1", 12)
    monkeypatch.setattr(optimal_order._Problem, "_place", lambda *_: arb(place))
    found = enclose_optimal("3", "6", "0.1", 12)
    assert found.lower <= true.lower <= true.upper <= found.upper


def test_a_wrong_epsilon_certifies_nothing(monkeypatch):
    monkeypatch.setattr(optimal_order._Problem, "_margin", lambda _, epsilon: epsilon - 1)
    assert enclose_optimal("3", "6", "0.1", 12).digits < 12


def test_arguments():
    for arguments in ((-1, 2, "0.1"), (1, 1, "0.1"), (1, 2, 0), (1, 2, 1)):
        with pytest.raises(InvalidInput):
            enclose_optimal(*arguments, 12)


def test_extreme_losses_cost_few_evaluations(monkeypatch):
    """Tiny deltas and a thousandfold loss: the search keeps to where the minimum can be."""
    calls = []
    slope = optimal_order._Problem._slope

    def counted(*arguments):
        calls.append(None)
        return slope(*arguments)

    monkeypatch.setattr(optimal_order._Problem, "_slope", counted)
    found = enclose_optimal(6300, "1.26", "1e-300", 12)
    weaker = (6300 * 0.26 + 300 * 2.302585093) / 0.26  # by Markov's inequality
    assert 8000 < found.upper < weaker
    assert found.digits >= 12
    assert len(calls) < 20_000


@pytest.mark.parametrize("around", [0.001, 0.01, 3 / 8])
@pytest.mark.parametrize("place", ["-11", "-7", "-2", "0", "2", "11", None])
@pytest.mark.parametrize("delta", ["1e-6", "0.15"])
def test_a_guarantee_by_a_tangent_wherever_it_touches(monkeypatch, delta, place, around):
    """What is proposed for the minimum decides how much is guaranteed, never what is false."""
    truth = enclose_optimal("1/2", "6", delta, 12).lower
    monkeypatch.setattr(optimal_order, "_AROUND", around)
    if place:
        monkeypatch.setattr(optimal_order._Problem, "_place", lambda *_: arb(place))
    with balls.precision(200):
        problem = optimal_order._Problem(arb(6), arb("0.5"), balls.ball(Fraction(delta)))
        for share in ("0", "1/2", "9/10", "99/100", "999999/1000000"):
            assert not problem._guaranteed(balls.ball(truth * Fraction(share)))
