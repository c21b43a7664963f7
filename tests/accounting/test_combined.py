"""Profiles made of profiles: partial answers combine, and never into a wrong one."""

import math
from fractions import Fraction

import pytest

from dpexact import balls
from dpexact.accounting.engines.contour.along import epsilons_along
from dpexact.accounting.profile import (
    FAINT,
    Between,
    Fallback,
    FirstToReach,
    InfiniteLoss,
    Profile,
    TighterBound,
)
from dpexact.accounting.reflection import Mirrored, WorseDirection
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction, UnsupportedMechanism

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
BOTH = pytest.mark.parametrize("quantity", ["delta", "epsilon"])


class Fixed(Profile):
    """Answers every question with one enclosure."""

    infinite = InfiniteLoss()

    def __init__(self, low, high, method, reason=""):
        upper = math.inf if high == "inf" else Fraction(high)
        self.found = Enclosure(Fraction(low), upper, method, reason)
        self.method = method
        self.asked = []

    def delta(self, epsilon, digits):
        self.asked.append(digits)
        return self.found

    epsilon = _epsilon = delta


class Digits(Fixed):
    """Answers ``value`` with the digits asked for, ``most`` at most."""

    def __init__(self, value, method, most=10_000):
        super().__init__(value, value, method)
        self.value, self.most = value, most

    def delta(self, epsilon, digits):
        self.asked.append(digits)
        slack = self.value / (3 * Fraction(10) ** min(digits, self.most))
        reason = f"{self.method} ran out" if digits > self.most else ""
        return Enclosure(self.value - slack, self.value + slack / 2, self.method, reason)

    epsilon = _epsilon = delta


class Refusing(Fixed):
    """Accounts for nothing."""

    def __init__(self):
        super().__init__(0, 1, "refusing")

    def delta(self, epsilon, digits):
        raise UnsupportedMechanism("not this")

    epsilon = _epsilon = delta


def ask(profile, quantity, digits):
    return getattr(profile, quantity)(real(1), digits)


# --- the first to reach ---------------------------------------------------------------------------


def test_the_first_that_reaches_answers():
    last = Fixed(2, 2, "c")
    routes = FirstToReach(Fixed(1, 3, "a"), Fixed(2, 2, "b"), last)
    assert routes.delta(real(0), 5) == Enclosure.exact(Fraction(2))
    assert routes.epsilon(real(0), 5).method == "b"
    assert routes.method == "a"
    assert last.asked == []


@BOTH
def test_wide_answers_of_all_methods_intersect(quantity):
    routes = FirstToReach(Fixed(1, 3, "a", "a failed"), Fixed(2, "5/2", "b", "b failed"))
    found = ask(routes, quantity, 5)
    assert found == Enclosure(Fraction(2), Fraction(5, 2))
    assert (found.method, found.reason) == ("b", "b failed")


def test_an_intersection_may_reach():
    last = Fixed(0, 5, "c")
    routes = FirstToReach(Fixed(0, 1, "a"), Fixed(1, 2, "b"), last)
    assert routes.delta(real(0), 5).is_exact
    assert last.asked == []


@pytest.mark.parametrize(("points", "asked"), [(19, "first"), (20, "second")])
def test_of_many_points_those_that_share_are_asked_first(points, asked):
    first, second = Digits(HALF, "first"), Digits(HALF, "second")
    first.fewest_shared, second.shares = 20, True
    found = FirstToReach(first, second).deltas([real(x) for x in range(points)], 5)
    assert {answer.method for answer in found} == {asked}


@pytest.mark.parametrize(("digits", "asked"), [(5, "first"), (6, "second")])
def test_who_has_hardly_so_many_digits_is_asked_last(digits, asked):
    first, second = Digits(HALF, "first"), Digits(HALF, "second")
    first.most_digits = 5
    assert FirstToReach(first, second).delta(real(1), digits).method == asked


def test_methods_that_contradict_each_other_are_no_answer():
    with pytest.raises(Contradiction, match=r"by a and .* by b"):
        FirstToReach(Fixed(0, 1, "a"), Fixed(2, 3, "b")).delta(real(0), 5)


# --- a method to fall back on ---------------------------------------------------------------------


@BOTH
def test_what_reaches_needs_no_second_method(quantity):
    def never():
        raise AssertionError("made without need")

    found = ask(Fallback(Digits(HALF, "first"), never), quantity, 10)
    assert found.digits >= 10
    assert found.method == "first"


