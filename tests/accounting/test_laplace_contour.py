"""The contour integral holds the truth whatever its parameters."""

from fractions import Fraction

import pytest

from dpexact import balls
from dpexact.accounting.laplace import LaplaceParts, LaplaceProduct
from dpexact.accounting.laplace_contour import (
    ContourPlan,
    chernoff,
    contour_integral,
    plan_contour,
)
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import rational, real

PARTS = LaplaceParts(((real(1), 60),))
EPSILON = Fraction(20)
TRUTH = LaplaceProduct(PARTS, InfiniteLoss()).delta(rational(EPSILON), 30)


def integral(line, period, exponent, nodes):
    plan = ContourPlan(Fraction(line), Fraction(period), Fraction(exponent), nodes)
    with balls.precision(120):
        found = contour_integral(PARTS.parts, balls.ball(EPSILON), plan)
        return balls.to_enclosure(found)


@pytest.mark.parametrize(
    ("line", "period", "exponent", "nodes"),
    [
        ("1/2", "100", "1", 400),  # all errors small
        ("1", "10", "2", 400),  # aliases from above
        ("2", "5", "3", 400),
        ("1/8", "20", "2", 400),  # aliases from below
        ("1/2", "100", "1", 12),  # a sum cut short
        ("1/2", "100", "1", 3),
    ],
)
def test_bad_parameters_only_widen(line, period, exponent, nodes):
    found = integral(line, period, exponent, nodes)
    assert found.lower <= TRUTH.lower <= TRUTH.upper <= found.upper


def test_aliases_from_above_are_really_there():
    """The plain sum exceeds the truth by more than the error from below explains."""
    found = integral("1", "10", "2", 400)
    with balls.precision(60):
        below = balls.to_enclosure((-balls.ball(10)).exp() * 2).upper
    assert found.upper > TRUTH.upper + below


def test_a_plan_reaches_its_precision():
    log_delta = chernoff([(1.0, 60)], 20.0)
    with balls.precision(100):
        plan = plan_contour([(1.0, 60)], 20.0, log_delta, 55)
        assert plan is not None
        found = balls.to_enclosure(contour_integral(PARTS.parts, balls.ball(EPSILON), plan))
    assert found.overlaps(TRUTH)
    assert found.digits >= 8
    assert plan_contour([(0.001, 1000)], 0.1, -3.0, 60) is None
