from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import DpexactError, delta, delta_bounds, epsilon, epsilon_bounds, parse
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.answers import PrecisionNotReached
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Mechanism, approx_dp, gaussian, gdp, pure_dp

small = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20)
tiny = st.fractions(min_value=0, max_value=Fraction(1, 4), max_denominator=10**5)
points = st.fractions(min_value=0, max_value=6, max_denominator=20)
counts = st.integers(1, 12)

responses = st.builds(lambda e, d, k: approx_dp(e, d) ** k, small, tiny, counts)
gaussians = st.builds(lambda mu, k: gdp(mu) ** k, small, counts)
mixtures = st.builds(lambda mu, r: gdp(mu) * r, small, responses)
accounted = responses | gaussians | mixtures


# --- properties -----------------------------------------------------------------------------------


@given(accounted, points, points)
@settings(max_examples=scaled(80))
def test_delta_falls_with_epsilon(m: Mechanism, a: Fraction, b: Fraction) -> None:
    low, high = delta(m, max(a, b)), delta(m, min(a, b))
    assert low.lower <= high.upper
    assert 0 <= low.lower <= high.upper <= 1


@given(small, tiny, tiny, small, counts, counts, points)
@settings(max_examples=scaled(80))
def test_delta_grows_with_every_parameter(
    eps: Fraction, d: Fraction, more_d: Fraction, mu: Fraction, k: int, more_k: int, point: Fraction
) -> None:
    base = delta(gdp(mu) * approx_dp(eps, d) ** k, point)
    larger = min(d + more_d, Fraction(1))
    for m in (
        gdp(mu) * approx_dp(eps, d) ** (k + more_k),
        gdp(mu) * approx_dp(eps, larger) ** k,
        gdp(mu) * approx_dp(eps * 2, d) ** k,
        gdp(mu * 2) * approx_dp(eps, d) ** k,
        gdp(mu) ** 2 * approx_dp(eps, d) ** k,
    ):
        assert base.lower <= delta(m, point).upper
    plain = delta(approx_dp(eps, d) ** k, point)
    assert plain.lower <= delta(approx_dp(eps, d) ** (k + more_k), point).upper
    assert plain.lower <= base.upper


@given(small, tiny, tiny, small, small, points)
@settings(max_examples=scaled(60))
def test_composition_commutes_and_associates(
    eps: Fraction, d1: Fraction, d2: Fraction, mu: Fraction, nu: Fraction, point: Fraction
) -> None:
    a, b, c = approx_dp(eps, d1), approx_dp(eps, d2) ** 2, gdp(mu) * gdp(nu)
    found = delta(a * b * c, point, digits=20)
    for other in (c * b * a, (b * c) * a, a * gdp(nu) * b * gdp(mu)):
        assert delta(other, point, digits=20).overlaps(found)
    for first, second in ((a * b, b * a), (gdp(mu) ** 3, gdp(mu) * gdp(mu) ** 2)):
        assert delta(first, point, digits=20).overlaps(delta(second, point, digits=20))


@given(accounted, points)
@settings(max_examples=scaled(60))
def test_there_and_back(m: Mechanism, point: Fraction) -> None:
    image = delta(m, point, digits=40) if not vanishes(m, point) else None
    if image is None:
        return
    found = epsilon(m, image.upper, digits=12)
    assert found.lower <= point
    back = epsilon(m, image.lower, digits=12)
    if back.upper < math.inf:
        assert delta(m, back.upper, digits=30).lower <= image.lower
        assert delta(m, back.lower, digits=30).upper >= image.lower or back.lower == 0


def vanishes(m: Mechanism, point: Fraction) -> bool:
    try:
        return delta(m, point).upper == 0
    except PrecisionNotReached:
        return True


@given(accounted, st.fractions(min_value=0, max_value=1, max_denominator=10**4))
@settings(max_examples=scaled(60))
def test_back_and_there(m: Mechanism, target: Fraction) -> None:
    try:
        found = epsilon(m, target, digits=12)
    except PrecisionNotReached as error:
        found = error.best
    if found.upper < math.inf:
        assert delta(m, found.upper, digits=30).lower <= target
    if found.lower > 0 and found.lower < math.inf:
        assert delta(m, found.lower, digits=30).upper >= target
    if found == Enclosure.exact(math.inf):
        lost = 1 - math.prod(
            (1 - step.delta.value) ** k for step, k in m.steps().items() if hasattr(step, "delta")
        )
        unbounded = any(hasattr(step, "mu") for step in m.steps())
        assert lost > target or (unbounded and lost == target)


