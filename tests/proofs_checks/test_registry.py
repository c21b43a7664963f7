"""Every claim has a check or a reason, verdicts are not blurred, records are fresh."""

from concurrent.futures import BrokenExecutor, Future
from pathlib import Path

import pytest
import sympy

from dpexact.errors import InvalidInput
from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.page import page
from proofs_checks.prover.goals import step
from proofs_checks.prover.symbolic import identity
from proofs_checks.record import fingerprint, read, recorded, stale
from proofs_checks.registry import Check, check, check_of, checks
from proofs_checks.runner import _result, run, run_one
from proofs_checks.statements import reading
from proofs_checks.verdicts import argued, argued_on, contradicted, corrected, declined, judge

ROOT = Path(__file__).parents[2]
CASES = Evidence("cases", "tried", cases=3)
LIST = Evidence("enumeration", "all tried", cases=4)
NUMBERS = Evidence("computation", "1 < 2")
UNFOLDING = Evidence("unfolding", "written out, both sides are a")
FACT = Evidence("identity", "a = b")


@pytest.mark.parametrize("source", SOURCES)
def test_every_claim_has_a_check_or_a_reason(source):
    for entry in claims(source).values():
        assert entry.not_checkable or check_of(entry.id) is not None, entry.id


@pytest.mark.parametrize("source", SOURCES)
def test_records_and_pages_are_current(source):
    for entry in checks([source]):
        assert recorded(entry.name) is not None, f"run `dpexact prove {entry.name} --record`"
    assert set(read(source)["claims"]) == {each for entry in checks([source]) for each in entry.ids}
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
            assert entry.said
            assert entry.statement


def test_proved_needs_more_than_cases():
    for facts in [(CASES,), (LIST,)]:
        assert judge(argued("by magic", *facts)).verdict == "tested"
    for derivation in [
        argued("by magic"),
        argued("by magic", UNFOLDING),
        corrected("slip", "wrong", "right"),
        contradicted({"x": 1}, "no", UNFOLDING),
    ]:
        assert judge(derivation) == declined("no fact establishes anything")
    assert judge(argued("normal form", CASES, FACT)).verdict == "proved"


def test_without_a_typed_statement_nothing_is_more_than_derived():
    assert judge(argued("normal form", FACT)).strength == "derived"
    assert judge(argued("numbers", NUMBERS)).strength == "finite"
    assert judge(argued("cases", CASES)).strength == "finite"
    assert judge(argued_on("[0, 1]", FACT)).strength == "finite"


def test_every_mechanism_is_private_cannot_be_proved():
    with pytest.raises(Declined, match="says nothing"):
        identity(1, 1, {})
    x = sympy.Symbol("x")
    with pytest.raises(Declined, match="says nothing"):
        identity(x - x + x, x, {x: (0, 1)})
    with pytest.raises(TypeError):
        reading.statement({"then": ["every_mechanism_is_private"]})


def test_the_verdict_follows_from_the_statement():
    square = reading.statement({"for_all": {"x": "real"}, "then": ["(x + 1)^2 = x^2 + 2*x + 1"]})
    assert judge(argued("expand", FACT), square).strength == "complete"
    assert judge(argued("expand", FACT), square, restricts="x real").strength == "derived"
    false = reading.statement({"for_all": {"x": "real"}, "then": ["(x + 1)^2 = x^2 + 2*x + 2"]})
    found = judge(argued("expand", FACT), false)
    assert found.verdict == "declined"
    assert "counterexample x = " in found.finding
    sampled = reading.statement(
        {
            "for_all": {"P": "law", "Q": "law", "K": "kernel"},
            "then": ["tradeoff(push(K, P), push(K, Q)) >= tradeoff(P, Q)"],
        }
    )
    assert judge(argued("cases"), sampled).verdict == "tested"
    found = judge(argued("a written proof", FACT), sampled)
    assert (found.verdict, found.strength) == ("proved", "derived")


def test_a_fact_about_a_constant_is_none_about_a_variable():
    fact = step("e > 2", {})
    with pytest.raises(TypeError, match="names a constant"):
        judge(argued("2.7", fact), reading.statement({"for_all": {"e": "real"}, "then": ["e > 2"]}))


def test_a_typed_refutation_needs_its_witness():
    larger = reading.statement({"for_all": {"x": "real > 0"}, "then": ["x^2 > x"]})
    derivation = contradicted({"x": "1/2"}, "it is smaller", NUMBERS)
    assert judge(derivation, larger).verdict == "declined"
    assert judge(derivation, larger, {"x": "2"}).verdict == "declined"
    assert judge(derivation, larger, {"x": "-1"}).verdict == "declined"
    assert judge(derivation, larger, {"x": "1/2"}).strength == "complete"


def test_derivations_need_what_they_say():
    with pytest.raises(TypeError):
        argued_on(" ", FACT)
    with pytest.raises(TypeError):
        contradicted({}, "no", FACT)
    with pytest.raises(TypeError):
        corrected("fluke", "wrong", "right", FACT)
    assert judge(argued("pairs", CASES, LIST)).finding == "7 exact cases: pairs"
    assert judge(argued_on("[0, 1]", LIST)).finding == "on [0, 1]"
    assert judge(argued_on("[0, 1]", LIST)).verdict == "certified"
    assert judge(contradicted({"x": 1}, "no", FACT)).finding == "witness x = 1: no"
    assert judge(corrected("slip", "wrong", "right", FACT)).repair_kind == "slip"


def test_a_prover_that_declines_is_a_result():
    def give_up():
        raise Declined("stuck")

    def counterexample():
        raise Refuted("false", {"x": "1/2"})

    assert Check(("a",), give_up, "proved").results() == {"a": declined("stuck")}
    found = Check(("a",), counterexample, "proved").results()["a"]
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
    changed = Check(entry.ids, lambda: argued("otherwise", FACT), "proved")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: changed)
    assert "the record" in run_one("kov.thm3.1").problem
    wrong = Check(entry.ids, entry.run, "refuted")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: wrong)
    assert run_one("kov.thm3.1").problem.startswith("expected refuted, found proved")
    broken = Check(entry.ids, lambda: 1 / 0, "proved")
    monkeypatch.setattr("proofs_checks.runner.check_of", lambda name: broken)
    assert "ZeroDivisionError" in run_one("kov.thm3.1").problem
    forged = Evidence("intervals", "x > 0", proof={"format": 1, "relation": "nonsense"})
    liar = Check(entry.ids, lambda: argued("forgery", forged), "proved")
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
    ghost = Check(("kov.thm3.1",), lambda: argued("x", FACT), "proved", about=("dpexact.no.f",))
    assert stale([ghost]) == ["kov.thm3.1 speaks of dpexact.no.f, which does not exist"]
    moved = Check(("kov.thm3.1",), lambda: argued("x", FACT), "proved", about=("dpexact.parse",))
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
