"""The defect bench: every recorded claim comes out as expected."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import invoke

from dpexact.audits import bench as module
from dpexact.audits import read_claims
from dpexact.audits.bench import bench
from dpexact.audits.claims import number_text
from dpexact.audits.verdicts import Finding, judge
from dpexact.comparison import RIGHT, WRONG

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "findings.md"


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return [judge(claim) for claim in bench()]


@pytest.mark.slow
def test_every_verdict_is_as_expected(findings: list[Finding]) -> None:
    surprises = [finding.claim.id for finding in findings if not finding.as_expected]
    assert surprises == []


def test_defects_and_controls_of_every_package() -> None:
    claims = bench()
    assert len({claim.id for claim in claims}) == len(claims) >= 110
    for claim in claims:
        assert claim.expect in WRONG | RIGHT
        assert claim.source.startswith(f"{claim.accountant}: ")
    wrong = Counter(c.accountant.split()[0] for c in claims if c.expect in WRONG)
    right = Counter(c.accountant.split()[0] for c in claims if c.expect in RIGHT)
    assert len(wrong) >= 8
    assert sum(wrong.values()) >= 40
    assert sum(right.values()) >= 70
    assert {"dp-accounting", "prv-accountant", "opacus", "diffprivlib", "opendp"} <= set(right)


def test_the_example_is_the_bench() -> None:
    assert read_claims(ROOT / "docs" / "examples" / "recorded_claims.yaml") == bench()


def row(finding: Finding) -> str:
    """The line of the page about one wrong claim."""
    claim = finding.claim
    error = "" if finding.relative_error is None else finding.relative_error.shown(2)
    claimed = f"{claim.quantity} {number_text(claim.claimed, 12)}"
    at = f"{claim.argument} = {number_text(claim.at, 12)}"
    cells = [
        claim.accountant,
        f"`{claim.id}`",
        finding.grade,
        f"`{claim.mechanism}`",
        f"{claimed} ({claim.kind}) at {at}",
        finding.enclosure.shown(8),
        error,
    ]
    return "| " + " | ".join(cells) + " |"


@pytest.mark.slow
def test_the_page_lists_what_is_wrong_with_the_numbers(findings: list[Finding]) -> None:
    rows = [row(finding) for finding in findings if finding.verdict in WRONG]
    listed = [line for line in PAGE.read_text().splitlines() if re.match(r"\| [a-z-]+ [0-9]", line)]
    assert listed == rows


NAMESPACE = """
import numpy as np
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, NeighboringRelation
from dp_accounting import PoissonSampledDpEvent, RandomizedResponseDpEvent, pld, rdp
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss
from fourier_accountant import get_epsilon_R

REPLACE_ONE = NeighboringRelation.REPLACE_ONE
"""


@pytest.mark.parametrize(
    "name",
    [
        "rdp-laplace-replacement",
        "pld-response-count",
        "rdp-response-count",
        "rdp-fractional-order",
        "rdp-fractional-order-next-to-1",
        "pld-guarantee-of-add",
        "pld-guarantee-of-remove",
        "fourier-tiny-delta",
        "fourier-mnist",
    ],
)
def test_the_recorded_call_returns_the_recorded_value(name: str) -> None:
    pytest.importorskip("fourier_accountant")
    pytest.importorskip("dp_accounting")
    [claim] = [claim for claim in bench() if claim.id == name]
    call = claim.source.partition(": ")[2].partition(" chose this noise")[0].partition(";")[0]
    names: dict[str, object] = {}
    exec(NAMESPACE, names)
    value = Fraction(float(eval(call, names)))
    if "chose this noise" in claim.source:
        [(step, _)] = claim.mechanism.steps().items()
        recorded = step.mechanism.sigma.value
    else:
        recorded = claim.claimed.value
    assert abs(value - recorded) <= recorded / 10**9


@pytest.mark.slow
def test_grades_of_the_bench(findings: list[Finding]) -> None:
    """Negative epsilons that promise nothing false, and errors that the documentation allows."""
    of = {finding.claim.id: finding.grade for finding in findings}
    assert {name for name, grade in of.items() if grade == "invalid"} == {
        "opacus-rdp-negative",
        "opacus-prv-negative",
        "opendp-gaussian-large-delta-0.6.0",
        "hunted-prv-negative",
    }
    assert {name for name, grade in of.items() if grade == "contract"} == {
        "gaussian-epsilon-brentq",
        "hunted-prv-infinite",
    }
    assert of["opacus-rdp-large-orders"] == of["pld-delta-negative"] == "gross"
    assert of["diffprivlib-sum"] == "rounding"


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["bench", "--bench"])
def test_command(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = bench()[:3]
    monkeypatch.setattr(module, "bench", lambda: few)
    result = invoke("audit", flag, "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert "3 of 3 as expected" in result.output
    few[1] = replace(few[1], expect="unsound")
    result = invoke("audit", flag, "--jobs", "1")
    assert result.exit_code == 1
    assert "2 of 3 as expected" in result.output
