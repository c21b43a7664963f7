from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from oracles import scaled, to_fraction

from dpexact import balls
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss, NoLoss, Profile, WorseDirection
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real, real

shares = st.fractions(min_value=0, max_value=1, max_denominator=1000)


def masses(*pairs: tuple[object, int]) -> InfiniteLoss:
    return InfiniteLoss(tuple((real(d), k) for d, k in pairs))


@given(st.lists(st.tuples(shares, st.integers(1, 50)), max_size=4))
@settings(max_examples=scaled(100))
def test_the_mass_of_infinite_loss(pairs: list[tuple[Fraction, int]]) -> None:
    survival = Fraction(1)
    for d, k in pairs:
        survival *= (1 - d) ** k
    mass = masses(*pairs)
    assert mass.fraction == 1 - survival
    with balls.precision(100):
        assert 1 - survival in balls.to_enclosure(mass.ball())
    for shift in (-1, 0, 1):
        target = real(1 - survival + shift * Fraction(1, 10**100))
        assert mass.compare(target, 15) == -shift


def test_tiny_masses_lose_nothing() -> None:
    mass = masses(("1e-200", 3))
    with balls.precision(60):
        found = balls.to_enclosure(mass.ball())
    assert found.digits > 15
    assert 1 - (1 - Fraction(1, 10**200)) ** 3 in found


def test_masses_that_are_not_written_out() -> None:
    big = masses(("1/3", EXACT_BITS // 2))
    assert masses(("1/3", EXACT_BITS // 2 - 1)).fraction is None or EXACT_BITS % 2 == 0
    assert big.fraction is not None
    assert masses(("1/3", EXACT_BITS)).fraction is None
    assert masses(("1/3", 10**18)).compare(real("1/2"), 15) == 1
    assert masses(("sqrt(2)/2", 2)).fraction is None
    assert masses(("sqrt(2)/2", 2)).compare(real("0.914"), 15) == 1
    assert masses(("sqrt(2)/2", 2)).compare(real("0.915"), 15) == -1
    assert masses(("sqrt(2)/2", 1)).compare(real("sqrt(2)/2"), 15) is None
    certain = masses(("sqrt(2)/2", 5), (1, 10**18))
    assert certain.fraction == 1
    with balls.precision(60):
        assert certain.ball() == 1


def test_no_loss() -> None:
    profile = NoLoss(masses(("1/10", 2)))
    assert profile.delta(real(3), 5) == Enclosure.exact(Fraction(19, 100))
    assert profile.epsilon(real("0.19"), 5) == Enclosure.exact(Fraction(0))
    assert profile.epsilon(real("0.1899999"), 5) == Enclosure.exact(math.inf)
    nothing = NoLoss(InfiniteLoss())
    assert nothing.delta(real(0), 5) == Enclosure.exact(Fraction(0))
    assert nothing.epsilon(real(0), 5) == Enclosure.exact(Fraction(0))
    irrational = NoLoss(masses(("sqrt(2)/2", 2)))
    found = irrational.delta(real(1), 30)
    assert found.digits >= 30
    with mp.workdps(60):
        assert to_fraction(1 - (1 - mp.sqrt(2) / 2) ** 2) in found
    with pytest.raises(PrecisionNotReached, match="infinite loss") as caught:
        irrational.epsilon(real("1-(1-sqrt(2)/2)^2"), 5)
    assert caught.value.best == Enclosure(Fraction(0), math.inf)


class Fixed(Profile):
    """Answers ``value`` with ``digits`` digits, but never more than ``most``."""

    def __init__(self, value: Fraction, name: str, most: int = 10_000) -> None:
        self.value, self.method, self.most = value, name, most
        self.infinite = InfiniteLoss()
        self.asked: list[int] = []

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        self.asked.append(digits)
        slack = self.value / (2 * 10 ** min(digits, self.most))
        found = Enclosure(self.value - slack, self.value + slack / 2, self.method)
        if digits > self.most:
            raise PrecisionNotReached("no more", found)
        return found

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self.delta(delta, digits)


@pytest.mark.parametrize("quantity", ["delta", "epsilon"])
def test_the_worse_direction(quantity: str) -> None:
    for a, b in (
        (Fraction(1, 2), Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 2)),
        (Fraction(1), Fraction(1)),
    ):
        first, second = Fixed(a, "remove"), Fixed(b, "add")
        found = getattr(WorseDirection(first, second), quantity)(real(1), 10)
        assert max(a, b) in found
        assert found.digits >= 10
        assert second.asked == ([3] if a > b else [3, 10])
        assert found.method == ("add" if b > a else "remove")


def test_the_worse_direction_when_one_is_not_reached() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    harmless = WorseDirection(Fixed(half, "remove"), Fixed(third, "add", most=2))
    assert harmless.delta(real(1), 10).digits >= 10
    with pytest.raises(PrecisionNotReached) as caught:
        WorseDirection(Fixed(third, "remove"), Fixed(half, "add", most=5)).delta(real(1), 10)
    assert half in caught.value.best
    with pytest.raises(PrecisionNotReached) as caught:
        WorseDirection(Fixed(half, "remove", most=5), Fixed(third, "add")).delta(real(1), 10)
    assert half in caught.value.best


class _Wide(Profile):
    """``value`` to as many digits as asked for, ``most`` at most, asked for how many."""

    infinite = InfiniteLoss()
    method = "made up"

    def __init__(self, value: Fraction, most: int) -> None:
        self.value, self.most = value, most
        self.asked: list[int] = []

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        self.asked.append(digits)
        slack = self.value / (3 * Fraction(10) ** min(digits, self.most))
        found = Enclosure(self.value - slack, self.value + slack)
        if self.most < digits:
            raise PrecisionNotReached("wide", found)
        return found

    epsilon = delta


def test_the_second_direction_is_asked_for_no_more_than_helps() -> None:
    value = Fraction(1, 2)
    near = value * (1 + Fraction(1, 10**7))
    wide, other = _Wide(value, 6), _Wide(near, 40)
    with pytest.raises(PrecisionNotReached) as caught:
        WorseDirection(wide, other).delta(real(1), 15)
    assert other.asked == [3, 6]
    assert near in caught.value.best
    assert caught.value.best.digits >= 5
    # once it is plainly the larger, all digits of it count
    above = _Wide(2 * value, 40)
    found = WorseDirection(_Wide(value, 2), above).delta(real(1), 15)
    assert found.digits >= 15
    assert 2 * value in found
    assert above.asked == [3, 15]
    exhausted = _Wide(near, 6)
    with pytest.raises(PrecisionNotReached):
        WorseDirection(_Wide(value, 6), exhausted).delta(real(1), 15)
    assert exhausted.asked == [3, 6]
