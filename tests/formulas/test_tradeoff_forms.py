"""Closed forms of trade-off functions and Rényi divergences against the exact engines."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.formulas import symbolic
from dpexact.formulas.closed_forms import ALPHA, DELTA, RATE, SLOPE, E
from dpexact.tradeoffs import conjugate, f_eps_delta, subsampled

bases = st.fractions(Fraction(11, 10), 5, max_denominator=12)
masses = st.one_of(st.just(Fraction(1)), st.fractions(0, Fraction(3, 4), max_denominator=12))


def rational(value):
    return sympy.Rational(value.numerator, value.denominator)


def exact(value):
    return Fraction(int(value.p), int(value.q))


@settings(max_examples=15)
@given(bases, masses, st.integers(1, 5))
def test_vertices_of_tensor_powers(base, mass, count):
    form = symbolic(dpexact.approx_dp(f"log({base})", mass) ** count, "vertices")
    numbers = {E: rational(base), DELTA: rational(mass)}
    written = {tuple(exact(c.subs(numbers)) for c in pair) for pair in form.expression}
    f = f_eps_delta(f"log({base})", mass) ** count
    assert {(Fraction(v.alpha), Fraction(v.beta)) for v in f.vertices} <= written
    for alpha, beta in written:
        assert f(alpha).lower == beta


@settings(max_examples=15)
@given(bases, masses, st.fractions(-6, 3, max_denominator=7))
@pytest.mark.slow
def test_the_conjugate(base, mass, slope):
    form = symbolic(dpexact.approx_dp(f"log({base})", mass), "conjugate")
    numbers = {E: rational(base), DELTA: rational(mass), SLOPE: rational(slope)}
    found = exact(form.expression.subs(numbers))
    f = f_eps_delta(f"log({base})", mass)
    vertices = [(Fraction(v.alpha), Fraction(v.beta)) for v in f.vertices]
    assert found == max([a * slope - b for a, b in vertices] + [slope])
    assert found == conjugate(f, slope)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    bases,
    masses,
    st.integers(1, 5),
    st.fractions(0, 1, max_denominator=9),
)
def test_the_subsampled_trade_off_function(base, mass, m, alpha):
    mechanism = dpexact.fixed_size(dpexact.approx_dp(f"log({base})", mass), m, 5)
    form = symbolic(mechanism, "tradeoff")
    numbers = {
        E: rational(base),
        DELTA: rational(mass),
        RATE: sympy.Rational(m, 5),
        ALPHA: rational(alpha),
    }
    hull = subsampled(f_eps_delta(f"log({base})", mass), Fraction(m, 5))
    assert exact(form.expression.subs(numbers)) == hull(alpha).lower


@pytest.mark.parametrize("order", [2, 3, 7])
def test_the_renyi_series(order):
    form = symbolic("poisson(gaussian(3/2), 1/10)", "renyi", order=order)
    value = Fraction(str(form.expression.subs(form.values).evalf(40)))
    found = dpexact.renyi("poisson(gaussian(3/2), 1/10)", order, 30, "remove")
    slack = found.upper / 10**29
    assert found.lower - slack <= value <= found.upper + slack


@pytest.mark.parametrize(
    ("text", "form", "order"),
    [
        ("gaussian(1)", "vertices", None),
        ("approx_dp(0, 1/3)", "delta", None),
        ("fixed_size(gaussian(1), 1, 2)", "renyi", 2),
        ("pure_dp(1)^2", "conjugate", None),
        ("pure_dp(1)^200", "vertices", None),
        ("poisson(pure_dp(1), 1/2)", "tradeoff", None),
        ("poisson(laplace(1), 1/2)", "renyi", 2),
    ],
)
def test_what_is_not_written_out(text, form, order):
    with pytest.raises(UnsupportedMechanism):
        symbolic(text, form, order=order)


@pytest.mark.parametrize("form", ["delta", "vertices", "conjugate"])
@pytest.mark.parametrize(
    "text",
    [
        "approx_dp(log(2), 1/2) * pure_dp(log(2))",
        "approx_dp(log(2), 1/2) * approx_dp(0, 1/3)",
        "approx_dp(log(2), 1/2)^2 * approx_dp(0, 1/3)^2",
    ],
)
def test_masses_that_do_not_go_with_the_responses_are_no_repetition(text, form):
    """``(1 - delta)^k`` would be that of another mechanism."""
    with pytest.raises(UnsupportedMechanism, match=r"approx_dp\(eps, delta\)"):
        symbolic(text, form)


def test_samples_of_all_records_and_of_several_mechanisms():
    form = symbolic("fixed_size(approx_dp(log(3), 1/10), 2, 2)", "tradeoff")
    assert form.values[RATE] == 1
    for text in ("fixed_size(pure_dp(1), 1, 2)^2", "fixed_size(pure_dp(1)^2, 1, 2)", "pure_dp(1)"):
        with pytest.raises(UnsupportedMechanism):
            symbolic(text, "tradeoff")
    assert symbolic("poisson(gaussian(2), 1)", "renyi", order=2).values[RATE] == 1


def test_bad_arguments():
    with pytest.raises(InvalidInput, match="form"):
        symbolic("pure_dp(1)", "spam")
    with pytest.raises(InvalidInput, match="order"):
        symbolic("poisson(gaussian(1), 1/2)", "renyi", order=1)
