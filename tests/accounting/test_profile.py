from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from oracles import scaled, to_fraction

from dpexact import balls
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss, NoLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.ternary import Order

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
        assert mass.order(target, 15) is Order(-shift)


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
    assert masses(("1/3", 10**18)).order(real("1/2"), 15) is Order.ABOVE
    assert masses(("sqrt(2)/2", 2)).fraction is None
    assert masses(("sqrt(2)/2", 2)).order(real("0.914"), 15) is Order.ABOVE
    assert masses(("sqrt(2)/2", 2)).order(real("0.915"), 15) is Order.BELOW
    assert masses(("sqrt(2)/2", 1)).order(real("sqrt(2)/2"), 15) is Order.EQUAL
    hidden = real("1-(1-sqrt(2)/2)^2")
    assert masses(("sqrt(2)/2", 2)).order(hidden, 15) is Order.UNDECIDED
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
    undecided = irrational.epsilon(real("1-(1-sqrt(2)/2)^2"), 5)
    assert undecided == Enclosure(Fraction(0), math.inf)
    assert "infinite loss" in undecided.reason
