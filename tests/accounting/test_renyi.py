"""Rényi divergences: references, independent routes, extremes, arguments."""

import math
from fractions import Fraction

import gmpy2
import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.pairs.sums import mixture_sums
from dpexact.accounting.renyi import averages, renyi, sampled_gaussian, samples
from dpexact.accounting.renyi.query import enclose_renyi, order_in
from dpexact.answers import PrecisionNotReached
from dpexact.enclosure import EXACT
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.ternary import Ternary

TINY = Fraction(1, 10**30)


def volume(examples):
    return settings(deadline=None, max_examples=max(10, scaled(examples)))


def attempt(*arguments, **options):
    """The enclosure, or the best one where the digits were not reached."""
    try:
        return renyi(*arguments, **options)
    except PrecisionNotReached as error:
        return error.best


def exactly(x):
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


# --- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "order", "expected"),
    [
        ("gaussian(2)", "5/2", Fraction(5, 16)),
        ("gaussian(2, 3)", 1, Fraction(9, 8)),
        ("gdp(1/2)^6 * gaussian(1)", 2, Fraction(5, 2)),
        ("zcdp(1/3)^2", 4, Fraction(8, 3)),
        ("gdp(0)", "inf", Fraction(0)),
        ("pure_dp(0)", 7, Fraction(0)),
        ("pure_dp(3/2)^4", math.inf, Fraction(6)),
        ("laplace(2, 3)", "inf", Fraction(3, 2)),
        ("approx_dp(1, 0)", "inf", Fraction(1)),
        ("poisson(laplace(1), 1)", "inf", Fraction(1)),
        ("poisson(gaussian(1), 0)", 9, Fraction(0)),
        ("poisson(gaussian(1), 1)^3", 9, Fraction(27, 2)),
        ("poisson(approx_dp(1, 1/2), 0)", 9, Fraction(0)),
    ],
)
def test_exact_values(mechanism, order, expected):
    found = renyi(mechanism, order)
    assert found.lower == found.upper == expected
    assert found.digits == EXACT


@pytest.mark.parametrize(
    ("mechanism", "order", "direction"),
    [
        ("approx_dp(1, 1e-9)", 2, "both"),
        ("approx_dp(1, 1e-9)", 1, "both"),
        ("gaussian(1) * approx_dp(0, 1e-9)", 3, "both"),
        ("gaussian(5)", "inf", "both"),
        ("zcdp(1)", "inf", "both"),
        ("poisson(gaussian(5), 0.01)", "infinity", "both"),
        ("poisson(gaussian(5), 0.01)", "inf", "remove"),
        ("poisson(gaussian(5), 1)", "inf", "add"),
    ],
)
def test_infinite_values(mechanism, order, direction):
    assert renyi(mechanism, order, direction=direction).lower == math.inf


@pytest.mark.parametrize("base", [Fraction(3), Fraction(11, 10), Fraction(1000)])
@pytest.mark.parametrize("order", [2, 3, 10])
def test_randomised_response_against_exact_rationals(base, order):
    p = (base / (1 + base), 1 / (1 + base))
    moment = sum(x**order * y ** (1 - order) for x, y in zip(p, p[::-1], strict=True))
    found = renyi(f"pure_dp(log({base}))", order)
    bounds = []
    for rounding in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(gmpy2.get_context(), precision=200, round=rounding):
            value = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(moment))) / (order - 1)
            bounds.append(Fraction(*map(int, value.as_integer_ratio())))
    assert found.lower <= bounds[1]
    assert bounds[0] <= found.upper
    assert found.digits >= 15


