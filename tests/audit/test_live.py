"""Live audits: real answers of an installed accountant, judged."""

import json

import pytest
from click.testing import CliRunner

from dpexact.audit import audit
from dpexact.audit.live import ask
from dpexact.cli import main
from dpexact.errors import InvalidInput

WORKLOAD = """
description: three small cases
cases:
  - mechanism: [gaussian(1), pure_dp(0.1)^10, "staircase(1, 1/2)"]
    epsilon_at_delta: 1e-5
"""


@pytest.fixture
def workload(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(WORKLOAD)
    return path


def test_real_answers_are_judged_and_skips_reported(workload):
    steps = []
    claims, skipped = ask(["dp-accounting-pld"], [str(workload)], lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]
    assert [str(case.case.mechanism) for case in skipped["dp-accounting-pld"]] == [
        "staircase(1, 0.5)"
    ]
    report = audit(claims)
    assert [finding.verdict for finding in report.findings] == ["sound", "sound"]
    assert report.accountants
    assert all(claim.claimed.fraction > 0 for claim in claims)


def test_unknown_names_ask_nobody(workload):
    with pytest.raises(InvalidInput, match="dp-accounting-pld"):
        ask(["dp-accounting-pdl"], [str(workload)])
    with pytest.raises(InvalidInput, match="basics"):
        ask(["dp-accounting-pld"], ["basisc"])


def test_command_writes_both_reports_and_says_what_was_skipped(workload, tmp_path):
    html, data = tmp_path / "r.html", tmp_path / "r.json"
    result = CliRunner().invoke(
        main,
        f"audit --accountant dp-accounting-pld --workload {workload} --html {html} --json {data}",
    )
    assert result.exit_code == 0, result.output
    assert "was not asked 1 cases" in result.stderr
    assert "2 claims: 0 certified wrong, 2 certified right" in result.stdout
    record = json.loads(data.read_text())
    assert [claim["verdict"] for claim in record["claims"]] == ["sound", "sound"]
    assert "<html" in html.read_text()


def test_unwritable_targets_are_refused_before_the_work(tmp_path):
    for target in (tmp_path, tmp_path / "no" / "r.html"):
        result = CliRunner().invoke(main, ["audit", "absent-too.yaml", "--html", str(target)])
        assert result.exit_code == 2
        assert "cannot write" in result.stderr


def test_accountants_are_listed_with_versions():
    result = CliRunner().invoke(main, ["accountants"])
    assert result.exit_code == 0
    assert "dp-accounting-pld: dp-accounting " in result.output
    assert "basics" in result.output
    record = json.loads(CliRunner().invoke(main, ["accountants", "--json"]).output)
    assert {info["name"] for info in record["accountants"]} >= {
        "dp-accounting-pld",
        "dp-accounting-rdp",
    }
