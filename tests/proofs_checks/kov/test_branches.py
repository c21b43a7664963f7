"""Wrong variants of the branches are declined; the bounds stand against the library."""

from fractions import Fraction

import pytest
import sympy

import dpexact
from proofs_checks.evidence import Declined
from proofs_checks.kov import branches, moments, section_six

LAM, C, A, M = sympy.symbols("lam c a m", positive=True)


@pytest.mark.parametrize("slope", [0, Fraction(1, 2)])
def test_branch_two_needs_a_logarithm_of_at_least_a_half(slope):
    with pytest.raises(Declined):
        branches.branch_two(slope)


@pytest.mark.parametrize(
    "exponent",
    [
        -LAM * (M + C) + LAM * M + LAM**2 * A**2,  # the factor 1/2 dropped
        -LAM * (M + C) + LAM * M - LAM**2 * A**2 / 2,  # the sign of the square reversed
        -LAM * C + LAM * M + LAM**2 * A**2 / 2,  # the mean counted twice
    ],
)
def test_a_wrong_exponent_is_declined(exponent):
    with pytest.raises(Declined):
        branches.chernoff(exponent)


@pytest.mark.parametrize("factor", [sympy.Integer(1), 1 - 2 * sympy.Symbol("d", positive=True)])
def test_a_wrong_split_of_delta_is_declined(factor):
    with pytest.raises(Declined):
        section_six.deltas_split_off(factor)


def test_the_right_letter_in_the_moment_is_no_witness():
    with pytest.raises(Declined):
        section_six.moment_of_a_single_letter(read=1)


def test_a_smaller_factor_in_the_tangent_step_is_declined():
    with pytest.raises(Declined):
        moments.markov_step(shift=1)


@pytest.mark.parametrize("slack", ["1/2", "1/100", "1/10^8"])
@pytest.mark.parametrize(("eps", "k"), [("1/10", 50), ("1", 7), ("3", 4)])
def test_the_branches_against_the_exact_composition(eps, k, slack):
    first = f"{k}*{eps}*(exp({eps})-1)/(exp({eps})+1)"
    for inner in (f"1/({slack})", f"e+sqrt({k})*{eps}/({slack})"):
        at = f"{first}+{eps}*sqrt(2*{k}*log({inner}))"
        assert dpexact.delta(f"pure_dp({eps})^{k}", at, digits=4).upper <= Fraction(
            slack.replace("10^8", "100000000")
        )


def test_different_mechanisms_against_the_exact_composition():
    at = "(exp(1)-1)/(exp(1)+1)+2*(exp(2)-1)/(exp(2)+1)+sqrt(5)*sqrt(2*log(e+10*sqrt(5)))"
    assert dpexact.delta("pure_dp(1)*pure_dp(2)", at, digits=4).upper <= Fraction(1, 10)
