from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import binomial_tail_by_quadrature, scaled, to_fraction

from dpexact import balls
from dpexact.accounting import binomial
from dpexact.accounting.binomial import BinomialTails, _falling_terms, _on_circle, binomial_tail


@pytest.fixture
def cheap_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The circle wherever it applies."""
    monkeypatch.setattr(binomial, "_POINT", 0)


def exact_tail(count: int, m: int, p: Fraction) -> Fraction:
    a, b = p.numerator, p.denominator - p.numerator
    total = sum(math.comb(count, j) * a**j * b ** (count - j) for j in range(m, count + 1))
    return Fraction(total, p.denominator**count)


def tail(method: object, count: int, m: int, p: Fraction, bits: int) -> arb:
    with balls.precision(bits):
        return method(count, m, balls.ball(p), balls.ball(1 - p))  # type: ignore[operator, no-any-return]


@given(
    st.integers(1, 400),
    st.data(),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000),
    st.sampled_from([40, 64, 128, 400]),
)
@settings(max_examples=scaled(300))
def test_tails_hold_the_exact_sum(count: int, data: st.DataObject, p: Fraction, bits: int) -> None:
    m = data.draw(st.integers(1, count))
    truth = exact_tail(count, m, p)
    x = tail(binomial_tail, count, m, p, bits)
    assert x.rel_accuracy_bits() > bits - 40
    assert truth in balls.to_enclosure(x)


@given(
    st.sampled_from([600, 2000]),
    st.floats(-1, 30),
    st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=100),
    st.sampled_from([30, 53, 100, 200]),
)
@settings(max_examples=scaled(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("cheap_points")
def test_the_circle_holds_the_exact_sum(
    count: int, deviations: float, p: Fraction, bits: int
) -> None:
    """Low precision: there the aliases and the points left out are as large as the radius."""
    m = int(count * p + Fraction(deviations * math.sqrt(count * p * (1 - p))))
    x = tail(_on_circle, count, min(m, count - 1), p, bits)
    if x is None:
        assert min(p, 1 - p) * count < 20 * bits or deviations > 5
        return
    assert x.rel_accuracy_bits() > bits - 40
    assert exact_tail(count, min(m, count - 1), p) in balls.to_enclosure(x)


@pytest.mark.parametrize("count", [10**4, 10**6])
@pytest.mark.parametrize("shift", ["0", "1/1000", "1/10", "1/2"])
@pytest.mark.usefixtures("cheap_points")
def test_the_two_methods_overlap(count: int, shift: str) -> None:
    p = Fraction(1, 2) + Fraction(1, 1000)
    m = int(count * (p + Fraction(shift) * (1 - p)))
    x, y = (tail(method, count, m, p, 128) for method in (_on_circle, _falling_terms))
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


@pytest.mark.parametrize("bits", [64, 300, 1000])
def test_the_cost_hardly_depends_on_the_count(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[int] = []
    real = binomial._circle_sum

    def counted(*args: Any) -> arb:
        points.append(args[-1][1])
        return real(*args)

    monkeypatch.setattr(binomial, "_circle_sum", counted)
    for count in (10**9, 10**12, 10**18):
        tail(binomial_tail, count, count // 2 + math.isqrt(count), Fraction(1, 2), bits)
    assert max(points) < 1.3 * min(points) < 4 * bits + 100


def test_a_forgotten_remainder_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remainder of the sum is far below the radius, unless little precision is asked for."""
    count, m, p = 3000, 1600, Fraction(1, 2)
    monkeypatch.setattr(binomial, "_binomial", lambda n, k: arb(math.comb(n, k - 1)))
    assert exact_tail(count, m, p) not in balls.to_enclosure(tail(_falling_terms, count, m, p, 64))


def test_too_wide_a_probability_is_no_number_but_never_wrong() -> None:
    with balls.precision(64):
        wide = arb(0.5, 0.625)
        for count, m in ((5, 3), (9999, 5000)):
            found = binomial_tail(count, m, wide, 1 - wide)
            assert not found.is_finite() or found.contains(arb(0.5))


def test_a_badly_chosen_circle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its floats may choose anything: what would count nodes twice is not summed."""
    monkeypatch.setattr(binomial, "_ROOM", 0.0)
    monkeypatch.setattr(binomial, "_POINT", 0)
    summed = 0
    for count in (1, 2, 3, 10, 50, 400):
        for m in range(count // 2, count):
            x = tail(_on_circle, count, m, Fraction(1, 2), 64)
            if x is not None and x.is_finite():
                summed += 1
                assert exact_tail(count, m, Fraction(1, 2)) in balls.to_enclosure(x)
    assert summed


@pytest.mark.parametrize(
    ("m", "radii", "nodes"),
    [
        pytest.param(220, (1.0, 1.2, 1.5), (60, 30), id="aliases from below"),
        pytest.param(200, (1.0, 1.9, 2.0), (30, 14), id="aliases from above"),
        pytest.param(220, (1.05, 1.2, 1.5), (4000, 150), id="points left out"),
    ],
)
def test_each_part_of_the_error_of_a_circle(
    m: int, radii: tuple[float, float, float], nodes: tuple[int, int]
) -> None:
    """Circles so coarse that one part of the error is most of the enclosure."""
    with balls.precision(200):
        half = arb(0.5)
        found = balls.to_enclosure(binomial._circle_sum(400, m, (half, half), radii, nodes))
    assert exact_tail(400, m, Fraction(1, 2)) in found


@given(
    st.lists(st.tuples(st.integers(1, 60), st.lists(st.integers(-2, 62), min_size=1))),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000),
    st.sampled_from([0, 5, 1000]),
    st.booleans(),
)
def test_tails_one_after_another(
    rows: list[tuple[int, list[int]]], p: Fraction, near: int, falling: bool
) -> None:
    """Rows of more trials and of fewer, up and down, each from the last one or anew."""
    with pytest.MonkeyPatch.context() as patch, balls.precision(128):
        patch.setattr(binomial, "_NEAR", near)
        tails = BinomialTails(balls.ball(p), balls.ball(1 - p))
        for count, places in rows:
            if falling:
                places.sort(reverse=True)
            for m, found in zip(places, tails.at(count, places), strict=True):
                assert balls.to_enclosure(found).digits >= 25
                assert exact_tail(count, max(m, 0), p) in balls.to_enclosure(found)


def test_more_trials_than_floats_tell_apart():
    with balls.precision(100):
        found = binomial_tail(10**36, 10**36 // 2 + 1, arb("0.5"), arb("0.5"))
        assert found.contains(arb("0.5"))