@pytest.mark.parametrize("scale", ["0.1", "1", "7"])
@pytest.mark.parametrize("order", ["1", "1.000001", "2.5", "40"])
def test_laplace_against_quadrature(scale, order):
    with mpmath.workdps(60):
        b, a = mpmath.mpf(scale), mpmath.mpf(order)

        def density(x):
            return mpmath.exp(-abs(x) / b) / (2 * b)

        points = [-60 * b, 0, 1, 1 + 60 * b]
        if order == "1":
            true = mpmath.quad(lambda x: density(x) * (abs(x - 1) - abs(x)) / b, points)
            # the tails beyond 60 scales: less than 1e-24
        else:
            log_ratio = lambda x: (abs(x - 1) - abs(x)) / b  # noqa: E731
            moment = mpmath.quad(lambda x: density(x) * mpmath.exp((a - 1) * log_ratio(x)), points)
            true = mpmath.log(moment) / (a - 1)
        found = renyi(f"laplace({scale})", order)
        slack = Fraction(1, 10**18)
        assert found.lower - slack <= exactly(true) <= found.upper + slack


def test_tiny_huge_and_extreme_orders_of_closed_forms():
    for mechanism in ("laplace(1e-40)", "laplace(1e40)", "pure_dp(1e-40)", "pure_dp(1e40)"):
        before = Fraction(0)
        for order in ("1", "1.000000000000000000000001", "1.5", "1e40"):
            found = renyi(mechanism, order)
            assert found.digits >= 15
            assert found.upper >= before
            before = found.lower
        assert renyi(mechanism, "inf").upper >= before


# --- the sampled Gaussian -------------------------------------------------------------------------


def test_known_digits():
    text = "poisson(gaussian(1), 0.01)"
    remove = renyi(text, "2.5", digits=25, direction="remove")
    add = renyi(text, "2.5", digits=25, direction="add")
    assert remove.shown(23).startswith("0.00021757533228188045261484")
    assert add.shown(23).startswith("0.00019817328906376080085507")
    assert renyi(text, "2.5", digits=25) == remove
    hundred = renyi("poisson(gaussian(1), 0.01)^100", "2.5", digits=25, direction="add")
    assert hundred.overlaps(dpexact.Enclosure(100 * add.lower, 100 * add.upper))


CASES = [
    ("1", "0.01", "2.5"),
    ("0.3", "0.2", "1.7"),
    ("3", "0.9", "30.25"),
    ("0.5", "1e-6", "4.5"),
    ("2", "0.5", "1"),
    ("0.7", "0.001", "1"),
]


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("sigma", "q", "order"), CASES)
def test_sampled_gaussian_against_mpmath(sigma, q, order, direction):
    with mpmath.workdps(45):
        mu, p, a = 1 / mpmath.mpf(sigma), mpmath.mpf(q), mpmath.mpf(order)

        def log_w(z):
            return mpmath.log(1 - p + p * mpmath.exp(mu * z - mu * mu / 2))

        middle = mpmath.log((1 - p) / p) / mu + mu / 2
        points = sorted([-20, 0, middle, a * mu, 20 + a * mu, 20 + middle])
        if order == "1":
            value = (
                (lambda z: mpmath.exp(log_w(z)) * log_w(z))
                if direction == "remove"
                else (lambda z: -log_w(z))
            )
        else:
            power = a if direction == "remove" else 1 - a
            value = lambda z: mpmath.expm1(power * log_w(z))  # noqa: E731
        true = mpmath.quad(lambda z: mpmath.npdf(z) * value(z), points)
        if order != "1":
            true = mpmath.log1p(true) / (a - 1)
        true = exactly(true)
    found = renyi(f"poisson(gaussian({sigma}), {q})", order, direction=direction)
    assert found.digits >= 15
    assert found.lower - TINY <= true <= found.upper + TINY


@st.composite
def configurations(draw):
    sigma = 10 ** draw(st.floats(-1.5, 3))
    q = draw(st.sampled_from([draw(st.floats(0.001, 0.999)), 10 ** draw(st.floats(-12, -1))]))
    kind = draw(st.sampled_from(["integer", "real", "large", "close"]))
    order = {
        "integer": st.integers(2, 60).map(Fraction),
        "real": st.floats(1.01, 40).map(Fraction),
        "large": st.floats(40, 2000).map(Fraction),
        "close": st.integers(3, 25).map(lambda n: 1 + Fraction(1, 10**n)),
    }[kind]
    return dpexact.poisson(dpexact.gaussian(sigma), q), draw(order), draw(st.integers(3, 30))


