"""The JSON report: its schema, outward bounds, input order."""

import copy
import json
from fractions import Fraction

import jsonschema
import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import given

from dpexact import epsilon
from dpexact.audits import Claim, Contract, audit
from dpexact.audits.reports import schema, to_json, write

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_one_and_the_report_meets_it(report):
    VALIDATOR.check_schema(schema())
    VALIDATOR.validate(to_json(report))
    VALIDATOR.validate(to_json(audit([])))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 2),
        (("summary", "sound"), -1),
        (("exit_code",), 2),
        (("claims", 0, "verdict"), "fine"),
        (("claims", 0, "verdict"), "accurate"),
        (("claims", 2, "verdict"), "sound"),
        (("claims", 0, "tolerance"), "0.1"),
        (("claims", 0, "lower"), 4.3),
        (("claims", 0, "lower"), "four"),
        (("claims", 0, "relative_error"), {"lower": "1"}),
        (("claims", 0, "extra"), 1),
        (("claims", 0, "id"), ""),
        (("runs", 0, "asked"), -1),
        (("runs", 0, "skipped"), ["laplace(1)"]),
        (("runs", 1, "extra"), 1),
    ],
)
def test_the_schema_refuses(report, path, value):
    record = copy.deepcopy(to_json(report))
    parent = record
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    assert not VALIDATOR.is_valid(record)


def test_every_field_of_the_contract_is_required():
    required = set(schema()["$defs"]["finding"]["required"])
    contract = "id mechanism quantity claimed at kind source verdict lower upper relative_error"
    assert required >= set(f"{contract} method digits seconds note".split())
    assert required == set(schema()["$defs"]["finding"]["properties"])


def test_bounds_are_rounded_outward(report):
    first = to_json(report)["claims"][0]
    truth = epsilon("gaussian(1)", "1e-5", 50)
    lower, upper = Fraction(first["lower"]), Fraction(first["upper"])
    assert lower <= truth.lower <= truth.upper <= upper
    assert upper - lower <= upper / 10**15
    assert first["digits"] >= 15
    error = {key: Fraction(value) for key, value in first["relative_error"].items()}
    claimed = Fraction(first["claimed"])
    assert error["lower"] <= claimed / truth.upper - 1 <= claimed / truth.lower - 1
    assert claimed / truth.lower - 1 <= error["upper"]


def test_claims_are_in_input_order_and_exact(report, hostile):
    claims = to_json(report)["claims"]
    assert [claim["id"] for claim in claims[:3]] == ["1", hostile, "3"]
    assert [claim["claimed"] for claim in claims[-4:]] == ["inf", "nan", "1e-300", "log(3)+1e-40"]
    assert Fraction(claims[3]["claimed"]) == Fraction(5.0 / 3.0)
    assert claims[1]["source"] == hostile
    assert claims[4]["note"].startswith("no certified accounting")
    assert claims[5]["lower"] == claims[5]["upper"] == "inf"
    assert claims[6]["relative_error"] is None


def test_summary_versions_and_command(report):
    record = to_json(report)
    assert record["summary"] == {
        "claims": 11,
        "unsound": 2,
        "inaccurate": 1,
        "undecided": 2,
        "accurate": 2,
        "sound": 4,
    }
    assert {grade: count for grade, count in record["grades"].items() if count} == {
        "gross": 3,
        "invalid": 1,  # NaN
        "none": 7,
    }
    assert record["distinct_wrong"] == 3
    assert record["command"] == "dpexact audit 'claims & more.yaml'"
    assert record["exit_code"] == 1


def test_runs_tell_what_accountants_did(report):
    good, absent, elsewhere = to_json(report)["runs"]
    assert good["versions"] == {"good": "1.0"}
    assert good["skipped"][0] == {"case": "laplace(1)", "reason": "no Laplace"}
    assert good["failures"] == [
        {"case": "gaussian(9)", "call": "epsilon(9)", "reason": "timed out after 30 s"}
        | {"refused": False}
    ]
    assert absent["reason"] == "package absent is not installed"
    assert (elsewhere["python"], elsewhere["asked"]) == ("/opt/python", 3)
    assert absent["platform"] == {}
    assert elsewhere["platform"] == {"processor": "Z80", "numpy": "2.4.6", "vectors": ""}


@given(HOSTILE_TEXT)
def test_foreign_text_comes_back_as_it_was(report_saying, text):
    record = json.loads(json.dumps(to_json(report_saying(text))))
    VALIDATOR.validate(record)
    assert [claim["source"] for claim in record["claims"]] == [text] * 2
    assert record["runs"][0]["failures"] == [
        {"case": text, "call": text, "reason": text, "refused": False}
    ]


def test_the_file_is_plain_json(report, tmp_path):
    path = tmp_path / "report.json"
    write(report, "json", path)
    text = path.read_bytes().decode("ascii")
    assert text.endswith("}\n")
    assert json.loads(text) == to_json(report)


@pytest.mark.parametrize("expect", ["sound", "unsound", None])
def test_the_expected_verdict(expect):
    claim = Claim("pure_dp(1)", "epsilon", "2", "0", "upper", expect=expect)
    record = to_json(audit(claim))
    VALIDATOR.validate(record)
    assert record["claims"][0]["expect"] == expect


def test_the_contract_by_which_a_claim_was_judged():
    contract = Contract("to a tenth", "mine 1.0", "add/remove", relative="0.1")
    claim = Claim("pure_dp(1)", "epsilon", "0.95", "0", "upper", contract=contract)
    record = to_json(audit(claim))
    VALIDATOR.validate(record)
    assert record["claims"][0]["grade"] == "contract"
    assert record["claims"][0]["contract"] == {
        "sentence": "to a tenth",
        "where": "mine 1.0",
        "relation": "add/remove",
        "absolute": "0",
        "relative": "0.1",
        "at": "0",
    }
    assert record["exit_code"] == 0


def test_one_wrong_value_for_one_question_counts_once():
    def claim(accountant, claimed="0.9", at="0"):
        return Claim("pure_dp(1)", "epsilon", claimed, at, "upper", accountant=accountant)

    same = [claim("engine 1.0"), claim("built 2.1 engine 1.0"), claim("copied 3", "9/10")]
    assert to_json(audit(same))["distinct_wrong"] == 1
    others = [claim("engine 1.0", "0.8"), claim("engine 1.0", at="1e-9"), claim("mine", "2")]
    assert to_json(audit(same + others))["distinct_wrong"] == 3
