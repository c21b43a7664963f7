"""Live audits: real answers of installed accountants, judged; failures and absences reported."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke

from dpexact.audits import audit
from dpexact.audits.accountants import Interview, Limits, registry
from dpexact.audits.journal import Journal
from dpexact.audits.live import ask
from dpexact.errors import InvalidInput

WORKLOAD = """
description: three small cases
cases:
  - mechanism: [gaussian(1), pure_dp(0.1)^10, "staircase(1, 1/2)"]
    epsilon_at_delta: 1e-5
"""
HALVES = """
cases:
  - mechanism: gaussian(1)
    delta_at_epsilon: [1/2, 1, 2]
"""
FAILING = Path(__file__).parent / "wrong_accountants" / "failing_accountants.py"


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(WORKLOAD)
    return path


@pytest.fixture
def halves(tmp_path: Path) -> Path:
    path = tmp_path / "halves.yaml"
    path.write_text(HALVES)
    return path


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Registers the failing accountants of these names, and hides all others."""

    def registering(*attributes: str) -> None:
        (tmp_path / "zz_failing.py").write_text(FAILING.read_text())
        info = tmp_path / "zz_failing-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zz-failing\nVersion: 1.0\n")
        points = "".join(f"zz-{name.lower()} = zz_failing:{name}\n" for name in attributes)
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "zz_failing", raising=False)

        def ours(group: str) -> list[Any]:
            return [point for point in entry_points(group=group) if point.name.startswith("zz-")]

        monkeypatch.setattr(registry, "entry_points", ours)

    return registering


@pytest.mark.slow
def test_real_answers_are_judged_and_skips_reported(workload: Path) -> None:
    steps: list[tuple[int, int]] = []
    claims, [run] = ask(["dp-accounting-pld"], [str(workload)], lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]
    assert run.name == "dp-accounting-pld"
    assert [skip.case for skip in run.skipped] == [
        "epsilon of staircase(1, 0.5) at delta = 0.00001"
    ]
    assert (run.asked, run.failures, run.reason, run.python) == (2, (), "", "")
    assert list(run.versions) == ["dp-accounting"]
    assert {"processor", "python", "numpy", "scipy", "vectors"} == set(run.platform)
    report = audit(claims, runs=[run])
    assert [finding.verdict for finding in report.findings] == ["sound", "sound"]
    assert report.exit_code == 0
    assert report.accountants


def test_unknown_names_ask_nobody(workload: Path) -> None:
    with pytest.raises(InvalidInput, match="dp-accounting-pld"):
        ask(["dp-accounting-pdl"], [str(workload)])
    with pytest.raises(InvalidInput, match="basics"):
        ask(["dp-accounting-pld"], ["basisc"])
    with pytest.raises(InvalidInput, match="did you mean 'dp-accounting-pld'"):
        ask(["dp-accounting-pld"], ["basics"], pythons={"dp-accounting-pdl": sys.executable})


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_one_accountant_does_not_stop_the_others(
    halves: Path, register: Callable[..., None], jobs: int
) -> None:
    register("ABSENT", "EXITS", "HANGS", "LOST", "NAN", "UNASKED")
    limits = Limits(seconds=0.5)
    claims, runs = ask(["all"], [str(halves)], limits=limits, jobs=jobs)
    found = {run.name: run for run in runs}
    assert list(found) == [
        f"zz-{name}" for name in ("absent", "exits", "hangs", "lost", "nan", "unasked")
    ]
    assert [claim.at for claim in claims] == [claims[0].at] * 3  # one answer each of three
    assert found["zz-absent"].reason == (
        "accountant zz-absent: no-such-dist is not installed; pip install click"
    )
    assert found["zz-absent"].asked == 0
    assert "its adapter zz_failing:LOST does not load" in found["zz-lost"].reason
    failed = {
        "exits": "it ended with code 7",
        "hangs": "no answer within 0.5 s",
        "nan": "upper = nan",
    }
    for name, reason in failed.items():
        run = found[f"zz-{name}"]
        assert run.asked == 3
        assert {failure.reason for failure in run.failures} == {reason}
        assert [failure.call for failure in run.failures] == ["ask(1.0)", "ask(2.0)"]
        assert run.failures[0].case == "delta of gaussian(1) at epsilon = 1"
    assert len(found["zz-unasked"].skipped) == 3
    report = audit(claims, runs=runs)
    assert {finding.verdict for finding in report.findings} == {"sound"}
    assert report.exit_code == 3


def test_a_named_absent_accountant_is_a_mistake(
    halves: Path, register: Callable[..., None]
) -> None:
    register("ABSENT", "NAN")
    for named in (["zz-nan", "zz-absent"], ["all", "zz-absent"]):
        with pytest.raises(InvalidInput, match="no-such-dist is not installed"):
            ask(named, [str(halves)])


def test_all_absent_is_a_mistake(halves: Path, register: Callable[..., None]) -> None:
    register("ABSENT")
    with pytest.raises(InvalidInput, match=r"^accountant: none works here: .*no-such-dist"):
        ask(["all"], [str(halves)])