@volume(100)
@given(configurations())
def test_all_routes_overlap_in_the_remove_direction(configuration):
    mechanism, order, digits = configuration
    methods = ["series", "trapezoid", "sandwich"] + ["binomial"] * (order.denominator == 1)
    found = [attempt(mechanism, order, digits, method=method) for method in methods]
    found.append(attempt(mechanism, order, digits + 5))
    assert max(f.lower for f in found) <= min(f.upper for f in found)
    assert sum(f.digits >= digits for f in found) >= 2


@volume(60)
@given(configurations())
def test_the_add_direction_is_consistent(configuration):
    """At two precisions, with the sandwich, and below the remove direction."""
    mechanism, order, digits = configuration
    coarse, fine, sandwich = (
        attempt(mechanism, order, digits, "add"),
        attempt(mechanism, order, digits + 12, "add"),
        attempt(mechanism, order, digits, "add", method="sandwich"),
    )
    assert coarse.digits >= digits
    assert max(coarse.lower, fine.lower, sandwich.lower) <= min(
        coarse.upper, fine.upper, sandwich.upper
    )
    assert coarse.at_most(attempt(mechanism, order, digits, "remove")) is not Ternary.FAILS


@volume(30)
@given(configurations())
def test_divergence_increases_with_the_order_from_order_one_on(configuration):
    mechanism, order, _ = configuration
    for direction in ("remove", "add"):
        first = attempt(mechanism, 1, 10, direction)
        assert first.digits >= 10
        assert first.at_most(attempt(mechanism, order, 10, direction)) is not Ternary.FAILS


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("sigma", ["0.01", "0.05", "1", "1e4"])
@pytest.mark.parametrize("q", ["1e-9", "0.01", "0.999999"])
@pytest.mark.parametrize("order", ["1", "1.000000000001", "10000", "10000.5"])
def test_extremes_reach_their_digits(sigma, q, order, direction):
    found = renyi(f"poisson(gaussian({sigma}), {q})", order, 8, direction)
    assert found.digits >= 8


@pytest.mark.parametrize(
    ("sigma", "q", "order", "direction"),
    [
        ("1e-300", "0.01", "1", "remove"),
        ("1e-300", "0.01", "1", "add"),
        ("1", "0.01", "1e300", "add"),
        ("1e300", "1e-300", "1e300", "add"),
        ("1e-30", "1e-300", "1.000000000001", "remove"),
    ],
)
def test_beyond_floats_an_enclosure_and_no_hang(sigma, q, order, direction):
    found = attempt(f"poisson(gaussian({sigma}), {q})", order, 15, direction)
    assert 0 <= found.lower <= found.upper < math.inf


def test_too_many_digits_give_fewer(monkeypatch):
    monkeypatch.setattr(sampled_gaussian, "MAX_COST", 5e3)
    with pytest.raises(PrecisionNotReached) as caught:
        renyi("poisson(gaussian(1), 0.01)", "2.5", 1000, "add")
    assert 10 < caught.value.best.digits < 1000


def test_equal_descriptions_agree():
    direct = renyi("poisson(gaussian(2), 1/20)", "3.5")
    assert renyi("poisson(poisson(gaussian(2), 1/4), 1/5)", "3.5") == direct
    assert renyi("poisson(gaussian(6, 3), 1/20)", "3.5") == direct
    assert renyi("poisson(gdp(3/10) * gdp(4/10), 1/20)", "3.5") == direct


def test_methods_are_named():
    text = "poisson(gaussian(1), 0.05)"
    assert renyi(text, 10, method="binomial").method == "binomial sum"
    assert renyi(text, "2.5", method="series").method == "double series"
    assert renyi(text, "2.5", method="trapezoid").method == "trapezoidal rule"
    assert "bounds" in renyi("poisson(gaussian(0.01), 0.05)", "2.5").method
    mixed = renyi(f"{text}^3 * gaussian(2)", "2.5", direction="add").method
    assert mixed == "trapezoidal rule + closed form: Gaussian"


