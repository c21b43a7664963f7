from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dpexact
from dpexact import balls, delta
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.allocation_put import AllocationPut
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse, OptimalComposition
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.profile import Fallback, FirstToReach, NoLoss, Profile
from dpexact.accounting.profiles import profile
from dpexact.accounting.routes import _bundled, contour, glanced
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import gaussian, parse
from dpexact.training.history import from_rows


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pure_dp(1)", OptimalComposition),
        ("approx_dp(1, 0.1)^5 * pure_dp(1)", OptimalComposition),
        ("approx_dp(1, 0.1) * approx_dp(0, 0.2) * gdp(0)", OptimalComposition),
        ("approx_dp(0, 0.1)", NoLoss),
        ("pure_dp(0) * gdp(0)^3", NoLoss),
        ("approx_dp(0.1, 1)^3 * laplace(1)", NoLoss),
        ("poisson(gdp(1), 0)^3", NoLoss),
        ("gdp(log(4)-2*log(2))", NoLoss),
        ("pure_dp(log(4)-2*log(2))", NoLoss),
        ("gaussian(2)^5", GaussianMixedWithResponse),
        ("gaussian(2) * gdp(3) * approx_dp(1, 0.1)", GaussianMixedWithResponse),
        ("poisson(gaussian(2), 1)", GaussianMixedWithResponse),
        ("poisson(poisson(pure_dp(2)^3, 1)^2, 1)", OptimalComposition),
    ],
)
def test_the_method(text: str, kind: type) -> None:
    assert type(profile(parse(text))) is kind


def test_equal_parts_are_counted_together() -> None:
    found = profile(
        parse("approx_dp(1, 1/7)^5 * (pure_dp(1) * approx_dp(1, 1/9))^2 * approx_dp(0, 1/2)")
    )
    assert isinstance(found, OptimalComposition)
    assert (found.eps, found.count) == (real(1), 9)
    survival = Fraction(6, 7) ** 5 * Fraction(8, 9) ** 2 * Fraction(1, 2)
    assert found.infinite.fraction == 1 - survival
    inner = profile(parse("poisson(pure_dp(2)^3 * gdp(1)^2, 1)^5 * gdp(1)"))
    assert isinstance(inner, GaussianMixedWithResponse)
    assert (inner.count, inner.mu) == (15, real("sqrt(11)"))


def test_squares_are_exact() -> None:
    found = profile(parse("gaussian(sqrt(2))^2 * gaussian(3, sqrt(5))^9 * gdp(sqrt(3))"))
    assert isinstance(found, GaussianMixedWithResponse)
    assert found.mu == real(3)
    many = math.prod((gaussian(f"sqrt({i})") for i in range(2, 300)), start=gaussian(1))
    assert delta(many, 1).digits >= 15


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("fixed_size(zcdp(1), 1, 2)", "fixed_size(zcdp(1), 1, 2)"),
        ("fixed_size(laplace(1), 1, 2)^3", "fixed_size(laplace(1), 1, 2)"),
    ],
)
def test_what_no_method_accounts_for_is_named(text: str, named: str) -> None:
    with pytest.raises(UnsupportedMechanism) as caught:
        profile(parse(text))
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_different_eps_are_never_mistaken_for_equal_ones() -> None:
    found: Profile = profile(parse("pure_dp(1) * pure_dp(2)"))
    assert not isinstance(found, OptimalComposition)
    assert delta("pure_dp(1) * pure_dp(2)", 1).lower > delta("pure_dp(1)^2", 1).upper


def test_directions_of_sampled_steps_and_of_others() -> None:
    remove, add, both = (
        delta("poisson(gdp(1), 1/10)", 1, direction=way) for way in ("remove", "add", "both")
    )
    assert both == remove.larger(add)
    assert not remove.overlaps(add)
    assert delta("gdp(1)^2", 1, direction="remove") == delta("gdp(1)^2", 1, direction="add")
    assert delta("poisson(gdp(1)^2, 1)", 1, direction="add").overlaps(delta("gdp(1)^2", 1))
    nested = delta("poisson(poisson(gdp(1), 1/2), 1/5)", 1)
    assert nested.overlaps(both)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "poisson(gdp(1), 1/10) * laplace(1)",
        "laplace(1) * gdp(1)",
        "poisson(laplace(1), 1/10)^2",
        "poisson(discrete_gaussian(2), 1/10)^3",
        "poisson(gaussian(1) * laplace(1), 1/10)^3",
        "poisson(poisson(gaussian(1), 1/2) * pure_dp(1), 1/3)^2",
        "discrete_gaussian(3) * discrete_gaussian(5) * gaussian(1) * poisson(laplace(1), 3/10)^7",
        "gdp(1/10) * pure_dp(1/100)^20001",
        "staircase(1, 1/3)^3 * pure_dp(sqrt(2)) * laplace(3)",
        "fixed_size(gaussian(1), 1, 10)^3 * laplace(2)",
    ],
)
def test_every_product_has_a_profile(text: str) -> None:
    try:
        found = delta(text, "1/5", digits=3)
    except PrecisionNotReached as error:
        found = error.best
    assert 0 < found.lower <= found.upper < 1
    assert found.digits >= (1 if "fixed" in text else 3)


