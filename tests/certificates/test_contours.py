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


def test_after_few_digits_all_are_planned():
    """A delta that seems smaller may not be: at 0 both are the same, whatever floats say."""
    text, ways = "poisson(gaussian(0.9), 1e-5)^20 * gaussian(1000)", ("remove", "add")
    steps = steps_of(mechanism_tree(parse(text)))
    first, *others = (plan for plan, _ in plans(steps, ways, [Fraction(0)], 10))
    alone = {way: [x[way] for x, _ in plans(steps, (way,), [Fraction(0)], 10)] for way in ways}
    assert all([plan[way] for plan in others] == alone[way] for way in ways)
    assert first["add"] not in alone["add"]
    assert first["remove"] == alone["remove"][0]


def test_where_no_loss_is_larger_nothing_is_planned():
    """Adding loses at most ``-100 log(1 - 1/50) = 2.02``."""
    found = first_plan("poisson(gaussian(1), 1/50)^100", "21/10")
    assert found["add"] == "no larger loss"
    assert (
        found["remove"]
        == first_plan("poisson(gaussian(1), 1/50)^100", "21/10", ("remove",))["remove"]
    )