@volume(30)
@given(
    q=st.fractions(0, 1, max_denominator=50),
    order=st.sampled_from(["1", "2", "3.5", "inf"]),
    direction=st.sampled_from(["remove", "add", "both"]),
)
def test_repetition_multiplies_and_composition_adds(q, order, direction):
    assume(q < 1)
    step = dpexact.poisson(dpexact.gaussian(1), q)
    one, many = renyi(step, order, 15, direction), renyi(step**1000, order, 15, direction)
    assert (1000 * one.lower, 1000 * one.upper) == (many.lower, many.upper)
    other = renyi("laplace(3)", order, 15, direction)
    both = renyi(step * dpexact.laplace(3), order, 15, direction)
    assert (one.lower + other.lower, one.upper + other.upper) == (both.lower, both.upper)


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("gaussian(1)", "0.5"), "order: 0.5 is not accepted"),
        (("gaussian(1)", "-inf"), "order"),
        (("gaussian(1)", math.nan), "order"),
        (("gaussian(1)", None), "order"),
        (("gaussian(1)", 2, 0), "digits"),
        (("gaussian(1)", 2, 15, "up"), "direction"),
        (("gaussian(1)", 2, 15, "both", "magic"), "method: 'magic' is not accepted"),
        (("poisson(gaussian(1), 0.1)", "2.5", 15, "both", "binomial"), "binomial"),
        (("poisson(gaussian(1), 0.1)", 2, 15, "add", "binomial"), "binomial"),
        (("poisson(gaussian(1), 0.1)", 2, 15, "add", "series"), "series"),
        ((3, 2), "mechanism"),
    ],
)
def test_bad_arguments_are_named(arguments, part):
    *positional, method = arguments if len(arguments) == 5 else (*arguments, "auto")
    with pytest.raises(InvalidInput) as caught:
        renyi(*positional, method=method)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unsupported_mechanisms_are_named():
    for text in ("poisson(poisson(laplace(1), 0.1)^2, 0.1)", "fixed_size(gaussian(1), 1, 10)"):
        with pytest.raises(UnsupportedMechanism, match=r"poisson|fixed_size"):
            renyi(text, 2)


@pytest.mark.parametrize(
    ("mechanism", "order"),
    [
        ("poisson(gaussian(1), 0.01)", "2.5"),
        ("poisson(gaussian(2), 1/3)^7", "1"),
        ("poisson(gaussian(1/2), 1/3)", "40"),
        ("poisson(laplace(1), 1/10)^5 * gaussian(3)", "7/2"),
        ("poisson(discrete_gaussian(2), 1/10)", "7/2"),
        ("poisson(pure_dp(1), 1/10)^2", "inf"),
        ("poisson(laplace(1) * approx_dp(1/2, 1/9), 1/10)", "1.5"),
    ],
)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_starved_answers_still_hold_the_truth(monkeypatch, mechanism, order, direction):
    """Whatever limit cuts the work short, what is returned encloses the divergence asked for."""
    alpha, m = order_in(order), dpexact.parse(mechanism)
    exact = enclose_renyi(m, alpha, 25, direction)
    limits = [
        (balls, "CAP_FACTOR", 0),
        (balls, "CAP_EXTRA", 0),
        (samples, "MAX_ORDER", 3),
        (samples, "MAX_BESIDE", 0),
        (samples, "MAX_TYPES", 0),
        (averages, "MAX_EVALUATIONS", 3),
        (sampled_gaussian, "ATTEMPTS", 1),
        (sampled_gaussian, "MAX_BITS", 80),
        (sampled_gaussian, "MAX_COST", 50.0),
        (mixture_sums, "MOST_NODES", 20),
    ]
    for module, name, value in limits:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            found = enclose_renyi(m, alpha, 25, direction)
        assert found.overlaps(exact)
        assert found.digits >= 25 or found.reason
