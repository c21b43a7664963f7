"""Plans: cheap, within the work allowed, and refused in words where floats fail."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from contours import delta, on_plan, plan, shape_of
from flint import acb

from dpexact import balls
from dpexact.accounting.engines.contour.planning import Query, affordable
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.power_sums import powers
from dpexact.conversion import real
from dpexact.reals import rational

STEP = remove(real(1), real("1/100"))


def test_a_plan_reaches_what_it_is_made_for():
    """One evaluation of the planned line gives about the digits asked for, for each query."""
    queries = [Query(1.0, 1000), Query(1.5, 1500)]
    for digits in (5, 15, 30):
        found = plan(((STEP, 1),), queries, digits)
        for query in queries:
            at = rational(Fraction(query.epsilon))
            assert on_plan(((STEP, 1),), at, found, query.repeat).digits >= digits - 1


@pytest.mark.slow
def test_many_different_factors_take_one_line_of_a_plan():
    """Their errors add up, which the plan foresees; some of them place the line of all."""
    steps = [remove(real(0.9 + i / 500), real(1 + i % 13) / 1000) for i in range(200)]
    factors = tuple((step, 1 + i % 3) for i, step in enumerate(steps))
    strata = Product(factors).strata
    assert len(strata) == 64
    assert sum(x.like for x in strata) == 200
    whole = sum(n * step.cumulant(1.0).value for step, n in factors)
    assert sum(x.runs * x.pair.cumulant(1.0).value for x in strata) == pytest.approx(whole)
    assert Product(factors[:64]).strata == [(step, 1, n) for step, n in factors[:64]]
    found = plan(factors, [Query(1.0, 1)], 8)
    assert on_plan(factors, rational(1), found, 1).digits >= 7
    assert found.work < 15_000_000


def test_one_step_of_much_loss_does_not_stand_for_many_of_little():
    """A line that decays like it is too short, and answers do not shrink as planned."""
    steps = [remove(real(1 + i / 10**4), real("1/300")) for i in range(120)]
    factors = (*((step, 200) for step in steps), (Gaussian(real("1/9")), 1))
    found = plan(factors, [Query(0.4, 1)], 6)
    assert on_plan(factors, rational(Fraction(2, 5)), found, 1).digits >= 5


@pytest.mark.parametrize("loud", [1, 3])
def test_nor_do_some_that_are_far_louder(loud):
    """Those of a group of like ones lose about as much, also where the loudest are few."""
    steps = [remove(real(1 + i / 10**3), real("1/300")) for i in range(150)]
    factors = (*((step, 12) for step in steps), (remove(real("1/20"), real("1/1000")), loud))
    for part in Product(factors).strata:
        assert part.runs < 12 * 4 * part.like
    found = plan(factors, [Query(238.0, 1)], 6)
    assert on_plan(factors, rational(238), found, 1).digits >= 5


def test_no_moment_is_asked_beyond_the_largest_loss():
    product = Product(((add(real(1), real("1/100")), 50), (add(real(2), real("1/10")), 1)))
    largest = float(product.largest_loss(1).mid())
    for gap in (1e-6, 0.1, 3.0):
        b, log = product.chernoff(3 * largest + gap, 3)
        assert log == pytest.approx(-b * gap, rel=1e-4)
        assert not product._cumulants
    assert product.chernoff(largest / 2, 1)[0] < b


def test_more_digits_cost_more():
    plans = [plan(((STEP, 1000),), [Query(1.0, 1)], digits) for digits in (3, 10, 30, 100)]
    for cheap, dear in pairwise(plans):
        assert cheap.work < dear.work
        assert cheap.bits < dear.bits
    assert plans[0].height <= (plans[0].count + 1) * plans[0].step


def test_the_work_allowed():
    with pytest.raises(TooExpensive, match="multiplications"):
        plan(((STEP, 1000),), [Query(1.0, 1)], 30, 10_000)
    product = Product(((STEP, 1000),))
    assert affordable(product, Query(1.0, 1), 30, 10_000).work <= 10_000
    with pytest.raises(TooExpensive, match="no digit"):
        affordable(product, Query(1.0, 1), 30, 10)


@pytest.mark.parametrize("direction", [remove, add])
@pytest.mark.parametrize(
    ("sigma", "q", "steps"),
    [("1e300", "1/2", 10), ("1e-300", "1/2", 10), ("1", "1e-320", 10), ("1", "1/2", 10**18)],
)
def test_parameters_too_extreme_for_floats(direction, sigma, q, steps):
    with pytest.raises(TooExpensive):
        plan(((direction(real(sigma), real(q)), steps),), [Query(1e-9, 10**18)], 8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_strips_are_no_wider_than_useful():
    """For large sigma the heights tried lie where the best one is, not near ``pi sigma``."""
    few, many = (shape_of(sigma, 0.1, 0.0).oblique(1.0, 50.0) for sigma in (3.0, 1e8))
    assert many.edge < 4 * math.sqrt(50)
    assert many.heavy < 1.2 * few.heavy
    assert shape_of(1e8, 0.0, 0.1).positive(1.0, 50.0).edge < 4 * math.sqrt(50)


def test_saddle_points_estimate_delta_and_epsilon():
    product = Product(((STEP, 1000),))
    for epsilon in ("0.5", "1", "3"):
        true = delta(((STEP, 1000),), real(epsilon), 8)
        _, log = product.saddle(float(epsilon), 1)
        assert abs(log - math.log(float(true.lower))) < 0.2
        assert product.epsilon(log, 1) == pytest.approx(float(epsilon), rel=0.02)
        b, bound = product.chernoff(float(epsilon), 1)
        assert b > 0
        assert bound >= math.log(float(true.lower)) - 1e-9
    assert product.epsilon(0.0, 1) == 0.0


def test_cumulants_of_compositions_add_up():
    pair = Product(((STEP, 3), (Gaussian(real("1/7")), 2)))
    one, other = STEP.cumulant(1.5), Gaussian(real("1/7")).cumulant(1.5)
    found = pair.cumulant(1.5)
    for a, b, c in zip(found, one, other, strict=True):
        assert a == pytest.approx(3 * b + 2 * c)


def test_lost_cumulants_are_infinite():
    assert Product(((remove(real("1e-5"), real("1/2")), 1),)).cumulant(1e3).value == math.inf


def test_powers():
    with balls.precision(100):
        base = acb("0.3", "0.7")
        for count in (1, 2, 5, 16, 33):
            found = powers(base, count)
            assert len(found) == count
            assert all(value.overlaps(base**n) for n, value in enumerate(found))
