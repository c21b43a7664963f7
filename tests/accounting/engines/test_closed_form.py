from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import (
    gaussian_bracket,
    gaussian_delta,
    mixed_by_quadrature,
    optimal_exact,
    scaled,
    to_fraction,
    to_mpf,
)

from dpexact import balls, delta, epsilon
from dpexact.accounting import binomial, inverted
from dpexact.accounting.engines import closed_form
from dpexact.accounting.engines.closed_form import (
    GaussianMixedWithResponse,
    SinglePair,
    gaussian_divergence,
)
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import approx_dp, gaussian, gdp, pure_dp

# --- one Gaussian ---------------------------------------------------------------------------------


def check_mpfr(mu: Fraction, point: Fraction) -> None:
    """Two certified intervals of independent make must share the truth."""
    found = delta(gdp(mu), point, digits=30)
    low, high = gaussian_bracket(mu, point, bits=400)
    assert high - low <= max(high, Fraction(0)) / 10**40
    assert found.lower <= low
    assert high <= found.upper
    assert found.digits >= 30


@given(
    st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100),
    st.fractions(min_value=0, max_value=40, max_denominator=100),
)
@settings(max_examples=scaled(150))
def test_gaussian_against_mpfr_with_directed_rounding(mu: Fraction, point: Fraction) -> None:
    if point / mu < 20:  # further out the bracket by hand needs more than 400 bits
        check_mpfr(mu, point)


@pytest.mark.parametrize(
    ("mu", "point"),
    [
        ("1e-9", "0"),
        ("1e-100", "1e-100"),
        ("1/100", "0.7"),
        ("1", "1e-50"),
        ("1", "100"),
        ("1", "1000"),
        ("100", "5000"),
        ("100", "4999"),
        ("1e6", "5e11"),
        ("1e20", "5e39"),
        ("30", "0"),
        ("1e5", "1e-5"),
    ],
)
def test_extreme_gaussians_against_mpmath(mu: str, point: str) -> None:
    found = delta(gdp(mu), point, digits=25)
    with mp.workdps(300):
        truth = to_fraction(gaussian_delta(to_mpf(Fraction(mu)), to_mpf(Fraction(point))))
    assert found.digits >= 25
    slack = truth / 10**45
    assert found.lower - slack <= truth <= found.upper + slack


def test_the_numbers_of_the_readme() -> None:
    found = epsilon("gaussian(1)", "1e-300", digits=30)
    assert found.digits >= 30
    with mp.workdps(400):
        for point, expected in ((found.lower, True), (found.upper, False)):
            assert (
                to_fraction(gaussian_delta(mpf(1), to_mpf(point))) >= Fraction(1, 10**300)
            ) is expected
    small = delta("gdp(1/100)", "0.7", digits=30)
    assert small.shown(5) == "1.0989...e-1070"
    assert small.digits >= 30


@pytest.mark.slow
def test_gaussians_far_out_say_so() -> None:
    for m, point in (
        ("gdp(1)", "1e9"),
        ("gdp(1)", "1e30"),
        ("gdp(1)", "1e200"),
        ("gdp(1e-9)", "1"),
    ):
        with pytest.raises(PrecisionNotReached, match="below") as caught:
            delta(m, point)
        best = caught.value.best
        assert best.lower == 0
        assert 0 < best.upper <= balls.TINY
    with pytest.raises(PrecisionNotReached) as caught:  # no ball: a Rényi divergence bounds it
        delta("gdp(1)", "1e5000")
    assert caught.value.best.lower == 0
    assert 0 < caught.value.best.upper <= Fraction(1, 10**300)


# --- products of Gaussians ------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=Fraction(1, 2), max_value=50, max_denominator=10),
            st.fractions(min_value=Fraction(1, 2), max_value=3, max_denominator=10),
            st.integers(1, 1000),
        ),
        min_size=1,
        max_size=4,
    ),
    st.fractions(min_value=0, max_value=5, max_denominator=10),
)
@settings(max_examples=scaled(60))
def test_gaussians_add_their_squares(parts: list[tuple[Any, Any, int]], point: Fraction) -> None:
    m = math.prod(
        (gaussian(s, d) ** k for s, d, k in parts[1:]), start=gaussian(*parts[0][:2]) ** parts[0][2]
    )
    mu2 = sum(k * (d / s) ** 2 for s, d, k in parts)
    with mp.workdps(200):
        truth = to_fraction(gaussian_delta(mp.sqrt(to_mpf(mu2)), to_mpf(point)))
    try:
        found = delta(m, point, digits=20)
    except PrecisionNotReached:  # 1 - delta below what the cap can tell
        pytest.fail("a plain Gaussian was not reached")
    slack = truth / 10**60
    assert found.lower - slack <= truth <= found.upper + slack


