"""The tabulated normal tail against the function itself, wherever it is expanded."""

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.pairs.gaussian import FAR, PER_UNIT, NormalTail
from dpexact.balls import normal_tail


@given(place=st.floats(-FAR - 1, FAR + 1), bits=st.integers(30, 300))
def test_it_is_the_tail_to_its_accuracy(place: float, bits: int) -> None:
    with balls.precision(bits + 40):
        tail = NormalTail(bits)
        found = tail(arb(place))
        assert found.overlaps(normal_tail(arb(place)))
        assert found.rad() < arb(2) ** -bits


@pytest.mark.parametrize("halves", [-3, -1, 1, 5, 2 * PER_UNIT + 1])
def test_between_two_places_the_remainder_covers_what_is_cut(halves: int) -> None:
    with balls.precision(2000):
        tail = NormalTail(20)
        z = arb(halves) / (2 * PER_UNIT)
        found, truth = tail(z), normal_tail(z)
    with balls.precision(64):
        assert abs(found - truth).upper() > 0
    assert found.contains(truth)


def test_beyond_its_reach_it_is_not_used() -> None:
    with balls.precision(100):
        tail = NormalTail(60)
        tail._reach = arb(0)  # as if every place were too far
        z = arb(1) / 3
        assert tail(z).rad() < arb(2) ** -90  # direct
        wide = NormalTail(60)(arb(1, "0.01"))
        assert all(wide.contains(normal_tail(arb(end))) for end in ("0.991", "1.009"))


@pytest.mark.parametrize("bits", [20, 40, 90])
def test_half_way_between_the_points_of_expansion(bits):
    """The polynomial alone misses the truth; with its remainder it never does."""
    missed = 0
    with balls.precision(bits + 120), mp.workdps(80):
        tail = NormalTail(bits)
        for place in range(-400, 400, 3):
            for side in (-1, 1):
                z = mpf(place) / PER_UNIT + side * mpf(2039) / (4096 * PER_UNIT)
                found = balls.to_enclosure(tail(arb(float(z))))
                low, high = found.to_mpmath(60)
                assert low <= mp.ncdf(-z) <= high
                middle, radius = (low + high) / 2, (high - low) / 2
                assert radius < mpf(2) ** -bits
                missed += abs(mp.ncdf(-z) - middle) > radius / 16
    assert missed
