"""Sums of products by digits against the same integers one by one."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from flint import fmpz

from dpexact.accounting.pairs.clouds import limbs
from dpexact.accounting.pairs.clouds.limbs import Digits, added, chebyshev_sums, integers


def polynomials(place: int, count: int, bits: int) -> list[int]:
    """By the recurrence, in integers of any size."""
    found = [1 << bits, place]
    while len(found) < count:
        found.append((place * found[-1] >> (bits - 1)) - found[-2])
    return found[:count]


@pytest.mark.parametrize("bits", [10, 18, 19, 39, 90, 166])
@pytest.mark.parametrize("most", [1, 3, (1 << 20) - 1, 1 << 20, 10**30])
def test_sums_are_those_of_the_integers(bits: int, most: int) -> None:
    random, unit = Random(bits + most), 1 << bits
    points = random.choice([1, 7, 300])
    ends = [unit, -unit, -unit - 1, 0, 1, -1]
    first, second = (
        [
            random.choice([*ends, *(random.randint(-unit, unit) for _ in ends)])
            for _ in range(points)
        ]
        for _ in range(2)
    )
    counts = [random.choice([1, most]) for _ in range(points)]
    shape = random.randint(1, 25), random.randint(1, 9)
    (found,) = chebyshev_sums(first, second, counts, [points], shape, bits)
    left = [polynomials(x, shape[0], bits) for x in first]
    right = [polynomials(y, shape[1], bits) for y in second]
    for i, j in product(*map(range, shape)):
        exact = sum(n * a[i] * b[j] for n, a, b in zip(counts, left, right, strict=True))
        assert integers(found)[i, j] == fmpz(exact)


def test_many_points_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts in which they are taken change nothing, nor do zeros that fill up the last one."""
    random, bits = Random(5), 90
    first, second = ([random.randint(-(1 << bits), 1 << bits) for _ in range(1000)] for _ in "xy")
    counts = [1] * 500 + [10**9] * 500
    ends = [0, 1, 60, 200, 200, 1000]
    whole = chebyshev_sums(first, second, counts, ends, (6, 5), bits)
    alone = [
        chebyshev_sums(first[:end], second[:end], counts[:end], [end], (6, 5), bits, 10**9)[0]
        for end in ends
    ]
    assert np.array_equal(alone, whole)
    monkeypatch.setattr(limbs, "_MOST", 77)
    monkeypatch.setattr(limbs, "_ALONE", 1)
    monkeypatch.setattr(limbs, "_NUMBERS", 1)
    assert np.array_equal(chebyshev_sums(first, second, counts, ends, (6, 5), bits), whole)
    assert integers(chebyshev_sums([], [], [], [0], (2, 3), bits)[0]).entries() == [0] * 6


def test_sums_of_sums_are_those_of_the_integers() -> None:
    (one,), (other,) = (
        chebyshev_sums([x, -x], [x, x - 5], [1, 3], [2], (3, 3), 30) for x in (1 << 30, 12345)
    )
    assert integers(added(one, other)) == integers(one) + integers(other)


def test_few_points_are_no_larger_block_than_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one polynomial blocks were of thousands of points, each end of a log one of zeros."""
    seen, blocks = [], limbs._blocks
    monkeypatch.setattr(limbs, "_blocks", lambda x, n: seen.append((x.shape[2], n)) or blocks(x, n))
    chebyshev_sums([1] * 90, [2] * 90, [1] * 90, [40, 90], (1, 9), 30)
    assert seen == [(40, 40), (40, 40), (50, 50), (50, 50)]


@pytest.mark.parametrize("bits", [57, 58, 117, 118, 178])
def test_sums_of_many_large_numbers_have_larger_digits(bits: int) -> None:
    """Where the highest digits have no room the sum has some more."""
    points, unit = 3000, 1 << bits
    (found,) = chebyshev_sums(
        [unit] * points, [-unit] * points, [1] * points, [points], (3, 3), bits
    )
    exact = points * unit * unit
    assert integers(found).entries() == [exact * (-1) ** (place % 3) for place in range(9)]


def test_products_that_are_rounded_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = limbs._blocks

    def short(digits: Digits, block: int) -> object:
        return exact(digits, block).astype(np.float32)

    monkeypatch.setattr(limbs, "_blocks", short)
    with pytest.raises(ArithmeticError, match="matrix product"):
        chebyshev_sums([12345678901, -98765432101], [12345678901, 777], [1, 1], [2], (3, 3), 40)
