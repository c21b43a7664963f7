"""Adapters answer what they are asked; questions and claims say exactly what was asked and said."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim, judge, read_claims
from dpexact.audits.accountants import (
    Accountant,
    Question,
    dp_accounting_pld,
    dp_accounting_rdp,
    questions_for,
)
from dpexact.audits.accountants.asking import claims_from
from dpexact.audits.workloads import Case
from dpexact.conversion import real
from dpexact.mechanisms import parse

ROOT = Path(__file__).parents[2]
PLD: Accountant = dp_accounting_pld.ACCOUNTANT
RDP: Accountant = dp_accounting_rdp.ACCOUNTANT


def case(mechanism: str, quantity: Any, at: str, direction: Any = "both") -> Case:
    return Case(parse(mechanism), quantity, real(at), direction)


def query(*asked: str) -> dict[str, Any]:
    [question], _ = questions_for(fake(), [case(*asked)])
    return question.query


def claims_of(accountant: Accountant, question: Question) -> list[Claim]:
    """What the accountant claims of ``question``, asked in this process."""
    values = {each["kind"]: each["value"] for each in accountant.answer(question.query)}
    releases = {name: version(name) for name in accountant.distributions}
    return claims_from(accountant, question, values, releases)


def fake(**changed: Any) -> Any:
    """An accountant of an installed distribution that supports and claims whatever is needed."""
    plain = {
        "name": "fake",
        "distributions": ("pytest",),
        "module": "pytest",
        "install": "pytest",
        "kinds": ("upper",),
        "supports": lambda query: True,
        "call": lambda query: "ask()",
        "answer": lambda query: [{"kind": "upper", "value": 1.5}],
    }
    return SimpleNamespace(**{**plain, **changed})


# --- adapters -----------------------------------------------------------------------------------


CLOSED = [
    ("gaussian(1)", "epsilon", "1e-5"),
    ("gaussian(3, 2)^20", "epsilon", "1e-6"),
    ("gaussian(3, 2)", "delta", "1/2"),
    ("gdp(1/2) * gaussian(2)", "delta", "1"),
    ("poisson(gaussian(2, 3), 1)", "delta", "1"),
    ("(gaussian(4) * gdp(1/4))^3", "epsilon", "1e-5"),
]
RESPONSES = [
    ("approx_dp(1/8, 1/1000)^30", "delta", "3/2"),
    ("pure_dp(1/8)^64", "epsilon", "1e-5"),
    ("approx_dp(1/10, 1/1000)^30", "epsilon", "1e-4"),
    ("gaussian(2) * pure_dp(1/4)", "delta", "1"),
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", CLOSED + RESPONSES)
def test_pld_claims_little_more_than_the_truth(asked: tuple[str, str, str]) -> None:
    check_upper(PLD, asked, Fraction(1, 10_000))


@pytest.mark.parametrize("asked", CLOSED)
def test_rdp_claims_somewhat_more_than_the_truth(asked: tuple[str, str, str]) -> None:
    check_upper(RDP, asked, Fraction(1, 4) if asked[1] == "epsilon" else Fraction(3, 2))


def check_upper(accountant: Accountant, asked: tuple[str, str, str], excess: Fraction) -> None:
    questions, skipped = questions_for(accountant, [case(*asked)])
    assert not skipped
    [claim] = claims_of(accountant, questions[0])
    finding = judge(claim)
    assert claim.kind == "upper"
    assert finding.relative_error is not None
    assert finding.relative_error.lower >= -Fraction(1, 10**9)  # but for its rounding, it is sound
    assert finding.relative_error.upper <= excess


def normal(x: float) -> Any:
    return mpmath.ncdf(x)


def laplace_delta(epsilon: float, scale: float, sensitivity: float) -> Any:
    return -mpmath.expm1((epsilon - sensitivity / scale) / 2)


def discrete_delta(epsilon: float, log_mass: Any, sensitivity: int) -> Any:
    """By summing the positive parts over integers that hold all but 1e-30 of the mass."""
    total = mpmath.fsum(mpmath.exp(log_mass(x)) for x in range(-200, 201))
    gains = (
        mpmath.exp(log_mass(x)) - mpmath.exp(epsilon + log_mass(x - sensitivity))
        for x in range(-200, 201)
    )
    return mpmath.fsum(gain for gain in gains if gain > 0) / total


def sampled_delta(epsilon: float, sigma: float, q: float, direction: str) -> Any:
    """``P = (1-q) N(0, sigma^2) + q N(1, sigma^2)`` against ``N(0, sigma^2)``, or the reverse."""
    e = mpmath.exp(epsilon)
    ratio = (e - 1 + q) / q if direction == "remove" else (1 / e - 1 + q) / q
    if ratio <= 0:
        return mpmath.mpf(0)
    x = sigma**2 * mpmath.log(ratio) + 0.5  # where the likelihood ratio of the mixture is e^eps
    if direction == "remove":
        return q * normal((1 - x) / sigma) + (1 - q - e) * normal(-x / sigma)
    return (1 - e * (1 - q)) * normal(x / sigma) - e * q * normal((x - 1) / sigma)


SINGLE = [
    ("laplace(2, 3)", "both", lambda e: laplace_delta(e, 2, 3)),
    ("discrete_laplace(2)", "both", lambda e: discrete_delta(e, lambda x: -abs(x) / 2, 1)),
    ("discrete_laplace(3, 2)", "both", lambda e: discrete_delta(e, lambda x: -abs(x) / 3, 2)),
    ("discrete_gaussian(2, 3)", "both", lambda e: discrete_delta(e, lambda x: -(x**2) / 8, 3)),
    ("poisson(gaussian(1), 1/8)", "remove", lambda e: sampled_delta(e, 1, 0.125, "remove")),
    ("poisson(gaussian(1), 1/8)", "add", lambda e: sampled_delta(e, 1, 0.125, "add")),
    ("poisson(gaussian(1), 1/8)", "both", lambda e: sampled_delta(e, 1, 0.125, "remove")),
]


@pytest.mark.parametrize(("mechanism", "direction", "truth"), SINGLE)
@pytest.mark.slow
def test_pld_means_the_same_mechanism(mechanism: str, direction: str, truth: Any) -> None:
    """Parameters of a single step, against formulas that owe nothing to any accountant."""
    epsilon = "1/16"
    [answer] = PLD.answer(query(mechanism, "delta", epsilon, direction))
    assert answer["kind"] == "upper"
    assert answer["value"] == pytest.approx(float(truth(0.0625)), rel=1e-4)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_rdp_bounds_both_directions(direction: str) -> None:
    [answer] = RDP.answer(query("poisson(gaussian(1), 1/8)", "epsilon", "1e-9", direction))
    for side in ("remove", "add"):
        assert sampled_delta(answer["value"], 1, 0.125, side) <= 1e-9
    assert sampled_delta(0.8 * answer["value"], 1, 0.125, "remove") > 1e-9


def test_rdp_means_the_same_laplace() -> None:
    [answer] = RDP.answer(query("laplace(4, 2)", "epsilon", "1e-9"))
    assert answer["value"] == pytest.approx(0.5, rel=0.03)  # pure: nearly all of 2/4


CALLED = ["laplace(2, 3)", "poisson(gaussian(1), 1/8)", "(gaussian(4) * gdp(1/4))^3"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accountant", "mechanism"),
    [
        *((RDP, mechanism) for mechanism in CALLED),
        *((PLD, mechanism) for mechanism in CALLED),
        (PLD, "discrete_laplace(3, 2)^2 * discrete_gaussian(2, 3) * approx_dp(1/8, 1/1000)"),
    ],
)
@pytest.mark.parametrize("direction", ["both", "add"])
def test_call_is_what_is_called(accountant: Accountant, mechanism: str, direction: str) -> None:
    import dp_accounting
    from dp_accounting.pld import common, privacy_loss_distribution
    from dp_accounting.rdp import RdpAccountant

    names = {
        **vars(dp_accounting),
        **vars(privacy_loss_distribution),
        **vars(common),
        "RdpAccountant": RdpAccountant,
    }
    asked = query(mechanism, "delta", "1/2", direction)
    [answer] = accountant.answer(asked)
    assert eval(accountant.call(asked), names) == answer["value"]


@pytest.mark.parametrize(
    "mechanism",
    [
        "gdp(0)",
        "zcdp(1)",
        "staircase(1, 1/2)",
        "fixed_size(gaussian(1), 1, 2)",
        "gaussian(1)*gdp(0)",
        "poisson(gaussian(1), 0)^2",
        "poisson(poisson(gaussian(1), 1/2), 1/2)",
        "poisson(gdp(1), 1/2)",
    ],
)
@pytest.mark.parametrize("accountant", [PLD, RDP], ids=lambda a: a.name)
def test_unsupported_is_skipped_with_the_reason(accountant: Accountant, mechanism: str) -> None:
    asked = case(mechanism, "delta", "1")
    questions, [skipped] = questions_for(accountant, [asked])
    assert not questions
    assert skipped.case == asked
    assert skipped.reason == f"{accountant.name} does not account for it"


# --- questions and claims -----------------------------------------------------------------------


def test_query_is_plain_data() -> None:
    asked = query(
        "(poisson(gaussian(1.3), 8/1875)^3515 * discrete_laplace(2, 3))^2", "delta", "0.1", "add"
    )
    noise = {"name": "gaussian", "sigma": 1.3, "sensitivity": 1.0}
    sampled = {"name": "poisson", "mechanism": noise, "q": 8 / 1875}
    parts = [
        {"name": "repeat", "mechanism": sampled, "times": 3515},
        {"name": "discrete_laplace", "scale": 2.0, "sensitivity": 3},
    ]
    tree = {"name": "repeat", "mechanism": {"name": "compose", "parts": parts}, "times": 2}
    assert asked == {
        "mechanism": tree,
        "steps": [[sampled, 7030], [parts[1], 2]],
        "quantity": "delta",
        "at": 0.1,
        "direction": "add",
    }
    assert json.loads(json.dumps(asked)) == asked


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_claim_is_about_the_very_floats(sigma: Fraction) -> None:
    [question], _ = questions_for(fake(), [case(f"gaussian({sigma})^2", "delta", "0.1")])
    [claim] = claims_of(fake(), question)
    given_sigma = question.query["mechanism"]["mechanism"]["sigma"]
    assert given_sigma == float(sigma)
    assert claim.mechanism == parse(f"gaussian({Fraction(given_sigma)})^2")
    assert claim.at.fraction == Fraction(0.1) != Fraction(1, 10)


def test_irrational_numbers_become_near_floats() -> None:
    [question], _ = questions_for(fake(), [case("pure_dp(log(3))", "delta", "sqrt(2)")])
    assert question.query["mechanism"]["eps"] == math.log(3)
    assert question.query["at"] == math.sqrt(2)
    assert str(question.mechanism) == f"pure_dp({real(math.log(3))})"


@pytest.mark.parametrize(
    ("mechanism", "at"),
    [
        ("gaussian(1e-400)", "1"),
        ("gaussian(1e400)", "1"),
        ("gaussian(1) * gdp(1e400)", "1"),
        ("gaussian(1)", "1e-400"),
        ("gaussian(1)", "exp(10^6)"),
        ("poisson(laplace(exp(-10^6)), 1/2)", "1"),
    ],
)
def test_numbers_beyond_the_floats_are_skipped(mechanism: str, at: str) -> None:
    questions, [skipped] = questions_for(fake(), [case(mechanism, "delta", at)])
    assert not questions
    assert skipped.reason.startswith("not a question in floats: ")
    assert skipped.reason.endswith("is beyond the floats")


def test_adapter_that_cannot_tell_is_not_asked() -> None:
    def unsure(query: dict[str, Any]) -> bool:
        raise KeyError("sigma")

    questions, [skipped] = questions_for(fake(supports=unsure), [case("gdp(1)", "delta", "1")])
    assert not questions
    assert skipped.reason == "fake cannot tell: KeyError: 'sigma'"


def test_claims_say_who_said_what() -> None:
    values = {"upper": math.inf, "lower": 0.1}
    accountant = fake(
        kinds=("lower", "upper"),
        answer=lambda query: [{"kind": kind, "value": values[kind]} for kind in values],
    )
    questions, _ = questions_for(accountant, [case("gaussian(1)", "epsilon", "1e-5", "add")])
    lower, upper = claims_of(accountant, questions[0])
    assert (lower.kind, lower.claimed) == ("lower", real(0.1))
    assert (upper.kind, upper.claimed) == ("upper", math.inf)
    assert lower.id == "fake: epsilon of gaussian(1) at delta = 0.00001, add (lower)"
    assert lower.accountant == f"pytest {pytest.__version__}"
    assert lower.source == f"pytest {pytest.__version__}: ask()"
    assert (lower.quantity, lower.direction) == ("epsilon", "add")


# --- the recorded claims ------------------------------------------------------------------------


def test_recorded_claims_can_be_recorded_again() -> None:
    """What dp-accounting returned then, it returns now, to the rounding of its FFT."""
    [claim] = [
        claim
        for claim in read_claims(ROOT / "docs" / "examples" / "recorded_claims.yaml")
        if claim.id == "pld-approx-30"
    ]
    [answer] = PLD.answer(query("approx_dp(1/10, 1/1000)^30", "delta", "3/2"))
    assert answer["value"] == pytest.approx(float(str(claim.claimed)), rel=1e-12)
