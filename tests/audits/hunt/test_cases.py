"""Numbers, variations and simplifications of cases."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from dpexact.audits.hunt.numbers import (
    Number,
    numbers,
    significant,
    simpler,
    size,
    variation,
    with_numbers,
)
from dpexact.audits.hunt.sightings import shape
from dpexact.audits.workloads import Case, load, names
from dpexact.conversion import real
from dpexact.mechanisms import parse


def case(text: str, at: str = "1e-5", quantity: str = "epsilon") -> Case:
    return Case(parse(text), quantity, real(at))


SAMPLED = case("poisson(gaussian(1.3, 2), 0.01)^100 * laplace(3)")


def test_lists_are_left_alone() -> None:
    mixed = case("gaussian_mixture(2, 1: 1/2, 2: 1/2)^3 * pair((1/2, 1/4), (1/2, 3/4))")
    found = numbers(mixed)
    assert [number.value for number in found] == [2.0, 3.0, 1e-5]
    assert with_numbers(mixed, found) == mixed


def test_numbers_go_out_and_back() -> None:
    found = numbers(SAMPLED)
    assert [(n.value, n.whole) for n in found] == [
        (1.3, False),
        (0.01, False),
        (100.0, True),
        (3.0, False),
        (1e-5, False),
    ]
    assert with_numbers(SAMPLED, found) == SAMPLED
    more = [replace(number, value=number.value * 2) for number in found]
    assert with_numbers(SAMPLED, more) == case(
        "poisson(gaussian(2.6, 2), 0.02)^200 * laplace(6)", "2e-5"
    )
    assert numbers(case("pure_dp(log(2))"))[0].value == pytest.approx(0.6931471805599453)


def test_what_is_no_mechanism_is_refused() -> None:
    sampled = case("poisson(gaussian(1), 1/2)")
    assert with_numbers(sampled, [Number(1.0), Number(1.5), Number(1e-5)]) is None
    assert with_numbers(sampled, [Number(1.0), Number(0.5), Number(2.0)]) is None
    assert with_numbers(sampled, [Number(-1.0), Number(0.5), Number(0.1)]) is None


def test_rounding_to_significant_digits() -> None:
    assert [significant(0.0123456, digits) for digits in (1, 2, 3)] == [0.01, 0.012, 0.0123]


def test_variations_follow_from_the_seed_and_keep_the_shape() -> None:
    cases = [case for name in names() for case in load(name).cases]
    chances = [random.Random(5), random.Random(5)]
    changed = 0
    for original in random.Random(1).sample(cases, 200):
        first, second = (variation(original, chance) for chance in chances)
        assert first == second
        assert shape(first.mechanism) == shape(original.mechanism)
        assert (first.quantity, first.direction) == (original.quantity, original.direction)
        if first.quantity == "epsilon":
            assert 0 <= first.at.value <= 1
        changed += first != original
    assert changed > 120


def test_simpler_cases_are_smaller_until_none_is_left() -> None:
    current, steps = replace(SAMPLED, direction="add"), 0
    while following := list(simpler(current)):
        assert all(size(other) < size(current) for other in following)
        current, steps = following[-1], steps + 1
        assert steps < 100
    assert size(current)[0] == 1


def test_the_boldest_simplifications_come_first() -> None:
    found = list(simpler(replace(SAMPLED, direction="add")))
    assert found[0] == SAMPLED
    assert parse("laplace(3)") in [other.mechanism for other in found]
    assert parse("poisson(gaussian(1.3, 2), 0.01) * laplace(3)") in [o.mechanism for o in found]
    assert parse("gaussian(1.3, 2)^100 * laplace(3)") in [other.mechanism for other in found]


def test_shapes() -> None:
    assert shape(SAMPLED.mechanism) == "laplace * poisson(gaussian)^k"
    assert shape(parse("gaussian(1) * gaussian(2)")) == "gaussian"
