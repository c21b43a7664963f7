"""Taylor series of the normal tail against mpmath, where their remainder is largest."""

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.lattice.normal_tail import PER_UNIT, NormalTail


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
