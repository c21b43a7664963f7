"""Plans of contour integrals."""

from fractions import Fraction

import pytest

import dpexact
from dpexact.certificate_checker import steps_of
from dpexact.certificates.contours import plans
from dpexact.certificates.statements import mechanism_tree
from dpexact.mechanisms import parse


def first_plan(text, epsilon, ways=("remove", "add")):
    """What is proposed first for 20 digits of delta."""
    steps = steps_of(mechanism_tree(parse(text)))
    return next(plans(steps, ways, [Fraction(epsilon)], 20))[0]


@pytest.mark.parametrize(
    ("text", "epsilon", "few"),
    [
        ("poisson(gaussian(1), 1/50)^1000", "4", True),
        ("poisson(gaussian(1), 1/50)^1000 * poisson(gaussian(1), 1/2)", "4", True),
        ("poisson(gaussian(20), 1/2)^1000", "1", False),
    ],
)
def test_of_a_smaller_delta_few_digits_are_planned(text, epsilon, few):
    both = first_plan(text, epsilon)
    alone = {way: first_plan(text, epsilon, (way,))[way] for way in both}
    assert both["remove"] == alone["remove"]
    if few:
        assert 2 * int(both["add"]["count"]) < int(alone["add"]["count"])
        larger, other = (dpexact.delta(text, epsilon, 3, direction=way) for way in alone)
        assert other.upper < larger.lower / 2
    else:
        assert both["add"] == alone["add"]


@pytest.mark.parametrize(
    ("text", "epsilon", "few"),
    [
        ("poisson(gaussian(1), 1/50)^1000", "4", True),
        ("poisson(gaussian(0.9), 1e-5)^20 * gaussian(1000)", "0", False),
    ],
)
def test_all_digits_are_planned_after_few_or_at_once_where_floats_mislead(text, epsilon, few):
    """At 0 both deltas are the same, whatever floats say, and no certificate had its digits."""
    steps, points, ways = (
        steps_of(mechanism_tree(parse(text))),
        [Fraction(epsilon)],
        ("remove", "add"),
    )
    found = [plan for plan, _ in plans(steps, ways, points, 10)]
    alone = {way: [x[way] for x, _ in plans(steps, (way,), points, 10)] for way in ways}
    assert all([plan[way] for plan in found[few:]] == alone[way] for way in ways)
    assert (found[0]["add"] not in alone["add"]) == few


def test_where_no_loss_is_larger_nothing_is_planned():
    """Adding loses at most ``-100 log(1 - 1/50) = 2.02``."""
    found = first_plan("poisson(gaussian(1), 1/50)^100", "21/10")
    assert found["add"] == "no larger loss"
    assert (
        found["remove"]
        == first_plan("poisson(gaussian(1), 1/50)^100", "21/10", ("remove",))["remove"]
    )