@BOTH
def test_a_few_digits_are_kept_or_followed_by_more_work(quantity):
    first, second = Digits(HALF, "first", most=4), Fixed(0, 1, "second")
    found = ask(Fallback(first, lambda: second), quantity, 10)
    assert 4 <= found.digits < 10
    assert found.reason == "first ran out"
    thorough = Digits(HALF, "thorough")
    found = ask(Fallback(first, lambda: second, thorough), quantity, 10)
    assert found.digits >= 10
    assert found.method == "thorough"
    assert second.asked == []


@BOTH
def test_a_wide_answer_is_met_with_the_second(quantity):
    first = Fixed("1/4", "inf" if quantity == "epsilon" else 1, "first", "too hard")
    thorough = Digits(HALF, "thorough")
    found = ask(Fallback(first, lambda: Digits(HALF, "second"), thorough), quantity, 10)
    assert found.digits >= 10
    assert found.method == "second"
    assert thorough.asked == []
    partial = ask(Fallback(first, lambda: Fixed(0, "3/4", "second", "short")), quantity, 10)
    assert partial == Enclosure(Fraction(1, 4), Fraction(3, 4))
    assert partial.reason in ("too hard", "short")


@BOTH
def test_what_is_below_all_claims_is_no_reason_to_ask_again(quantity):
    """A shift of 1e-30 had a lattice tabulated for a minute, for a delta below 1e-301030."""

    def never():
        raise AssertionError("made without need")

    found = ask(Fallback(Fixed(0, FAINT, "first"), never, None, FAINT), quantity, 10)
    assert found == Enclosure(Fraction(0), FAINT)
    assert ask(Fallback(Fixed(0, balls.TINY, "first"), never), quantity, 10).upper == balls.TINY


@BOTH
def test_refusals_of_either_method(quantity):
    assert ask(Fallback(Refusing(), lambda: Digits(HALF, "second")), quantity, 5).method == "second"
    wide = Fixed(0, 1, "first", "too hard")
    found = ask(Fallback(wide, Refusing), quantity, 5)
    assert found == wide.found
    assert found.reason == "too hard"
    with pytest.raises(UnsupportedMechanism):
        ask(Fallback(Refusing(), Refusing), quantity, 5)

    def unsupported():
        raise UnsupportedMechanism("no second")

    assert ask(Fallback(wide, unsupported), quantity, 5) == wide.found


def test_a_second_method_that_contradicts_the_first_is_no_answer():
    with pytest.raises(Contradiction, match=r"by first and .* by second"):
        Fallback(Fixed(0, "1/4", "first"), lambda: Digits(HALF, "second")).delta(real(1), 10)
    thorough = Digits(THIRD, "thorough")
    with pytest.raises(Contradiction, match=r"by first and .* by thorough"):
        Fallback(Digits(HALF, "first", 4), Refusing, thorough).delta(real(1), 10)


# --- between two pairs ----------------------------------------------------------------------------


@BOTH
def test_the_truth_lies_between(quantity):
    between = Between(Digits(THIRD, "low"), Digits(HALF, "high"), "between")
    found = ask(between, quantity, 10)
    assert found.lower < THIRD < HALF < found.upper
    assert found.lower > THIRD - Fraction(1, 10**10)
    assert found.upper < HALF + Fraction(1, 10**10)
    assert found.method == "between"
    assert found.reason == "the bounds below and above differ"
    assert between.below.asked == between.above.asked == [11]
    assert between.sharp
    assert ask(Between(Digits(HALF, "a"), Digits(HALF, "b"), "m"), quantity, 10).digits >= 10


@BOTH
def test_between_wide_answers(quantity):
    wide = Fixed("1/4", "inf", "wide", "too hard")
    found = ask(Between(wide, wide, "between"), quantity, 10)
    assert found == Enclosure(Fraction(1, 4), math.inf)
    assert found.reason == "too hard"
    # what is wide above the lower pair, or below the upper one, does no harm
    low, high = Fixed("1/3", 1, "low"), Fixed(0, "1/2", "high")
    assert ask(Between(low, high, "between"), quantity, 10) == Enclosure(THIRD, HALF)


def test_bounds_of_theorems_need_few_digits():
    between = Between(Digits(THIRD, "low"), Digits(HALF, "high"), "between", digits=(2, 5))
    assert not between.sharp
    between.delta(real(1), 10)
    assert (between.below.asked, between.above.asked) == ([2], [5])


