"""Approximations as claims, from the formula through a file to the verdict."""

import json

import pytest
from command_line import invoke as run

import dpexact
from dpexact.accounting.approximate import ApproximationError
from dpexact.audits import read_claims
from dpexact.audits.claims_file import estimate_of, write_claims
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

STEPS = "pure_dp(0.1)^100"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["yaml", "yml", "json", "csv"])
@pytest.mark.parametrize(
    ("method", "argument", "verdict"),
    [
        ("clt", ("--delta", "1e-6"), "inaccurate"),
        ("edgeworth-2", ("--epsilon", "1"), "accurate"),
        ("berry-esseen", ("--epsilon", "1"), "inaccurate"),
    ],
)
def test_from_the_formula_to_the_verdict(tmp_path, suffix, method, argument, verdict):
    file, report = tmp_path / f"estimate.{suffix}", tmp_path / "report.json"
    written = run("approx", STEPS, "--method", method, *argument, "--claims", file, "--digits", 9)
    assert written.exit_code == 0, written.output
    [claim] = read_claims(file)
    assert claim.kind == "estimate"
    found = run("audit", file, "--json", report)
    assert found.exit_code == (0 if verdict == "accurate" else 1), found.output
    [finding] = json.loads(report.read_text())["claims"]
    assert finding["verdict"] == verdict
    quantity = "epsilon" if argument[0] == "--delta" else "delta"
    assert finding["quantity"] == quantity
    exact = dpexact.approximation_error(
        STEPS, method, digits=12, **{argument[0].lstrip("-"): argument[1]}
    )
    assert abs(float(finding["claimed"]) / float(exact.claimed.lower) - 1) < 1e-8
    assert float(finding["tolerance"]) == 0.01


@pytest.mark.parametrize(("kind", "verdict"), [("0.024", "accurate"), ("0.0239", "inaccurate")])
def test_the_tolerance_decides(kind, verdict):
    """The central limit, 4.8888716651848, is 2.394 % above the truth here, 4.7745675881080."""
    found = dpexact.approximation_error(STEPS, "clt", delta="1e-6", digits=8)
    report = dpexact.audit(estimate_of(found, 8, tolerance=kind))
    assert report.findings[0].verdict == verdict
    assert report.findings[0].relative_error.overlaps(
        Enclosure(real("0.02394").value, real("0.02395").value)
    )


def test_a_directed_and_an_infinite_estimate():
    m = "poisson(gaussian(2), 1/10)^20"
    found = dpexact.approximation_error(m, "edgeworth-1", 1, 8, "add")
    claim = estimate_of(found, 8, "add")
    assert claim.direction == "add"
    assert dpexact.audit(claim).summary["undecided"] == 0
    infinite = ApproximationError(
        found.mechanism,
        "Berry-Esseen",
        "epsilon",
        real("1e-5"),
        Enclosure.exact(float("inf")),
        found.true,
        None,
        None,
    )
    assert estimate_of(infinite).claimed == float("inf")


def test_refusals(tmp_path):
    with pytest.raises(InvalidInput, match="suffix"):
        write_claims([], tmp_path / "claims.txt")
    approx = ("approx", STEPS, "--method", "clt")
    for arguments, named in (
        ((*approx, "--delta", "1e-6", "--claims", tmp_path / "a.txt"), "suffix"),
        ((*approx, "--delta", "1e-6", "--claims", tmp_path / "none" / "a.csv"), "folder"),
        ((*approx, "--distance", "--claims", tmp_path / "a.csv"), "--claims"),
        ((*approx, "--distance", "--delta", "1e-6"), "exactly one"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert named in result.output
        assert result.output.count("\n") == 1
    assert not list(tmp_path.iterdir())
