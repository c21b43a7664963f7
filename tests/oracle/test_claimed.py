"""Claimed numbers are exact, and what is no number is refused in one line."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpexact.errors import InvalidInput
from dpexact.oracle.cases import exact, slack_in


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (2, Fraction(2)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.float16(0.5), Fraction(1, 2)),
        (np.int64(7), Fraction(7)),
        (np.longdouble(1) / 3, Fraction(*map(int, (np.longdouble(1) / 3).as_integer_ratio()))),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
        (Decimal("Infinity"), math.inf),
        (np.float32("inf"), math.inf),
        (np.longdouble("-inf"), -math.inf),
    ],
)
def test_value_is_exact(value: object, meaning: object) -> None:
    found = exact(value, "epsilon")
    assert found == meaning
    assert isinstance(found, type(meaning))


@pytest.mark.parametrize("value", [math.nan, Decimal("NaN"), Decimal("sNaN"), np.float32("nan")])
def test_nan_stays_nan(value: object) -> None:
    assert math.isnan(exact(value, "epsilon"))


@pytest.mark.parametrize(
    "value",
    [None, "1.5", b"1", True, np.bool_(True), 1j, np.array([1.0, 2.0]), [1.0], object(), float],
)
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        exact(value, "delta")
    said = str(caught.value)
    assert said.startswith("delta: ")
    assert f"({type(value).__name__}) is not a number; give a float, int, Fraction" in said
    assert "\n" not in said


@pytest.mark.parametrize("value", [-1e-9, math.inf, math.nan, "0.1"])
def test_slack_is_finite_and_not_negative(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^rel: "):
        slack_in(value, "rel")
    assert slack_in(0.5, "rel") == Fraction(1, 2)
