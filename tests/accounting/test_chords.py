"""Targets between the chords of a convex function."""

import math
from fractions import Fraction

import pytest
from flint import arb

from dpexact import balls
from dpexact.accounting.chords import _chord, chebyshev, located

#: Lines that fall in ``e^epsilon``, of which delta is the highest, and places of their corners.
LINES = ((0.9, -0.3), (0.66, -0.1), (0.5, -0.05), (0.2, -0.001))


def kinked(places):
    return [
        max(((a + b * (x.exp() - 1)) for a, b in LINES), key=lambda v: float(v.mid()))
        for x in places
    ]


def root(target):
    return max(math.log(1 + (target - a) / b) for a, b in LINES if target < a)


TARGETS = [0.21 + 0.6 * k / 997 for k in range(998)]


@pytest.mark.parametrize("digits", [1, 2, 4, 8])
@pytest.mark.parametrize("parts", [1, 3])
def test_chords_of_both_sides_bound_the_root(digits, parts):
    with balls.precision(100):
        places = chebyshev(arb(0.05), arb(2.5), parts)
        known = list(zip(places, kinked(places), strict=True))
        found = located(kinked, known, [arb(t) for t in TARGETS], digits, "chords")
    assert sum(answer is not None for answer, _ in found) > 900
    for target, (answer, _) in zip(TARGETS, found, strict=True):
        if answer is not None:
            assert answer.digits >= digits
            assert float(answer.lower) - 1e-12 <= root(target) <= float(answer.upper) + 1e-12


def test_chords_must_reach_beyond_the_target():
    """Beyond their ends they bound delta from the other side."""
    with balls.precision(100):
        places = [arb(1) / 4, arb(1) / 2, arb(3) / 4]
        known = list(zip(places, kinked(places), strict=True))
        assert known[1][1] - arb(0.65) > 0 > known[2][1] - arb(0.65)
        assert _chord(known, 1, 1, arb(0.65)).slope > 0
        assert _chord(known, 1, 1, arb(0.3)) is None
        assert _chord(known, 1, -1, arb(0.3)).slope > 0
        assert _chord(known, 1, -1, arb(0.85)) is None


def test_values_that_are_not_known_decide_nothing():
    with balls.precision(100):
        places = chebyshev(arb(0.05), arb(2.5), 1)
        known = list(zip(places, kinked(places), strict=True))
        found = located(lambda at: [arb.nan() for _ in at], known, [arb(0.5)], 3, "chords")
        wide = located(lambda at: [arb(0.5, 0.4) for _ in at], known, [arb(0.5)], 3, "chords")
        lost = [(x, arb.nan()) for x in places]
        nothing = located(kinked, lost, [arb(0.5)], 3, "chords")
    assert found == wide == nothing == [(None, 0.0)]


def test_places_are_sorted_and_exact():
    with balls.precision(100):
        places = chebyshev(arb(1) / 4, arb(2), 3)
    assert all(x.is_exact() for x in places)
    assert places == sorted(places, key=lambda x: Fraction(*map(int, (x.fmpq().p, x.fmpq().q))))
