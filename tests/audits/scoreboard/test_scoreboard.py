"""The scoreboard: what it counts, what it keeps, and the page and file it is written to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import invoke

from dpexact import InvalidInput, parse
from dpexact.audits import Claim, live
from dpexact.audits.accountants import Interview, NoAnswer, Question
from dpexact.audits.scoreboard import (
    Row,
    Scoreboard,
    family,
    of_json,
    read_scoreboard,
    scoreboard,
    to_html,
    to_json,
    to_markdown,
)
from dpexact.audits.scoreboard.rows import counted, tightness, worst_grade
from dpexact.audits.verdicts import judge

WORKLOAD = """
cases:
  - mechanism: [gaussian(1), gaussian(2), pure_dp(0.1)^10]
    epsilon_at_delta: 1e-5
"""
ROW = Row(
    accountant="some",
    release="some-package 1.9.0",
    family="Gaussian",
    claims=8,
    right=7,
    wrong=1,
    worst="gross",
    median="1e-9",
    most="0.1",
    unsupported=2,
    failed=1,
    unasked=3,
    seconds=1.25,
    platform="computed on processor Z80",
    date="2026-01-02",
    judge="0.1.0",
)


@pytest.fixture
def workload(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(WORKLOAD)
    return str(path)


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        ("gaussian(1)^3 * gdp(2)", "Gaussian"),
        ("discrete_laplace(1) * discrete_gaussian(2)", "integer noise"),
        ("approx_dp(1, 1/10) * pure_dp(1)", "guarantees"),
        ("gaussian(1) * pure_dp(1)", "mixed"),
        ("poisson(laplace(1), 1/2)^9", "samples of Laplace"),
        ("poisson(laplace(1) * gaussian(1), 1/2)", "samples of mixed"),
        ("poisson(poisson(gaussian(1), 1/2)^2, 1/2)", "samples of samples of Gaussian"),
        ("staircase(1, 1/2)", "staircase"),
    ],
)
def test_families(mechanism: str, name: str) -> None:
    assert family(parse(mechanism)) == name


def test_what_a_row_says_of_findings() -> None:
    truth = Fraction(1)  # of pure_dp(1) at delta 0
    values = [truth, truth * 3, truth * Fraction(1001, 1000), truth / 2]
    findings = [judge(Claim("pure_dp(1)", "epsilon", v, "0", "upper")) for v in values]
    assert counted(findings) == (3, 1)
    assert worst_grade(findings) == "gross"
    assert tightness(findings) == ("0.001", "2")
    assert (counted([]), worst_grade([]), tightness([])) == ((0, 0), "none", ("", ""))
    nothing = [judge(Claim("pure_dp(0)", "epsilon", 1, "0", "upper"))]  # relative to 0
    assert tightness(nothing) == ("", "")


@pytest.mark.slow
def test_the_rows_of_a_release(workload: str) -> None:
    board = scoreboard(["dp-accounting-rdp"], [workload])
    assert board.workloads == ("small",)
    gaussian, guarantees = board.rows
    assert gaussian.release.startswith("dp-accounting ")
    assert (gaussian.family, gaussian.claims, gaussian.right, gaussian.failed) == (
        "Gaussian",
        2,
        2,
        0,
    )
    assert float(gaussian.median) > 0.01
    assert gaussian.seconds > 0
    assert (guarantees.family, guarantees.claims, guarantees.unsupported) == ("guarantees", 0, 1)


@pytest.mark.slow
def test_one_release_in_two_interpreters_is_counted_once(workload: str) -> None:
    board = scoreboard(["dp-accounting-rdp"], [workload], pythons=[sys.executable])
    assert len(board.rows) == 2


@pytest.mark.slow
def test_an_interpreter_without_the_package_leaves_no_row(workload: str) -> None:
    alone = scoreboard(["dp-accounting-rdp"], [workload], pythons=["/usr/bin/false"])
    assert len(alone.rows) == 2


@pytest.mark.slow
def test_no_answer_is_a_failure(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: Callable[[Interview, Question], list[Claim]] = Interview.claims

    def claims(self: Interview, question: Question) -> list[Claim]:
        if str(question.mechanism) == "gaussian(2)":
            raise NoAnswer("it crashed")
        return answered(self, question)

    monkeypatch.setattr(Interview, "claims", claims)
    row = scoreboard(["dp-accounting-rdp"], [workload]).rows[0]
    assert (row.claims, row.right, row.failed) == (1, 1, 1)


@pytest.mark.slow
def test_time_runs_out_for_no_family_alone(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(100))  # every look at the clock is a second later
    monkeypatch.setattr(live, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    board = scoreboard(["dp-accounting-pld"], [workload], accountant_timeout=1)
    gaussian, guarantees = board.rows
    assert (gaussian.claims, gaussian.unasked, gaussian.failed) == (1, 1, 0)
    assert (guarantees.claims, guarantees.unasked) == (1, 0)


def test_nobody_to_ask(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Interview, "open", _refused)
    with pytest.raises(InvalidInput, match="none works in any of the interpreters"):
        scoreboard(["dp-accounting-rdp"], [workload])


def _refused(self: Interview) -> None:
    raise InvalidInput("absent")


# --- history --------------------------------------------------------------------------------------


def test_a_later_row_replaces_the_one_of_its_key_alone() -> None:
    newer = replace(ROW, right=8, wrong=0, worst="none", date="2026-02-03")
    other = replace(ROW, release="some-package 1.10.0")
    board = Scoreboard.of([ROW, other, newer], ["basics"])
    assert board.rows == (newer, other)  # by number: 1.9 stands before 1.10


@pytest.mark.slow
def test_history_stays_beside_what_is_measured(workload: str) -> None:
    history = Scoreboard.of([ROW], ["basics"])
    board = scoreboard(["dp-accounting-rdp"], [workload], history=history)
    assert board.workloads == ("basics", "small")
    assert [row.accountant for row in board.rows] == ["dp-accounting-rdp"] * 2 + ["some"]


def test_json_comes_back(tmp_path: Path) -> None:
    board = Scoreboard.of([ROW, replace(ROW, family="Laplace")], ["basics"])
    assert of_json(to_json(board)) == board
    path = tmp_path / "board.json"
    path.write_text(to_json(board))
    assert read_scoreboard(path) == board


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not a scoreboard in JSON"),
        ("[]", "it is not a scoreboard in JSON"),
        ('{"format": 2, "workloads": []}', "it is not a scoreboard in JSON"),
        ('{"format": 1, "workloads": [], "rows": []}', "format 1 is not accepted; use 2"),
        ('{"format": 2, "workloads": [], "rows": [{"family": "x"}]}', "a row has other keys"),
    ],
)
def test_what_is_no_scoreboard(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=f"scoreboard .*board.json: {said}"):
        read_scoreboard(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read the file: No such file"):
        read_scoreboard(tmp_path / "none.json")


# --- the page, and the command ----------------------------------------------------------------


def test_the_page() -> None:
    clean = replace(ROW, family="Laplace", right=8, wrong=0, worst="none")
    silent = replace(ROW, family="mixed", claims=0, right=0, wrong=0, worst="none")
    page = to_html(Scoreboard.of([ROW, clean, silent], ["basics"]))
    assert '<tr class="bad"><th scope="row">Gaussian</th>' in page
    assert '<tr class="good"><th scope="row">Laplace</th>' in page
    assert '<tr class="open"><th scope="row">mixed</th>' in page
    assert "87 %" in page  # 7 of 8, rounded down
    assert "http" not in page.replace("http-equiv", "")


def test_foreign_text_is_inert() -> None:
    page = to_html(Scoreboard.of([replace(ROW, release="<script>x")], ["basics"]))
    assert "<script>" not in page
    assert "&lt;script&gt;x" in page


@pytest.mark.slow
def test_the_command(workload: str, tmp_path: Path) -> None:
    data, page = tmp_path / "board.json", tmp_path / "board.html"
    data.write_text(to_json(Scoreboard.of([ROW], ["basics"])))
    arguments = ["audit", "scoreboard", "--accountant", "dp-accounting-rdp", "--workload", workload]
    files = ["--history", str(data), "--json", str(data), "--html", str(page)]
    result = invoke(*arguments, *files, "--python", sys.executable)
    assert result.exit_code == 0
    assert "Gaussian: 2 of 2 certified right, off by " in result.output
    assert "some (some-package 1.9.0), Gaussian: 7 of 8 certified right, 1 wrong" in result.output
    assert "2 not supported, 1 failed, 3 out of time, 1.25 s" in result.output
    assert len(read_scoreboard(data).rows) == 3
    assert "some-package 1.9.0" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--accountant", "nobody"], "unknown"),
        (["--python", "no/python"], "'no/python' is not a program"),
        (["--history", "none.json"], "cannot read the file"),
        (["--json", "no/folder/x.json"], "no/folder"),
    ],
)
def test_bad_input(arguments: list[str], said: str) -> None:
    result = invoke("audit", "scoreboard", *arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.splitlines()) == 1


# --- what an interrupted one goes on from, and tables ---------------------------------------------


@pytest.mark.slow
def test_a_scoreboard_goes_on_from_its_journal(
    workload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--accountant", "autodp", "--workload", workload, "--jobs", "1"]
    kept, first, second = (str(tmp_path / name) for name in ("kept.jsonl", "1.json", "2.json"))
    command = ["audit", "scoreboard", *arguments, "--journal", kept]
    whole = invoke(*command, "--json", first)
    assert whole.exit_code == 0, whole.output
    lines = Path(kept).read_bytes().splitlines(keepends=True)
    assert len(lines) == 7  # the settings, three answers, three findings
    Path(kept).write_bytes(b"".join(lines[:3]))
    asked: list[Question] = []
    ask = Interview.claims

    def counted_ask(self: Interview, question: Question) -> list[Claim]:
        asked.append(question)
        return ask(self, question)

    monkeypatch.setattr(Interview, "claims", counted_ask)
    resumed = invoke(*command, "--json", second)
    assert resumed.exit_code == 0, resumed.output
    assert len(asked) == 1
    rows, again = (read_scoreboard(path).rows for path in (first, second))
    assert [replace(row, seconds=0) for row in again] == [replace(row, seconds=0) for row in rows]
    assert all(row.seconds > 0 for row in again)


@pytest.mark.slow
def test_what_computed_stands_in_the_rows_and_on_the_page(workload: str) -> None:
    board = scoreboard(["autodp"], [workload])
    assert all(row.platform.startswith("computed on processor ") for row in board.rows)
    assert "; computed on processor Z80." in to_html(Scoreboard.of([ROW], ["basics"]))


def test_markdown(tmp_path: Path) -> None:
    odd = replace(ROW, claims=0, right=0, family="a|b<br>", median="", most="")
    text = to_markdown(Scoreboard.of([ROW, odd], ["basics"]))
    assert "\n| Gaussian | 8 | 87 % | gross | 1e-9 | 0.1 | 2 | 1 | 3 | 1.25 |\n" in text
    assert "\n| a&#124;b&#60;br&#62; | 0 |  |  |  |  | 2 | 1 | 3 | 1.25 |\n" in text
    assert "judged by dpexact 0.1.0; computed on processor Z80." in text
    assert {line.count("|") for line in text.splitlines() if line.startswith("|")} == {11}


@pytest.mark.parametrize("names", [("--json", "--markdown"), ("--html", "--journal")])
def test_one_file_for_two_is_refused(names: tuple[str, str], tmp_path: Path) -> None:
    path = str(tmp_path / "one")
    result = invoke("audit", "scoreboard", names[0], path, names[1], path)
    assert result.exit_code == 2
    assert "name another file" in result.output
