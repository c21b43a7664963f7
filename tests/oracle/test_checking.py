"""The table's own audit agrees with true rows and convicts false ones, by each route."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpexact.mechanisms import parse
from dpexact.oracle import Case, checking, golden, table
from dpexact.oracle.checking import check, doubted, sample
from dpexact.oracle.grids import Question
from dpexact.oracle.rows import export, row, simple_form

#: Two neighbouring relations in one mechanism: no method can account for it.
MIXED_NEIGHBOURS = "poisson(gaussian(1), 0.5) * fixed_size(gaussian(1), 1, 10)"


def question(text: str, quantity: str, argument: str, direction: str = "both") -> Case:
    found = row(Question(parse(text), quantity, argument, direction, ("mine",)))  # type: ignore[arg-type]
    assert isinstance(found, Case), found
    return found


@pytest.mark.slow
def test_a_sample_of_the_table_is_confirmed() -> None:
    quick = [case for case in table() if case.method != "contour"]
    for doubt in check(sample(quick, 25, 1)):
        assert doubt.disagreement == "", doubt
        assert doubt.routes


def test_rows_are_reproduced_to_the_last_digit() -> None:
    held = {(c.mechanism, c.quantity, c.argument, c.direction): c for c in table()}
    for case in sample(golden.select("dpsgd", quantity="epsilon"), 10, 2):
        asked = (case.mechanism, case.quantity, case.argument, case.direction)
        again = question(*asked)
        assert replace(again, suites=held[asked].suites) == held[asked]


RENYI = ["binomial", "double series", "trapezoid"]


@pytest.mark.parametrize(
    ("case", "routes"),
    [
        (question("gaussian(2)^3", "epsilon", "1e-5"), ["closed", "delta at", "contour"]),
        (question("gaussian(2)^3", "delta", "1"), ["closed", "contour"]),
        (question("pure_dp(1/10)^9", "epsilon", "1/50"), ["optimal", "delta at"]),
        (question("poisson(gaussian(1), 0.1)", "renyi", "4", "remove"), RENYI),
        (question("approx_dp(1, 0.1)", "epsilon", "0.01"), ["optimal"]),
    ],
)
def test_routes_and_false_rows(case: Case, routes: list[str]) -> None:
    doubt = doubted(case)
    assert doubt.disagreement == ""
    assert len(doubt.routes) == len(routes), doubt.routes
    assert all(taken.startswith(name) for taken, name in zip(doubt.routes, routes, strict=True))
    false = replace(case, lower="0.001", upper="0.0010000000000000001")
    assert "is not inside" in doubted(false).disagreement


def test_the_lattice_engine_is_a_route_on_request() -> None:
    case = question("gaussian(2)^2", "epsilon", "1e-3")
    assert "lattice" in doubted(case, lattice=True).routes[-1]


def test_each_route_convicts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    true = question("gaussian(2)^3", "epsilon", "1e-5")
    false = replace(true, lower=true.upper, upper="9")
    ask = checking._ask

    def blind(case: Case, digits: int, method: str) -> object:
        if method == "auto" and case.quantity == "epsilon":
            return replace(case.enclosure, method="blind")
        return ask(case, digits, method)

    monkeypatch.setattr(checking, "_ask", blind)
    assert doubted(true).disagreement == ""
    shifted = replace(true, lower="4", upper="4.001")
    assert doubted(shifted).disagreement == "delta at the ends is on one side"
    monkeypatch.setattr(checking, "_brackets", lambda case: True)
    assert doubted(shifted).disagreement.startswith("contour: ")
    assert doubted(false).disagreement == ""  # overlaps, so this route cannot tell


def test_a_row_that_cannot_be_asked_is_a_disagreement() -> None:
    case = replace(table()[0], mechanism=MIXED_NEIGHBOURS)
    assert doubted(case).disagreement.startswith("failed: ")


def test_sample_is_that_of_the_seed_and_in_order() -> None:
    cases = table()[:50]
    assert sample(cases, 5, 3) == sample(cases, 5, 3) != sample(cases, 5, 4)
    assert sample(cases, 99, 3) == list(cases)


@pytest.mark.slow
def test_export_is_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    rows, left_out = export(["renyi"], progress=lambda done, total: seen.append((done, total)))
    assert [c for c in table() if "renyi" in c.suites] == rows
    assert left_out == {}
    assert seen[-1] == (len(rows), len(rows))
    pooled, _ = export(["renyi"], jobs=2)
    assert pooled == rows


@pytest.mark.slow
def test_questions_without_forty_digits_have_no_row() -> None:
    beyond = Question(parse("fixed_size(gaussian(1), 10, 100)^2"), "delta", "1", "both")
    assert str(row(beyond)).endswith(" of 40 digits")
    absent = Question(parse(MIXED_NEIGHBOURS), "delta", "1", "both")
    assert isinstance(row(absent), str)


@pytest.mark.parametrize(
    ("text", "family", "parameters"),
    [
        ("pure_dp(log(3))^4", "pure_dp", {"eps": 1.0986122886681098, "steps": 4}),
        (
            "discrete_gaussian(2, 3)",
            "discrete_gaussian",
            {"sigma": 2.0, "sensitivity": 3, "steps": 1},
        ),
        ("poisson(gaussian(1)^2, 0.5)", "", {}),
        ("gaussian(1) * laplace(1)", "", {}),
        ("poisson(poisson(gaussian(1), 0.5), 0.5)", "", {}),
    ],
)
def test_simple_forms(text: str, family: str, parameters: dict[str, float]) -> None:
    assert simple_form(parse(text)) == (family, parameters)
