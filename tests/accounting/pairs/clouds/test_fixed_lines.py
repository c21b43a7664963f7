"""Lines of integers against exact sums and products."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from random import Random

import numpy as np
import pytest
from flint import acb, arb

from dpexact.accounting.pairs.clouds import fixed_lines
from dpexact.accounting.pairs.clouds.fixed_lines import (
    Lines,
    Sums,
    bits_of,
    digits,
    floored,
    size_of,
)
from dpexact.accounting.pairs.clouds.limbs import BITS
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import precision

Complex = tuple[Fraction, Fraction]


def values(of: np.ndarray) -> list[int]:
    """What digits stand for, in order."""
    rows = of.reshape(len(of), -1).T.tolist()
    return [sum(digit << BITS * i for i, digit in enumerate(row)) for row in rows]


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_digits_are_those_of_integers(size: int) -> None:
    half, random = 1 << BITS * size - 1, Random(size)
    rows = [[0, -1, 1, half - 1, -half, *(random.randrange(-half, half) for _ in range(5))]] * 2
    found = digits(rows, size)
    assert values(found) == rows[0] + rows[1]
    assert (found[:-1] >= 0).all()
    assert (found[:-1] < 1 << BITS).all()
    for large in (half, -half - 1, 1 << BITS * (size + 1)):
        with pytest.raises(OverflowError):
            digits([[large]], size)


def test_floors_are_known() -> None:
    with precision(100):
        for x in (arb(7) / 2, -arb(7) / 2, arb(3, 0.49)):
            assert abs(floored(x) - x) <= fixed_lines.FLOORED
        with pytest.raises(ArithmeticError):
            floored(arb(3, 0.6))


def test_sizes_hold_their_bits() -> None:
    assert [bits_of(size_of(bits)) for bits in (1, 38, 39, 78, 79)] == [38, 38, 58, 78, 98]
    with pytest.raises(TooExpensive):
        size_of(10_000)


def test_matrix_products_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    left, right = (random.integers(-(1 << 19), 1 << 20, shape) for shape in ((37, 300), (300, 131)))
    assert np.array_equal(fixed_lines._product(left, right), left @ right)
    product = fixed_lines._product
    monkeypatch.setattr(fixed_lines, "_product", lambda a, b: product(a, b) + 1)
    with pytest.raises(ArithmeticError, match="wrong"):
        Sums(digits([[1, 2]], 3), digits([[1], [2]], 3))


@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("inside", [1, 40, 700])
def test_sums_are_those_of_exact_numbers(size: int, inside: int) -> None:
    random, unit = Random(inside), Fraction(1, 2 ** bits_of(size))
    half = 2 ** bits_of(size)
    left = [[random.randrange(-half, half) // inside for _ in range(inside)] for _ in range(3)]
    right = [[random.randrange(-half, half) for _ in range(4)] for _ in range(inside)]
    sums, lifts = Sums(digits(left, size), digits(right, size)), [5, 0, -1]
    columns = list(zip(*right, strict=True))
    exact = [
        [sum(a * b for a, b in zip(row, column, strict=True)) * unit**2 for column in columns]
        for row in left
    ]
    with precision(400):
        for place in range(4):
            for row, total in zip(exact, sums.column(place), strict=True):
                off = abs(Fraction(total, 2 ** (BITS * size + 36)) - row[place])
                assert off <= Fraction(sums.cut) * unit
        assert sums.unit() == arb(2) ** -(BITS * size + 36)
        most = [arb(3) * arb(2) ** lift for lift in lifts]
        rows = sums.lines(lifts, most, [arb(0)] * 3).rows()
        for row, found, lift in zip(exact, rows, lifts, strict=True):
            for n, value in enumerate(found):
                whole = acb(*(arb(x.numerator) / x.denominator for x in (row[n], row[n + 2])))
                assert value.overlaps(whole * arb(2) ** lift)
                assert value.real.rad() < 30 * (1 + sums.cut) * float(unit) * 2.0**lift


def test_sums_that_do_not_fit_are_refused() -> None:
    half = 2 ** bits_of(3)
    sums = Sums(digits([[half] * 9], 3), digits([[half, 0]] * 9, 3))
    with precision(100):
        assert sums.lines([0], [arb(9)], [arb(0)]).rows()[0][0].overlaps(acb(9))
        for most, off in ((arb(2) ** -30, 0), (arb(2) ** 30, 0), (arb(9), 1)):
            with pytest.raises(TooExpensive):
                sums.lines([0], [most], [arb(off)])
    with pytest.raises(TooExpensive):
        Sums(np.zeros((3, 1, 5000), dtype=np.int64), np.zeros((3, 5000, 2), dtype=np.int64))


def lines_of(rows: list[list[Complex]], size: int, most: list[float]) -> Lines:
    """Next to powers ``2^0``, each a unit off at most."""
    units = 2 ** bits_of(size)
    parts = [digits([[int(x[part] * units) for x in row] for row in rows], size) for part in (0, 1)]
    count = len(rows)
    return Lines(
        np.stack(parts, axis=1),
        np.zeros(count, dtype=np.int64),
        np.array(most),
        np.full(count, 1.5),
    )


@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize("small", [1.0, 0.4, 0.03])
def test_products_are_those_of_exact_numbers(size: int, small: float) -> None:
    """Of rows at their bounds, and far below them; of groups of any number."""
    random = Random(size)
    turns = [
        (Fraction(3, 5), Fraction(4, 5)),
        (Fraction(-1), Fraction(0)),
        (Fraction(0), Fraction(1)),
    ]
    rows = []
    for _ in range(23):
        scales = Fraction(small), Fraction(small) * Fraction(random.random())
        rows.append([(x * scale, y * scale) for scale in scales for x, y in turns])
    groups = [[3], list(range(4, 21)), [0, 1], [2, 21, 22]]
    found = lines_of(rows, size, [small * (1 + 1e-12)] * len(rows)).joined(groups)
    with precision(2000):
        exact = [[acb(*(arb(p.numerator) / p.denominator for p in x)) for x in row] for row in rows]
        for group, row in zip(groups, found.rows(), strict=True):
            for n, value in enumerate(row):
                whole = prod((exact[k][n] for k in group), start=acb(1))
                assert value.overlaps(whole)
                # few units a product, of numbers next to their bounds
                bound = arb(small) ** (len(group) - 1) * arb(2) ** -bits_of(size)
                assert small < 0.1 or value.real.rad() < 40 * len(group) * bound


@pytest.mark.parametrize("side", [0, 1])
def test_errors_of_both_factors_are_granted(side: int) -> None:
    """Of one row that is known exactly, and another that is off by all that it may be."""
    unit = Fraction(1, 2 ** bits_of(3))
    rows = [[(Fraction(1, 2), Fraction(0))], [(Fraction(1, 2), Fraction(0))]]
    found = lines_of(rows, 3, [0.5, 0.5])
    found._off[:] = 0.0
    found._off[side] = 1000.0
    with precision(200):
        [[value]] = found.joined([[0, 1]]).rows()
        for sign in (-1, 1):
            exact = Fraction(1, 2) * (Fraction(1, 2) + sign * 1000 * unit)
            assert value.real.overlaps(arb(exact.numerator) / exact.denominator)


def walk(
    place: int, direction: int, steps: int, value: acb, ratio: acb, fall: arb
) -> fixed_lines.Walk:
    return fixed_lines.Walk(0, place, direction, steps, value, ratio, fall)


@pytest.mark.parametrize("size", [2, 4, 6])
def test_walks_are_those_of_exact_numbers(size: int) -> None:
    """Of the most places, where nothing falls and errors add up, as of Gaussians."""
    many = fixed_lines.MOST_PLACES
    with precision(400):
        turn = (acb(0, 1) / 7).exp()
        kinds = [(acb(0, 1), turn, arb(1)), (acb(1) / 3, turn * 0.9, arb(0.999))]
        for value, ratio, fall in kinds:
            found = fixed_lines.walked(
                [walk(many, 1, many, value, ratio, fall), walk(many, -1, 5, value, ratio, fall)],
                (1, 2 * many + 1),
                size,
            )
            reals, imags = (values(found[:, part]) for part in (0, 1))
            assert not any(reals[: many - 5] + imags[: many - 5])
            unit = arb(2) ** bits_of(size)
            for step in range(many + 1):
                exact = value * ratio**step * fall ** (step * (step - 1) // 2) * unit
                for place in {many + step, many - min(step, 5)} if step <= 5 else {many + step}:
                    off = abs(acb(reals[place], imags[place]) - exact)
                    assert off < fixed_lines.WALKED


def test_walks_that_rise_are_refused() -> None:
    with precision(200):
        good = [acb(1), acb(1), arb(1)]
        fixed_lines.walked([walk(0, 1, 1, *good)], (1, 2), 3)
        for place, large in enumerate((acb(1.001), acb(1 + 2.0**-39), arb(1.001))):
            bad = [*good[:place], large, *good[place + 1 :]]
            with pytest.raises(ArithmeticError, match="rises"):
                fixed_lines.walked([walk(0, 1, 1, *bad)], (1, 2), 3)
        vague = [acb(1), acb(arb(1, 1e-3)), arb(1)]
        with pytest.raises(ArithmeticError, match="rises"):
            fixed_lines.walked([walk(0, 1, 1, *vague)], (1, 2), 3)
        with pytest.raises(TooExpensive):
            fixed_lines.walked([walk(0, 1, fixed_lines.MOST_PLACES + 1, *good)], (1, 2), 3)


@pytest.mark.parametrize("size", [2, 4, 6])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_powers_are_those_of_exact_numbers(size: int, count: int) -> None:
    with precision(400):
        starts, turns = [acb(0, 1), acb(1) / 3], [(acb(0, 1) / 7).exp(), acb(0.999, 0.001)]
        found = fixed_lines.powers(starts, turns, count, size)
        assert found.shape == (size, 2, 2, count + 1)
        reals, imags = (values(found[:, part]) for part in (0, 1))
        for row in range(2):
            for n in range(count + 1):
                exact = starts[row] * turns[row] ** n * arb(2) ** bits_of(size)
                place = row * (count + 1) + n
                off = abs(acb(reals[place], imags[place]) - exact)
                assert off < fixed_lines.WALKED


def test_powers_that_rise_are_refused() -> None:
    with precision(200):
        for start, turn in ((1.001, 1.0), (1.0, 1 + 2.0**-39)):
            with pytest.raises(ArithmeticError, match="rise"):
                fixed_lines.powers([acb(start)], [acb(turn)], 3, 3)
        with pytest.raises(TooExpensive):
            fixed_lines.powers([acb(1)], [acb(1)], 1 << 17, 3)