def test_products_of_gaussians_are_one_gaussian() -> None:
    one = delta("gdp(5)", 3)
    for text in (
        "gdp(3)*gdp(4)",
        "gaussian(1/3)*gaussian(2, 8)",
        "gdp(1)^25",
        "(gdp(2)^2*gdp(1))^2*gdp(sqrt(7))",
    ):
        assert delta(text, 3).overlaps(one)
        assert delta(text, 3).digits >= 15


# --- Gaussians with randomised response -----------------------------------------------------------

MIXED = [
    ("1", "1/2", 1, "0", "1"),
    ("1/2", "1", 3, "1/100", "2"),
    ("2", "1/10", 5, "1/7", "0"),
    ("1/10", "1", 2, "0", "1.9"),
    ("3", "2", 2, "0.3", "8"),
]


def check_mixed(mu: str, eps: str, count: int, d: str, point: str) -> None:
    found = delta(gdp(mu) * approx_dp(eps, d) ** count, point, digits=20)
    assert found.digits >= 20
    with mp.workdps(40):
        numbers = [to_mpf(Fraction(x)) for x in (mu, eps, d, point)]
        truth = to_fraction(
            mixed_by_quadrature(numbers[0], numbers[1], count, numbers[2], numbers[3])
        )
    slack = Fraction(1, 10**28)
    assert found.lower - slack <= truth <= found.upper + slack


@pytest.mark.parametrize(("mu", "eps", "count", "d", "point"), MIXED)
def test_mixed_products_against_the_integral_over_the_plane(
    mu: str, eps: str, count: int, d: str, point: str
) -> None:
    check_mixed(mu, eps, count, d, point)


def test_mixed_products_at_their_edges() -> None:
    plain = delta("gdp(1)", 1, digits=30)
    assert delta("gdp(1)*pure_dp(0)^5", 1, digits=30) == plain
    nearly = delta("gdp(1)*pure_dp(1e-40)^5", 1, digits=30)
    assert abs(nearly.upper - plain.upper) < Fraction(1, 10**30)
    lost = delta("gdp(1)*approx_dp(0, 1/4)^2", 1, digits=30)
    kept = Fraction(9, 16)
    assert lost.overlaps(Enclosure(1 - kept * (1 - plain.lower), 1 - kept * (1 - plain.upper)))
    exact = optimal_exact(Fraction(3, 2), Fraction(0), 4, Fraction(2))
    faint = delta("gdp(1e-40)*pure_dp(log(3/2))^4", "log(2)", digits=20)
    assert abs(faint.upper - exact) < Fraction(1, 10**20)
    assert delta("gdp(1)*approx_dp(0.1, 1)", 5) == Enclosure.exact(Fraction(1))


def test_many_responses_with_a_gaussian_are_nearly_one_gaussian() -> None:
    found = delta("gdp(3)*pure_dp(4/100)^10000", 3)
    limit = delta("gdp(5)", 3)
    assert found.digits >= 15
    assert abs(found.upper - limit.upper) < Fraction(1, 1000)


# --- the inverse ----------------------------------------------------------------------------------


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=10, max_denominator=50),
    st.integers(1, 60),
    st.integers(5, 25),
)
@settings(max_examples=scaled(60))
def test_epsilon_of_a_gaussian(mu: Fraction, exponent: int, digits: int) -> None:
    target = Fraction(1, 10**exponent)
    found = epsilon(gdp(mu), target, digits=digits)
    assert found.digits >= digits
    with mp.workdps(150):
        low, high = (
            to_fraction(gaussian_delta(to_mpf(mu), to_mpf(Fraction(x))))
            for x in (found.lower, found.upper)
        )
    assert low >= target * (1 - Fraction(1, 10**60)) or found.lower == 0
    assert high <= target * (1 + Fraction(1, 10**60))


@pytest.mark.parametrize(("mu", "eps", "count", "d", "point"), MIXED)
def test_epsilon_of_a_mixed_product(mu: str, eps: str, count: int, d: str, point: str) -> None:
    m = gdp(mu) * approx_dp(eps, d) ** count
    target = delta(m, point, digits=40).upper
    found = epsilon(m, target, digits=12)
    assert abs(found.upper - Fraction(point)) <= Fraction(1, 10**10)
    assert delta(m, found.lower, digits=40).upper >= target
    assert delta(m, found.upper, digits=40).lower <= target


