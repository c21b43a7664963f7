"""The sup-norm distance to a central limit, against the exact algebra and against dense grids."""

import json
import math
from fractions import Fraction

import pytest
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls
from dpexact.accounting.approximate import approximation_distance
from dpexact.accounting.approximate import sup_distance as module
from dpexact.accounting.approximate.sup_distance import sup_distance
from dpexact.accounting.profiles import profile
from dpexact.answers import PrecisionNotReached
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.tradeoffs import distance_to_gaussian, f_eps_delta


def distance(text, mu, digits):
    return sup_distance(profile(dpexact.parse(text)).delta, lambda: balls.ball(mu), digits)


@settings(max_examples=20)
@given(
    ratio=st.fractions(min_value="21/20", max_value=20, max_denominator=20),
    lost=st.fractions(min_value=0, max_value="1/4", max_denominator=50),
    count=st.integers(1, 6),
    mu=st.fractions(min_value="1/10", max_value=4, max_denominator=10),
)
def test_finite_pairs_against_the_piecewise_linear_algebra(ratio, lost, count, mu):
    """Another theorem: finitely many vertices and tangents in the levels."""
    eps = f"log({ratio})"
    found = distance(f"approx_dp({eps}, {lost})^{count}", mu, 8)
    assert found.overlaps(distance_to_gaussian(f_eps_delta(eps, lost) ** count, mu, 15))
    assert found.digits >= 8


@pytest.mark.parametrize(("mu", "nu"), [("1", "3/2"), ("3", "1/5")])
def test_two_gaussians(mu, nu):
    """A fine grid of the difference of both closed forms."""
    found = distance(f"gdp({mu})", Fraction(nu), 10)
    values = [
        abs(
            float(dpexact.delta(f"gdp({mu})", e, 12).lower)
            - float(dpexact.delta(f"gdp({nu})", e, 12).lower)
        )
        for e in (Fraction(i, 100) for i in range(400))
    ]
    assert max(values) <= float(found.upper)
    assert float(found.lower) <= max(values) * (1 + 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "method"), [("laplace(3)^10", "clt"), ("discrete_gaussian(2)^5", "clt")]
)
def test_no_level_is_farther(text, method):
    """From the definition: values of both trade-off functions at some levels."""
    found = approximation_distance(text, method, 4)
    f = dpexact.tradeoff(text)
    mu = _mu_of(text, method)
    for alpha in ("1/100", "1/20", "1/5", "1/2"):
        gap = f(alpha, 8).lower - Fraction(dpexact.tradeoff(f"gdp({mu!r})")(alpha, 8).upper)
        assert abs(gap) <= found.upper + Fraction(1, 10**6)


def test_sampled_gaussians_by_their_profiles():
    text = "poisson(gaussian(1), 1/10)"
    found = approximation_distance(text, "clt-poisson", 3)
    gaps = []
    for epsilon in (0, "1/20", "1/10", "1/5", "1/2", 1):
        error = dpexact.approximation_error(text, "clt-poisson", epsilon, 4)
        gaps.append(abs(float(error.difference.lower)))
    assert float(found.lower) / 2 < max(gaps) < float(found.upper) * 1.0001


def _mu_of(text, method):
    """The ``mu`` of the method, from the delta that it claims at epsilon 0."""
    claimed = float(dpexact.approximation_error(text, method, 0, 12).claimed.lower)
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if math.erf(middle / math.sqrt(8)) < claimed:
            low = middle
        else:
            high = middle
    return low


@pytest.mark.slow
def test_what_is_equal_is_only_nearly_known():
    with pytest.raises(PrecisionNotReached) as caught:
        approximation_distance("gaussian(1)^4", "clt", 5)
    best = caught.value.best
    assert best.lower == 0
    assert best.upper < Fraction(1, 1000)


def test_profiles_of_few_digits_widen_the_answer():
    exact = profile(dpexact.parse("pure_dp(1/2)^4")).delta

    def coarse(epsilon, digits):
        found = exact(epsilon, digits)
        slip = Fraction(1, 1000)
        return Enclosure(max(Fraction(0), found.lower - slip), found.upper + slip)

    truth = distance_to_gaussian(f_eps_delta("1/2", 0) ** 4, 1)
    best = sup_distance(coarse, lambda: balls.ball(Fraction(1)), 6)
    assert best.digits < 6
    assert best.reason
    assert best.lower <= truth.lower <= truth.upper <= best.upper
    assert best.upper - best.lower < Fraction(1, 50)


def test_the_points_are_limited(monkeypatch):
    fine = distance("laplace(2)^3", Fraction(1), 5)
    monkeypatch.setattr(module, "_MOST_POINTS", 12)
    best = distance("laplace(2)^3", Fraction(1), 12)
    assert best.digits < 12
    assert best.lower <= fine.upper
    assert fine.lower <= best.upper < 1


def test_refusals():
    for method in ("edgeworth-1", "berry-esseen"):
        with pytest.raises(InvalidInput, match="trade-off function"):
            approximation_distance("pure_dp(1)^9", method)
    with pytest.raises(UnsupportedMechanism, match="no loss"):
        approximation_distance("gdp(0)", "clt")
    with pytest.raises(UnsupportedMechanism, match="zcdp"):
        approximation_distance("zcdp(1)", "clt")


def test_the_verb():
    arguments = ["approx", "pure_dp(0.1)^100", "--method", "clt", "--distance", "--digits", "6"]
    text = invoke(*arguments).output
    found = approximation_distance("pure_dp(0.1)^100", "clt", 6)
    assert text.startswith(f"distance <= {found.safe()}\n")
    record = json.loads(invoke(*arguments, "--json").output)
    assert record["quantity"] == "distance"
    assert record["approximation"] == "clt"
    assert Fraction(record["lower"]) <= found.upper