def test_the_reasons_of_many_that_are_absent_are_not_listed(
    halves: Path, register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    register("ABSENT")
    monkeypatch.setitem(ask.__globals__, "MOST_REASONS", 0)
    with pytest.raises(InvalidInput, match=r"^accountant: none of 1 works here, and 'dpexact acc"):
        ask(["all"], [str(halves)])


def test_interrupt_ends_the_asking(halves: Path, register: Callable[..., None]) -> None:
    register("HANGS", "NAN")

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(["zz-nan", "zz-hangs"], [str(halves)], interrupt, jobs=2)


@pytest.mark.slow
def test_command_names_failures_and_ends_with_three(
    halves: Path, register: Callable[..., None]
) -> None:
    register("ABSENT", "EXITS")
    arguments = "audit", "--accountant", "all", "--workload", halves, "--jobs", "1"
    result = invoke(*arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 3, result.output
    assert "zz-absent: not asked: accountant zz-absent: no-such-dist is not" in result.stdout
    assert "asked 3 cases in" in result.stdout
    assert "FAILED at 2" in result.stdout
    assert "delta of gaussian(1) at epsilon = 1 and 1 more: it ended with code 7" in result.stdout
    result = invoke(*f"audit --accountant zz-absent --workload {halves}".split())
    assert result.exit_code == 2
    assert "no-such-dist is not installed" in result.stderr


@pytest.mark.slow
def test_command_takes_interpreters_and_limits(halves: Path, register: Callable[..., None]) -> None:
    register("HANGS", "NAN")
    result = invoke(
        *f"audit --accountant all --workload {halves} --jobs 2 --answer-timeout 0.5 --memory 1024 "
        f"--python zz-nan={sys.executable}".split(),
        env={"COLUMNS": "400"},
    )
    assert "no answer within 0.5 s" in result.stdout
    assert f" in {sys.executable}): asked 3 cases" in result.stdout
    listed = invoke("accountants", "--json", "--python", sys.executable)
    infos = json.loads(listed.output)["accountants"]
    assert [info["python"] for info in infos] == [sys.executable] * 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--python", "/no/such/python"], "'/no/such/python' is not a program"),
        (["--python", "zz-nan="], "'' is not a program"),
        (["--python", sys.executable, "--python", sys.executable], "given twice for all"),
        (["--answer-timeout", "0"], "0"),
        (["--answer-timeout", "nan"], "nan is not a number of seconds"),
        (["--timeout", "inf"], "'--timeout': inf is not in the range"),
        (["--memory", "1"], "1"),
    ],
)
def test_command_refuses_bad_settings(given: list[str], said: str) -> None:
    result = invoke("audit", "--accountant", "dp-accounting-pld", *given)
    assert result.exit_code == 2
    assert said in result.stderr


def test_interpreters_need_an_accountant() -> None:
    result = invoke("audit", "some.yaml", "--python", sys.executable)
    assert result.exit_code == 2
    assert "--accountant" in result.stderr


@pytest.mark.slow
def test_command_writes_both_reports_and_says_what_was_skipped(
    workload: Path, tmp_path: Path
) -> None:
    html, data = tmp_path / "r.html", tmp_path / "r.json"
    result = invoke(
        *f"audit --accountant dp-accounting-pld --workload {workload}".split(),
        *("--html", html, "--json", data),
        env={"COLUMNS": "200"},
    )
    assert result.exit_code == 0, result.output
    assert "skipped 1 (dp-accounting-pld does not account for it)" in result.stdout
    assert "2 claims: 0 certified wrong, 2 certified right" in result.stdout
    record = json.loads(data.read_text())
    assert [claim["verdict"] for claim in record["claims"]] == ["sound", "sound"]
    assert "<html" in html.read_text()


def test_unwritable_targets_are_refused_before_the_work(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "r.html"):
        result = invoke("audit", "absent-too.yaml", "--html", target)
        assert result.exit_code == 2
        assert "cannot write" in result.stderr


@pytest.mark.slow
def test_accountants_are_listed_with_versions() -> None:
    result = invoke("accountants")
    assert result.exit_code == 0
    assert "dp-accounting-pld: dp-accounting " in result.output
    assert "basics" in result.output


@pytest.mark.slow
def test_answers_in_the_journal_are_not_asked_again(
    halves: Path, tmp_path: Path, register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    register("EXITS", "NAN")
    names = sorted(registry.names())
    with Journal(tmp_path / "j", {}) as journal:
        first = ask(names, [str(halves)], journal=journal)
    monkeypatch.setattr(Interview, "claims", None)
    with Journal(tmp_path / "j", {}) as journal:
        claims, runs = ask(names, [str(halves)], journal=journal)
    assert claims == first[0]
    assert [run.failures for run in runs] == [run.failures for run in first[1]]
    assert [len(run.failures) for run in runs] == [2, 2]
    assert len(claims) == 2
