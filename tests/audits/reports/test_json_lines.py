"""JSON Lines: the items of the JSON report in order, as they come, and the rest as last line."""

import json

import jsonschema
import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim, audit
from dpexact.audits.reports import JsonLines, schema, to_json
from dpexact.errors import NotWritten

REPORT = audit(
    [
        Claim(f"gaussian({n})", "delta", value, "1", "upper", id="\n" * (n % 2))
        for n, value in enumerate(["0.1", "0.9", "nan", "inf", "1e-9"], start=1)
    ]
)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_lines_are_those_of_the_json_report(tmp_path):
    with JsonLines(tmp_path / "a") as lines:
        for place, finding in enumerate(REPORT.findings):
            lines.found(place, finding)
        lines.end(REPORT)
    *claims, rest = lines_of(tmp_path / "a")
    whole = to_json(REPORT)
    assert claims == whole["claims"]
    assert {**rest, "claims": claims} == whole
    jsonschema.validate({**rest, "claims": claims}, schema())


@given(st.permutations(range(len(REPORT.findings))))
def test_lines_come_in_order_and_as_early_as_that_allows(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("lines") / "a"
    with JsonLines(path) as lines:
        for number, place in enumerate(order, start=1):
            lines.found(place, REPORT.findings[place])
            ready = next((i for i in range(9) if i not in order[:number]), 9)
            assert [line["mechanism"] for line in lines_of(path)] == [
                f"gaussian({i + 1})" for i in range(ready)
            ]


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(NotWritten, match="cannot write"):
        JsonLines(tmp_path)
    with pytest.raises(NotWritten, match="No space left"), JsonLines("/dev/full") as lines:
        lines.found(0, REPORT.findings[0])


def run(place, *options):
    return invoke("audit", place / "claims.csv", "--jobs", "1", *options)


@pytest.fixture
def place(tmp_path):
    rows = [f"gaussian({n}),delta,1,0.{n},upper" for n in range(1, 6)]
    header = "mechanism,claims,epsilon,delta,kind"
    (tmp_path / "claims.csv").write_text("\n".join([header, *rows]))
    return tmp_path


@pytest.mark.slow
def test_an_interrupted_audit_goes_on(place):
    """With a journal its findings come first, from there; without its last line it is partial."""
    files = ["--jsonl", str(place / "a.jsonl"), "--journal", str(place / "journal")]
    assert run(place, *files).exit_code == 1
    whole = lines_of(place / "a.jsonl")
    kept = (place / "journal").read_bytes().splitlines(keepends=True)
    (place / "journal").write_bytes(b"".join([*kept[:1], *kept[3:5], kept[5][:40]]))
    assert run(place, *files).exit_code == 1
    again = lines_of(place / "a.jsonl")
    assert len(again) == 6

    def lasting(lines):
        return [
            {k: v for k, v in line.items() if k not in ("seconds", "started")} for line in lines
        ]

    assert lasting(again) == lasting(whole)
    assert [a["seconds"] == b["seconds"] for a, b in zip(again, whole, strict=True)][2:4] == [
        True
    ] * 2
