"""Histories as mechanisms: Opacus's records, tables of steps."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import pytest
from command_line import invoke

import dpexact
from dpexact import approx_dp, epsilon, epsilon_along, gaussian, poisson
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Composition
from dpexact.mechanisms.base import compose
from dpexact.mechanisms.table import Table
from dpexact.training.history import from_opacus_history, from_rows
from dpexact.training.logs import read_log

# --- Opacus ---------------------------------------------------------------------------------------


def test_the_history_of_opacus():
    rows = [(1.1, 0.25, 100), (2.0, 0.25, 5), (1.1, 0.25, 1), (0.0, 0.5, 2), (1.0, 1.0, 3)]
    found = from_opacus_history(rows)
    assert found == from_opacus_history({"history": rows, "mechanism": "prv"})
    quarter = poisson(gaussian(1.1), "1/4")
    assert found.steps() == {
        quarter: 101,
        poisson(gaussian(2), "1/4"): 5,
        poisson(approx_dp(0, 1), "1/2"): 2,
        gaussian(1): 3,
    }


@pytest.mark.parametrize(
    ("history", "named"),
    [
        ([], "no step"),
        ([(1.0, 0.5, 0)], "no step"),
        (None, "history: not accepted"),
        ({"mechanism": "rdp"}, "history: not accepted"),
        ([(1.0, 0.5)], "row 1: .*sigma, q, steps"),
        ([(1.0, 0.5, 3), (-1.0, 0.5, 3)], "row 2: sigma: -1"),
        ([(1.0, 1.5, 3)], "row 1: q: 1.5"),
        ([(1.0, 0.5, 3.5)], "row 1: steps: 3.5"),
        ([3], "row 1: 3 is not accepted"),
        (["111"], "row 1: '111' is not accepted"),
        ([(None, 0.5, 3)], "row 1: "),
        ([{"1": 0, "0.5": 0, "3": 0}], "row 1: .*sigma, q, steps"),
        ([{1, 0.5, 3}], "row 1: .*sigma, q, steps"),
        ([b"111"], "row 1: .*sigma, q, steps"),
    ],
)
def test_what_is_no_history_is_refused(history, named):
    with pytest.raises(InvalidInput, match=named):
        from_opacus_history(history)


# --- files ----------------------------------------------------------------------------------------


def test_a_table_of_steps_in_any_order(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(" steps ,q,Sigma\n3,1/4,1.1\n\n2,0.25,1.1\n1,1,2\n")
    assert read_log(path) == poisson(gaussian("1.1"), "1/4") ** 5 * gaussian(2)


def test_rows_are_rounded_to_what_is_at_most_as_private(tmp_path):
    rows = [("1.2349", "0.01001", 3), ("1.2341", "0.01009", 4), ("1.2", "0.99999", 1), (2, 1, 1)]
    coarse = from_rows(rows, figures=3)
    assert coarse == from_rows([("1.23", "0.0101", 7), ("1.2", 1, 1), (2, 1, 1)])
    fine = from_rows(rows)
    for direction in ("add", "remove"):
        truth = dpexact.epsilon(fine, "1e-5", 10, direction)
        assert truth < dpexact.epsilon(coarse, "1e-5", 10, direction)
    path = tmp_path / "log.csv"
    path.write_text("sigma,q,steps\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    assert read_log(path, figures=3) == coarse
    assert from_opacus_history(rows, figures=3) == coarse
    for wrong in (0, 2.5, 101):
        with pytest.raises(InvalidInput, match="figures: "):
            from_rows(rows, figures=wrong)
    arguments = ["log", str(path), "--delta", "1e-5", "--figures", "3"]
    record = json.loads(invoke(*arguments, "--json").output)
    assert record["bound"] == "upper"
    said = invoke(*arguments).output
    assert said.startswith(f"epsilon <= {record['safe']}\n")
    assert "rounded down and q up to 3 figures: an upper bound" in said


def test_a_long_history_says_what_it_takes_before_it_is_answered(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("dpexact.cli.training._SECONDS_A_ROW", 0.1)
    monkeypatch.setattr(
        dpexact, "epsilon", lambda *_: asked.append(1) or dpexact.Enclosure.exact(Fraction(1))
    )
    path = tmp_path / "log.csv"
    for distinct, said in ((599, ""), (601, "takes 1 min or more"), (1_800, "takes 3 min or more")):
        path.write_text("sigma,q,steps\n" + "".join(f"1,1/{n + 2},1\n" for n in range(distinct)))
        result = invoke("log", path, "--delta", "1e-5")
        if said:
            assert f"{distinct:,} steps differ in sigma or q: this {said}" in result.stderr
            assert result.stderr.count("\n") == 1
        else:
            assert (result.exit_code, result.stderr) == (0, "")


def test_the_verb(tmp_path):
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"history": [[1.5, 0.25, 10]], "mechanism": "rdp"}))
    result = invoke("log", path, "--delta", "1e-5", "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    assert record["mechanism"] == "poisson(gaussian(1.5), 0.25)^10"
    said = invoke("log", path, "--delta", "1e-5").output
    assert said.startswith(f"epsilon <= {record['safe']}\n")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "it names nothing"),
        ("sigma,q\n1,1\n", "it names sigma, q"),
        ("sigma,q,steps\x1b[2J\n1,1,1\n", r"it names sigma, q, steps\x1b[2j"),
        ("x" * 10_000, "it names xxx"),
        ("x" * 200_000, "line 1: field larger"),
        ("sigma,q,steps\n", "no step"),
        ("sigma,q,steps\n1,0.5\n", "line 2: "),
        ("sigma,q,steps\n1,0.5,1\n1,nan,1\n", "line 3: q: nan"),
        ("sigma,q,steps\n\n1,0.5,1\n\n\n1,nan,1\n", "line 6: q: nan"),
        ('sigma,q,steps\n1,0.5,"1\n0"\n', r"line 3: steps: column 3 of '1\n0'"),
        ('{"history": [', "line 1"),
        ("[" * 100_000, "nested too deep"),
        ('{"history": [[1, 0.5, 2]], "history": [[9, 0.5, 2]]}', "'history' is given twice"),
        ('{"class_name": "NoOpDpEvent", "class_name": "GaussianDpEvent"}', "given twice"),
        ('{"class_name": "RepeatAndSelectDpEvent"}', "has no event"),
        ('{"class_name": "UnsupportedDpEvent"}', "UnsupportedDpEvent: "),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": -1}', "noise_multiplier: -1"),
        ('{"class_name": "ComposedDpEvent", "events": 3}', "events: '3' is not a list"),
        ('{"class_name": "ComposedDpEvent", "events": [3]}', "'3' is not a DpEvent"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": [1]}', "noise_multiplier: "),
        (
            '{"class_name": "MixtureOfGaussiansDpEvent", "standard_deviation": 1,'
            ' "sensitivities": [1], "sampling_probs": []}',
            "sampling_probs: ",
        ),
        ('{"class_name": "noise"}', "is not a DpEvent"),
        ('{"history": 3}', "history: not accepted"),
        ("sigma,q,steps\n1," + "5" * 200_000 + ",1\n", "line 2: field larger"),
        ("\udcff", "cannot read"),
    ],
)
def test_files_that_are_no_log_are_one_line_and_exit_code_2(tmp_path, text, named):
    path = tmp_path / "log"
    path.write_bytes(text.encode(errors="surrogateescape"))
    result = invoke("log", path, "--delta", "1e-5")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert named in result.stderr
    missing = invoke("log", tmp_path / "none", "--delta", "1e-5")
    assert "none: cannot read" in missing.stderr


def test_a_rate_of_nothing():
    assert from_rows([(1, 0, 3)]) == poisson(gaussian(1), 0) ** 3


def test_a_table_is_the_composition_of_its_rows() -> None:
    """Made part by part when somebody asks, and answered alike."""
    rows = [("1.3", "0.01", 2), ("1.1", "0.02", 1), ("13e-1", "1e-2", 3), ("0.9", "1/70", 1)]
    table = from_rows(rows, ordered=True)
    steps = [poisson(gaussian(sigma), q) ** n for sigma, q, n in rows]
    plain = Composition(tuple(steps))
    assert isinstance(table, Table)
    assert table == plain
    assert plain == table
    assert hash(table) == hash(plain)
    assert table != compose(*steps[:3])
    assert str(table) == str(plain)
    assert table.steps() == plain.steps()
    assert table.ends(2) == plain.ends(2)
    assert table.ends(4) == list(plain.parts)
    assert table.relation() == plain.relation()
    assert pickle.loads(pickle.dumps(table)) == plain
    assert from_rows(rows).steps() == plain.steps()
    assert table.with_inner(lambda part: part**2).steps() == {
        s: 2 * n for s, n in plain.steps().items()
    }
    for direction in ("remove", "add"):
        one, other = (epsilon(run, "1e-5", 8, direction) for run in (table, plain))
        assert one.digits >= 8
        one.meet(other)
    found, other = (epsilon_along(run, [2, 3, 7], "1e-5", 6) for run in (table, plain))
    assert [one.meet(two).digits >= 6 for one, two in zip(found, other, strict=True)] == [True] * 3


@pytest.mark.parametrize("direction", ["remove", "add", "both"])
def test_nothing_is_made_of_single_rows_of_a_long_table(monkeypatch, direction) -> None:
    """Of a million rows that is a gigabyte."""
    rows = [(f"1.{i:03}", "0.01", 1) for i in range(300)]
    answer = epsilon(from_rows(rows), "1e-5", 6, direction)
    monkeypatch.setattr("dpexact.accounting.composition._sample", None)
    again = epsilon(from_rows(rows), "1e-5", 6, direction)
    assert again.overlaps(answer)
    assert again.digits >= 6


def test_no_more_than_the_latest_texts_are_kept(monkeypatch) -> None:
    monkeypatch.setattr("dpexact.training.history._LATEST", 2)
    rows = [(text, "0.5", 1) for text in ("1", "2", "3", "1", "2", "3")]
    assert from_rows(rows) == from_rows([(x, "0.5", 2) for x in ("1", "2", "3")])


@pytest.mark.parametrize("rows", [[("1", "1", 1), ("2", "0.5", 1)], [("0", "0.5", 1)] * 2])
def test_rows_that_are_no_samples_of_noise_are_no_table(rows: list[tuple[str, str, int]]) -> None:
    assert not isinstance(from_rows(rows), Table)
