"""Checks against one row: exact at the boundaries, and clear when they fail."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest

from dpexact.errors import InvalidInput
from dpexact.oracle import Case, ClaimRefuted

#: A row whose interval is wide, so that every boundary can be met.
WIDE = Case(("mine",), "gaussian(2)^3", "epsilon", "1/8", "remove", "0.5", "0.75", "by hand")
STEP = Case(
    ("mine",),
    "poisson(gaussian(3, 2), 0.1)^7",
    "delta",
    "0.5",
    "both",
    "1e-5",
    "2e-5",
    "by hand",
    "poisson(gaussian)",
    {"sigma": 3.0, "sensitivity": 2.0, "q": 0.1, "steps": 7},
)
INFINITE = Case(("mine",), "approx_dp(1, 0.1)", "epsilon", "0.01", "both", "inf", "inf", "")
RENYI = Case(("mine",), "gaussian(1)", "renyi", "inf", "both", "inf", "inf", "")


def refused(check: object, **claimed: object) -> str:
    with pytest.raises(ClaimRefuted) as caught:
        check(**claimed)  # type: ignore[operator]
    return str(caught.value)


def test_upper() -> None:
    WIDE.check_upper(epsilon=0.75)
    WIDE.check_upper(epsilon=math.inf)
    assert "certified unsound" in refused(WIDE.check_upper, epsilon=math.nextafter(0.5, 0))
    assert "certified unsound" in refused(WIDE.check_upper, epsilon=-math.inf)
    for claim in (0.5, 0.6, math.nextafter(0.75, 0)):
        assert "undecided" in refused(WIDE.check_upper, epsilon=claim)


def test_lower() -> None:
    WIDE.check_lower(epsilon=Decimal("0.5"))
    WIDE.check_lower(epsilon=-1)
    assert "certified unsound" in refused(WIDE.check_lower, epsilon=math.nextafter(0.75, 1))
    assert "undecided" in refused(WIDE.check_lower, epsilon=Fraction(3, 4))


def test_estimate() -> None:
    WIDE.check_estimate(epsilon=0.75, rel=0.5)  # within half of 0.5 and of 0.75
    assert "more than 0.1 allows" in refused(WIDE.check_estimate, epsilon=0.9, rel=0.1)
    assert "more than 0.1 allows" in refused(WIDE.check_estimate, epsilon=0.4, rel=0.1)
    assert "undecided" in refused(WIDE.check_estimate, epsilon=0.6, rel=0.1)
    with pytest.raises(TypeError, match="rel"):
        WIDE.check_estimate(epsilon=0.6)  # type: ignore[call-arg]


def test_slack_is_relative() -> None:
    WIDE.check_upper(epsilon=Decimal("0.6"), slack=Fraction(1, 4))
    WIDE.check_lower(epsilon=0.625, slack=Fraction(1, 4))
    assert "undecided" in refused(WIDE.check_upper, epsilon=0.6, slack=Fraction(24, 100))
    assert "undecided" in refused(WIDE.check_lower, epsilon=0.625, slack=Fraction(24, 100))


def test_infinite_truth() -> None:
    INFINITE.check_upper(epsilon=math.inf)
    INFINITE.check_lower(epsilon=1e308)
    INFINITE.check_estimate(epsilon=math.inf, rel=0)
    said = refused(INFINITE.check_upper, epsilon=1e308)
    assert "in [inf, inf]" in said
    assert "relative error" not in said


def test_nan_fails_the_check() -> None:
    said = refused(STEP.check_upper, delta=math.nan)
    assert "the accountant returned NaN" in said
    assert "upper claim on delta" in said
    assert "claimed         delta <= nan" in said


def test_message_shows_claim_truth_error_and_command() -> None:
    assert refused(STEP.check_upper, delta=Decimal("5e-6")).splitlines() == [
        "upper claim on delta: certified unsound, grade gross",
        "  mechanism       poisson(gaussian(3, 2), 0.1)^7 (direction both)",
        "  claimed         delta <= 0.000005 at epsilon = 0.5",
        "  certified       delta in [1e-5, 2e-5]",
        "  relative error  claimed/true - 1 in [-0.75, -0.5]",
        "  certified by    by hand",
        '  reproduce       dpexact delta "poisson(gaussian(3, 2), 0.1)^7" --epsilon 0.5 '
        "--direction both --digits 40",
    ]


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ({"delta": 0.1}, "claim: this row is checked with epsilon=..., not delta"),
        ({}, "claim: this row is checked with epsilon=..., not nothing"),
        (
            {"epsilon": 1, "delta": 1},
            "claim: this row is checked with epsilon=..., not epsilon, ",
        ),
        ({"epsilon": None}, "epsilon: None (NoneType) is not a number"),
        ({"epsilon": "0.7"}, "epsilon: '0.7' (str) is not a number"),
        ({"epsilon": 1, "slack": -1}, "slack: -1 is not accepted"),
    ],
)
def test_mistakes_of_the_user(claimed: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        WIDE.check_upper(**claimed)
    assert str(caught.value).startswith(said)


def test_attributes() -> None:
    assert (WIDE.delta, WIDE.at, STEP.epsilon, RENYI.order) == (0.125, 0.125, 0.5, math.inf)
    assert (STEP.sigma, STEP.q, STEP.steps) == (1.5, 0.1, 7)
    assert WIDE.id == "epsilon of gaussian(2)^3 at delta=1/8 remove"
    assert str(STEP) == "delta of poisson(gaussian(3, 2), 0.1)^7 at epsilon=0.5"
    with pytest.raises(InvalidInput, match="epsilon: this row is the epsilon at delta = 1/8"):
        _ = WIDE.epsilon
    with pytest.raises(InvalidInput, match=r"sigma: gaussian\(2\)\^3 has no such parameter"):
        _ = WIDE.sigma
    assert pickle.loads(pickle.dumps(STEP)) == STEP
    assert len({STEP, WIDE, STEP}) == 2
