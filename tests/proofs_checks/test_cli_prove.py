"""The verb ``dpexact prove``."""

import json
from functools import partial

import pytest
from command_line import invoke

from proofs_checks.claims import claim
from proofs_checks.record import read

run = partial(invoke, "prove")


@pytest.mark.slow
def test_json_and_html(tmp_path):
    page = tmp_path / "proofs.html"
    result = run("kov.thm3.1", "kov.cor5.1", "--jobs", "1", "--json", "--html", str(page))
    assert result.exit_code == 0
    document = json.loads(result.output)
    assert document["summary"] == {
        "verdicts": {"proved": 2, "refuted": 2},
        "strengths": {"formal": 2, "complete": 2},
        "repairs": {},
    }
    assert document["unexpected"] == 0
    assert document["checks"][0]["ids"] == ["kov.thm3.1", "kov.intro.basic"]
    record = document["checks"][0]["claims"][0]
    assert set(record) == {
        *("id", "statement", "hash", "verdict", "strength", "repair_kind", "facts", "assumes")
    }
    assert record["statement"] == claim("kov.thm3.1").statement
    assert record["hash"] == claim("kov.thm3.1").typed.hash
    assert all(fact["text"] for fact in record["facts"])
    text = page.read_text()
    assert "2 checks, 0 unexpected" in text
    assert "eps = 100" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kov.thm3.1x"], "did you mean 'kov.thm3.1'"),
        (["nothing"], "unknown claim 'nothing'; `dpexact prove --list` names all"),
        (["kov.lem1"], "cannot be proved"),
        (["--source", "bla"], "use kov, gdp, steinke, slides, cks"),
        (["kov.thm3.1", "--source", "gdp"], "is not of --source gdp"),
        (["kov.thm3.1", "--html", "/nowhere/x.html"], "cannot write"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1


def test_list_runs_nothing(monkeypatch):
    monkeypatch.setattr("proofs_checks.runner.run", None)
    result = run("--list", "--source", "kov", "--json")
    rows = {row["id"]: row for row in json.loads(result.output)["claims"]}
    assert rows["kov.cor5.1"]["expected"] == "refuted"
    assert rows["kov.lem1"]["expected"] == "not checkable"
    assert "kov.cor5.1" in run("--list", "kov.cor5.1").output


def test_an_unexpected_verdict_exits_with_one(monkeypatch):
    monkeypatch.setattr(
        "proofs_checks.runner.recorded",
        lambda name: {**read("kov")["claims"][name], "finding": "else"},
    )
    result = run("kov.thm3.1", "--jobs", "1")
    assert result.exit_code == 1
    assert "1 unexpected" in result.output
