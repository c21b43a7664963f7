"""Methods are asked in turn, and what they certified is intersected."""

from fractions import Fraction

import pytest

from dpexact.accounting.first_to_reach import FirstToReach
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.reals import real


class Fixed(Profile):
    """Answers with one enclosure, or fails with it."""

    infinite = InfiniteLoss()

    def __init__(self, low, high, reaches, method):
        self.found = Enclosure(Fraction(low), Fraction(high), method)
        self.reaches, self.method = reaches, method

    def delta(self, epsilon, digits):
        if self.reaches:
            return self.found
        raise PrecisionNotReached(f"{self.method} failed", self.found)

    epsilon = delta


def test_the_first_that_reaches_answers():
    routes = FirstToReach(Fixed("1", "3", False, "a"), Fixed("2", "2", True, "b"))
    assert routes.delta(real(0), 5) == Enclosure.exact(Fraction(2), "b")
    assert routes.epsilon(real(0), 5).method == "b"
    assert routes.method == "a"


def test_failures_intersect():
    routes = FirstToReach(Fixed("1", "3", False, "a"), Fixed("2", "5/2", False, "b"))
    with pytest.raises(PrecisionNotReached, match="a failed") as caught:
        routes.delta(real(0), 5)
    assert caught.value.best == Enclosure(Fraction(2), Fraction(5, 2), "b")


def test_an_intersection_may_reach():
    routes = FirstToReach(Fixed("0", "1", False, "a"), Fixed("1", "2", False, "b"))
    assert routes.delta(real(0), 5).is_exact
