"""Epsilon at many targets, as one by one."""

import math
import random
from fractions import Fraction

import pytest
from flint import arb

from dpexact import delta, epsilon, parse
from dpexact.accounting import inverted_many
from dpexact.accounting.chords import NODES, pieces
from dpexact.accounting.inverted_many import shared_epsilons
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.enclosure import Enclosure
from dpexact.reals import rational

F = Fraction


@pytest.mark.parametrize("digits", [6, 15, 25])
@pytest.mark.parametrize(
    "text",
    [
        "laplace(1)^5",
        "laplace(1)^3 * laplace(2)^2 * approx_dp(0, 1/100)",
        "gaussian(1) * pure_dp(1/10)^4",
        "discrete_gaussian(2)^3",
        "poisson(pure_dp(1), 1/10)^9",
        "approx_dp(1, 1e-6)^20",
        "truncated_laplace(1, 5)",
        "truncated_laplace(1, 5)^3",
        "bounded_range(1/5)^20",
        "shuffle(pure_dp(1), 300)",
        "discrete_laplace(1)^4 * gaussian(2)",
    ],
)
def test_many_targets_are_answered_as_one_by_one(text, digits):
    random.seed(text)
    targets = [F(round(10 ** (12 - random.uniform(0, 13))), 10**12) for _ in range(30)]
    targets += [F(0), F(1), F(1, 100), F(1, 100), F(99, 100), F(1, 10**30), F(1, 10**6)]
    random.shuffle(targets)
    for target, found in zip(targets, epsilon(text, targets, digits), strict=True):
        alone = epsilon(text, [target], digits)[0]
        assert found.overlaps(alone), target
        assert found.digits >= min(digits, alone.digits)
        if found.lower > 0 and found.upper < math.inf:
            assert delta(text, [found.upper], digits + 12)[0].lower <= target
            assert delta(text, [found.lower], digits + 12)[0].upper >= target


class Exponential:
    """``delta = e^-epsilon``, as coarse, or as wrong about neighbours, as it is told to be."""

    infinite = InfiniteLoss()
    method = "exponential"
    fewest_shared = 8
    asked = 0

    def __init__(self, width=0, wrong=1.0, largest=math.inf):
        self.width, self.wrong, self.largest = width, wrong, largest
        self.ends = []

    def values(self, places, digits, least):
        type(self).asked += len(places)
        return [(-x).exp() * (1 + arb(0, self.width)) for x in places]

    def largest_loss(self, digits):
        return Enclosure.exact(self.largest)

    def epsilon(self, target, digits):
        self.ends.append(digits)
        at = F(-math.log(target.fraction)) * F(self.wrong)
        return Enclosure(at, at * (1 + F(1, 10 ** (digits + 1))))


@pytest.mark.parametrize(("largest", "finer"), [(math.inf, False), (F(50), True)])
def test_ends_have_more_digits_next_to_a_largest_loss(largest, finer):
    profile = Exponential(largest=largest)
    shared_epsilons(profile, profile.values, [rational(F(k, 99)) for k in range(1, 60)], 9)
    assert len(profile.ends) == 2
    assert all((digits > 9) == finer for digits in profile.ends)


TARGETS = [rational(F(k, 500)) for k in range(1, 400)]


def _asked(profile):
    return shared_epsilons(profile, profile.values, TARGETS, 8)


def test_one_value_decides_each_target():
    Exponential.asked = 0
    found = _asked(Exponential())
    assert Exponential.asked <= len(TARGETS) + NODES * pieces(len(TARGETS), 8)
    for target, answer in zip(TARGETS, found, strict=True):
        assert (
            answer.lower * (1 - 1e-15) <= -math.log(target.fraction) <= answer.upper * (1 + 1e-15)
        )
        assert answer.digits >= 8


def test_wide_values_decide_nothing(monkeypatch):
    """What is not certain on both sides is asked for by itself."""
    alone = []

    class Known(Exponential):
        def epsilon(self, target, digits):
            alone.append(target)
            return super().epsilon(target, digits)

    _asked(Known(1e-6))
    assert set(alone) == set(TARGETS)


def test_wrong_neighbours_are_seen_through():
    """Where they lead is not where delta is on both sides of a target."""
    found = _asked(Exponential(wrong=1.001))
    truths = [F(-math.log(target.fraction)) for target in TARGETS]
    right = [a for a, truth in zip(found, truths, strict=True) if a.method == "exponential"]
    assert right
    for answer, truth in zip(found, truths, strict=True):
        if answer.method == "exponential":
            assert answer.lower <= truth * (1 + F(1, 10**14))
            assert answer.upper >= truth * (1 - F(1, 10**14))


