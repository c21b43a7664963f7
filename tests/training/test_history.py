"""Histories as mechanisms: every event of dp-accounting, Opacus's records, tables of steps."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner

import dpexact
from dpexact import approx_dp, gaussian, poisson, pure_dp
from dpexact.cli import main
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.training.history import from_dp_event, from_opacus_history, from_rows
from dpexact.training.logs import read_log

events = pytest.importorskip("dp_accounting.dp_event")
dp_accounting = pytest.importorskip("dp_accounting")

STEP = events.GaussianDpEvent(1.5)
HALF = events.PoissonSampledDpEvent(0.5, STEP)

EXPRESSED = [
    (events.NoOpDpEvent(), "add-remove", "pure_dp(0)"),
    (events.NonPrivateDpEvent(), "add-remove", "approx_dp(0, 1)"),
    (STEP, "add-remove", "gaussian(1.5)"),
    (STEP, "zero-out", "gaussian(1.5)"),
    (STEP, "replace", "gaussian(1.5, 2)"),
    (events.GaussianDpEvent(0.0), "add-remove", "approx_dp(0, 1)"),
    (events.LaplaceDpEvent(0.5), "add-remove", "laplace(0.5)"),
    (events.DiscreteLaplaceDpEvent(0.5, 3), "add-remove", "discrete_laplace(2, 3)"),
    (events.DiscreteLaplaceDpEvent(0.0, 3), "add-remove", "approx_dp(0, 1)"),
    (events.RandomizedResponseDpEvent(0.5, 2), "replace", "pure_dp(log(3))"),
    (events.RandomizedResponseDpEvent(0.5, 1), "replace", "pure_dp(0)"),
    (events.RandomizedResponseDpEvent(0.0, 2), "replace", "approx_dp(0, 1)"),
    (HALF, "add-remove", "poisson(gaussian(1.5), 0.5)"),
    (events.SelfComposedDpEvent(HALF, 7), "add-remove", "poisson(gaussian(1.5), 0.5)^7"),
    (events.SelfComposedDpEvent(HALF, 0), "add-remove", "pure_dp(0)"),
    (events.ComposedDpEvent([]), "add-remove", "pure_dp(0)"),
    (events.ComposedDpEvent([STEP, events.NoOpDpEvent()]), "add-remove", "gaussian(1.5)"),
    (
        events.ComposedDpEvent([STEP, events.LaplaceDpEvent(2.0)]),
        "add-remove",
        "gaussian(1.5) * laplace(2)",
    ),
    (
        events.SampledWithoutReplacementDpEvent(100, 10, STEP),
        "replace",
        "fixed_size(gaussian(1.5, 2), 10, 100)",
    ),
    (events.SingleEpochTreeAggregationDpEvent(1.5, 8), "zero-out", "gaussian(1.5)^4"),
    (events.SingleEpochTreeAggregationDpEvent(1.5, [7, 3]), "zero-out", "gaussian(1.5)^3"),
    (events.SingleEpochTreeAggregationDpEvent(1.5, 0), "zero-out", "pure_dp(0)"),
    (
        events.MixtureOfGaussiansDpEvent(1.5, [0.0, 2.0], [0.75, 0.25]),
        "add-remove",
        "poisson(gaussian(1.5, 2), 0.25)",
    ),
    (events.MixtureOfGaussiansDpEvent(1.5, [2.0], [1.0]), "add-remove", "gaussian(1.5, 2)"),
    (events.ZCDpEvent(0.5), "add-remove", "zcdp(0.5)"),
]
REFUSED = [
    (events.UnsupportedDpEvent(), "add-remove"),
    (events.RandomizedResponseDpEvent(0.5, 2), "add-remove"),
    (events.RandomizedResponseDpEvent(0.5, 3), "replace"),
    (HALF, "replace"),
    (events.SampledWithReplacementDpEvent(100, 10, STEP), "replace"),
    (events.SampledWithoutReplacementDpEvent(100, 10, STEP), "add-remove"),
    (events.SingleEpochTreeAggregationDpEvent(1.5, 8), "add-remove"),
    (events.RepeatAndSelectDpEvent(STEP, 3.0, 1.0), "add-remove"),
    (events.MixtureOfGaussiansDpEvent(1.5, [1.0, 2.0], [0.75, 0.25]), "add-remove"),
    (events.MixtureOfGaussiansDpEvent(1.5, [0.0, 2.0], [0.5, 0.25]), "add-remove"),
    (events.ZCDpEvent(0.5, 0.5), "add-remove"),
    (events.TruncatedSubsampledGaussianDpEvent(100, 0.5, 60, 1.5), "add-remove"),
]


def named(value):
    """A DpEvent as JSON values, through the package's own serialisable form."""
    if hasattr(value, "_asdict"):
        return {key: named(each) for key, each in value._asdict().items()}
    return [named(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("event", "neighbours", "text"), EXPRESSED, ids=lambda x: str(x)[:40])
def test_an_event_is_the_mechanism_that_it_describes(event, neighbours, text, tmp_path):
    wanted = dpexact.parse(text)
    assert from_dp_event(event, neighbours=neighbours) == wanted
    assert from_dp_event(event.to_named_tuple(), neighbours=neighbours) == wanted
    path = tmp_path / "event.json"
    path.write_text(json.dumps(named(event.to_named_tuple())))
    assert read_log(path, neighbours=neighbours) == wanted


@pytest.mark.parametrize(("event", "neighbours"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_cannot_be_expressed_is_refused_by_name(event, neighbours):
    with pytest.raises(UnsupportedMechanism, match=type(event).__name__):
        from_dp_event(events.SelfComposedDpEvent(event, 3), neighbours=neighbours)


def test_every_event_is_expressed_or_refused():
    known = {
        name
        for name, kind in vars(events).items()
        if isinstance(kind, type)
        and issubclass(kind, events.DpEvent)
        and kind is not events.DpEvent
    }
    assert {type(event).__name__ for event, *_ in EXPRESSED + REFUSED} == known


@pytest.mark.parametrize("event", [None, 3, "GaussianDpEvent", {}, {"class_name": "dict"}, STEP])
def test_what_is_no_event_is_refused(event):
    given = {} if event is not STEP else {"neighbours": "near"}
    with pytest.raises(InvalidInput, match=r"event|neighbours"):
        from_dp_event(event, **given)
    with pytest.raises(InvalidInput, match="noise_multiplier"):
        from_dp_event({"class_name": "GaussianDpEvent"})


def test_the_answers_of_dp_accounting_are_near():
    event = events.ComposedDpEvent(
        [events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, STEP), 300), STEP]
    )
    theirs = dp_accounting.pld.PLDAccountant().compose(event).get_epsilon(1e-5)
    truth = dpexact.epsilon(from_dp_event(event), 1e-5, digits=8)
    assert truth.upper <= theirs <= Fraction(truth.upper) * Fraction("1.001")


def test_an_accountant_like_those_of_dp_accounting():
    relation = dp_accounting.NeighboringRelation
    accountant = dpexact.CertifiedAccountant()
    assert accountant.supports(HALF)
    assert not accountant.supports(events.TruncatedSubsampledGaussianDpEvent(100, 0.5, 60, 1.5))
    with pytest.raises(dp_accounting.UnsupportedEventError, match="RepeatAndSelect"):
        accountant.compose(events.RepeatAndSelectDpEvent(STEP, 3.0, 1.0))
    accountant.compose(HALF, 3).compose(STEP)
    run = dpexact.parse("poisson(gaussian(1.5), 0.5)^3 * gaussian(1.5)")
    assert accountant.mechanism.steps() == run.steps()
    assert Fraction(accountant.get_epsilon(1e-5)) >= dpexact.epsilon(run, 1e-5).lower
    assert accountant.get_delta(1.0) == pytest.approx(float(dpexact.delta(run, 1).upper))
    replaced = dpexact.CertifiedAccountant(relation.REPLACE_ONE, digits=6).compose(STEP)
    assert str(replaced.mechanism) == "gaussian(1.5, 2)"
    zeroed = dpexact.CertifiedAccountant(relation.REPLACE_SPECIAL)
    assert zeroed.supports(events.SingleEpochTreeAggregationDpEvent(1.5, 8))


def test_calibration_by_dp_accounting_works_on_it():
    found = dp_accounting.calibrate_dp_mechanism(
        dpexact.CertifiedAccountant,
        events.GaussianDpEvent,
        target_epsilon=1.0,
        target_delta=1e-5,
        bracket_interval=dp_accounting.ExplicitBracketInterval(1.0, 10.0),
    )
    assert found == pytest.approx(
        float(dpexact.calibrate("gaussian(?)", 1, "1e-5").upper), rel=1e-5
    )


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
    record = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert record["bound"] == "upper"
    said = CliRunner().invoke(main, arguments).output
    assert said.startswith(f"epsilon <= {record['safe']}\n")
    assert "rounded down and q up to 3 figures: an upper bound" in said


def test_a_long_history_says_what_it_takes_before_it_is_answered(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        dpexact, "epsilon", lambda *_: asked.append(1) or dpexact.Enclosure.exact(Fraction(1))
    )
    path = tmp_path / "log.csv"
    for distinct, said in ((599, ""), (601, "takes 1 min or more"), (1_800, "takes 3 min or more")):
        path.write_text("sigma,q,steps\n" + "".join(f"1,1/{n + 2},1\n" for n in range(distinct)))
        result = CliRunner().invoke(main, ["log", str(path), "--delta", "1e-5"])
        if said:
            assert f"{distinct:,} steps differ in sigma or q: this {said}" in result.stderr
            assert result.stderr.count("\n") == 1
        else:
            assert (result.exit_code, result.stderr) == (0, "")


def test_the_verb(tmp_path):
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"history": [[1.5, 0.25, 10]], "mechanism": "rdp"}))
    result = CliRunner().invoke(main, ["log", str(path), "--delta", "1e-5", "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.output)
    assert record["mechanism"] == "poisson(gaussian(1.5), 0.25)^10"
    said = CliRunner().invoke(main, ["log", str(path), "--delta", "1e-5"]).output
    assert said.startswith(f"epsilon <= {record['safe']}\n")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "it names nothing"),
        ("sigma,q\n1,1\n", "it names sigma, q"),
        ("sigma,q,steps\x1b[2J\n1,1,1\n", r"it names sigma, q, steps\x1b[2j"),
        ("x" * 10_000, "it names xxx"),
        ("sigma,q,steps\n", "no step"),
        ("sigma,q,steps\n1,0.5\n", "row 1"),
        ("sigma,q,steps\n1,0.5,1\n1,nan,1\n", "row 2: q: nan"),
        ('{"history": [', "line 1"),
        ("[" * 100_000, "nested too deep"),
        ('{"class_name": "RepeatAndSelectDpEvent"}', "RepeatAndSelectDpEvent: "),
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
        ("sigma,q,steps\n1," + "5" * 200_000 + ",1\n", "field larger"),
        ("\udcff", "cannot read"),
    ],
)
def test_files_that_are_no_log_are_one_line_and_exit_code_2(tmp_path, text, named):
    path = tmp_path / "log"
    path.write_bytes(text.encode(errors="surrogateescape"))
    result = CliRunner().invoke(main, ["log", str(path), "--delta", "1e-5"])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert named in result.stderr
    missing = CliRunner().invoke(main, ["log", str(tmp_path / "none"), "--delta", "1e-5"])
    assert "none: cannot read" in missing.stderr


def test_nothing_and_everything():
    assert from_rows([(1, 0, 3)]) == poisson(gaussian(1), 0) ** 3
    assert from_dp_event(events.ComposedDpEvent([events.NoOpDpEvent()])) == pure_dp(0)