# --- arguments ------------------------------------------------------------------------------------


def test_text_and_numbers_in_any_form() -> None:
    found = delta("gaussian(1)", "1/2")
    for value in (0.5, Fraction(1, 2), Decimal("0.5"), np.float32(0.5)):
        assert delta(gaussian(1), value) == found
        assert epsilon(parse("gaussian(1)"), value).overlaps(epsilon("gaussian(1)", "0.5"))
    for direction in ("remove", "add", "both"):
        assert delta("gaussian(1)", "1/2", direction=direction) == found


@pytest.mark.parametrize("digits", [1, 2, 15, 50, 300])
def test_digits_are_reached(digits: int) -> None:
    for m in ("gaussian(1)", "pure_dp(0.3)^20", "gdp(1)*pure_dp(1)"):
        assert delta(m, 1, digits=digits).digits >= digits
        if digits <= 50:
            assert epsilon(m, "1e-3", digits=digits).digits >= digits


_MASKED = np.ma.masked_array([0.1, 0.2], mask=[False, True])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: delta("gdp(1)", float("nan")), "epsilon: nan is not a finite"),
        (lambda: delta("gdp(1)", math.inf), "epsilon: inf is not a finite"),
        (lambda: delta("gdp(1)", "1e999999999"), "epsilon: column 1"),
        (lambda: delta("gdp(1)", True), "epsilon: a truth value"),
        (lambda: epsilon("gdp(1)", "1.1"), "delta: 1.1 is not accepted; must be >= 0 and <= 1"),
        (lambda: epsilon("gdp(1)", -1), "delta: -1"),
        (lambda: delta("gdp(1)", 1, digits=0), "digits: 0"),
        (lambda: epsilon("gdp(1)", 1, digits=10**6), "digits: 1000000"),
        (lambda: delta("gdp(1)", 1, direction="up"), "direction: 'up'"),
        (lambda: epsilon("gdp(1)", 1, direction="up"), "direction: 'up'"),
        (lambda: delta(7, 1), "mechanism: 7 is neither a mechanism nor its text"),  # type: ignore[arg-type]
        (lambda: epsilon("", 1), "mechanism: empty text"),
        (lambda: delta("gaussian(-1)", 1), "sigma: -1"),
        (lambda: delta_bounds("gdp(1)", [1, math.nan]), "epsilon: nan"),
        (lambda: delta_bounds("gdp(1)", ["1"]), "epsilons: an array of <U1 is not accepted"),
        (lambda: delta_bounds("gdp(1)", [True]), "epsilons: an array of bool is not accepted"),
        (lambda: delta_bounds("gdp(1)", [1j]), "epsilons: an array of complex128"),
        (lambda: delta_bounds("gdp(1)", [[1], [1, 2]]), "epsilons: not an array"),
        (lambda: delta_bounds("gdp(1)", _MASKED), "epsilons: masked entries"),
        (lambda: epsilon_bounds("gdp(1)", _MASKED), "deltas: masked entries"),
        (lambda: delta_bounds("gdp(1)", None), "epsilon: None"),  # type: ignore[arg-type]
        (lambda: delta_bounds("gdp(1)", [1], direction="up"), "direction: 'up'"),
        (lambda: delta_bounds("spam(1)", [1]), "unknown mechanism"),
    ],
)
def test_bad_arguments_are_named(call: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call", [lambda m: delta(m, 1), lambda m: epsilon(m, "0.1")])
def test_what_is_not_accounted_for_is_named(call: Any) -> None:
    with pytest.raises(UnsupportedMechanism, match=r"zcdp\(1\)"):
        call("gdp(1)*fixed_size(zcdp(1), 1, 7)")


# --- arrays ---------------------------------------------------------------------------------------


def test_a_mask_that_hides_nothing_is_none() -> None:
    points = np.ma.masked_array([0.1, 0.2], mask=[False, False])
    for of_mask, plain in zip(
        delta_bounds("gdp(1)", points), delta_bounds("gdp(1)", [0.1, 0.2]), strict=True
    ):
        assert of_mask.tolist() == plain.tolist()


@given(accounted, st.lists(st.floats(0, 8), min_size=1, max_size=5))
@settings(max_examples=scaled(40))
def test_float_bounds_are_outward_and_close(m: Mechanism, epsilons: list[float]) -> None:
    lower, upper = delta_bounds(m, epsilons)
    assert lower.dtype == upper.dtype == np.float64
    for low, high, point in zip(lower.tolist(), upper.tolist(), epsilons, strict=True):
        try:
            truth = delta(m, point, digits=40)
        except PrecisionNotReached as error:
            truth = error.best
        assert low <= truth.lower
        assert truth.upper <= high
        assert high <= math.nextafter(math.nextafter(low, 2), 2) or truth.digits < 40


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 0, 2), (2, 1, 2)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    epsilons = np.linspace(0, 2, math.prod(shape)).reshape(shape)
    lower, upper = delta_bounds("gaussian(1)", epsilons)
    assert lower.shape == upper.shape == shape
    for index in np.ndindex(shape):
        found = delta("gaussian(1)", float(epsilons[index]), digits=17)
        assert (lower[index], upper[index]) == found.to_float_bounds()


