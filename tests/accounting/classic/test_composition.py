"""The composition theorems: published numbers, mpmath, the exact answer below, hypotheses."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import e, expm1, log, mp, mpf, sqrt, tanh
from oracles import to_fraction

import dpexact
from dpexact.accounting.classic.composition import (
    Guarantee,
    advanced_composition,
    approximate_composition,
    basic_composition,
    kov_composition,
    pure_composition,
)
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.ternary import Ternary

ALL = [
    basic_composition,
    advanced_composition,
    kov_composition,
    pure_composition,
    approximate_composition,
]


def step(eps, delta=0, count=1):
    return Guarantee(real(eps), real(delta), count)


def contains(enclosure, value, digits=40):
    """Whether the mpmath ``value``, good to ``digits`` digits, is within that of the enclosure."""
    exact = to_fraction(value)
    slip = abs(exact) / 10**digits
    return enclosure.lower - slip <= exact <= enclosure.upper + slip


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (basic_composition, "10"),
        (pure_composition, "5.7565217697569"),  # 5.756521769757 rounded
        (approximate_composition, "5.7565217697569"),
    ],
)
def test_hundred_steps_of_a_tenth(bound, expected):
    found = bound([step("0.1", count=100)], "1e-6", 14)
    assert found.shown(14).startswith(expected)


def spelled_out(steps, delta):
    """All five formulas in mpmath; ``None`` where the slack is spent."""
    eps = [mpf(s.eps.fraction.numerator) / s.eps.fraction.denominator for s in steps]
    masses = [mpf(s.delta.fraction.numerator) / s.delta.fraction.denominator for s in steps]
    counts = [s.count for s in steps]
    target = mpf(delta.numerator) / delta.denominator
    total = sum(n * x for n, x in zip(counts, eps, strict=True))
    square = sum(n * x * x for n, x in zip(counts, eps, strict=True))
    drift = sum(n * x * tanh(x / 2) for n, x in zip(counts, eps, strict=True))
    left = target - sum(n * d for n, d in zip(counts, masses, strict=True))
    kept = mpf(1)
    for n, d in zip(counts, masses, strict=True):
        kept *= (1 - d) ** n
    share = 1 - (1 - target) / kept
    classical = sum(n * x * expm1(x) for n, x in zip(counts, eps, strict=True))
    return {
        basic_composition: total,
        advanced_composition: classical + sqrt(2 * square * log(1 / left)) if left > 0 else None,
        kov_composition: min(
            total,
            drift + sqrt(2 * square * log(e + sqrt(square) / share)),
            drift + sqrt(2 * square * log(1 / share)),
        )
        if share > 0
        else None,
        pure_composition: square / 2 + sqrt(2 * square * log(1 / target)),
        approximate_composition: min(total, square / 2 + sqrt(2 * square * log(1 / left)))
        if left > 0
        else None,
    }


fractions = st.fractions(Fraction(1, 1000), 3, max_denominator=1000)


@settings(max_examples=30)
@given(
    eps=fractions,
    mass=st.fractions(0, Fraction(1, 10**4), max_denominator=10**9),
    count=st.integers(1, 200),
    delta=st.fractions(Fraction(1, 10**8), Fraction(99, 100), max_denominator=10**8),
)
def test_equal_steps_against_mpmath_and_the_exact_epsilon(eps, mass, count, delta):
    steps = [step(eps, mass, count)]
    exact = dpexact.epsilon(dpexact.approx_dp(eps, mass) ** count, delta, 8)
    with mp.workdps(60):
        for bound, expected in spelled_out(steps, delta).items():
            try:
                found = bound(steps, delta, 20)
            except InvalidInput:
                assert (bound is pure_composition and mass) or delta <= count * mass
                continue
            assert contains(found, expected)
            assert exact.at_most(found) is not Ternary.FAILS


@settings(max_examples=10)
@given(
    parts=st.lists(st.tuples(fractions, st.integers(1, 4)), min_size=2, max_size=3),
    delta=st.fractions(Fraction(1, 10**6), Fraction(1, 2), max_denominator=10**6),
)
def test_unequal_steps_against_mpmath_and_the_exact_epsilon(parts, delta):
    steps = [step(Fraction(round(4 * eps) + 1, 4), 0, count) for eps, count in parts]
    m = dpexact.pure_dp(steps[0].eps) ** steps[0].count
    for s in steps[1:]:
        m = m * dpexact.pure_dp(s.eps) ** s.count
    with mp.workdps(60):
        expected = spelled_out(steps, delta)
        for bound in (kov_composition, pure_composition, approximate_composition):
            found = bound(steps, delta, 20)
            assert contains(found, expected[bound])
            assert dpexact.delta(m, found.upper, 6).lower <= delta


def test_each_branch_of_kov_can_be_the_smallest():
    with mp.workdps(40):
        for eps, count, delta, expected in (
            ("3", 2, "1e-9", mpf(6)),
            ("0.01", 100, "0.5", None),
            ("0.001", 100, "1e-9", None),
        ):
            found = kov_composition([step(eps, count=count)], delta, 20)
            x, target = mpf(eps), mpf(delta)
            if expected is None:
                middle = x * sqrt(2 * count * log(e + sqrt(count) * x / target))
                last = x * sqrt(2 * count * log(1 / target))
                assert (middle < last) == (e * target + sqrt(count) * x < 1)
                expected = count * x * tanh(x / 2) + min(middle, last)
            assert contains(found, expected, 30)


def test_hypotheses_are_checked():
    mixed = [step("0.1", count=3), step("0.2")]
    with pytest.raises(InvalidInput, match="same eps and delta"):
        advanced_composition(mixed, "0.1")
    with pytest.raises(InvalidInput, match="pure DP"):
        pure_composition([step("0.1", "1e-9")], "0.1")
    spent = [step("0.1", "0.01", 10)]
    for bound in (advanced_composition, approximate_composition):
        with pytest.raises(InvalidInput, match=r"must be above about 0\.1"):
            bound(spent, "0.1")
    assert basic_composition(spent, "0.1").lower == 1
    with pytest.raises(InvalidInput, match=r"at least about 0\.1"):
        basic_composition(spent, "0.0999")
    for bound in ALL:
        with pytest.raises(InvalidInput, match="delta"):
            bound(spent, "1.1")


def test_delta_spent_to_the_last_bit():
    """KOV at ``1 - (1 - d)^k``, irrational masses, and a comparison that cannot be decided."""
    exactly = 1 - Fraction(99, 100) ** 10
    assert kov_composition([step("0.1", "0.01", 10)], exactly).lower == 1
    with pytest.raises(InvalidInput, match="at least"):
        kov_composition([step("0.1", "0.01", 10)], exactly - Fraction(1, 10**30))
    masses = [step("0.1", "exp(-7)", 3)]
    assert basic_composition(masses, "exp(-5)").lower == Fraction(3, 10)
    with pytest.raises(InvalidInput, match="cannot tell the sign"):
        basic_composition(masses, "exp(-7)*2+exp(-7)")


def test_no_loss_at_all_and_huge_counts():
    for bound in ALL:
        assert bound([step("0", count=10)], "1e-3").upper == 0
    found = pure_composition([step("1e-9", count=10**18)], "1e-6", 20)
    with mp.workdps(50):
        assert contains(found, mpf(1) / 2 + sqrt(2 * log(mpf(10) ** 6)))
