from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import binomial_tail_by_quadrature, scaled, to_fraction

from dpexact import balls
from dpexact.accounting import binomial
from dpexact.accounting.binomial import _by_beta, _by_terms, binomial_tail

METHODS = [binomial_tail, _by_beta, _by_terms]


def exact_tail(count: int, m: int, p: Fraction) -> Fraction:
    a, b = p.numerator, p.denominator - p.numerator
    total = sum(math.comb(count, j) * a**j * b ** (count - j) for j in range(m, count + 1))
    return Fraction(total, p.denominator**count)


def tail(method: object, count: int, m: int, p: Fraction, bits: int) -> arb:
    with balls.precision(bits):
        return method(count, m, balls.ball(p), balls.ball(1 - p))  # type: ignore[operator, no-any-return]


@given(
    st.sampled_from(METHODS),
    st.integers(1, 400),
    st.data(),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000),
    st.sampled_from([40, 64, 128, 400]),
)
@settings(max_examples=scaled(300))
def test_tails_hold_the_exact_sum(
    method: object, count: int, data: st.DataObject, p: Fraction, bits: int
) -> None:
    m = data.draw(st.integers(1, count))
    truth = exact_tail(count, m, p)
    x = tail(method, count, m, p, bits)
    assert method is not _by_terms or x.rel_accuracy_bits() > bits - 30
    assert bits < 128 or x.rel_accuracy_bits() > bits / 2
    if x.is_finite():
        assert truth in balls.to_enclosure(x)


@pytest.mark.parametrize("count", [10**4, 10**6])
@pytest.mark.parametrize("shift", ["-9/10", "-1/100", "0", "1/1000", "1/2"])
def test_the_two_methods_overlap(count: int, shift: str) -> None:
    p = Fraction(1, 2) + Fraction(1, 1000)
    m = int(count * (p + Fraction(shift) * (1 - p if Fraction(shift) > 0 else p)))
    x, y = (tail(method, count, m, p, 128) for method in (_by_beta, _by_terms))
    assert x.rel_accuracy_bits() > 90
    assert y.rel_accuracy_bits() > 90
    assert balls.to_enclosure(x).overlaps(balls.to_enclosure(y))


@pytest.mark.parametrize(
    ("count", "m"),
    [
        (10**6, 500_700),
        (10**9, 500_030_000),
        (10**12, 500_000_900_001),
        (10**12, 499_999_000_000),
        (10**15, 500_000_010_000_000),
    ],
)
def test_huge_counts_against_quadrature(count: int, m: int) -> None:
    p = Fraction(1, 2) + Fraction(1, 10**8)
    with mp.workdps(65):
        truth = to_fraction(binomial_tail_by_quadrature(count, m, mpf(p.numerator) / p.denominator))
    with balls.precision(200):
        found = balls.to_enclosure(tail(binomial_tail, count, m, p, 200))
    assert found.digits >= 30
    slack = truth / 10**35
    assert found.lower - slack <= truth <= found.upper + slack


def test_high_precision_stays_cheap() -> None:
    """FLINT's incomplete beta alone would take minutes here."""
    x = tail(binomial_tail, 10**6, 500_001, Fraction(501, 1000), 4000)
    assert x.rel_accuracy_bits() > 3900


def test_the_choice_of_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    for name in ("_by_terms", "_by_beta"):
        monkeypatch.setattr(binomial, name, lambda *_, name=name: used.append(name))
    for count, bits in ((10, 64), (10**12, 128), (10**6, 1000)):
        with balls.precision(bits):
            binomial_tail(count, 3, arb(0.5), arb(0.5))
    assert used == ["_by_terms", "_by_beta", "_by_terms"]


def test_a_forgotten_remainder_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remainder of the sum is far below the radius, unless little precision is asked for."""
    count, m, p = 3000, 1600, Fraction(1, 2)
    monkeypatch.setattr(binomial, "_binomial", lambda n, k: arb(math.comb(n, k - 1)))
    assert exact_tail(count, m, p) not in balls.to_enclosure(tail(_by_terms, count, m, p, 64))


def test_too_wide_a_probability_is_no_number_but_never_wrong() -> None:
    with balls.precision(64):
        wide = arb(0.5, 0.625)
        for method in METHODS:
            found = method(5, 3, wide, 1 - wide)
            assert not found.is_finite() or found.contains(arb(0.5))
