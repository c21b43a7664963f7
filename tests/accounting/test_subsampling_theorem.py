"""The subsampling bounds of ``bounds``: second routes, the truth, and what they do not speak of."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact.accounting import bounds_of as module
from dpexact.accounting.bounds_of import subsampling_theorem
from dpexact.accounting.fixed_size import symmetric_samples
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.ternary import Ternary
from dpexact.tradeoffs import delta_of, f_eps_delta, subsampled


def theorem(text, delta, digits=12):
    return subsampling_theorem(dpexact.parse(text), real(delta), digits)


@given(
    q=st.fractions(min_value="1/100", max_value="99/100", max_denominator=100),
    sigma=st.fractions(min_value="1/2", max_value=5, max_denominator=10),
    exponent=st.integers(2, 9),
)
def test_one_poisson_step_is_exact(q, sigma, exponent):
    """Another route: the trapezoidal rule and the dominating pair of the sampled Gaussian."""
    delta = Fraction(1, 10**exponent)
    found = theorem(f"poisson(gaussian({sigma}), {q})", delta)
    assert found.overlaps(dpexact.epsilon(f"poisson(gaussian({sigma}), {q})", delta, 12))


def test_shares_are_added():
    """0.1-DP and a sampled Gaussian three times: an equal quarter of delta for each step."""
    found = theorem("poisson(gaussian(2), 1/10)^3 * gaussian(4)", "4e-5")
    inner = float(dpexact.epsilon("gaussian(2)", "1e-4").lower)
    expected = 3 * math.log1p(math.expm1(inner) / 10)
    expected += float(dpexact.epsilon("gaussian(4)", "1e-5").lower)
    assert abs(float(found.lower) - expected) < 1e-12
    assert found.digits >= 12
    fixed = theorem("fixed_size(gaussian(2), 6, 60)^3 * gaussian(4)", "4e-5")
    assert fixed.overlaps(found)


def test_large_shares_and_no_share():
    assert theorem("poisson(gaussian(1), 1/100)^2", "1/50").upper == 0
    assert theorem("poisson(gaussian(1), 0)^2", 0).upper == 0
    assert theorem("poisson(gaussian(1), 1/2)", 0).lower == math.inf
    pure = theorem("poisson(pure_dp(log(3)), 1/4)^2", 0)
    assert abs(float(pure.lower) - 2 * math.log(1.5)) < 1e-12


def test_a_guarantee_that_is_a_bound_itself():
    found = theorem("poisson(zcdp(1/2), 1/10)", "1e-6")
    inner = float(dpexact.epsilon("zcdp(1/2)", "1e-5").lower)
    assert abs(float(found.lower) - math.log1p(math.expm1(inner) / 10)) < 1e-12
    assert dpexact.bounds("poisson(zcdp(1/2), 1/10)", "1e-6")["subsampling theorem"].applies


@pytest.mark.parametrize(
    ("eps", "lost", "q", "count", "kind"),
    [
        ("log(2)", "0", "1/3", 3, "poisson"),
        ("log(3)", "1/50", "1/2", 2, "poisson"),
        ("log(7/2)", "1/9", "1/4", 4, "fixed"),
    ],
)
def test_c_p_of_finite_laws_is_that_of_the_trade_off_functions(eps, lost, q, count, kind):
    """The algebra of piecewise-linear trade-off functions, in fractions."""
    curve = subsampled(f_eps_delta(eps, lost), q) ** count
    share = Fraction(q)
    sample = (
        f"poisson(approx_dp({eps}, {lost}), {q})"
        if kind == "poisson"
        else f"fixed_size(approx_dp({eps}, {lost}), {share.numerator}, {share.denominator})"
    )
    profile = symmetric_samples(dpexact.parse(f"{sample}^{count}"))
    for level in ("0", "log(5/4)", "log(2)", "log(9)"):
        expected = delta_of(curve, level)
        found = profile.delta(real(level), 15)
        assert found.lower <= expected <= found.upper or abs(float(found.lower - expected)) < 1e-14


@pytest.mark.slow
def test_c_p_of_gaussians_is_above_the_truth():
    for text in ("poisson(gaussian(1), 1/10)^3 * pure_dp(1/10)", "fixed_size(gdp(2), 1, 5)^2"):
        found = dpexact.bounds(text, "1e-3", 6)
        bound = found["C_p"]
        assert bound.value.digits >= 3
        assert found.exact.at_most(bound.value) is not Ternary.FAILS
        assert bound.slack.upper < Fraction(1, 5)
        assert found["subsampling theorem"].value > bound.value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gaussian(1)^3", "no part is a sample"),
        ("poisson(gdp(1), 1/2) * fixed_size(gdp(1), 1, 2)", "neighbours"),
        ("poisson(zcdp(1), 1/2)", "zcdp(1)"),
        ("fixed_size(poisson(gdp(1), 1/2), 1, 2)", "neighbours"),
    ],
)
def test_where_they_do_not_apply(text, reason):
    found = dpexact.bounds(text, "1e-3", 6)
    assert found["C_p"].value is None
    assert reason in found["C_p"].reason
    with pytest.raises(UnsupportedMechanism):
        symmetric_samples(dpexact.parse(text))
    if "zcdp" not in text:
        assert found["subsampling theorem"].reason


@pytest.mark.parametrize("inner", ["laplace(1)", "approx_dp(1, 1/2)^2"])
def test_a_share_that_is_not_told_from_the_rate(inner):
    """The rate is 1/2 in a form of which no ball proves it: both cases are covered."""
    hidden, plain = "sqrt(2)*sqrt(3)/(2*sqrt(6))", "1/2"
    for shift in ("0", "1e-2000"):
        delta = real(f"1/2 - {shift}")
        exact = subsampling_theorem(dpexact.parse(f"poisson({inner}, {plain})"), delta, 10)
        found = subsampling_theorem(dpexact.parse(f"poisson({inner}, {hidden})"), delta, 10)
        assert found.lower == 0
        assert exact.lower <= found.upper < Fraction(1, 10**4)


def test_a_wide_epsilon_of_a_step_is_mapped(monkeypatch):
    """What is known of the step without sampling comes out amplified, never as it is."""
    wide = Enclosure(Fraction(1), Fraction(2), "test", "short")
    monkeypatch.setattr(module, "epsilon_answer", lambda *_: wide)
    found = subsampling_theorem(dpexact.parse("poisson(laplace(1), 1/10)^3"), real("1e-5"), 10)
    low, high = (3 * math.log1p(math.expm1(x) / 10) for x in (1, 2))
    assert abs(float(found.lower) - low) < 1e-9
    assert abs(float(found.upper) - high) < 1e-9
    assert found.reason == "short"
    endless = Enclosure(-math.inf, math.inf, "test", "short")
    monkeypatch.setattr(module, "epsilon_answer", lambda *_: endless)
    found = subsampling_theorem(dpexact.parse("poisson(laplace(1), 1/10)^3"), real("1e-5"), 10)
    assert (found.lower, found.upper) == (0, math.inf)


def test_an_epsilon_from_below_bounds_no_sample():
    """1.30 by the epsilon that shuffled batches have at least; that of any order gives 1.51."""
    question = "poisson(shuffled_batches(gaussian(1), 100), 1/10)"
    with pytest.raises(UnsupportedMechanism, match="nothing is known from above"):
        subsampling_theorem(dpexact.parse(question), real("1e-5"), 10)
    found = dpexact.bounds(question, "1e-5", digits=4)["subsampling theorem"]
    assert found.value is None
