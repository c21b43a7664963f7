"""``epsilon_curve``: every point is the epsilon of that many repetitions."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import epsilon, epsilon_curve, parse
from dpexact.answers import PrecisionNotReached
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism

STEP = "poisson(gaussian(1), 0.01)"


def alone(mechanism, steps, delta, digits, direction):
    try:
        return epsilon(parse(mechanism) ** steps, delta, digits, direction)
    except PrecisionNotReached as failure:
        return failure.best


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
@pytest.mark.parametrize(
    ("mechanism", "delta"),
    [
        (STEP, "1e-5"),
        (STEP, 0.25),
        ("poisson(gaussian(1), 0.01) * gaussian(40)", "1e-9"),
        ("poisson(gaussian(1), 0.01) * approx_dp(0.001, 1e-7)", "1e-5"),
        ("poisson(gaussian(2), 0.1)^2 * poisson(gaussian(1), 0.02)", "1e-6"),
        ("poisson(laplace(2), 1/10)", "1e-2"),
        ("gaussian(20)", "1e-5"),
        ("approx_dp(0.01, 1e-6)", "1e-5"),
    ],
)
def test_points_are_epsilons(mechanism, delta, direction):
    steps = [30, 300, 90]
    if mechanism == STEP:
        steps.append(1)
    if "laplace" in mechanism:
        steps = [1]
    curve = epsilon_curve(mechanism, steps, delta, 6, direction)
    assert len(curve) == len(steps)
    for repeat, point in zip(steps, curve, strict=True):
        assert isinstance(point, Enclosure)
        other = alone(mechanism, repeat, delta, 9, direction)
        assert point.overlaps(other)
        if other.digits >= 9 and repeat > 1:
            assert point.digits >= 6


@settings(max_examples=scaled(12))
@given(
    sigma=st.fractions("1/2", 4, max_denominator=10),
    q=st.fractions("1/500", "1/2", max_denominator=500),
    steps=st.lists(st.integers(20, 4000), min_size=1, max_size=8),
    log_delta=st.integers(-12, -2),
    direction=st.sampled_from(["remove", "add", "both"]),
)
def test_random_curves(sigma, q, steps, log_delta, direction):
    mechanism, delta = f"poisson(gaussian({sigma}), {q})", f"1e{log_delta}"
    curve = epsilon_curve(mechanism, steps, delta, 5, direction)
    for repeat, point in zip(steps, curve, strict=True):
        assert point.overlaps(alone(mechanism, repeat, delta, 8, direction))


def test_a_whole_run_increases():
    steps = range(25, 1001, 25)
    curve = epsilon_curve(STEP, steps, "1e-5", 6)
    assert all(point.digits >= 6 for point in curve)
    assert all(a < b for a, b in pairwise(curve))
    assert curve[3].shown(5) == "0.71803..."


def test_the_worse_direction_is_taken_point_by_point():
    steps = [40, 400]
    both = epsilon_curve(STEP, steps, "1e-4", 6)
    ways = [epsilon_curve(STEP, steps, "1e-4", 6, way) for way in ("remove", "add")]
    for worst, one, other in zip(both, *ways, strict=True):
        assert worst.overlaps(one.larger(other))


def test_the_order_and_repetition_of_steps_do_not_matter():
    curve = epsilon_curve(STEP, [300, 100, 300], "1e-5", 6)
    assert curve[0] == curve[2]
    assert curve[1] < curve[0]
    assert epsilon_curve(STEP, [], "1e-5") == []
    assert epsilon_curve(STEP, iter([100]), "1e-5", 6)[0].overlaps(curve[1])


def test_where_hardly_anything_is_lost_no_line_is_planned(monkeypatch):
    """Nor is one looked for: rates that floats do not hold had taken seconds a point."""
    monkeypatch.delattr("dpexact.accounting.engines.contour.along._query")
    found = epsilon_curve("poisson(gaussian(1), 1e-400)", range(1, 60), "1e-6", 8)
    assert all(one.upper == 0 for one in found)


def test_the_ends_of_delta():
    infinite, zero = Enclosure.exact(math.inf), Enclosure.exact(Fraction(0))
    assert epsilon_curve(STEP, [1, 10], 1) == [zero, zero]
    assert epsilon_curve(STEP, [1, 10], 0, direction="remove") == [infinite, infinite]
    ends = epsilon_curve(STEP, [2, 10], 0, 9, direction="add")
    for repeat, point in zip([2, 10], ends, strict=True):
        assert float(point.lower) == pytest.approx(-repeat * math.log(0.99), rel=1e-8)
    lossy = epsilon_curve("poisson(gaussian(1), 0.01) * approx_dp(0, 1e-6)", [9, 11], "1e-5", 5)
    assert lossy[0].upper < math.inf
    assert lossy[1] == infinite


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        "poisson(gaussian(1), 1e-400)",
        "poisson(gaussian(1e300), 1/2)",
        "poisson(gaussian(1e-10), 1/2)",
    ],
)
def test_points_out_of_reach_are_wide_and_true(mechanism):
    for point in epsilon_curve(mechanism, [2, 10], "1e-500", 6):
        assert 0 <= point.lower <= point.upper


def test_mistakes_are_named():
    with pytest.raises(InvalidInput, match=r"^steps: "):
        epsilon_curve(STEP, [10, 0], "1e-5")
    with pytest.raises(InvalidInput, match=r"^steps: "):
        epsilon_curve(STEP, [1.5], "1e-5")  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match=r"^delta: "):
        epsilon_curve(STEP, [10], "2")
    with pytest.raises(InvalidInput, match=r"^digits: "):
        epsilon_curve(STEP, [10], "1e-5", 0)
    with pytest.raises(InvalidInput, match=r"^direction: "):
        epsilon_curve(STEP, [10], "1e-5", direction="up")
    with pytest.raises(UnsupportedMechanism):
        epsilon_curve("fixed_size(laplace(1), 1, 2)", [10], "1e-5")