def test_epsilon_that_is_infinite_zero_or_undecided() -> None:
    infinite = Enclosure.exact(math.inf)
    assert epsilon("gdp(1)", 0) == infinite
    m = gdp(1) * approx_dp(1, "1/10") ** 2
    assert epsilon(m, "0.19") == infinite
    assert epsilon(m, "0.1") == infinite
    assert epsilon(m, "0.19+1e-9", digits=10).digits >= 10
    assert epsilon(m, 1) == Enclosure.exact(Fraction(0))
    assert epsilon("gdp(1)", "0.9") == Enclosure.exact(Fraction(0))
    assert epsilon("gdp(1)*approx_dp(1, 1)", "0.9") == infinite
    assert epsilon("gdp(1)*approx_dp(1, 1)", 1) == Enclosure.exact(Fraction(0))
    with pytest.raises(PrecisionNotReached, match="infinite loss") as caught:
        epsilon("gdp(1)*approx_dp(1, sqrt(2)/2)^2", "1-(1-sqrt(2)/2)^2")
    assert caught.value.best.upper == math.inf
    with mp.workdps(60):  # above the mass by no more than the digits asked for
        rest = 1 - mp.sqrt(2) / 2
        level = [gaussian_delta(mpf(1), to_mpf(caught.value.best.lower) - s) for s in (2, 0, -2)]
        ups = mp.mpf(1) / (1 + mp.exp(-1))
        weights = [ups**2, 2 * ups * (1 - ups), (1 - ups) ** 2]
        left = rest**2 * mp.fsum(w * d for w, d in zip(weights, level, strict=True))
        assert 0 < left < mpf("1.1e-15")


def test_targets_that_share_hundreds_of_digits_with_an_irrational_mass() -> None:
    for exponent in (30, 100, 300):
        found = epsilon("approx_dp(0, sqrt(2)/1000) * gdp(1)", f"sqrt(2)/1000+1e-{exponent}")
        assert found.digits >= 15
        with mp.workdps(60):
            goal = mpf(10) ** -exponent / (1 - mp.sqrt(2) / 1000)
            for end, side in ((found.lower, 1), (found.upper, -1)):
                x = mpf(end.numerator) / end.denominator
                value = (
                    mp.erfc((x - 0.5) / mp.sqrt(2)) - mp.exp(x) * mp.erfc((x + 0.5) / mp.sqrt(2))
                ) / 2
                assert side * (value - goal) >= 0


# --- power ----------------------------------------------------------------------------------------

right_ball = GaussianMixedWithResponse.finite_ball


def without_binomials(self: GaussianMixedWithResponse, point: arb) -> arb:
    if self.count == 0:
        return right_ball(self, point)
    step = balls.ball(self.eps)
    terms = [
        (j * step).exp()
        * gaussian_divergence(balls.ball(self.mu), point - (2 * j - self.count) * step)
        for j in range(self.count + 1)
    ]
    return sum(terms[1:], terms[0]) / (1 + step.exp()) ** self.count


def wrong_mean(mu: arb, point: arb) -> arb:
    near = ((point / mu - mu / 2) / arb(2).sqrt()).erfc()
    far = ((point / mu + mu / 2) / arb(2).sqrt()).erfc()
    return (near - (point + mu * arb("1e-35")).exp() * far) / 2


def check_simple() -> None:
    check_mpfr(Fraction(1), Fraction(1))


def check_mixture() -> None:
    for case in MIXED:
        check_mixed(*case)