def test_other_arrays() -> None:
    exact = delta_bounds(pure_dp("log(3)"), [Fraction(0), 0])
    assert exact[0].tolist() == exact[1].tolist() == [0.5, 0.5]
    for kind in (np.float32, np.int16, np.longdouble, object):
        low, high = delta_bounds("gdp(1)", np.array([1, 2], dtype=kind))
        assert (low.tolist(), high.tolist()) == tuple(
            x.tolist() for x in delta_bounds("gdp(1)", [1, 2])
        )
    assert delta_bounds("gdp(1)", 1)[0].shape == ()
    low, high = delta_bounds("gdp(1)", [1e9])  # below the smallest float, and beyond certifying
    assert (low[0], high[0]) == (0.0, 5e-324)


def test_bounds_where_no_method_has_an_answer() -> None:
    low, high = delta_bounds("gdp(1)", [Fraction(10) ** 5000, 0.0])
    assert (low[0], high[0]) == (0.0, 5e-324)
    assert 0.38 < low[1] <= high[1] < 0.39


def test_errors_have_one_root() -> None:
    for bad in ("", "gdp(", "fixed_size(zcdp(1),1,2)"):
        with pytest.raises(DpexactError):
            delta(bad, 1)


@pytest.mark.parametrize(
    "mechanism", ["poisson(gaussian(1), 1/50)^200", "gaussian(5)^3*laplace(3)"]
)
def test_points_that_share_a_line_are_as_each_by_itself(mechanism: str) -> None:
    lower, upper = delta_bounds(mechanism, [3.0, 0.25, 0.5, 1.0, -0.5, 0.0, 2.0])
    for at, low, high in zip([3.0, 0.25, 0.5, 1.0, -0.5, 0.0, 2.0], lower, upper, strict=True):
        found = delta(mechanism, at, 15)
        assert low <= float(found.upper)
        assert float(found.lower) <= high
        assert high - low <= 1e-14 * high


@pytest.mark.parametrize("ask", [delta, epsilon])
def test_equal_points_are_asked_once(monkeypatch: pytest.MonkeyPatch, ask: Any) -> None:
    asked: list[int] = []
    name = f"{ask.__name__}s"
    many = getattr(GaussianMixedWithResponse, name)

    def counted(self: Any, points: Any, digits: int) -> Any:
        asked.append(len(points))
        return many(self, points, digits)

    monkeypatch.setattr(GaussianMixedWithResponse, name, counted)
    found = ask("gaussian(1)", ["1/2", "1/5", Fraction(1, 2), 0.5, "1/5"], 6)
    assert found == [found[i] for i in (0, 1, 0, 0, 1)]
    assert asked == [2]
