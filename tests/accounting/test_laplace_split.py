"""Sum and contour together against the finite sum, which shares nothing but one loss."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls
from dpexact.accounting.laplace import LaplaceParts, LaplaceProduct, SumPlan, finite_sum
from dpexact.accounting.laplace_split import LaplaceSplit, few_inside
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational


class OnlySplit(LaplaceSplit):
    """Without the short cut for short sums."""

    def __init__(self, parts, infinite=None):
        super().__init__(parts, infinite or InfiniteLoss())
        self._sum.is_short = lambda *_: False
        self._sum.delta = self._refuse

    def _refuse(self, *_):
        return Enclosure(Fraction(0), Fraction(1), reason="not asked")


def parts_of(*parts):
    return LaplaceParts(tuple((real(rate), count) for rate, count in parts))


@settings(max_examples=scaled(30))
@given(
    rates=st.lists(
        st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=200), min_size=1, max_size=2
    ),
    count=st.integers(5, 25),
    share=st.fractions(0, Fraction(9, 10), max_denominator=30),
)
def test_both_sums_overlap(rates, count, share):
    parts = LaplaceParts(tuple((rational(rate), count) for rate in rates))
    epsilon = rational(sum(rates) * count * share)
    truth = LaplaceProduct(parts, InfiniteLoss()).delta(epsilon, 30)
    found = OnlySplit(parts).delta(epsilon, 12)
    assert found.overlaps(truth)
    assert found.digits >= 12 or found.reason


@pytest.mark.parametrize("parts", [(("1/5", 8),), (("1/3", 4), ("1/2", 3))])
@pytest.mark.parametrize("epsilon", ["0", "1/7", "1", "3/2"])
def test_all_numbers_of_losses_inside_sum_to_delta(parts, epsilon):
    parts = parts_of(*parts)
    with balls.precision(150):
        e = balls.ball(real(epsilon))
        whole = finite_sum(parts, e, SumPlan(parts.count - 1, 300))
        assert few_inside(parts, e, parts.count + 1).overlaps(whole)
        fewer = [few_inside(parts, e, least) for least in range(1, parts.count + 2)]
    assert all(a < b for a, b in pairwise(fewer))


def test_one_loss_inside_by_hand():
    """One step, no loss inside: half an atom at ``lambda``, its mirror image below epsilon."""
    with balls.precision(100):
        e, rate = balls.ball(Fraction(1, 3)), balls.ball(2)
        assert few_inside(parts_of(("2", 1)), e, 1).overlaps((1 - (e - rate).exp()) / 2)


@pytest.mark.parametrize(
    ("parts", "epsilon", "digits"),
    [((("1/100", 600),), "2", 20), ((("1/1000", 2000),), "3/10", 15)],
)
def test_long_sums_agree_to_many_digits(parts, epsilon, digits):
    parts = parts_of(*parts)
    found = OnlySplit(parts).delta(real(epsilon), digits)
    assert found.digits >= digits
    assert found.overlaps(LaplaceProduct(parts, InfiniteLoss()).delta(real(epsilon), digits))


def test_infinite_loss_adds_up():
    parts, lost = parts_of(("1/1000", 2000)), InfiniteLoss(((real("1/100"), 1),))
    plain, found = (OnlySplit(parts, i).delta(real("3/10"), 15) for i in (None, lost))
    assert found.overlaps(
        Enclosure(*(Fraction(1, 100) + x * Fraction(99, 100) for x in (plain.lower, plain.upper)))
    )


def test_near_the_largest_loss_the_sum_is_short():
    profile = LaplaceSplit(parts_of(("1/10", 1000)), InfiniteLoss())
    found = profile.delta(real("99"), 15)
    assert found.method == "closed form: Laplace"
    assert found.digits >= 15
    assert profile.delta(real(100), 15) == Enclosure.exact(Fraction(0))
    assert profile.epsilon(real(0), 15) == Enclosure.exact(Fraction(100))
