"""``dpexact oracle list|export|check``."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from command_line import invoke

from dpexact.oracle import golden, suites, table

run = partial(invoke, "oracle")


def test_list_of_suites() -> None:
    lines = run("list").output.splitlines()
    assert len(lines) == len(suites()) + 1
    assert lines[-1] == f"{len(table())} rows"
    assert f"renyi: {suites()['renyi']} rows, R" in "\n".join(lines)
    told = json.loads(run("list", "--json").output)
    assert told["rows"] == len(table())
    assert {name: suite["rows"] for name, suite in told["suites"].items()} == suites()


def test_list_of_rows() -> None:
    lines = run("list", "--suite", "renyi", "--mechanism", "gaussian(10)^100").output.splitlines()
    assert lines[-1] == "6 rows"
    assert "renyi of gaussian(10)^100 at order=2: 1" in lines
    rows = json.loads(run("list", "--suite", "laplace", "--json").output)["rows"]
    assert len(rows) == suites()["laplace"]
    assert set(rows[0]) == set(golden.COLUMNS)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_check_of_no_rows_is_refused(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(golden.written(golden.select("laplace")[:rows]))
    done = run("check", "--table", str(path), "--suite", "renyi")
    assert done.exit_code == 2
    assert done.stderr == ("dpexact: no golden row matches: a check of none would show nothing\n")


def test_export_then_check(tmp_path: Path) -> None:
    path = tmp_path / "renyi.csv.gz"
    done = run("export", "-o", str(path), "--suite", "renyi")
    assert done.exit_code == 0, done.output
    rows = golden.read(path)
    assert done.output == f"{len(rows)} rows in {path}\n"
    done = run("check", "--table", str(path), "--sample", "5", "--seed", "3")
    assert done.exit_code == 0
    assert done.output.startswith("5 rows by ")
    assert done.output.endswith(" routes: 0 disagree\n")
    path.write_bytes(golden.written([*rows[:2], replace(rows[2], lower="0.1", upper="0.1")]))
    done = run("check", "--table", str(path), "--all")
    assert done.exit_code == 1
    assert "is not inside\n  the row says [0.1, 0.1]\n3 rows by " in done.output
    assert done.output.endswith(": 1 disagree\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--suite", "dpsg"], "suite: unknown name 'dpsg'; did you mean 'dpsgd'?"),
        (["export", "--suite", "dpsg"], "suite: unknown name 'dpsg'; did you mean 'dpsgd'?"),
        (["check", "--suite", "?"], "suite: unknown name '?'; known: allocation, basics"),
        (["export", "-o", "/"], "/: cannot write: it is a directory"),
        (["check", "--table", "gone"], "gone: cannot read: No such file or directory"),
        (["check", "--sample", "0"], "0 is not in the range x>=1"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert done.output.count("\n") == 1
