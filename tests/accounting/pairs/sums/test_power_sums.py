"""Products of lines."""

import pytest
from flint import acb, arb

from dpexact import balls
from dpexact.accounting.pairs.sums.power_sums import Rows, grown, line_product, powers


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 1000])
def test_a_product_of_many_rotations_keeps_its_digits(count):
    """Multiplied one after another, rectangles would grow a little less than ``sqrt(2)^count``."""
    with balls.precision(64):
        turns = [[acb(0, angle).exp() for angle in (arb(k) * k, -arb(k))] for k in range(count)]
        whole = line_product(turns)
        angle = arb(count) * (count - 1) / 2
        squares = angle * (2 * count - 1) / 3
        for found, turn in zip(whole, (squares, -angle), strict=True):
            assert found.overlaps(acb(0, turn).exp())
            assert float(found.real.rad() + found.imag.rad()) < 1e-13


def test_a_product_of_none_is_empty():
    assert line_product([]) == []


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 101])
def test_rows_are_the_sums_of_their_powers(count):
    with balls.precision(96):
        rows = [[acb(k + 1, -k) for k in range(count)], [acb(1, k) for k in range(count)]]
        turns = [acb(0, arb(1) / 3).exp(), acb(0, arb(2)).exp()]
        for turn, sums in zip(turns, Rows(rows).at(turns), strict=True):
            for row, found in zip(rows, sums, strict=True):
                direct = sum((value * turn**k for k, value in enumerate(row)), acb(0))
                assert found.overlaps(direct)
                assert float(found.real.rad()) < 1e-20


@pytest.mark.parametrize("count", range(1, 12))
def test_powers_are_as_many_as_are_asked_for(count):
    with balls.precision(96):
        turns = [acb(0, arb(1) / 3).exp(), acb(0, arb(2)).exp()]
        direct = [[turn**k for turn in turns] for k in range(count)]
        alone = [list(row) for row in zip(*(powers(turn, count) for turn in turns), strict=True)]
        begun = [
            [a / b for a, b in zip(row, turns, strict=True)] for row in grown(turns, turns, count)
        ]
        for found in (alone, begun):
            assert len(found) == count
            for row, other in zip(found, direct, strict=True):
                for one, two in zip(row, other, strict=True):
                    assert one.overlaps(two)
                    assert float(one.real.rad() + one.imag.rad()) < 1e-24
