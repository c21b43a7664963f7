"""``audit``, ``audit hunt`` and ``audit bench``: which of them a command line means."""

from pathlib import Path

import pytest
from command_line import invoke

from dpexact.audits import bench
from dpexact.audits.hunt import search
from dpexact.audits.hunt.search import Hunted
from dpexact.audits.runs import AccountantRun

RIGHT = "mechanism,claims,epsilon,delta,kind\npure_dp(1),epsilon,1,0,upper\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("claims.csv", "hunt", "bench"):
        (tmp_path / name).write_text(RIGHT)
    return tmp_path


@pytest.fixture
def hunted(monkeypatch):
    """The arguments of every hunt, none of which takes place."""
    seen = []

    def noted(name, workloads, seed, seconds, progress, **options):
        seen.append((name, workloads, seed, seconds, options["memory"]))
        return Hunted([], [], AccountantRun(name), 0, 0.0)

    monkeypatch.setattr(search, "hunt", noted)
    return seen


def run(*arguments):
    return invoke("audit", *arguments, "--jobs", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        ("claims.csv",),
        ("--digits", "20", "claims.csv"),
        ("./hunt",),
        ("./bench",),
        ("--timeout", "60", "hunt"),
    ],
    ids=str,
)
def test_files_are_audited_unless_a_command_comes_first(arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "1 claim: 0 certified wrong, 1 certified right" in result.output


def test_after_two_dashes_all_are_files():
    result = invoke("audit", "--jobs", "1", "--", "hunt", "bench")
    assert "2 claims: 0 certified wrong, 2 certified right" in result.output
    result = invoke("audit", "--jobs", "1", "--", "--hunt")
    assert result.exit_code == 2
    assert "--hunt: cannot read the file" in result.stderr


@pytest.mark.parametrize("call", [("hunt",), ("--hunt",)])
def test_the_hunt_by_name_and_by_flag(call, hunted):
    options = ("--accountant", "one", "--workload", "basics", "--seed", "3", "--seconds", "2")
    result = run(*call, *options, "--memory", "512")
    assert result.exit_code == 0, result.output
    result = run(*options, *call[1:], "claims.csv", "--hunt")
    assert "1 claim: 0 certified wrong" in result.output  # the files beside what was found
    assert hunted == [("one", ("basics",), 3, 2.0, 512), ("one", ("basics",), 3, 2.0, None)]


@pytest.mark.parametrize("call", [("bench",), ("--bench",), ("--digits", "20", "--bench")])
def test_the_bench_by_name_and_by_flag(call, monkeypatch):
    monkeypatch.setattr(bench, "bench", list)
    assert "0 claims:" in run(*call).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bench", "a.yaml"), "unexpected extra argument (a.yaml)"),
        (("--bench", "--accountant", "opendp"), "No such option '--accountant'"),
        (("hunt", "--accountant", "all"), "--accountant: name those to hunt"),
        (("--hunt",), "the hunt needs --accountant NAME to ask"),
        (("--accountant", "opendp", "--found", "f.yaml"), "No such option '--found'"),
        (("claims.csv", "--scheduler", "tcp://a:1"), "--jobs: not with --scheduler"),
        (("hunt", "--accountant", "a", "--found", "no/f.csv"), "its folder does not exist"),
        ((), "give a claims file, --claim or --accountant NAME"),
    ],
    ids=str,
)
def test_usage(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ((), "dpexact audit [OPTIONS] [CLAIMS]... | COMMAND ..."),
        (("hunt",), "dpexact audit hunt [OPTIONS] [CLAIMS]..."),
        (("bench",), "dpexact audit bench [OPTIONS]"),
    ],
)
def test_each_has_help_with_examples(name, usage):
    said = invoke("audit", *name, "--help").output
    assert said.startswith(f"Usage: {usage}\n")
    assert f"  dpexact {' '.join(('audit', *name))} " in said.partition("Examples:")[2]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("dpexact audit h", ["plain,hunt", "file,h"]),
        ("dpexact audit a.csv h", ["file,h"]),
        ("dpexact audit hunt --see", ["plain,--seed"]),
        ("dpexact audit --hunt --see", ["plain,--seed"]),
        ("dpexact audit --answer", ["plain,--answer-timeout"]),
    ],
)
def test_completion(typed, offered):
    count = str(len(typed.split()) - 1)
    asked = {"_DPEXACT_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": count}
    assert invoke(env=asked).output.split() == offered


@pytest.mark.parametrize(
    "arguments",
    [
        ("claims.yaml", "--seed", "3", "--seconds", "9"),
        ("--bench", "--memory", "4000", "--answer-timeout", "5", "--seed", "1", "--help"),
        ("--hunt", "--answer-timeout", "5", "--help"),
    ],
)
def test_options_that_had_no_effect_are_still_taken(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = "mechanism: pure_dp(1), claims: delta, delta: 1, epsilon: 0, kind: upper, source: here"
    Path("claims.yaml").write_text(f"claims:\n- {{{row}}}\n")
    done = invoke("audit", *arguments)
    assert done.exit_code == 0, done.output
    assert "--answer-timeout" not in done.output
