"""Composed laws in integers against exact convolutions: every rounding and every cut has its side.

Units are so coarse that each rounding shows.
"""

import random
from fractions import Fraction

import pytest
from flint import fmpz, fmpz_poly

from dpexact.accounting.engines.lattice.law import Lower, TwoSided, Upper, _window

BITS = 6
UNIT = 1 << BITS
TRIALS = 40


def coefficients(poly, length=99):
    found = [int(c) for c in poly.coeffs()]
    return found + [0] * (length - len(found))


def some(rng, size):
    return [rng.randint(0, UNIT // size) for _ in range(size)]


def convolved(one, other):
    found = [Fraction(0)] * 99
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] += Fraction(a * b, UNIT)
    return found


def tails(masses):
    """Of each index: the mass from there on."""
    found, total = [], Fraction(0)
    for mass in reversed(masses):
        total += mass
        found.append(total)
    return found[::-1]


@pytest.mark.parametrize("tail", [0, 20])
def test_dominating_laws(tail):
    """From every loss on, and at infinity, there is at least the mass of the exact product."""
    rng = random.Random(tail)
    for _ in range(TRIALS):
        one, other = some(rng, 5), some(rng, 7)
        a, b = rng.randint(0, 9), rng.randint(0, 9)
        laws = Upper(2, fmpz_poly(one), fmpz(a)), Upper(-3, fmpz_poly(other), fmpz(b))
        found = laws[0].compose(laws[1], BITS, fmpz(tail))
        exact = convolved(one, other)
        inf = Fraction(a * (sum(other) + b) + b * sum(one), UNIT)
        shift = found.low - (2 - 3)
        masses = [0] * shift + coefficients(found.masses)
        assert int(found.inf) >= inf
        assert int(found.inf) < inf + tail + 1
        for claimed, true in zip(tails(masses), tails(exact), strict=False):
            assert claimed + int(found.inf) >= true + inf
        if not tail:
            assert all(c >= t for c, t in zip(masses, exact, strict=False))


def random_lower(rng, low, size):
    p, q = some(rng, size), some(rng, size)
    over = rng.randint(0, 9), rng.randint(0, 9)
    law = Lower(low, fmpz_poly(p), fmpz_poly(q), fmpz(over[0]), fmpz(over[1]))
    return law, (p, q, over)


def assert_dominated(found, low, one, other):
    """For every test "this label or more": P no more than the truth, Q no less."""
    start = found.low - low
    for masses, over, side in ((found.p, found.over_p, 0), (found.q, found.over_q, 1)):
        a, b = one[2][side], other[2][side]
        overflow = Fraction(a * (sum(other[side]) + b) + sum(one[side]) * b, UNIT)
        exact = tails(convolved(one[side], other[side]))
        claimed = tails(coefficients(masses))
        for i in range(len(found.p.coeffs()) + 1):
            true, bound = exact[start + i] + overflow, claimed[i] + int(over)
            assert bound <= true if side == 0 else bound >= true


@pytest.mark.parametrize("tail", [0, 20])
def test_dominated_laws(tail):
    rng = random.Random(tail)
    for _ in range(TRIALS):
        (a, one), (b, other) = random_lower(rng, 2, 5), random_lower(rng, -3, 7)
        assert_dominated(a.compose(b, BITS, fmpz(tail)), -1, one, other)
        assert_dominated(a.compose(a, BITS, fmpz(tail)), 4, one, one)


def test_dominated_masses_one_by_one():
    rng = random.Random(5)
    for _ in range(TRIALS):
        (a, one), (b, other) = random_lower(rng, 0, 5), random_lower(rng, 0, 7)
        found = a.product(b, BITS)
        for claimed, side in ((found.p, 0), (found.q, 1)):
            exact = convolved(one[side], other[side])
            for c, true in zip(coefficients(claimed), exact, strict=True):
                assert c <= true if side == 0 else c >= true


def test_both_sides_keep_the_same_labels():
    rng = random.Random(6)
    for _ in range(TRIALS):
        (a, one), (b, other) = random_lower(rng, 0, 6), random_lower(rng, 0, 6)
        found = TwoSided(a, b).compose(TwoSided(a, b), BITS, fmpz(5))
        assert found.straight.low == found.swapped.low
        assert_dominated(found.straight, 0, one, one)
        assert_dominated(found.swapped, 0, other, other)


def test_windows_are_as_narrow_as_may_be():
    """Against all sums of coefficients, with zeros at and between the ends."""
    rng = random.Random(9)
    for _ in range(10 * TRIALS):
        masses = [rng.choice([0, rng.randint(0, 9)]) for _ in range(rng.randint(1, 20))]
        masses[-1] += not masses[-1]
        length, tail = len(masses), rng.randint(0, sum(masses) + 1)
        start, stop = _window(fmpz_poly(masses), fmpz(tail))
        least = max(i for i in range(length) if sum(masses[:i]) <= tail)
        most = min(i for i in range(length + 1) if sum(masses[i:]) <= tail)
        assert (start, stop) == (least, max(most, least + 1))
