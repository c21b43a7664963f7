"""Wrong variants of the corollaries are declined, and the witnesses stand on two routes."""

from fractions import Fraction

import pytest
import sympy

import dpexact
from proofs_checks.evidence import Declined
from proofs_checks.kov import mechanisms


@pytest.mark.parametrize("limit", [9 - 4 * sympy.sqrt(2), 8 - 3 * sympy.sqrt(2), 8])
def test_a_wider_range_is_declined(limit):
    with pytest.raises(Declined):
        mechanisms.recipe_holds_for_small_epsilon(sympy.sympify(limit))


@pytest.mark.parametrize("share", [2, sympy.Rational(1, 2)])
def test_another_second_condition_is_declined(share):
    with pytest.raises(Declined):
        mechanisms.gaussian_sufficient_condition(sympy.sympify(share))


@pytest.mark.parametrize("ratio", ["2.35", "2.39"])
def test_the_witness_beyond_the_range_is_not_inside(ratio):
    with pytest.raises(Declined):
        mechanisms.recipe_holds_for_small_epsilon(fails=ratio)


def test_the_recipe_holds_at_the_edge_of_its_range():
    # eps = 18/10 log(e + ...) is inside: the library's optimal composition agrees
    for k in (1, 40, 1000):
        each = f"approx_dp(9/10*20/(2*sqrt({k}*log(e+1800))), {Fraction(1, 200 * k)})^{k}"
        assert dpexact.delta(each, 18, digits=6).upper <= Fraction(1, 100)


def test_the_witness_by_gaussian_closed_form():
    x = sympy.Symbol("x")
    mu = 84 / sympy.sqrt(8 * sympy.log(sympy.E + 168))
    normal = sympy.erfc(-x / sympy.sqrt(2)) / 2
    exact = normal.subs(x, mu / 2 - 84 / mu) - sympy.exp(84) * normal.subs(x, -mu / 2 - 84 / mu)
    assert sympy.N(exact, 30) > sympy.Rational(52, 100)
