"""The SARIF report against a schema of the part of the standard that it uses."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import example, given

from dpexact.audits import audit
from dpexact.audits.reports import write
from dpexact.audits.reports.sarif_report import to_sarif
from dpexact.visible import visible

SCHEMA = json.loads(Path(__file__).with_name("sarif_subset.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


@pytest.fixture(scope="module")
def log(report):
    return to_sarif(report)


def test_the_schema_is_one_and_the_report_meets_it(log):
    VALIDATOR.check_schema(SCHEMA)
    VALIDATOR.validate(log)
    VALIDATOR.validate(to_sarif(audit([])))


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("version", "2.0.0"),
        ("level", "bad"),
        ("kind", "wrong"),
        ("startLine", 0),
        ("uri", "a b"),
        ("startTimeUtc", "2026-01-01T00:00:00+00:00"),
    ],
)
def test_the_schema_refuses(log, change, value):
    def changed(node):
        if isinstance(node, dict):
            return {key: value if key == change else changed(part) for key, part in node.items()}
        return [changed(part) for part in node] if isinstance(node, list) else node

    assert not VALIDATOR.is_valid(changed(log))


def test_wrong_and_undecided_claims_are_results_the_worst_first(log):
    results = log["runs"][0]["results"]
    assert [(r["ruleId"], r["kind"], r["level"]) for r in results] == (
        [(verdict, "fail", "error") for verdict in ("unsound", "inaccurate", "unsound")]
        + [("undecided", "open", "none")] * 2
    )
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[r["ruleIndex"]]["id"] for r in results] == [r["ruleId"] for r in results]
    assert log["runs"][0]["properties"]["summary"]["sound"] == 4


def test_a_result_says_where_and_what(log, hostile):
    second, _, first = log["runs"][0]["results"][:3]
    location = first["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "my%20claims/a%2Cb.yaml"
    assert location["region"] == {"startLine": 7}
    assert "physicalLocation" not in second["locations"][0]
    assert second["locations"][0]["logicalLocations"][0]["name"] == "gaussian(1)"
    properties = first["properties"]
    assert Fraction(properties["lower"]) <= Fraction(properties["upper"])
    assert properties["lower"].startswith("4.37717809568122")
    assert Fraction(properties["relativeError"][0]) < Fraction("-0.0176")
    assert properties["source"] == visible(hostile)
    assert "claims epsilon <= 4.3" in first["message"]["text"]


def test_an_absolute_path_is_a_file_address(tmp_path):
    path = tmp_path / "claims é.csv"
    path.write_text("mechanism,claims,epsilon,delta,kind\npure_dp(1),epsilon,0.5,0,upper\n")
    result = to_sarif(audit(path))["runs"][0]["results"][0]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == path.as_uri()
    assert location["region"]["startLine"] == 2


def test_the_fingerprint_outlives_a_new_release_and_value():
    def fingerprint(**changes):
        claim = {
            "mechanism": "pure_dp(1)",
            "claims": "epsilon",
            "epsilon": "0.5",
            "delta": 0,
            "kind": "upper",
            "accountant": "mine 1.0",
        }
        log = to_sarif(audit({**claim, **changes}))
        return log["runs"][0]["results"][0]["partialFingerprints"]["claim/v1"]

    assert fingerprint() == fingerprint(epsilon="0.6", accountant="mine 2.0")
    assert len({fingerprint(), fingerprint(accountant="other 1"), fingerprint(delta="1e-9")}) == 3


def test_what_accountants_did_not_answer_are_notifications(log):
    told = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [(note["level"], note["message"]["text"]) for note in told] == [
        ("error", "good: gaussian(9): timed out after 30 s (epsilon(9))"),
        ("note", "good: laplace(1): not asked: no Laplace"),
        ("note", "good: zcdp(1): not asked: no zCDP"),
        ("note", "absent: could not run: package absent is not installed"),
    ]


@given(HOSTILE_TEXT)
@example("[a](b) {0} }{")
def test_foreign_text_is_text(report_saying, text):
    log = json.loads(json.dumps(to_sarif(report_saying(text))))
    VALIDATOR.validate(log)
    run = log["runs"][0]
    assert run["results"][0]["properties"]["source"] == visible(text)
    messages = [result["message"]["text"] for result in run["results"]]
    messages += [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]
    for message in messages:
        assert "](" not in message.replace("\\](", "")
        plain = message.replace("{{", "").replace("}}", "")
        assert "{" not in plain
        assert "}" not in plain


def test_the_file_is_the_report(report, log, tmp_path):
    write(report, "sarif", tmp_path / "report.sarif")
    assert json.loads((tmp_path / "report.sarif").read_bytes().decode("ascii")) == log


@pytest.mark.parametrize(
    ("claimed", "level"), [("0.9", "error"), ("0.9999999", "error"), ("0.9999999999999999", "note")]
)
def test_the_level_is_that_of_the_grade(claimed, level):
    claim = {"mechanism": "pure_dp(1)", "claims": "epsilon", "epsilon": claimed, "delta": 0}
    log = to_sarif(audit({**claim, "kind": "upper"}))
    VALIDATOR.validate(log)
    assert log["runs"][0]["results"][0]["level"] == level
