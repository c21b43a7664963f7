"""Workloads hold the questions that their files state, exactly, and refuse all else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from oracles import SCALE

import dpexact
from dpexact.accounting.profiles import profile
from dpexact.audits.workloads import Case, load, names
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Gaussian, Poisson, parse


def test_built_in_workloads_are_documented() -> None:
    assert {"basics", "dpsgd"} <= set(names())
    for name in names():
        workload = load(name)
        assert workload.name == name
        assert workload.description
        assert len(set(map(str, workload.cases))) == len(workload.cases)


def test_every_case_has_a_certified_accounting() -> None:
    for name in names():
        for case in load(name).cases:
            profile(case.mechanism)


@pytest.mark.parametrize("name", sorted(set(names()) - {"basics", "dpsgd"}))
def test_cases_are_answered(name: str) -> None:
    cases = load(name).cases
    assert 60 <= len(cases) <= 200
    for case in cases[:: max(1, int(12 / SCALE))]:
        if case.quantity == "beta":
            found = dpexact.tradeoff(case.mechanism)(case.at)
        else:
            ask = dpexact.epsilon if case.quantity == "epsilon" else dpexact.delta
            found = ask(case.mechanism, case.at, direction=case.direction)
        assert found.lower <= found.upper


def test_basics_can_be_accounted_for() -> None:
    cases = load("basics").cases
    assert 40 <= len(cases) <= 60
    assert {case.quantity for case in cases} == {"epsilon", "delta"}
    for case in cases:
        profile(case.mechanism)
    assert Case(parse("gaussian(100)^10000"), "epsilon", real("1e-10")) in cases


def test_dpsgd_trains_in_both_directions() -> None:
    cases = load("dpsgd").cases
    for case in cases:
        [(step, count)] = case.mechanism.steps().items()
        assert isinstance(step, Poisson)
        assert isinstance(step.mechanism, Gaussian)
        assert 0 < step.q.value < Fraction(1, 2)
        assert Fraction(1, 2) <= step.mechanism.sigma.value <= 30
        assert 1 <= count <= 10**5
    asked = {(case.mechanism, case.quantity, case.at) for case in cases}
    assert len(cases) == 2 * len(asked)
    assert {case.direction for case in cases} == {"remove", "add"}
    assert len({case.mechanism for case in cases}) >= 60


def test_file_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "cases:\n"
        "  - mechanism: [gaussian(0.1), 'pure_dp(log(3))^2']\n"
        "    delta_at_epsilon: [0.1, 1/3]\n"
        "    direction: [add, both]\n"
        "  - mechanism: gaussian(0.10)\n"
        "    delta_at_epsilon: 1e-1\n"
        "    epsilon_at_delta: 1e-5\n"
    )
    workload = load(str(path))
    assert (workload.name, workload.description) == ("own", "")
    noise, response = parse("gaussian(1/10)"), parse("pure_dp(log(3))^2")
    tenth, third = real(Fraction(1, 10)), real(Fraction(1, 3))
    assert workload.cases == (
        Case(noise, "delta", tenth, "add"),
        Case(noise, "delta", tenth, "both"),
        Case(noise, "delta", third, "add"),
        Case(noise, "delta", third, "both"),
        Case(response, "delta", tenth, "add"),
        Case(response, "delta", tenth, "both"),
        Case(response, "delta", third, "add"),
        Case(response, "delta", third, "both"),
        Case(noise, "epsilon", real(Fraction(1, 10**5)), "both"),
    )
    assert str(workload.cases[0]) == "delta of gaussian(0.1) at epsilon = 0.1, add"
    assert str(workload.cases[-1]) == "epsilon of gaussian(0.1) at delta = 0.00001"


GROUP = "cases:\n  - mechanism: gaussian(1)\n"
REFUSED = {
    "": "the file is empty: expected a mapping with the key 'cases'",
    "- 1": "line 1: expected a mapping with the key 'cases'",
    "case: []": "line 1: unknown key 'case'; did you mean 'cases'?",
    "description: mine": "line 1: key 'cases' is missing",
    "cases: []": "line 1: the list is empty",
    "cases:\n  - gaussian(1)": "line 2: expected a mapping with the key 'mechanism'",
    GROUP: "line 2: expected one of the keys epsilon_at_delta, delta_at_epsilon",
    "cases:\n  - direction: add": "line 2: key 'mechanism' is missing",
    GROUP
    + "    epsilon_at: 1": "line 3: unknown key 'epsilon_at'; did you mean 'epsilon_at_delta'?",
    GROUP + "    mechanism: gdp(1)": "line 3: key 'mechanism' is given twice",
    GROUP + "    epsilon_at_delta: 2": "line 3: delta: 2 is not accepted; must be >= 0 and <= 1",
    GROUP + "    delta_at_epsilon: [1,\n      x]": "line 4: epsilon: column 1 of 'x'",
    GROUP + "    delta_at_epsilon: []": "line 3: the list is empty",
    GROUP + "    delta_at_epsilon: [[1]]": "line 3: expected text or a number",
    GROUP + "    delta_at_epsilon:": "line 3: expected text or a number",
    GROUP
    + "    delta_at_epsilon: 1\n    direction: left": "line 4: direction: 'left' is not accepted; "
    "use remove, add, both",
    "cases:\n  - mechanism: [gdp(1),\n    gdp(]": "line 3: mechanism: ",
    "cases: {": "line 2: not valid YAML: ",
    "\x00\x01": "not valid YAML: ",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusal_names_file_line_and_key(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load(str(path))
    said = str(caught.value)
    assert said.startswith(f"workload {path}: {REFUSED[text]}")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("basic", "workload: unknown name 'basic'; did you mean 'basics'?, or a YAML file"),
        ("x" * 300, "workload: unknown name"),
        ("zz", "workload: unknown name 'zz'; known: basics, discrete-gaussian, dpsgd, "),
        ("zz.yaml", "workload zz.yaml: cannot read the file: No such file or directory"),
        ("/", "workload /: cannot read the file: Is a directory"),
        ("a\x00.yaml", "workload a\\x00.yaml: cannot read the file: "),
    ],
)
def test_what_is_no_workload(name: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(name)
    assert str(caught.value).startswith(said)


def test_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    with pytest.raises(InvalidInput, match="cannot read the file: not UTF-8 text"):
        load(str(path))