MUTANTS: dict[str, tuple[Callable[[], None], Any, str, Any]] = {
    "Gaussian off in the 35th digit": (
        check_simple,
        closed_form,
        "gaussian_divergence",
        wrong_mean,
    ),
    "a factor 2 forgotten": (
        check_simple,
        closed_form,
        "gaussian_divergence",
        lambda mu, e: 2 * gaussian_divergence(mu, e),
    ),
    "no binomial coefficients": (
        check_mixture,
        GaussianMixedWithResponse,
        "finite_ball",
        without_binomials,
    ),
    "infinite loss forgotten": (check_mixture, InfiniteLoss, "ball", lambda self: arb(0)),
    "epsilon shifted the wrong way": (
        check_mixture,
        closed_form,
        "gaussian_divergence",
        lambda mu, e: gaussian_divergence(mu, -e),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_formulas_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, owner, attribute, wrong = MUTANTS[name]
    check()
    monkeypatch.setattr(owner, attribute, wrong)
    with pytest.raises(AssertionError):
        check()


def test_the_divergence_obeys_its_symmetry() -> None:
    """``delta(-eps) = 1 - e^-eps + e^-eps delta(eps)``, for every symmetric pair."""
    for mu, point in itertools.product(("1/3", "1", "7"), ("1/5", "1", "4")):
        with balls.precision(200):
            x, y = balls.ball(real(mu)), balls.ball(real(point))
            decay = (-y).exp()
            difference = gaussian_divergence(x, -y) - (
                1 - decay + decay * gaussian_divergence(x, y)
            )
            assert difference.contains(0)
            assert difference.abs_upper() < 1e-50


def test_method_names() -> None:
    assert delta("gdp(1)", 1).method == "closed form: Gaussian"
    assert (
        epsilon("gdp(1)*pure_dp(1)", "0.1").method
        == "closed form: Gaussian with randomised response"
    )
    assert delta(pure_dp(1) * gaussian(1), 1).method.endswith("randomised response")


@pytest.mark.parametrize("steps", [1, 2])
def test_a_bracket_needs_both_sides(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where secant steps end early the answer is that of the search behind them."""
    monkeypatch.setattr(inverted, "_STEPS", steps)
    low, high = Fraction("4.377178095681224"), Fraction("4.377178095681225")
    profile = GaussianMixedWithResponse(real("1"), InfiniteLoss())
    for start in ("3", "5", "4.37", "4.38"):
        near = Fraction(start)
        monkeypatch.setattr(profile, "near", lambda delta, near=near: near)
        found = profile.epsilon(real("1e-5"), 12)
        assert found.lower < high
        assert found.upper > low


@pytest.mark.parametrize("mu", ["0.01", "1", "10"])
@pytest.mark.parametrize("delta", ["0.2", "1e-5", "1e-90", "1e-1000"])
def test_searches_begin_next_to_epsilon_where_floats_reach(mu: str, delta: str) -> None:
    gaussian = GaussianMixedWithResponse(real(mu), InfiniteLoss())
    found = gaussian.epsilon(real(delta), 12)
    if found.lower == 0:
        return
    assert found.digits >= 12
    near, least = gaussian.near(real(delta)), Fraction(found.lower)
    if delta == "1e-1000":  # a bound, above it
        assert least < near < 2 * least
    else:
        assert abs(near - least) < least / 10**8


@pytest.mark.parametrize(
    ("largest", "answer"), [(arb(-1).exp() - 1, 0), (None, math.inf), (arb(3) / 2, 1.5)]
)
def test_the_largest_loss_is_not_below_0_and_may_be_infinite(largest, answer):
    """Beside an outcome that reveals everything the finite losses may all be negative."""
    found = inverted.enclose_largest(lambda: largest, 8, "")
    assert found.lower <= answer <= found.upper


@pytest.mark.parametrize(
    ("mechanism", "most"),
    [
        ("gaussian_mixture(0.87, 1: 1/2, 0: 1/2)", 2),
        ("truncated_laplace(2, 20)", 2),
        ("group(poisson(gaussian(0.63), 0.04), 5)", 4),
    ],
)
def test_many_targets_take_few_values_each(
    mechanism: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And far out, where the tails of Q are multiplied with much, no search for each."""
    asked, ask = [], SinglePair.finite_ball
    monkeypatch.setattr(SinglePair, "finite_ball", lambda *x: asked.append(1) or ask(*x))
    targets: list[Any] = [Fraction(1, 2**k) for k in range(60)] + [0, "1e-7", "1e-7"]
    found = epsilon(mechanism, [*targets, *(f"{k}e-6" for k in range(2, 40))], 9, "remove")
    assert len(asked) < most * len(found)
    assert all(x.digits >= 9 for x in found if x.upper < math.inf)
    assert found[61].overlaps(found[62])
    assert found[60].upper == epsilon(mechanism, 0, 9, "remove").upper
    for k in (3, 40, 59):
        assert found[k].overlaps(epsilon(mechanism, targets[k], 10, "remove"))


def test_many_points_take_few_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but a few follow from the last ones."""
    asked = []
    tail = binomial.binomial_tail
    monkeypatch.setattr(binomial, "binomial_tail", lambda *at: asked.append(at) or tail(*at))
    points = [f"{k}/100" for k in range(1, 300, 3)]
    found = delta("pure_dp(1/100)^5000", points, 8)
    assert len(asked) < 30
    for k in (0, 50, 99):
        assert found[k].overlaps(delta(pure_dp("1/100") ** 5000, points[k], 20))
        assert found[k].digits >= 8
