"""The sum of Laplace noise on a stretch of epsilon, as at each of its points."""

import random
from fractions import Fraction

import pytest
from oracles import scaled

from dpexact import balls
from dpexact.accounting.laplace import (
    FEWEST,
    FiniteSum,
    LaplaceParts,
    LaplaceProduct,
    SumPlan,
    finite_sum,
    shared,
)
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import rational

F = Fraction


def parts_of(*pairs):
    return LaplaceParts(tuple((rational(F(rate)), count) for rate, count in pairs))


@pytest.mark.parametrize("terms", [2, 4, 6, 30])
@pytest.mark.parametrize(
    "parts",
    [parts_of((1, 7)), parts_of((1, 3), (2, 2), ("1/3", 2)), parts_of((1, 1), ("1/2", 1))],
)
def test_a_stretch_with_corners_is_the_sum_at_each_point(parts, terms):
    plan = SumPlan(min(terms, parts.count - 1), 300)
    with balls.precision(300):
        span = balls.ball(parts.largest)
        for low, high in ((F(0), F(1, 7)), (F(1, 2), F(3)), (F(1), parts.largest.fraction)):
            stretch = FiniteSum(parts, balls.ball(low), balls.ball(high), plan)
            for share in (F(0), F(1, 3), F(1, 2), F(9, 10), F(1)):
                at = balls.ball(low + share * (high - low))
                if at < span:
                    exact = finite_sum(parts, at, SumPlan(parts.count - 1, 300))
                    found = stretch.at(at)
                    assert found.overlaps(exact)
                    if plan.terms == parts.count - 1:
                        assert found.rel_accuracy_bits() > 100


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_many_points_are_answered_as_one_by_one(seed):
    """Points at the corners, next to each other, and beyond the largest loss among them."""
    draw = random.Random(seed)
    rates = draw.sample([F(1), F(2), F(1, 3), F(5, 7), F(1, 100), F(12)], draw.choice([1, 2, 3]))
    parts = parts_of(*((rate, draw.choice([1, 2, 5, 9])) for rate in rates), (F(1, 5), 1))
    infinite = InfiniteLoss(((rational(F(1, 1000)), 3),) if seed % 2 else ())
    found, top = LaplaceProduct(parts, infinite), parts.largest.fraction
    points = [F(0), top, top * 2, top - F(1, 10**9)]
    points += [top * F(draw.randrange(10**9), 10**9) for _ in range(draw.choice([3, 40, 150]))]
    points += [F(1, 10) + F(k, 10**12) for k in range(10)]
    points += [rates[0] * (2 * j - 3) for j in range(2, 5)]
    draw.shuffle(points)
    digits = draw.choice([4, 8, 20])
    asked = [rational(at) for at in points]
    for at, many in zip(asked, found.deltas(asked, digits), strict=True):
        alone = found.delta(at, digits + 4)
        assert many.overlaps(alone)
        assert many.digits >= min(digits, alone.digits)


def test_few_points_share_nothing():
    parts = parts_of((1, 5))
    asked = [rational(F(k, 10)) for k in range(1, 30)]
    assert not shared(parts, asked[: FEWEST - 1], 8)
    assert set(shared(parts, asked, 8)) == set(asked)
