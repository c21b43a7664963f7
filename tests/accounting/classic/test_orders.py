"""The best order: enclosed minima against mpmath, published orders, ends of the range."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import cosh, log, mp, mpf
from oracles import to_fraction

import dpexact
from dpexact.accounting.classic import orders
from dpexact.accounting.classic.orders import renyi_epsilon
from dpexact.accounting.classic.zcdp import plain_zcdp_epsilon, zcdp_epsilon
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput


def curve(text):
    m = dpexact.parse(text)
    return lambda order, digits: enclose_renyi(m, order, digits, "both")


@settings(max_examples=15)
@given(
    rho=st.fractions(Fraction(1, 10**4), 20, max_denominator=10**4),
    log_delta=st.integers(1, 300),
)
def test_a_straight_curve_gives_the_zcdp_conversions(rho, log_delta):
    delta = f"exp(-{log_delta})"
    for conversion, closed in (
        ("plain", plain_zcdp_epsilon),
        ("proposition 14", zcdp_epsilon),
    ):
        expected = closed(rho, delta, 25)
        found = renyi_epsilon(curve(f"zcdp({rho})"), delta, 15, conversion).epsilon
        assert found.overlaps(expected)
        assert found.digits >= 15


@pytest.mark.parametrize(("eps", "count", "delta"), [("0.1", 100, "1e-6"), ("1", 20, "0.01")])
def test_responses_against_mpmath(eps, count, delta):
    """The minimum over a fine grid of orders from the moment generating function itself."""
    with mp.workdps(40):
        x, loss = mpf(eps), -log(mpf(delta))

        def at(t, refined):
            total = count * log(cosh((2 * t + 1) * x / 2) / cosh(x / 2)) + loss
            return (total + refined * (t * log(t) - (t + 1) * log(t + 1))) / t

        for conversion in ("plain", "proposition 14"):
            refined = conversion != "plain"
            low, high = mpf("1e-3"), mpf(1000)
            for _ in range(300):
                a, b = low + (high - low) / 3, high - (high - low) / 3
                if at(a, refined) < at(b, refined):
                    high = b
                else:
                    low = a
            best = renyi_epsilon(curve(f"pure_dp({eps})^{count}"), delta, 18, conversion)
            least = to_fraction(at(low, refined))
            assert best.epsilon.lower <= least * (1 + Fraction(1, 10**30))
            assert best.epsilon.upper >= least * (1 - Fraction(1, 10**30))
            assert best.epsilon.digits >= 18
            assert abs(float(best.order) - 1 - float(low)) < 1e-4 * float(low)


def test_the_moments_accountant_of_the_mnist_runs():
    """Published: 1.19, 3.01, 7.10, the last at order 3.8 of their grid."""
    text = "poisson(gaussian({}), 256/60000)^{}"
    for sigma, steps, expected in (
        ("1.3", 3516, "1.191237"),
        ("1.1", 14062, "3.0082"),
        ("0.7", 10547, "7.0979"),
    ):
        found = renyi_epsilon(curve(text.format(sigma, steps)), "1e-5", 12, "plain")
        assert found.epsilon.shown(12).startswith(expected)
    one = curve("poisson(gaussian(0.7), 256/60000)")

    def epochs(order, digits):
        step, times = one(order, digits), Fraction(45 * 60000, 256)  # 10546.875 steps, as there
        return Enclosure(step.lower * times, step.upper * times)

    fixed = renyi_epsilon(epochs, "1e-5", 12, "plain", order="3.8").epsilon
    assert fixed.shown(8).startswith("7.100516")  # 7.1005163 rounded
    assert renyi_epsilon(epochs, "1e-5", 12, "plain").epsilon < fixed


@settings(max_examples=10)
@given(
    eps=st.fractions(Fraction(1, 10), 4, max_denominator=20),
    count=st.integers(1, 60),
    digits=st.integers(1, 6),
)
def test_conversions_dominate_the_truth(eps, count, digits):
    m = dpexact.laplace(1 / eps) ** min(count, 12)
    delta = Fraction(1, 10**digits)
    for conversion in ("plain", "proposition 14"):
        bound = renyi_epsilon(curve(str(m)), delta, 10, conversion).epsilon
        assert dpexact.delta(m, bound.upper, 6).lower <= delta


def test_a_minimum_at_infinite_order():
    """Where delta is tiny the largest loss itself is the best answer."""
    best = renyi_epsilon(curve("pure_dp(0.1)^100"), "1e-60", 15, "plain")
    assert best.order is None
    assert best.epsilon.digits >= 15
    assert 10 in best.epsilon


def test_infinity_is_refused_when_the_minimum_is_inside():
    """Bracketed at the end of the range, from where ``eps`` falls, nothing may be concluded."""

    def bounded(order, digits):
        return Enclosure.exact(order.fraction / 2 if order else Fraction(10**40))

    search = orders._Search(bounded, real("1e-6"), True, 10, "test")
    assert search._bracket(Fraction(1, 10**30), Fraction(1), 300)[0] is None


def test_a_bracket_that_begins_at_infinite_order_holds_the_minimum():
    """``eps(u) = 1 + (1-u)^2/4 + u/2`` is least at ``u = 0``, with slope 0."""

    def bowl(order, digits):
        u = Fraction(0) if order is None else 1 / (order.fraction - 1)
        return Enclosure.exact(1 + (1 - u) ** 2 / 4 + u / 2)

    search = orders._Search(bowl, real("exp(-1e-40)"), True, 10, "test")
    for center in ("1/2", "1e-3", "1e-9"):
        found, _ = search._bracket(Fraction(center), Fraction(1), 300)
        assert found.lower < Fraction(5, 4) <= found.upper < Fraction(5, 4) + Fraction(1, 10**39)
    assert found.digits >= 17


def test_where_nothing_is_known_of_the_largest_loss_nothing_is_concluded_from_it():
    """A curve that leaves the infinite order open, with a minimum far out."""

    def open_ended(order, digits):
        if order is None:
            return Enclosure(Fraction(0), math.inf)
        return curve("pure_dp(0.1)^100")(order, digits)

    found = renyi_epsilon(open_ended, "1e-60", 15, "plain").epsilon
    assert found.digits < 15
    assert 10 in found


def test_at_one_order_epsilon_is_never_negative():
    """Proposition 14 gives a negative number here, which guarantees epsilon = 0."""
    best = renyi_epsilon(curve("gaussian(1e9)"), "0.5", 5, order=2).epsilon
    assert best.lower == best.upper == 0


def test_a_tiny_or_vanishing_answer():
    assert renyi_epsilon(curve("gaussian(3)"), "0.5", 15).epsilon.upper == 0
    assert renyi_epsilon(curve("gaussian(1e9)"), "1e-9", 12).epsilon.digits >= 12


def test_a_wide_curve_gives_a_wide_answer():
    """A divergence known to three digits must not yield more, and stays enclosed."""

    def rough(order, digits):
        if order is None:
            return Enclosure.exact(math.inf)
        exact = order.fraction / 2
        return Enclosure(exact * Fraction(999, 1000), exact * Fraction(1001, 1000))

    exact = renyi_epsilon(curve("gaussian(1)"), "1e-6", 15).epsilon
    wide = renyi_epsilon(rough, "1e-6", 15).epsilon
    assert wide.lower < exact.lower <= exact.upper < wide.upper < 6
    best = renyi_epsilon(rough, "1e-6", 1, order=7).epsilon
    with mp.workdps(30):
        value = (3.5 * 6 + log(mpf(10) ** 6) + 6 * log(6) - 7 * log(7)) / 6
    assert best.lower <= to_fraction(value) <= best.upper


def test_a_divergence_that_is_infinite_but_at_the_lowest_orders():
    def steep(order, digits):
        if order is None or order.fraction > 1 + Fraction(1, 10**6):
            return Enclosure.exact(math.inf)
        return Enclosure.exact(order.fraction / 2)

    found = renyi_epsilon(steep, "1e-6", 6, "plain").epsilon
    assert found.digits < 6
    t = Fraction(1, 10**6)  # the bound falls up to here
    truth = (1 + t) / 2 + 10**6 * to_fraction(log(mpf(10) ** 6))
    assert found.lower <= truth <= found.upper < 2 * truth


@pytest.mark.parametrize("text", ["poisson(gaussian(1), 0.01)^100", "laplace(1) * gaussian(1)"])
def test_few_orders_are_asked_and_the_second_conversion_shares_them(text):
    """Golden sections and brackets from afar asked for 32 orders, and 15 more."""
    asked, tried = set(), [0.0]

    def counting(order, digits):
        asked.add((order, digits))
        return curve(text)(order, digits)

    counts = []
    for conversion in ("plain", "proposition 14"):
        found = renyi_epsilon(counting, "1e-6", 15, conversion, tried=tried).epsilon
        assert found.digits >= 15
        assert found.overlaps(renyi_epsilon(curve(text), "1e-6", 15, conversion).epsilon)
        counts.append(len(asked))
    assert counts[0] <= 20
    assert counts[1] <= counts[0] + 9


def test_arguments():
    with pytest.raises(InvalidInput, match="conversion: 'best'"):
        renyi_epsilon(curve("gaussian(1)"), "1e-5", 10, "best")
    with pytest.raises(InvalidInput, match="infinite from about order 1 \\+ 4e-18 on"):
        renyi_epsilon(curve("approx_dp(1, 1e-9)"), "1e-5", 10)
    for bad in (0, 1):
        with pytest.raises(InvalidInput, match="delta"):
            renyi_epsilon(curve("gaussian(1)"), bad)
    with pytest.raises(InvalidInput, match="rational"):
        renyi_epsilon(curve("gaussian(1)"), "1e-5", 10, order="pi")
