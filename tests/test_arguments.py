from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dpexact
from dpexact.arguments import MAX_COUNT, MAX_DIGITS, digits_in, direction_in, integer_in, real_in
from dpexact.errors import InvalidInput


@pytest.mark.parametrize(
    ("value", "conditions"),
    [
        ("0", [">= 0"]),
        ("1", [">= 0", "<= 1"]),
        ("exp(-1e-9)", ["> 0", "< 1"]),
        ("log(4)-2*log(2)", [">= 0", "<= 0"]),
        (5e-324, ["> 0"]),
        ("pi", ["> 3"]),
    ],
)
def test_accepted(value: Any, conditions: list[str]) -> None:
    assert real_in(value, "x", *conditions) == real_in(value, "x")


@pytest.mark.parametrize(
    ("value", "conditions", "message"),
    [
        ("0", ["> 0"], "x: 0 is not accepted; must be > 0"),
        ("-1e-300", [">= 0"], "x: -1e-300 is not accepted; must be >= 0"),
        ("3/2", [">= 0", "<= 1"], "x: 1.5 is not accepted; must be >= 0 and <= 1"),
        ("exp(1e-9)", ["<= 1"], "x: exp(1e-9) is not accepted; must be <= 1"),
        ("1", ["< 1"], "x: 1 is not accepted; must be < 1"),
        ("sqrt(1-2*pi)", ["> 0"], "x: sqrt(1+(-1)*(2*pi)) is not a finite real number"),
        ("1/(log(2)-log(2))", ["> 0"], "is not a finite real number"),
        ("exp(exp(exp(exp(10))))", ["> 0"], "is not a finite real number"),
        ("sqrt(2)*sqrt(3)-sqrt(6)", ["> 0"], "cannot tell the sign"),
        ("spam", ["> 0"], "x: column 1"),
        (float("nan"), ["> 0"], "x: nan is not a finite number"),
    ],
)
def test_refused(value: Any, conditions: list[str], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        real_in(value, "x", *conditions)
    assert message in str(caught.value)
    assert str(caught.value).startswith("x: ")


def test_integers() -> None:
    assert integer_in("1e12", "times", 1) == 10**12
    assert integer_in(3.0, "times", 1) == 3
    assert isinstance(integer_in(Fraction(4, 2), "times", 1), int)
    assert integer_in(MAX_COUNT, "times", 1) == MAX_COUNT
    for bad in (0, -1, "1.5", "pi", MAX_COUNT + 1):
        with pytest.raises(InvalidInput, match=r"^times: .*must be an integer from 1 to"):
            integer_in(bad, "times", 1)
    with pytest.raises(InvalidInput, match="truth value"):
        integer_in(True, "times", 1)


def test_digits_and_directions() -> None:
    assert digits_in(MAX_DIGITS) == MAX_DIGITS
    for bad in (0, MAX_DIGITS + 1, "1/2"):
        with pytest.raises(InvalidInput, match=r"^digits: "):
            digits_in(bad)  # type: ignore[arg-type]
    assert [direction_in(d) for d in ("remove", "add", "both")] == ["remove", "add", "both"]
    with pytest.raises(
        InvalidInput, match=r"^direction: 'up' is not accepted; use remove, add, both"
    ):
        direction_in("up")


def test_a_fraction_next_to_a_limit_may_be_as_long_as_a_number_may():
    tiny = real_in("1e-100000", "delta", ">= 0", "<= 1")  # 1 - delta would be too long
    assert tiny.fraction == Fraction(1, 10**100_000)


def test_an_array_is_no_word_and_one_number_no_list_of_steps():
    numpy = pytest.importorskip("numpy")
    for bad in (numpy.array([]), numpy.array(["add", "both"]), ["both"], None):
        with pytest.raises(InvalidInput, match=r"^direction: .* is not accepted"):
            direction_in(bad)
    for bad in (3, numpy.array(3), math.inf, None):
        for ask in (dpexact.epsilon_curve, dpexact.epsilon_along):
            with pytest.raises(InvalidInput, match=r"^steps: .* use a list of integers"):
                ask("gaussian(1)^3 * laplace(1)", bad, "1e-5")
        with pytest.raises(InvalidInput, match=r"^claims: .* is neither"):
            dpexact.audit(bad)
    for text in ("12", b"12"):  # not steps 1 and 2
        with pytest.raises(InvalidInput, match=r"^steps: .* use a list of integers"):
            dpexact.epsilon_curve("gaussian(1)", text, "1e-5")