def test_a_pair_that_is_not_below_the_other_is_a_contradiction():
    with pytest.raises(Contradiction, match=r"by low and .* by high"):
        Between(Digits(HALF, "low"), Digits(THIRD, "high"), "between").delta(real(1), 10)


# --- the worse direction --------------------------------------------------------------------------


@BOTH
def test_the_worse_direction(quantity):
    for a, b in ((HALF, THIRD), (THIRD, HALF), (Fraction(1), Fraction(1))):
        first, second = Digits(a, "remove"), Digits(b, "add")
        found = ask(WorseDirection(first, second), quantity, 10)
        assert max(a, b) in found
        assert found.digits >= 10
        assert second.asked == ([3] if a > b else [3, 10])
        assert found.method == ("add" if b > a else "remove")


@BOTH
def test_the_worse_direction_when_one_is_not_reached(quantity):
    harmless = WorseDirection(Digits(HALF, "remove"), Digits(THIRD, "add", most=2))
    assert ask(harmless, quantity, 10).digits >= 10
    for first, second in (
        (Digits(THIRD, "remove"), Digits(HALF, "add", most=5)),
        (Digits(HALF, "remove", most=5), Digits(THIRD, "add")),
    ):
        found = ask(WorseDirection(first, second), quantity, 10)
        assert HALF in found
        assert 5 <= found.digits < 10
        assert found.reason.endswith("ran out")


@BOTH
@pytest.mark.parametrize("value", ["1/10", "1/2", "2"])
def test_an_undecided_direction_leaves_what_it_may_be(quantity, value):
    value, blind = Fraction(value), Fixed("1/4", "1", "blind", "too hard")
    for pair in ((Digits(value, "sharp"), blind), (blind, Digits(value, "sharp"))):
        found = ask(WorseDirection(*pair), quantity, 10)
        for other in (Fraction(1, 4), HALF, Fraction(1)):
            assert max(value, other) in found
        if value == 2:
            assert found.digits >= 10
        else:
            assert found.upper == 1
            assert found.reason == "too hard"


class Falling(Fixed):
    """``delta(eps) = (start - eps)_+``: both questions agree."""

    def __init__(self, start, method, most=1):
        super().__init__(0, 1, method)
        self.start = Fraction(start)

    def delta(self, epsilon, digits):
        self.asked.append(("delta", digits))
        return Enclosure.exact(max(self.start - epsilon.fraction, Fraction(0)), self.method)

    def epsilon(self, delta, digits):
        self.asked.append(("epsilon", digits))
        return Enclosure.exact(max(self.start - delta.fraction, Fraction(0)), self.method)

    _epsilon = epsilon


@pytest.mark.parametrize("add", ["1/10", "1/2", "7/8", "9/8"])
@pytest.mark.parametrize("slack", ["0", "1/100", "1"])
def test_one_point_shows_which_direction_is_the_larger(add, slack):
    first, second = Falling("7/8", "remove"), Falling(add, "add")
    limit = Fraction(slack)

    def is_below(epsilon, level):
        return second.delta(epsilon, 3).upper + limit <= level.fraction

    worst = max(Fraction(7, 8), Fraction(add))
    for target in ("1/20", "1/4", "1/3"):
        for profile in (Mirrored(first, second, is_below), Mirrored(first, second)):
            assert profile.epsilons([real(target)], 9) == [
                Enclosure.exact(worst - Fraction(target))
            ]
            assert profile.epsilon(real(target), 9).upper == worst - Fraction(target)
    for epsilon in ("1/20", "1/4", "1/3"):
        found = Mirrored(first, second, is_below).delta(real(epsilon), 9)
        assert found.upper == worst - Fraction(epsilon)


def test_directions_that_are_plainly_below_are_not_asked():
    first, second = Falling("1/2", "remove"), Falling("1/2", "add")
    profile = Mirrored(first, second)
    assert profile.epsilon(real("3/5"), 9).upper == 0
    assert profile.delta(real(0), 9).upper == HALF
    assert second.asked == []
    beneath = Mirrored(first, second, lambda _, level: level.fraction > Fraction(1, 1000))
    assert beneath.epsilon(real("1/4"), 9).upper == Fraction(1, 4)
    assert beneath.delta(real("1/4"), 9).upper == Fraction(1, 4)
    assert second.asked == []


