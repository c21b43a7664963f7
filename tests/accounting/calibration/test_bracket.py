"""The search: it never leaves its bracket, and arrives in few steps."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact.accounting.calibration.bracket import FARTHEST, Bracket
from dpexact.accounting.calibration.equivalent import mu_of_delta, scale

ROOTS = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)


def search(root, slope, *, start=Fraction(1), integer=False, digits=6, known=True):
    """All values tried until the bracket around ``root`` is narrow."""
    bracket = Bracket(Fraction(0), math.inf, rising=slope > 0, integer=integer, digits=digits)
    tried, pending = [], [start]
    while not bracket.is_narrow:
        value = pending.pop(0) if pending else None
        if value is None:
            pending = bracket.proposals()
            assert pending
            continue
        assert bracket.low < value < bracket.high
        ratio = value / root
        gap = slope * (math.log(ratio.numerator) - math.log(ratio.denominator))
        meets = value <= root if slope > 0 else value >= root
        bracket.note(value, meets, Fraction(gap) if known else None)
        tried.append(value)
        assert len(tried) < 200
    assert bracket.low <= root <= bracket.high
    return tried, bracket.enclosure()


@settings(max_examples=scaled(40))
@given(ROOTS, st.sampled_from([-10, -1, 1, 10]), st.integers(1, 10))
def test_powers_are_found_in_few_steps(root, slope, digits):
    tried, found = search(root, slope, digits=digits)
    assert found.digits >= digits
    assert len(tried) <= 25


@settings(max_examples=scaled(40))
@given(ROOTS, st.sampled_from([-1, 1]))
def test_signs_alone_suffice(root, slope):
    _, found = search(root, slope, known=False)
    assert found.digits >= 6


@settings(max_examples=scaled(40))
@given(st.integers(1, 10**18), st.sampled_from([1, 1000]), st.booleans())
def test_integers_are_determined(root, start, known):
    _, found = search(
        Fraction(2 * root + 1, 2), 1, start=Fraction(start), integer=True, known=known
    )
    assert (found.lower, found.upper) == (root, root + 1)


def test_proposals_are_short_decimals():
    tried, _ = search(Fraction(2, 3), -3)
    assert all((value * 10**9).denominator == 1 for value in tried)


def test_a_bracket_is_closing_while_gaps_shrink():
    bracket = Bracket(Fraction(0), math.inf, rising=True, integer=False, digits=6)
    found = []
    for value, gap in enumerate([None, None, Fraction(-1), Fraction(-1, 5), Fraction(-1, 6), None]):
        bracket.note(Fraction(value + 1), True, gap)
        found.append(bracket.is_closing)
    assert found == [False, False, True, True, False, False]


def test_values_beside_another():
    """So far away that the gap is another by what is wanted, by the slope that was seen."""
    bracket = Bracket(Fraction(0), math.inf, rising=True, integer=True, digits=6)
    assert [bracket.beside(Fraction(50), side, 1e-6) for side in (-1, 1)] == [49, 51]
    assert bracket.beside(Fraction(1), -1, 1.0) is None
    bracket = Bracket(Fraction(0), math.inf, rising=False, integer=False, digits=6)
    assert bracket.beside(Fraction(5), -1, 1e-12) == Fraction("4.99999997")
    for value in (1, 2):
        bracket.note(Fraction(value), False, Fraction(-20 * math.log(value / 5)))
    for side, away in ((-1, 1e-3), (1, 1e-3), (1, 1e-6)):
        near = bracket.beside(Fraction(5), side, away)
        assert -20 * math.log(near / 5) == pytest.approx(-side * away, rel=0.1)


def test_strides_are_taken_back_a_few_times_only():
    bracket = Bracket(Fraction(0), math.inf, rising=False, integer=False, digits=6)
    bracket.note(Fraction(1), False, None)
    taken = 0
    while bracket.proposals() and bracket.retreat():
        bracket.note(bracket.proposals()[0], False, None)
        taken += 1
    assert taken <= 8


@pytest.mark.parametrize("rising", [True, False])
def test_where_strides_move_nothing_the_farthest_value_is_next(rising):
    """A bound that goes to no 0 was followed to the end in strides, a hundred evaluations."""
    bracket = Bracket(Fraction(0), math.inf, rising=rising, integer=False, digits=6)
    value, tried = Fraction(1), 0
    while value < FARTHEST:
        bracket.note(value, rising, Fraction(1, 2))
        tried += 1
        (value,) = bracket.proposals()
    assert value == FARTHEST
    assert tried < 8
    assert bracket.retreat()
    assert bracket.proposals() != [FARTHEST]


def test_a_retreat_halves_the_stride():
    bracket = Bracket(Fraction(0), math.inf, rising=False, integer=False, digits=6)
    assert not bracket.retreat()  # nothing is known yet
    bracket.note(Fraction(1), False, None)
    assert [bracket.proposals()[0], bracket.proposals()[0]] == [2, 4]
    assert bracket.retreat()
    assert bracket.proposals() == [2]
    bracket.note(Fraction(2), True, None)
    assert not bracket.retreat()  # both sides are known


def tried_for(log_delta, target, start=Fraction(1), kink=None):
    """Values tried until ``delta`` of a falling ``log_delta(x)`` is bracketed to six digits."""
    level = -math.log(target)
    bracket = Bracket(
        Fraction(0),
        math.inf,
        rising=False,
        integer=False,
        digits=6,
        scale=scale(mu_of_delta(1.0), Fraction(target), odds=False),
        kink=kink,
    )
    count, pending = 0, [start]
    while not bracket.is_narrow:
        if not pending:
            pending = bracket.proposals()
        value = pending.pop(0)
        if not bracket.low < value < bracket.high:
            continue
        gap = log_delta(float(value)) + level
        bracket.note(value, gap <= 0, Fraction(gap) if math.isfinite(gap) else None)
        count += 1
        assert count < 200
    return count


def test_tails_of_gaussians_are_found_in_few_steps():
    for target in (1e-3, 1e-6, 1e-30, 1e-200):
        assert tried_for(lambda x: -x * x / 2 - math.log1p(x), target) <= 12


def test_next_to_a_kink_delta_itself_is_a_line():
    """One Laplace step: 0 beyond 1, and a line before."""

    def one(x):
        return math.log(-math.expm1((1 - 1 / x) / 2)) if x < 1 else -math.inf

    assert tried_for(one, 1e-4) <= 12
    assert tried_for(lambda x: math.log(1e-7 + max(0.0, 1 - x)), 1e-6, Fraction(1, 2)) <= 16


def test_next_to_its_most_what_is_left_is_a_line():
    """A bound that was cut at 1 told nothing on one side, and its odds no line on the other."""

    def tried(turned):
        arguments = {"rising": False, "integer": False, "digits": 6, "turned": turned}
        bracket, value, count = Bracket(Fraction(0), math.inf, **arguments), Fraction(2), 1
        while not bracket.is_narrow:
            left = (value - Fraction(119, 100)) / 12
            gap = math.log(1 / left - 1) - math.log(9999) if left > 0 else None
            meets = gap is not None and gap <= 0
            bracket.note(value, meets, None if gap is None else Fraction(gap))
            value, count = (bracket.proposals() or [value])[0], count + 1
        return count

    assert tried(turned=True) <= 12
    assert tried(turned=False) > 15


@pytest.mark.parametrize(("root", "rough"), [(10**9 + 5, 2), (10**9 + 4, 5), (71851404656, 5)])
def test_counts_whose_gap_differs_for_odd_and_even_ones(root, rough):
    """A miss by one or two is followed by a look beside it, not by halving what is left."""
    bracket = Bracket(Fraction(0), math.inf, rising=True, integer=True, digits=6)
    tried, pending = [], [Fraction(1000)]
    while not bracket.is_narrow:
        pending = pending or bracket.proposals()
        value = pending.pop(0)
        if not bracket.low < value < bracket.high:
            continue
        wrong = Fraction(3 + rough if value % 2 else 3 - rough, root)
        bracket.note(value, value <= root, Fraction(math.log(value / root)) + wrong)
        tried.append(value)
    assert bracket.low == root
    assert len(tried) <= 12