def test_where_places_are_far_apart_values_lead_on(monkeypatch):
    """Next to delta at 0 epsilon bends so much that a polynomial leads astray."""
    found, alone = profile(parse("gaussian(1) * pure_dp(1/10)^4")), []
    ask = type(found).epsilon
    monkeypatch.setattr(type(found), "epsilon", lambda *a: alone.append(a) or ask(*a))
    targets = [rational(F(1, 3) * F(4, 5) ** k) for k in range(60)]
    found.epsilons(targets, 15)
    assert len(alone) == 2


@pytest.mark.parametrize(
    "text", ["laplace(1)^10", "laplace(1/2)^30", "laplace(1) * laplace(1/2)^2"]
)
def test_next_to_the_largest_loss_neighbours_lead_the_way(text, monkeypatch):
    """There log delta bends as the logarithm of what is left below that loss."""
    found, alone = profile(parse(text)), []
    found = getattr(found, "first", found)
    ask = type(found).epsilon
    monkeypatch.setattr(type(found), "epsilon", lambda *a: alone.append(a) or ask(*a))
    targets = [rational(F(1, 10) * F(8, 9) ** k) for k in range(200)]
    answers = found.epsilons(targets, 15)
    assert len(alone) <= 4
    for target, answer in list(zip(targets, answers, strict=True))[::20]:
        assert answer.overlaps(ask(found, target, 20))


def test_few_targets_are_asked_one_by_one(monkeypatch):
    def never(*arguments):
        raise AssertionError

    monkeypatch.setattr(inverted_many, "_between", never)
    found = profile(parse("laplace(1)^5"))
    assert len(found.epsilons([rational(F(1, k)) for k in range(2, 9)], 6)) == 7


@pytest.mark.parametrize("begin", [F(0), F(1, 3), F(3), F(5)])
def test_a_search_may_begin_anywhere(begin):
    """Before the root, next to it, and beyond, also beyond the largest loss."""
    found = profile(parse("poisson(pure_dp(1), 1/2)^4"), "remove")
    found = getattr(found, "first", found)
    for target in (F(1, 10), F(1, 1000), F(1, 10**9)):
        truth = found._epsilon(rational(target), 20)
        again = found._epsilon(rational(target), 10, begin)
        assert again.overlaps(truth)
        assert again.digits >= 10


def test_where_delta_is_far_from_the_target_between_neighbours():
    """There delta is below all that floats tell from nothing, next to the target."""
    targets = [f"{k}/100" for k in range(35, 99, 2)] + ["1e-3", "1e-9", "0.3", "0.33"]
    mechanism = "mix(1/3: gaussian(0.669), 2/3: pure_dp(20.8))"
    for target, found in zip(targets, epsilon(mechanism, targets, 12), strict=True):
        assert found.digits >= 12
        assert found.overlaps(epsilon(mechanism, target, 6))


def test_epsilons_beyond_floats():
    class Far(Exponential):
        def values(self, places, digits, least):
            return super().values([x / 10**400 for x in places], digits, least)

        def epsilon(self, target, digits):
            at = super().epsilon(target, digits)
            return Enclosure(at.lower * 10**400, at.upper * 10**400)

    found = _asked(Far())
    for target, answer in zip(TARGETS, found, strict=True):
        assert answer.overlaps(Far().epsilon(target, 8))
        assert answer.digits >= 8


def test_targets_far_below_the_others_are_met_too():
    targets = [F(1, 3) ** k for k in range(1, 31)] + [F(1, 10**2000)]
    found = epsilon("mix(1/2: gaussian(1), 1/2: laplace(1))", targets, 6)
    assert all(answer.digits >= 6 for answer in found)


def test_targets_next_to_the_largest_loss_share_values_for_few_digits(monkeypatch):
    found, alone = profile(parse("laplace(1)^10")), []
    found = getattr(found, "first", found)
    ask = type(found).epsilon
    monkeypatch.setattr(type(found), "epsilon", lambda *a: alone.append(a) or ask(*a))
    found.epsilons([rational(F(4, 5) ** k / 10) for k in range(100)], 6)
    assert len(alone) <= 4


class Halved(Exponential):
    """``delta = e^-epsilon / 2``, which is below targets above 1/2 at 0."""

    def __init__(self):
        super().__init__()
        self.alone = []

    def values(self, places, digits, least):
        return [value / 2 for value in super().values(places, digits, least)]

    def delta(self, epsilon, digits):
        return Enclosure.exact(F(1, 2))

    def epsilon(self, target, digits):
        self.alone.append(target)
        if target.fraction >= F(1, 2):
            return Enclosure.exact(F(0))
        return super().epsilon(rational(2 * target.fraction), digits)


def test_targets_that_delta_at_zero_meets_are_answered_by_one_value():
    found = Halved()
    answers = _asked(found)
    assert [a.upper == 0 for a in answers] == [at.fraction >= F(1, 2) for at in TARGETS]
    assert all(
        abs(a.lower + math.log(2 * at.fraction)) < 1e-7
        for a, at in zip(answers, TARGETS, strict=True)
        if a.upper
    )
    assert len(found.alone) < 6
