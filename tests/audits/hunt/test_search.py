"""The hunt finds what is wrong, makes it small, and accuses nobody who is right."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import invoke

from dpexact.audits import Claim, audit, judge, read_claims
from dpexact.audits.accountants import Interview, Registered, find
from dpexact.audits.claims_file import write_claims
from dpexact.audits.hunt import search
from dpexact.audits.hunt.search import Hunted, hunt
from dpexact.audits.hunt.sightings import Sighting
from dpexact.audits.runs import Failure
from dpexact.audits.workloads import Case
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Gaussian, parse

FILE = Path(__file__).with_name("hunted_accountants.py")
CASE = Case(parse("gaussian(1)"), "epsilon", real("1e-5"))
WORKLOAD = """
cases:
  - mechanism: [gaussian(7.3)^1234, "gaussian(3) * gaussian(2.5)^777", laplace(1)]
    epsilon_at_delta: 3.7e-5
"""


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    adapters = runpy.run_path(str(FILE))
    found = {
        adapter.name: Registered(adapter.name, adapter, FILE, attribute)
        for attribute in ("FORGETS", "CRASHES", "RIGHT")
        for adapter in [adapters[attribute]]
    }
    monkeypatch.setattr(search, "find", found.__getitem__)
    path = tmp_path / "few.yaml"
    path.write_text(WORKLOAD)
    return str(path)


@pytest.mark.slow
def test_a_violation_becomes_a_small_reproducer(workload: str, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    found = hunt("zz-forgets-steps", [workload], 1, 4, lambda *step: steps.append(step))
    [sighting] = found.sightings
    assert sighting.case.mechanism == parse("gaussian(1)^100")
    assert sighting.finding is not None
    assert (sighting.finding.verdict, sighting.weight) == ("unsound", 2)
    assert found.met[0] >= 1
    assert found.judged == found.asked + 1 >= 3  # once more in decimals
    assert found.run.asked == found.asked
    assert steps[0] == (0, 4)

    path = tmp_path / "found.yaml"
    write_claims(found.claims, path)
    assert read_claims(path) == found.claims
    report = audit(path)
    assert [finding.verdict for finding in report.findings] == ["unsound"]
    assert report.expectations == (1, 1)
    assert found.platform["processor"] in report.findings[0].claim.source


@pytest.mark.slow
def test_command(workload: str, tmp_path: Path) -> None:
    path = tmp_path / "found.yaml"
    command = ["audit", "hunt", "--workload", workload, "--seconds", "2", "--found", str(path)]
    result = invoke(*command, "--accountant", "zz-right")
    assert result.exit_code == 0, result.output
    assert "(seed 0): 0 distinct certified violations, 0 failures" in result.stdout
    assert "found.yaml is not written" in result.stderr
    assert not path.exists()
    result = invoke(*command, "--accountant", "zz-forgets-steps")
    assert result.exit_code == 1, result.output
    assert "1 distinct certified violations" in result.stdout
    assert "1 of 1 as expected" in result.stdout
    assert [claim.expect for claim in read_claims(path)] == ["unsound"]


@pytest.mark.slow
def test_a_crash_is_a_failure_and_no_violation(workload: str) -> None:
    found = hunt("zz-crashes", [workload], 3, 4)
    assert found.claims == []
    [failure] = {sighting.failure for sighting in found.sightings[:1]}
    assert failure is not None
    assert failure.reason == "ZeroDivisionError: no noise"
    mechanism = found.sightings[0].case.mechanism
    assert isinstance(mechanism, Gaussian)
    assert mechanism.sigma.value < 1
    assert found.run.failures[0] == failure


def test_the_worst_stands_first_and_noise_last() -> None:
    def sighting(claimed: str, elsewhere: str = "") -> Sighting:
        claim = Claim("pure_dp(1)", "epsilon", claimed, 0, "upper")
        other = judge(replace(claim, claimed=elsewhere)) if elsewhere else None
        return Sighting(Case(claim.mechanism, "epsilon", claim.at), judge(claim), elsewhere=other)

    failure = Sighting(CASE, failure=Failure("a", "b", "KeyError: 'c'"))
    listed = [
        sighting("0.9", "1.1"),
        sighting("0.9999999999999999"),
        failure,
        sighting("0.9999999", "0.99999999"),
        sighting("0.9", "0.8"),
    ]
    found = Hunted("someone", list(listed), dict(enumerate([5, 4, 3, 2, 1])))
    found.put_worst_first()
    assert found.sightings == [listed[4], listed[3], listed[2], listed[1], listed[0]]
    assert list(found.met.values()) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_vector_instructions_are_switched_off() -> None:
    pytest.importorskip("numpy")
    accountant = find("dp-accounting-pld")
    pytest.importorskip(accountant.accountant.module)
    with Interview(accountant) as interview:
        variables = search._without_vectors(interview)
    with Interview(accountant, variables=variables) as elsewhere:
        elsewhere.open()
    assert list(variables) == ["NPY_DISABLE_CPU_FEATURES"]
    assert elsewhere.platform == {**interview.platform, "vectors": ""}


@pytest.mark.slow
def test_who_is_right_is_not_accused(workload: str) -> None:
    found = hunt("zz-right", [workload], 0, 2)
    assert found.asked > 0
    assert found.sightings == []
    with pytest.raises(InvalidInput, match="none to write"):
        write_claims(found.claims, Path(workload))


def test_what_cannot_be_hunted(workload: str, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("cases:\n  - mechanism: laplace(1)\n    epsilon_at_delta: 1e-5\n")
    with pytest.raises(InvalidInput, match="zz-right answers none of the 1 cases"):
        hunt("zz-right", [str(path)], 0, 1)
    with pytest.raises(InvalidInput, match="seconds: 0"):
        hunt("zz-right", [workload], 0, 0)
    with pytest.raises(InvalidInput, match="seed"):
        hunt("zz-right", [workload], -1, 1)
