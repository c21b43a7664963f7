"""Closed forms against the exact engine at random rationals."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.formulas import symbolic
from dpexact.formulas.closed_forms import DELTA, EPSILON, MU, E, X, to_sympy


def exactly(value):
    value = sympy.nsimplify(value) if not value.is_Rational else value
    return Fraction(int(value.p), int(value.q))


@given(
    count=st.integers(1, 6),
    base=st.fractions(Fraction(11, 10), 5, max_denominator=20),
    mass=st.fractions(0, 1, max_denominator=20),
    level=st.fractions(1, 40, max_denominator=20),
)
def test_optimal_composition_agrees_with_the_exact_engine(count, base, mass, level):
    mechanism = dpexact.approx_dp(f"log({base})", mass) ** count
    form = symbolic(mechanism)
    numbers = {
        symbol: sympy.Rational(value.numerator, value.denominator)
        for symbol, value in ((E, base), (DELTA, mass), (X, level))
    }
    found = dpexact.delta(mechanism, f"log({level})")
    assert exactly(form.expression.subs(numbers)) == found.lower == found.upper


@pytest.mark.parametrize("text", ["approx_dp(log(2), 1)^3", "gaussian(1) * approx_dp(0, 1)"])
def test_what_reveals_everything_is_one_form(text):
    form = symbolic(text)
    assert form.expression.subs(form.values) == 1


@given(
    mu=st.fractions(Fraction(1, 5), 5, max_denominator=9), eps=st.fractions(0, 5, max_denominator=9)
)
def test_gaussian_agrees_with_the_exact_engine(mu, eps):
    form = symbolic(dpexact.gdp(mu))
    value = form.expression.subs(
        {MU: sympy.Rational(str(mu)), EPSILON: sympy.Rational(str(eps))}
    ).evalf(40)
    found = dpexact.delta(dpexact.gdp(mu), eps, 30)
    slack = found.upper / 10**29
    assert found.lower - slack <= Fraction(str(value)) <= found.upper + slack


def test_values_say_what_the_symbols_stand_for():
    form = symbolic("approx_dp(1/10, 1/1000)^3")
    assert form.values == {E: sympy.exp(sympy.Rational(1, 10)), DELTA: sympy.Rational(1, 1000)}
    assert symbolic("gaussian(2)^4").values == {MU: 1}
    assert DELTA not in symbolic("pure_dp(1)").expression.free_symbols


def test_latex_is_of_the_expression():
    assert symbolic("pure_dp(1)").latex() == sympy.latex(symbolic("pure_dp(1)").expression)


@pytest.mark.parametrize(
    "text",
    [
        "laplace(1)",
        "pure_dp(1)^101",
        "gaussian(1)*pure_dp(1)",
        "approx_dp(1,1/2)*pure_dp(1)",
        "pure_dp(1e5000)",
        "gaussian(1e-5000)",
    ],
)
def test_what_is_not_written_out_says_so(text):
    with pytest.raises(UnsupportedMechanism):
        symbolic(text)


def test_bad_text():
    with pytest.raises(InvalidInput):
        symbolic("nonsense")


@pytest.mark.parametrize(
    "text", ["log(3/2)*3", "sqrt(2)/pi", "exp(2)-1/7", "(pi+1)^3", "e^2", "pi^-2"]
)
def test_exact_numbers_become_sympy(text):
    from dpexact.conversion import real

    assert to_sympy(real(text)) == sympy.sympify(text.replace("^", "**").replace("e**", "E**"))


def test_an_upper_bound_is_not_written_out_as_the_profile():
    with pytest.raises(UnsupportedMechanism, match="of a bound: k of t steps"):
        dpexact.symbolic("allocation(gaussian(1), 3, 2)")
    assert dpexact.symbolic("allocation(gaussian(1), 2, 2)").expression
