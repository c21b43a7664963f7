"""What steps guarantee: sampling is tight for pure DP, and everything is read as documented."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls
from dpexact.accounting.classic.composition import guarantees, largest_loss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exp_fraction


@settings(max_examples=30)
@given(
    base=st.fractions(Fraction(11, 10), 20, max_denominator=50),
    mass=st.fractions(0, Fraction(1, 2), max_denominator=100),
    q=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
)
def test_the_sampled_guarantee_holds_exactly_and_is_tight(base, mass, q):
    """Steinke (2022), Theorem 29, against the exact law of a sampled randomised response."""
    sample = dpexact.poisson(dpexact.approx_dp(f"log({base})", mass), q)
    (found,) = guarantees(sample)
    assert str(found.eps) == str(real(f"log({1 + q * (base - 1)})"))
    assert found.delta.fraction == q * mass
    exact = dpexact.delta(sample, found.eps)
    assert exact.lower == exact.upper == q * mass


def test_steps_are_collected():
    m = dpexact.parse(
        "pure_dp(0.1)^3 * laplace(10)^2 * approx_dp(0.2, 1e-9) * staircase(0.1, 1/2)"
        " * discrete_laplace(10, 2)"
    )
    found = {(str(g.eps), str(g.delta)): g.count for g in guarantees(m)}
    assert found == {("0.1", "0"): 6, ("0.2", "1e-9"): 1, ("0.2", "0"): 1}


def test_samples_of_compositions():
    (found,) = guarantees(dpexact.parse("poisson(pure_dp(log(2))^2, 1/3)^7"))
    assert found.count == 7
    assert exp_fraction(found.eps) is None  # not folded, but exactly log 2
    with balls.precision(200):
        assert (balls.ball(found.eps) - balls.ball(real("log(2)"))).contains(0)
    (fixed,) = guarantees(dpexact.parse("fixed_size(approx_dp(log(4), 1/10), 1, 3)"))
    assert str(fixed.eps) == "log(2)"
    assert fixed.delta.fraction == Fraction(1, 30)
    (whole,) = guarantees(dpexact.parse("poisson(approx_dp(1, 3/4)^2, 1/2)"))
    assert whole.delta.fraction == Fraction(1, 2)


def test_samples_inside_samples_are_summed():
    text = "poisson(pure_dp(log(2)) * poisson(approx_dp(log(3), 1/10), 1/2)^2, 1/3)"
    (found,) = guarantees(dpexact.parse(text))
    with balls.precision(200):  # log 2 + 2 log(1 + (3 - 1)/2) = log 8
        assert (balls.ball(found.eps) - balls.ball(real("log(1 + 7/3)"))).contains(0)
    assert found.delta.fraction == Fraction(1, 30)


def test_what_has_no_pair():
    for text in ("gaussian(1)", "zcdp(1)", "poisson(gdp(1), 0.1)", "discrete_gaussian(1)"):
        with pytest.raises(UnsupportedMechanism, match="no single best"):
            guarantees(dpexact.parse(text))


def test_samples_for_different_neighbours_are_not_mixed():
    for text in (
        "poisson(pure_dp(1), 1/2) * fixed_size(pure_dp(1), 1, 2)",
        "fixed_size(poisson(pure_dp(1), 1/2), 1, 2)",
        "poisson(fixed_size(pure_dp(1), 1, 2), 1/2)",
    ):
        with pytest.raises(UnsupportedMechanism, match="replacement"):
            guarantees(dpexact.parse(text))


def test_the_largest_loss_in_symbols():
    text = "pure_dp(log(3))^2 * laplace(2, 3) * approx_dp(1, 0) * staircase(1/2, 1/4)"
    assert str(largest_loss(dpexact.parse(text))) == "2*log(3)+1.5+1+0.5"
    for text in ("approx_dp(1, 1e-9)", "gaussian(1)", "poisson(pure_dp(1), 1/2)", "zcdp(1)"):
        assert largest_loss(dpexact.parse(text)) is None
