"""Curves of Rényi divergences as input: the conversion of each row, and what has such a curve."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

import dpexact
from dpexact import InvalidInput, UnsupportedMechanism, renyi_dp
from dpexact.ternary import Ternary

CURVE = "renyi_dp((2, 0.1), (4, 1/4), (8, 0.6))"
curves = st.dictionaries(
    st.fractions(Fraction(11, 10), 40, max_denominator=10),
    st.fractions(0, 3, max_denominator=100),
    min_size=1,
    max_size=5,
)


def bound(rows, epsilon):
    """The least of Proposition 14 of Steinke (2022) over the rows, by mpmath."""
    least = mpf(1)
    with mp.workdps(40):
        for order, level in rows:
            t = mpf(order.numerator) / order.denominator - 1
            level = mpf(level.numerator) / level.denominator
            power = t * (level - epsilon) + t * mp.log(t) - (t + 1) * mp.log(t + 1)
            least = min(least, mp.exp(power))
    return least


@given(curve=curves, epsilon=st.fractions(0, 6, max_denominator=20), count=st.integers(1, 3))
def test_it_is_the_best_row(curve, epsilon, count):
    """Rows that grow and are convex say all that is used."""
    m = renyi_dp(*curve.items()) ** count
    at = renyi_dp(*curve.items()).at
    rows = [(order, count * at(order)) for order in curve]
    assert all(at(order) <= level for order, level in curve.items())
    expected = bound(rows, mpf(epsilon.numerator) / epsilon.denominator)
    found = dpexact.delta(m, epsilon, 15)
    assert found.bound == "upper"
    assert abs(mpf(float(found.upper)) - expected) < mpf(10) ** -14
    target = Fraction(float(expected))
    if 0 < target < 1:
        back = dpexact.epsilon(m, target, 12)
        assert abs(float(back.upper - epsilon)) < 1e-8


@settings(max_examples=scaled(60))
@given(
    masses=st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=4),
    orders=st.sets(st.fractions(Fraction(5, 4), 12, max_denominator=4), min_size=2, max_size=4),
    epsilon=st.fractions(0, 3, max_denominator=10),
)
def test_what_has_such_a_curve_is_below(masses, orders, epsilon):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in zip(*masses, strict=True))
    m = dpexact.pair(*zip(p, q, strict=True))
    rows = [(order, dpexact.renyi(m, order, 12).upper) for order in orders]
    curve = renyi_dp(*rows)
    truth = dpexact.delta(m**2, epsilon, 8)
    assert truth.at_most(dpexact.delta(curve**2, epsilon, 8)) is not Ternary.FAILS
    low, high = min(orders), max(orders)
    for share in (Fraction(1, 3), Fraction(4, 5)):
        between = low + share * (high - low)
        assert dpexact.renyi(m, between, 10).lower <= curve.at(between)
    assert dpexact.renyi(m, 1, 10).lower <= curve.at(1)
    assert curve.at(high + 1) is None


def test_between_rows():
    curve = dpexact.parse(CURVE)
    # the chord of (a - 1) D_a from 0.1 at 2 to 0.75 at 4
    assert curve.at(Fraction(3)) == (Fraction(1, 10) + Fraction(3, 4)) / 2 / 2
    assert curve.at(Fraction(3, 2)) == curve.at(Fraction(1)) == Fraction(1, 10)
    assert renyi_dp((2, 3), (5, 1)).at(Fraction(2)) == 1
    assert dpexact.renyi(CURVE, 4).upper == Fraction(1, 4)
    assert dpexact.renyi(CURVE, 9).upper == dpexact.renyi(CURVE, math.inf).upper == math.inf


def test_beside_others_divergences_add_up():
    for other in (
        "gaussian(3)",
        "zcdp(1/18)",
        "poisson(gaussian(1), 1/100)^50",
        "renyi_dp((9, 1))",
    ):
        found = dpexact.delta(f"{CURVE} * {other}", 2, 12)
        curve = dpexact.parse(CURVE)
        rows = [
            (Fraction(k), curve.at(Fraction(k)) + dpexact.renyi(other, k, 25).upper)
            for k in (2, 4, 8)
        ]
        assert abs(float(found.upper) - float(bound(rows, 2))) < 1e-12
    with pytest.raises(UnsupportedMechanism, match="infinite"):
        dpexact.delta(f"{CURVE} * approx_dp(1, 1/9)", 1)


def test_a_file_of_rows(tmp_path):
    file = tmp_path / "curve.csv"
    file.write_text("order,eps\n8,0.6\n2,0.1\n4,1/4\n")
    assert renyi_dp(f"@{file}") == dpexact.parse(f"renyi_dp(@{file})") == dpexact.parse(CURVE)
    file.write_text("p,q\n8,0.6\n")
    with pytest.raises(InvalidInput, match=r"first line of .* must be 'order,eps'"):
        renyi_dp(f"@{file}")
    file.write_text("order,eps\n8,inf\n")
    with pytest.raises(InvalidInput, match="renyi_dp: line 2"):
        renyi_dp(f"@{file}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("renyi_dp((1, 2))", "order 1 is not accepted; must be rational and > 1"),
        ("renyi_dp((2, -1))", "eps -1 is not accepted; must be rational and >= 0"),
        ("renyi_dp((sqrt(2), 1))", "must be rational"),
        ("renyi_dp((2, 1), (4/2, 3))", "order 2 is given twice"),
        ("renyi_dp()", "rows is missing"),
        ("renyi_dp((inf, 1))", "inf is not a finite number"),
    ],
)
def test_bad_rows_are_named(text, told):
    with pytest.raises(InvalidInput, match=told):
        dpexact.parse(text)


def test_too_many_rows():
    with pytest.raises(InvalidInput, match="limit 1000"):
        renyi_dp(*((k, 1) for k in range(2, 1003)))


def test_where_it_says_nothing():
    for text in (f"poisson({CURVE}, 1/2)", f"group({CURVE}, 2)", f"repeat_and_select({CURVE}, 2)"):
        with pytest.raises(UnsupportedMechanism, match="renyi_dp says nothing but divergences"):
            dpexact.epsilon(text, "1e-6")
    with pytest.raises(UnsupportedMechanism, match="renyi_dp is given"):
        dpexact.calibrate("renyi_dp((2, ?))", 3, "1e-6")
    assert dpexact.bounds(CURVE, "1e-6").exact is None
    assert dpexact.epsilon(CURVE, 0).upper == math.inf
    assert dpexact.epsilon(CURVE, 1).upper == 0