def test_the_second_direction_is_asked_for_no_more_than_helps():
    near = HALF * (1 + Fraction(1, 10**7))
    other = Digits(near, "add", most=40)
    found = WorseDirection(Digits(HALF, "remove", most=6), other).delta(real(1), 15)
    assert other.asked == [3, 6]
    assert near in found
    assert found.digits >= 5
    # once it is plainly the larger, all digits of it count
    above = Digits(2 * HALF, "add", most=40)
    found = WorseDirection(Digits(HALF, "remove", most=2), above).delta(real(1), 15)
    assert found.digits >= 15
    assert 2 * HALF in found
    assert above.asked == [3, 15]
    exhausted = Digits(near, "add", most=6)
    found = WorseDirection(Digits(HALF, "remove", most=6), exhausted).delta(real(1), 15)
    assert exhausted.asked == [3, 6]
    assert near in found


@BOTH
@pytest.mark.parametrize("most", [1, 2, 5, 20])
def test_a_list_of_one_costs_what_its_point_does(quantity, most):
    """The first method is not asked again where it is short, nor the second direction for more."""

    def built():
        parts = [Digits(HALF, "first", most), Digits(HALF, "second", 9), Digits(THIRD, "add", 9)]
        return parts, WorseDirection(Fallback(parts[0], lambda: parts[1], parts[1]), parts[2])

    (alone, profile), (listed, many) = built(), built()
    found = getattr(profile, quantity)(real(1), 12)
    (other,) = getattr(many, f"{quantity}s")([real(1)], 12)
    assert other == found
    assert [part.asked for part in listed] == [part.asked for part in alone]
    assert len(listed[0].asked) == 1


@BOTH
def test_a_list_is_refused_where_its_points_are(quantity):
    profile = Fallback(Refusing(), Refusing)
    with pytest.raises(UnsupportedMechanism, match="not this"):
        getattr(profile, f"{quantity}s")([real(1), real(2)], 9)
    one_of_two = Fallback(Refusing(), lambda: Digits(HALF, "second"))
    assert all(x.digits >= 9 for x in getattr(one_of_two, f"{quantity}s")([real(1), real(2)], 9))


class AtPoint(Digits):
    """Of each point ``1/(1 + point)``, to ``most`` digits at odd points and few at even ones."""

    def __init__(self, method, most=10_000, few=10_000, *, shares=False):
        super().__init__(HALF, method)
        self.odd, self.even, self.shares = most, few, shares

    def delta(self, epsilon, digits):
        most = self.odd if epsilon.fraction % 2 else self.even
        return Digits(1 / (1 + epsilon.fraction), self.method, most).delta(epsilon, digits)

    epsilon = _epsilon = delta


@BOTH
@pytest.mark.parametrize(
    "profile",
    [
        FirstToReach(AtPoint("first", 9, 2), AtPoint("second", 1, 12, shares=True)),
        Fallback(AtPoint("first", 12, 1), lambda: AtPoint("second")),
        Fallback(AtPoint("first", 12, 4), lambda: AtPoint("second"), AtPoint("third")),
        WorseDirection(AtPoint("remove", 12, 9), AtPoint("add", 9, 12)),
        Mirrored(AtPoint("remove", 12, 9), AtPoint("add", 9, 12)),
        TighterBound(AtPoint("one"), AtPoint("other")),
        Between(AtPoint("below"), AtPoint("above"), "between"),
    ],
)
def test_each_point_of_a_list_has_its_own_answer(profile, quantity):
    points = [real(k) for k in (3, 10, 1, 2, 8, 7, 5, 4, 6, 9)]
    answers = getattr(profile, f"{quantity}s")(points, 9)
    for point, found in zip(points, answers, strict=True):
        assert 1 / (1 + point.fraction) in found
        assert found.digits >= 8


def test_points_of_a_curve_take_the_worse_direction_each():
    low = {n: Digits(Fraction(n), "remove", 5) for n in (1, 2, 3)}
    high = {n: Digits(x, "add") for n, x in {1: HALF, 2: Fraction(2), 3: Fraction(4)}.items()}
    found = epsilons_along(
        lambda _: [low.__getitem__, high.__getitem__], [3, 1, 2], real("1e-5"), 10
    )
    for truth, point in zip((4, 1, 2), found, strict=True):
        assert truth in point
    assert [point.digits >= 10 for point in found] == [True, False, False]
    assert [point.method for point in found[:2]] == ["add", "remove"]
    assert [10 in profile.asked for profile in high.values()] == [False, True, True]
