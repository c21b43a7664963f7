"""Epsilon of a contour: two-sided, at the edges, and along a training run."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from contours import delta, epsilon, epsilon_curve, on_plan, plan

from dpexact import balls
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.contour.planning import Query
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational

MAKE = {"remove": remove, "add": add}
RUNS = [  # sigma, q, steps, delta
    ("1", "1/100", 1000, "1e-5"),
    ("0.6", "1/1000", 20_000, "1e-8"),
    ("0.3", "0.99", 10**6, "1e-30"),
    ("100", "0.5", 10**6, "1e-30"),
    ("100", "1e-4", 10**6, "1e-12"),
    ("5", "0.2", 300, "0.2"),
]


def composition(direction, sigma, q, steps):
    return ((MAKE[direction](real(sigma), real(q)), steps),)


@pytest.mark.parametrize("direction", MAKE)
@pytest.mark.parametrize("run", RUNS)
def test_delta_is_certainly_above_and_below_at_the_ends(direction, run):
    """Delta from its own line, of other digits, on both sides of the enclosure."""
    sigma, q, steps, target = run
    mechanism = composition(direction, sigma, q, steps)
    found = epsilon(mechanism, real(target), 8)
    assert found.digits >= 8
    goal = real(target).fraction
    assert delta(mechanism, rational(found.lower), 15) > goal
    assert delta(mechanism, rational(found.upper), 15) < goal
    sharper = epsilon(mechanism, real(target), 20)
    assert sharper.digits >= 20
    assert found.lower <= sharper.lower <= sharper.upper <= found.upper


def test_the_finer_grid_trap():
    found = epsilon(composition("remove", "0.6", "1/10000", 100_000), real("1e-8"), 15)
    assert found.shown(12) == "1.95356343129..."
    assert found > Fraction(1.953370556897609)


@pytest.mark.parametrize("target", ["1e-30", "1e-5", "0.2"])
def test_gaussians_with_atoms_against_the_sum(target):
    mu, eps = real("1/2"), real("1/5")
    found = epsilon(((Response(eps), 4), (Gaussian(mu), 1)), real(target), 20)
    true = GaussianMixedWithResponse(mu, InfiniteLoss(), eps, 4).epsilon(real(target), 20)
    assert found.overlaps(true)
    assert found.digits >= 20


def test_infinite_losses_raise_epsilon():
    step = remove(real(1), real("1/50"))
    plain = epsilon(((step, 500),), real("1e-5"), 10)
    mass = (Response(rational(0), real("1e-8")), 500)
    more = epsilon(((step, 500), mass), real("1e-5"), 10)
    assert more > plain
    with pytest.raises(ValueError, match="the mass at infinity"):
        epsilon(((step, 500), mass), real("4e-6"), 10)


@pytest.mark.parametrize("direction", MAKE)
def test_delta_met_at_zero(direction):
    mechanism = composition(direction, "5", "1/10", 10)
    at_zero = delta(mechanism, rational(0), 12)
    assert epsilon(mechanism, rational(2 * at_zero.upper), 10) == Enclosure.exact(Fraction(0))
    small = epsilon(mechanism, rational(at_zero.lower * Fraction(99, 100)), 6)
    assert small > 0
    least = epsilon(mechanism, rational(at_zero.lower), 10)  # at or just below delta(0)
    assert 0 <= least.lower < small.lower


@pytest.mark.slow
def test_where_the_saddle_point_misleads():
    """A far tail that no one will ever see bends the moments: the sum is drowned at first."""
    mechanism = composition("remove", "100", "1e-6", 10**6)
    target, log_target = Fraction(1, 10**30), -30 * math.log(10)
    found = epsilon(mechanism, rational(target), 6)
    assert found.digits >= 6
    for end, above in [(found.lower, True), (found.upper, False)]:
        finer = plan(mechanism, [Query(float(end), 1, log_target)], 14)
        value = on_plan(mechanism, rational(end), finer)
        assert value > target if above else value < target


def test_what_is_left_when_the_work_does_not_suffice():
    mechanism = composition("remove", "1", "1/100", 1000)
    true = epsilon(mechanism, real("1e-5"), 15)
    few = epsilon(mechanism, real("1e-5"), 15, max_work=9000)
    assert few.digits < 15
    assert "multiplications" in few.reason
    assert few.overlaps(true)
    assert few.method == "contour"
    none = epsilon(mechanism, real("1e-5"), 15, max_work=10)
    assert none.reason
    assert none.method == "Rényi bound"
    assert true.upper < none.upper < 2 * true.upper


# --- along a training run -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("direction", MAKE)
def test_every_point_of_a_curve_agrees_with_its_own_line(direction):
    mechanism = composition(direction, "1", "1/100", 1)
    steps = [5000, *range(100, 3000, 290), 100, 10_000, 2]
    curve = epsilon_curve(mechanism, steps, real("1e-6"), 6)
    assert len(curve) == len(steps)
    for repeat, point in zip(steps, curve, strict=True):
        if point.digits < 6:
            assert repeat == 2
            assert point.reason
            continue
        assert point.digits >= 6
        assert point.overlaps(epsilon(mechanism, real("1e-6"), 11, repeat=repeat))
    assert curve[1] == curve[len(steps) - 3]
    ordered = [point for _, point in sorted(set(zip(steps[:-1], curve[:-1], strict=True)))]
    assert all(a < b for a, b in pairwise(ordered))


def test_a_curve_of_products():
    pair = ((remove(real(1), real("1/100")), 2), (Gaussian(real("1/50")), 1))
    steps = [50, 200]
    for repeat, point in zip(steps, epsilon_curve(pair, steps, real("1e-5"), 7), strict=True):
        alone = tuple((step, n * repeat) for step, n in pair)
        assert point.overlaps(epsilon(alone, real("1e-5"), 12))


@pytest.mark.slow
def test_empty_and_impossible_curves():
    assert epsilon_curve(composition("remove", "1", "1/10", 1), [], real("1e-5")) == []
    hard = composition("remove", "0.02", "1/100", 1)
    (point,) = epsilon_curve(hard, [3], real("1e-5"), 8, max_work=1000)
    assert point.lower >= 0
    assert point.digits < 8
    assert point.reason


def test_points_on_either_side_of_the_first_epsilon_above_zero():
    mechanism = composition("remove", "5", "1/20", 1)
    steps = [10, 20, 40, 80, 160, 320]
    curve = epsilon_curve(mechanism, steps, real("0.05"), 6)
    met = [point == Enclosure.exact(Fraction(0)) for point in curve]
    goal = Fraction(1, 20)
    assert met == [delta(mechanism, rational(0), 10, repeat=r) < goal for r in steps]
    assert met == sorted(met, reverse=True)
    assert any(met)
    assert not all(met)


def test_digits_of_delta_suffice_for_digits_of_epsilon():
    with balls.precision(64):
        found = epsilon(composition("add", "2", "1/10", 800), real("1e-4"), 25)
    assert found.digits >= 25
    assert math.isclose(float(found.lower), 3.5, rel_tol=0.5)
