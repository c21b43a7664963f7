"""Every claim has a check or a reason, verdicts are not blurred, records are fresh."""

from concurrent.futures import BrokenExecutor, Future
from pathlib import Path

import pytest

from dpexact.errors import InvalidInput
from proofs_checks import verdicts
from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.page import page
from proofs_checks.record import fingerprint, read, recorded, stale
from proofs_checks.registry import Check, check, check_of, checks
from proofs_checks.runner import _result, run, run_one
from proofs_checks.verdicts import certified, declined, not_checkable, proved, refuted, repaired

ROOT = Path(__file__).parents[2]
CASES = Evidence("cases", "tried", cases=3)
LIST = Evidence("enumeration", "all tried", cases=4)
FACT = Evidence("identity", "a = a")


@pytest.mark.parametrize("source", SOURCES)
def test_every_claim_has_a_check_or_a_reason(source):
    pending = set((Path(__file__).parent / "pending" / f"{source}.txt").read_text().split())
    open_claims = {
        entry.id
        for entry in claims(source).values()
        if not entry.not_checkable and check_of(entry.id) is None
    }
    assert open_claims == pending  # remove an id from the file when its check is written


@pytest.mark.parametrize("source", SOURCES)
def test_records_and_pages_are_current(source):
    for entry in checks([source]):
        assert recorded(entry.name) is not None, f"run `dpexact prove {entry.name} --record`"
    names = {entry.name for entry in checks([source])}
    assert set(read(source)["findings"]) == names
    written = (ROOT / "docs" / "claims" / f"{source}.md").read_text()
    assert written == page(source), "run `python -m proofs_checks.page docs/claims`"


def test_the_library_has_not_changed_under_the_checks():
    assert stale() == []


def test_assumed_claims_exist_and_are_not_the_check_itself():
    for entry in checks():
        for name in entry.assumes:
            if name.partition(".")[0] in SOURCES and " " not in name:
                assert claim(name).id not in entry.ids


def test_catalogue_entries_are_complete():
    for source in SOURCES:
        for entry in claims(source).values():
            assert entry.source == source
            assert entry.place
            assert entry.statement


def test_proved_needs_more_than_cases():
    for evidence in [(), (CASES,), (LIST,)]:
        with pytest.raises(TypeError):
            proved("by magic", *evidence)
        with pytest.raises(TypeError):
            refuted({"x": 1}, "no", *evidence)
        with pytest.raises(TypeError):
            repaired("wrong", "right", *evidence)
    assert proved("normal form", CASES, FACT).verdict == "proved"


def test_the_other_verdicts_need_what_they_say():
    with pytest.raises(TypeError):
        certified("[0, 1]", CASES)
    with pytest.raises(TypeError):
        certified(" ", FACT)
    with pytest.raises(TypeError):
        verdicts.tested("nothing", FACT)
    with pytest.raises(TypeError):
        refuted({}, "no", FACT)
    with pytest.raises(TypeError):
        not_checkable("")
    assert verdicts.tested("pairs", CASES, LIST).finding == "7 exact cases: pairs"
    boxes = Evidence("intervals", "x > 0", cases=99)
    assert verdicts.tested("pairs", CASES, boxes).finding == "3 exact cases: pairs"
    assert certified("[0, 1]", LIST).finding == "on [0, 1]"
    assert refuted({"x": 1}, "no", FACT).finding == "witness x = 1: no"


def test_a_prover_that_declines_is_a_result():
    def give_up():
        raise Declined("stuck")

    def counterexample():
        raise Refuted("false", {"x": "1/2"})

    assert Check(("a",), give_up, "proved").result() == declined("stuck")
    found = Check(("a",), counterexample, "proved").result()
    assert found == declined("false (counterexample x = 1/2)")


def test_registration_refuses_unknown_and_double_ids():
    checks(["kov"])
    with pytest.raises(InvalidInput, match=r"did you mean 'kov\.cor5\.1'"):
        check("kov.cor5.1x", expects="proved")
    with pytest.raises(TypeError, match="two checks"):
        check("kov.cor5.1", expects="proved")
    with pytest.raises(TypeError, match="not checkable"):
        check("kov.lem1", expects="proved")
    with pytest.raises(TypeError):
        check("kov.thm2.1", expects="declined")


def test_an_unexpected_verdict_or_finding_is_a_problem(monkeypatch):
    entry = check_of("kov.thm3.1")
    changed = Check(entry.ids, lambda: proved("otherwise", FACT), "proved")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: changed)
    assert "the record" in run_one("kov.thm3.1").problem
    wrong = Check(entry.ids, entry.run, "refuted")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: wrong)
    assert run_one("kov.thm3.1").problem.startswith("expected refuted, found proved")
    broken = Check(entry.ids, lambda: 1 / 0, "proved")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: broken)
    assert "ZeroDivisionError" in run_one("kov.thm3.1").problem
    forged = Evidence("intervals", "x > 0", proof={"format": 1, "relation": "nonsense"})
    liar = Check(entry.ids, lambda: proved("forgery", forged), "proved")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: liar)
    assert "the checker rejects" in run_one("kov.thm3.1").problem


def test_fingerprints_see_code_and_not_comments(tmp_path, monkeypatch):
    def mark(text):
        (tmp_path / "marked.py").write_text(text)
        import importlib
        import inspect
        import linecache
        import sys

        sys.modules.pop("marked", None)
        linecache.clearcache()
        importlib.invalidate_caches()
        inspect.modulesbyfile.clear()
        return fingerprint("marked.f")

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    first = mark('def f(x):\n    """Doc."""\n    return x + 1\n')
    assert mark('def f(x):\n    """Other."""\n\n    return x + 1  # why\n') == first
    assert mark('def f(x):\n    """Doc."""\n    return x + 2  # longer\n') != first


def test_a_name_that_is_gone_is_stale():
    ghost = Check(("kov.thm3.1",), lambda: proved("x", FACT), "proved", about=("dpexact.no.f",))
    assert stale([ghost]) == ["kov.thm3.1 speaks of dpexact.no.f, which does not exist"]
    moved = Check(("kov.thm3.1",), lambda: proved("x", FACT), "proved", about=("dpexact.parse",))
    assert "has changed" in stale([moved])[0]


def test_a_lost_worker_is_an_outcome():
    future = Future()
    future.set_exception(BrokenExecutor("killed"))
    outcome = _result("kov.thm3.1", future)
    assert outcome.problem.startswith("expected proved, found declined: the worker was lost")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_smoke_selection_is_as_expected(jobs):
    names = [entry.name for entry in checks() if entry.smoke]
    seen = []
    outcomes = run(names[:4] if jobs > 1 else names, jobs, lambda done, total: seen.append(done))
    assert [outcome.problem for outcome in outcomes] == [""] * len(outcomes)
    assert seen == list(range(len(outcomes) + 1))