@pytest.mark.parametrize(
    ("sigma", "t", "first"), [("1/2", 10, "contour"), ("1/2", 10**6, "put"), ("3", 10, "put")]
)
def test_which_engine_is_asked_first_for_one_allocation(sigma: str, t: int, first: str) -> None:
    found = profile(parse(f"allocation(gaussian({sigma}), {t})"), "add")
    assert isinstance(found, Fallback)
    assert isinstance(found.first, FirstToReach)
    kinds = [type(route) for route in found.first.routes]
    others = {"contour": [ContourProfile, AllocationPut, ContourProfile]}
    assert kinds == others.get(first, [AllocationPut, ContourProfile])


def test_without_loss_no_method_is_needed() -> None:
    assert delta("poisson(poisson(pure_dp(0), 1/2) * gdp(0), 1/3)^5", 0).upper == 0


@pytest.mark.parametrize(
    ("text", "target", "method", "truth"),
    [
        ("poisson(approx_dp(1,1)*laplace(1),1/2)^2", "3/4", "auto", "0"),
        ("poisson(approx_dp(1,1)*gaussian(1),1/2)^2", "3/4", "auto", "0"),
        ("poisson(approx_dp(1,1),1/2)^2", "3/4", "lattice", "0"),
        ("poisson(approx_dp(1,1)*laplace(1),1/2)*pure_dp(10)", "1/2", "auto", "10-log(2)"),
        ("approx_dp(1,1)*gaussian(1)", "1/2", "auto", "inf"),
    ],
)
def test_what_is_revealed_beside_a_step_that_reveals_everything(text, target, method, truth):
    """With everything revealed or nothing sampled, the finite losses are those of nothing."""
    try:
        found = dpexact.epsilon(text, target, direction="remove", method=method)
    except PrecisionNotReached as error:
        found = error.best
    if truth == "inf":
        assert found.lower == found.upper == math.inf
        return
    value = balls.certify(lambda: balls.ball(real(truth)), 30)
    assert found.lower <= value.upper
    assert value.lower <= found.upper < value.upper + 1


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(1), 1/10)^3 * gaussian(2)",
        "poisson(laplace(1), 1/10)^30",
        "poisson(pure_dp(1), 1/10)^3 * gaussian(2)",
        "poisson(discrete_gaussian(1), 1/10)^3 * gaussian(2)",
    ],
)
def test_a_direction_that_shares_with_the_other_is_its_own(text):
    """The product of adding that follows from that of removing has the moments of adding."""
    steps = parse(text).steps().items()
    shared, alone = Composition.of(steps), Composition.of(steps)
    removed = contour(shared, "remove")
    added, fresh = contour(shared, "add"), contour(alone, "add")
    with balls.precision(128):
        found, expected, other = (x.product.moment(2.0, 40.0) for x in (added, fresh, removed))
        assert found.overlaps(expected)
        assert not found.overlaps(other)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("beside", ["pure_dp(1/5)^5", "pure_dp(1/5)^5 * approx_dp(1, 1/100)", ""])
def test_many_outcomes_on_samples_beside_gaussians(direction, beside):
    """The Gaussian counts: the contour, which shares no sum over outcomes, agrees."""
    steps = "gaussian(1) * poisson(staircase(3/5, 1/2), 1/1000)^20"
    text = f"{steps} * {beside}" if beside else steps
    for ask, at in ((dpexact.delta, "1"), (dpexact.epsilon, "1/10")):
        one, other = (ask(text, at, 8, direction, method=way) for way in ("auto", "contour"))
        assert one.overlaps(other)


def test_blurs_of_truncated_noise_on_samples_have_digits_that_the_lattice_had() -> None:
    text = "poisson(truncated_laplace(2.31, 11.3), 1/5)^5"
    found = delta(text, 1, 8, "add")
    assert found.digits >= 8
    assert found.overlaps(delta(text, 1, 8, "add", method="lattice"))


@pytest.mark.slow
def test_a_long_line_has_digits_of_tails_where_floats_lose_windows() -> None:
    found = dpexact.delta("poisson(gaussian(4), 1/300)^3", "1/2", 8)
    assert found.digits >= 8
    # three times one step, and something
    one = dpexact.delta("poisson(gaussian(4), 1/300)", "1/2", 8)
    assert 3 * one.lower < found.upper < 4 * one.upper


@pytest.mark.parametrize(
    ("noise", "count", "clouded"),
    [(1, 39, False), (1, 45, True), (7, 60, False), (7, 120, True), (1000, 199, False)],
)
def test_nodes_are_taken_for_many_samples_or_for_some_alike(noise, count, clouded) -> None:
    step = [f"poisson(gaussian({1 + Fraction(noise * k, count)}), 1/100)" for k in range(count)]
    composition = Composition.of(parse(" * ".join(step)).steps().items())
    assert bool(composition.clouds[0]) == clouded
    if clouded:
        found = dpexact.epsilon(parse(" * ".join(step)), "1e-6", 8)
        alone = contour(*reversed(composition.ways("remove")[0])).epsilon(real("1e-6"), 8)
        assert found.overlaps(alone)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_windows_are_asked_of_many_steps_where_few_take_part(direction) -> None:
    rows = [(f"{110 + k}/100", f"1/{90_000 + k}", 1) for k in range(40)]
    ((way, composition),) = Composition.running(from_rows(rows)).ways(direction)
    first, *_ = glanced(composition, way).routes
    assert isinstance(first, RareProfile)
    found = dpexact.epsilon(from_rows(rows), "1e-6", 4, direction)
    (bundle,) = _bundled(composition, way).routes
    assert found.overlaps(bundle.epsilon(real("1e-6"), 4))
