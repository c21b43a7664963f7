"""The JUnit XML report: structure, outcomes, counts, and foreign text read back by a parser."""

import re
from xml.etree import ElementTree

import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import given

from dpexact.audits import audit
from dpexact.audits.reports import write
from dpexact.audits.reports.junit_report import to_junit
from dpexact.visible import visible

#: What readers of the format accept: the attributes (required ones marked) and children of each.
GRAMMAR = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name!", "tests!", "failures!", "errors!", "skipped", "time", "timestamp"},
        {"testcase"},
    ),
    "testcase": ({"name!", "classname", "time"}, {"failure", "error", "skipped", "system-out"}),
    "system-out": (set(), set()),
    "failure": ({"message", "type"}, set()),
    "error": ({"message", "type"}, set()),
    "skipped": ({"message", "type"}, set()),
}


def check(element):
    attributes, children = GRAMMAR[element.tag]
    assert {name.rstrip("!") for name in attributes} >= set(element.keys())
    assert {name[:-1] for name in attributes if name.endswith("!")} <= set(element.keys())
    for name in {"tests", "failures", "errors", "skipped"} & set(element.keys()):
        assert element.get(name).isdigit()
    if element.get("time"):
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}", element.get("time"))
    for child in element:
        assert child.tag in children
        check(child)


def parsed(report):
    root = ElementTree.fromstring(to_junit(report))
    check(root)
    return root


def outcomes(root, suite):
    cases = root.find(f"testsuite[@name='{suite}']").findall("testcase")
    return [(case.get("name"), case[0].tag if len(case) else "passed") for case in cases]


def test_claims_are_cases_and_wrong_and_undecided_ones_do_not_pass(report, hostile):
    root = parsed(report)
    found = [outcome for _, outcome in outcomes(root, "claims")]
    verdicts = [f.verdict for f in report.findings if not f.claim.accountant]
    expected = {"unsound": "failure", "inaccurate": "failure", "undecided": "error"}
    assert found == [expected.get(verdict, "passed") for verdict in verdicts]
    named = [suite for suite in root if suite.get("name") == visible(hostile)]
    assert [case.get("name") for case in named[0]] == [visible(hostile)]


def test_the_failure_holds_the_witness(report):
    failure = parsed(report).find(".//failure[@type='unsound']")
    assert "claims epsilon <= 4.3 at delta = 0.00001" in failure.get("message")
    assert "relative error -1.763" in failure.get("message")
    lines = dict(line.split(": ", 1) for line in failure.text.splitlines())
    assert lines["claimed"] == "4.3"
    assert lines["certified in"].startswith("[4.3771780956812")
    assert lines["stands at"] == "my claims/a,b.yaml:7"
    assert lines["reproduce"] == "dpexact epsilon 'gaussian(1)' --delta 0.00001 --digits 30"


def test_what_accountants_did_not_answer(report):
    root = parsed(report)
    assert outcomes(root, "asking good") == [
        ("gaussian(9)", "error"),
        ("laplace(1)", "skipped"),
        ("zcdp(1)", "skipped"),
    ]
    assert outcomes(root, "asking absent") == [("absent", "skipped")]
    absent = root.find("testsuite[@name='asking absent']/testcase/skipped")
    assert absent.get("message") == "package absent is not installed"
    assert root.find("testsuite[@name='asking elsewhere']") is None


@pytest.mark.parametrize(("strict", "outcome"), [(False, "system-out"), (True, "failure")])
def test_a_claim_that_is_wrong_by_a_rounding_passes_unless_strict(strict, outcome):
    claim = {"mechanism": "pure_dp(1)", "claims": "epsilon", "epsilon": "0.9999999999999999"}
    root = parsed(audit({**claim, "delta": 0, "kind": "upper"}, strict=strict))
    [case] = root.iter("testcase")
    assert [child.tag for child in case] == [outcome]
    said = case[0].get("message") or case[0].text
    assert "grade rounding" in said


def test_counts_add_up(report):
    root = parsed(report)
    for name, path in [("tests", ""), ("failures", "/failure"), ("errors", "/error")]:
        number = len(root.findall(f"testsuite/testcase{path}"))
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root) == number
    assert (root.get("failures"), root.get("errors")) == ("3", "3")


def test_claims_that_read_the_same_keep_apart():
    claim = {"mechanism": "pure_dp(1)", "claims": "epsilon", "epsilon": 1, "delta": 0}
    root = parsed(audit([{**claim, "kind": "upper"}] * 2))
    first, second = (case.get("name") for case in root.iter("testcase"))
    assert first == "pure_dp(1): epsilon <= 1 at delta = 0"
    assert second == f"{first} (2)"


@given(HOSTILE_TEXT)
def test_foreign_text_is_text(report_saying, text):
    root = parsed(report_saying(text))
    shown = visible(text)
    assert [suite.get("name") for suite in root][:2] == [shown, f"asking {shown}"]
    assert [case.get("name") for case in root[0]] == [shown, f"{shown} (2)"]
    assert f"source: {shown}" in root.find(".//failure").text
    assert root.find(".//skipped").get("message") == shown


def test_the_file_is_the_report(report, tmp_path):
    write(report, "junit", tmp_path / "report.xml")
    assert (tmp_path / "report.xml").read_bytes() == to_junit(report)
