"""Targets of calibration: each end of a bracket is asked again, by the question itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpexact import (
    InvalidInput,
    UnsupportedMechanism,
    calibrate,
    delta,
    renyi,
    tradeoff,
)
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.grammar import parse_template


def advantage(m: Mechanism) -> Enclosure:
    return delta(m, 0, 12)


def error(alpha: str) -> Any:
    def ask(m: Mechanism) -> Enclosure:
        found = tradeoff(m)(alpha, 12)
        return Enclosure(-Fraction(found.upper), -Fraction(found.lower))

    return ask


CASES: list[tuple[str, dict[str, Any], Any, Fraction]] = [
    ("gaussian(?)", {"advantage": "1/10"}, advantage, Fraction(1, 10)),
    ("laplace(?)^3", {"advantage": "1/3"}, advantage, Fraction(1, 3)),
    ("pure_dp(?)^3", {"advantage": "1/2"}, advantage, Fraction(1, 2)),
    ("poisson(gaussian(1), ?)^20", {"advantage": "1/10"}, advantage, Fraction(1, 10)),
    (
        "poisson(pair((1/2,1/3),(1/2,2/3)), ?)^2",
        {"advantage": "1/10"},
        advantage,
        Fraction(1, 10),
    ),
    ("gaussian(?)", {"alpha": "1/20", "beta": "1/2"}, error("1/20"), Fraction(-1, 2)),
    ("pure_dp(?)^2", {"alpha": "1/5", "beta": "3/5"}, error("1/5"), Fraction(-3, 5)),
    (
        "poisson(gaussian(1), ?)^100",
        {"order": 2, "renyi": "1/10"},
        lambda m: renyi(m, 2, 12),
        Fraction(1, 10),
    ),
    ("laplace(?)", {"order": "3/2", "renyi": 1}, lambda m: renyi(m, "3/2", 12), Fraction(1)),
    ("zcdp(?)", {"order": 3, "renyi": "1/2"}, lambda m: renyi(m, 3, 12), Fraction(1, 2)),
    ("gaussian(?)", {"epsilon": -1, "delta": "4/5"}, lambda m: delta(m, -1, 12), Fraction(4, 5)),
]


@pytest.mark.parametrize(("text", "target", "ask", "bound"), CASES)
def test_one_end_meets_the_target_and_the_other_does_not(
    text: str, target: dict[str, Any], ask: Any, bound: Fraction
) -> None:
    found = calibrate(text, digits=5, **target)
    template = parse_template(text)
    low, high = template.fill(Fraction(found.lower)), template.fill(Fraction(found.upper))
    noisy = found.safe_end == "upper"
    safe, unsafe = (high, low) if noisy else (low, high)
    assert ask(safe).lower <= bound
    assert ask(unsafe).upper >= bound
    assert found.digits >= 5


def test_counts_and_mu_are_exact() -> None:
    assert calibrate("gaussian(2)^?", gdp=3) == Enclosure.exact(Fraction(36))
    assert calibrate("gaussian(2)^?", gdp="2.99") == Enclosure.exact(Fraction(35))
    assert calibrate("pair((1/2,1/3),(1/2,2/3))^?", advantage="1/2").is_exact
    assert Fraction(3, 2) in calibrate("gdp(?)", gdp="3/2")


def test_no_loss_is_the_only_value_at_the_edge() -> None:
    for target in (
        {"gdp": 0},
        {"order": 2, "renyi": 0},
        {"advantage": 0},
        {"alpha": "1/20", "beta": "19/20"},
    ):
        assert calibrate("gaussian(?)", **target).lower == float("inf")
    assert calibrate("gaussian(?)", advantage=1).upper == 0


def test_beside_what_is_not_symmetric_nothing_is_said_to_grow() -> None:
    """Of a sample the ratio stays above 1 - q: delta need not grow with what is sampled."""
    text = "poisson(gaussian(?), 1/4) * pair((1, 1/2), (0, 1/2))"
    rest = delta("pair((1, 1/2), (0, 1/2))", 0, direction="remove")
    noisy = delta("poisson(gaussian(9), 1/4) * pair((1, 1/2), (0, 1/2))", 0, 9, "remove")
    assert rest == Enclosure.exact(Fraction(1, 2))
    assert noisy.lower <= rest.upper + Fraction(1, 10**9)
    assert calibrate(text, 0, "1/2", 3, "remove") == Enclosure.exact(Fraction(0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "target: none given"),
        ({"epsilon": 1}, "target: epsilon given"),
        ({"epsilon": 1, "delta": "1e-5", "gdp": 1}, "target: epsilon, delta, gdp given"),
        ({"alpha": "1/20", "beta": "0.97"}, "beta: 0.97"),
        ({"alpha": "1/20", "beta": 2}, "beta: 2"),
        ({"advantage": "1.1"}, "advantage: 1.1"),
        ({"order": "1/2", "renyi": 1}, "order: 0.5"),
        ({"gdp": -1}, "gdp: -1"),
        ({"order": 2, "renyi": -1}, "renyi: -1"),
    ],
)
def test_what_is_no_target_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        calibrate("gaussian(?)", **arguments)
    assert message in str(caught.value)


def test_refusals_say_why() -> None:
    with pytest.raises(UnsupportedMechanism, match="not monotone in sigma of discrete_gaussian"):
        calibrate("discrete_gaussian(?)", 1, "1e-5")
    with pytest.raises(UnsupportedMechanism, match="not monotone in gamma of staircase"):
        calibrate("staircase(1, ?)", 1, "1e-5")
    with pytest.raises(UnsupportedMechanism, match="mu-GDP"):
        calibrate("poisson(gaussian(?), 1/2)", gdp=1)


def test_the_counterexamples_are_certified() -> None:
    small, large = (delta(f"discrete_gaussian({s})", 2) for s in ("0.5", "0.65"))
    assert small < Fraction("0.10477") < Fraction("0.15329") < large
    left, middle, right = (delta(f"staircase(1, {g})", "1/2") for g in ("0", "1/2", "1"))
    assert middle > left
    assert middle > right
