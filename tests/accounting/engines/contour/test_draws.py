"""Laplace losses of which many lie strictly inside: the measure that is left for a contour."""

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.accounting.pairs.many_inside import ManyInside
from dpexact.balls import ball
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 200


def by_enumeration(parts, least, s):
    """Every choice of steps inside, at the top end or at the bottom end."""
    singles = []
    for rate, count in parts:
        rate = ball(rate)
        ends = ((s * rate).exp() + (-(s + 1) * rate).exp()) / 2
        inside = acb.integral(lambda z, _: ((s + 0.5) * z).exp(), -rate, rate)
        singles += [(ends, inside * (-rate / 2).exp() / 4)] * count
    total = acb(0)
    for choice in product((0, 1), repeat=len(singles)):
        if sum(choice) >= least:
            term = acb(1)
            for i, pair in zip(choice, singles, strict=True):
                term *= pair[i]
            total += term
    return total


@pytest.mark.parametrize("least", [1, 2, 4, 7, 8])
@pytest.mark.parametrize("parts", [(("1/3", 7),), (("1/2", 3), ("2", 2), ("1/10", 2))])
def test_moments_by_enumeration(parts, least):
    step = ManyInside(tuple((real(rate), count) for rate, count in parts), least)
    with balls.precision(BITS):
        for n, value in enumerate(step.moments(0.75, 2.5, 3, 0.0)):
            truth = by_enumeration(step.parts, least, acb(0.75, 2.5 * n))
            assert (value - truth).abs_lower() < arb("1e-45")
            assert value.rad() < arb("1e-45")
        assert step.mass().overlaps(by_enumeration(step.parts, least, acb(0)).real)
        assert step.mass().overlaps(by_enumeration(step.parts, least, acb(-1)).real)


@given(
    rates=st.lists(
        st.fractions(Fraction(1, 1000), 3, max_denominator=1000), min_size=1, max_size=2
    ),
    count=st.integers(1, 300),
    least=st.integers(1, 12),
    c=st.integers(1, 60),
    u=st.integers(1, 400),
)
def test_moments_stay_below_their_bound(rates, count, least, c, u):
    step = ManyInside(tuple((rational(rate), count) for rate in rates), least)
    c, u = c / 8, float(u)
    with balls.precision(400):
        bound = step.decayed(c, u, 0.0)
        for value in step.moments(c, u * 1.0625, 3, 0.0)[1:]:
            assert value.abs_lower() <= bound
        estimate = step.decay_estimate(c)(u)
        assert bound.log() < estimate + 1


def test_the_bound_falls_as_a_power():
    step = ManyInside(((real("1/1000"), 10_000),), 8)
    with balls.precision(100):
        near, far = step.decayed(5.0, 1e4, 0.0), step.decayed(5.0, 1e5, 0.0)
        assert 0 < far < near * arb("2e-8")
        assert far > near * arb("0.5e-8")


@pytest.mark.parametrize(
    ("rate", "count", "least", "c", "u"),
    [("45/4", 1, 1, 0.125, 74.5), ("16", 200, 8, 0.375, 1.375), ("1/32", 200, 1, 0.0625, 73.0)],
    ids=["one power", "large losses", "light losses"],
)
def test_where_each_part_of_the_bound_is_needed(rate, count, least, c, u):
    step = ManyInside(((real(rate), count),), least)
    with balls.precision(BITS):
        bound = step.decayed(c, u, 0.0)
        assert bound < step.moment(c, 0.0)
        assert all(value.abs_lower() <= bound for value in step.moments(c, u / 32, 64, 0.0)[32:])


def test_the_whole_law_bounds_the_rest():
    step = ManyInside(((real("1/5"), 50),), 3)
    assert step.decays
    assert step.reverse == step
    with balls.precision(100):
        assert step.overlap() == 0
        assert step.largest_loss().overlaps(arb(10))
        assert step.decayed(1.0, 1e-3, 0.0) <= step.moment(1.0, 0.0).upper()
        assert math.isclose(step.cumulant(1.0).value, float(step.moment(1.0, 0.0).log().mid()))
