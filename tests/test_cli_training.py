"""``dpexact dpsgd`` as a user meets it."""

import json
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke

import dpexact
from dpexact.cli.printing import _brief
from dpexact.mechanisms.base import shown
from dpexact.tokens import shorten
from dpexact.training.history import from_rows

RUN = ("--dataset", "600", "--batch", "20", "--epochs", "3", "--delta", "1e-5")

run = partial(invoke, "dpsgd")


def test_a_run_as_opacus_makes_it():
    result = run(*RUN, "--sigma", "1.1", "--framework", "opacus")
    assert result.exit_code == 0
    first, second, *_ = result.output.splitlines()
    assert second == "  of poisson(gaussian(1.1), 1/30)^90 at delta = 1e-5"
    truth = dpexact.epsilon("poisson(gaussian(1.1), 1/30)^90", "1e-5")
    assert first == f"epsilon <= {truth.safe()}"
    assert "3 epochs of 30 batches are 90 steps." in result.output


def test_json_says_what_ran():
    record = json.loads(run(*RUN, "--sigma", "2", "--json", "--statement").output)
    assert record["quantity"] == "epsilon"
    assert (record["framework"], record["sampling"]) == ("plain", "poisson")
    assert (record["rate"], record["steps"], record["sigma"]) == ("1/30", 90, "2")


@pytest.mark.parametrize("microbatches", [[], ["--microbatches"]])
def test_noise_for_a_target_certainly_meets_it(microbatches):
    record = json.loads(run(*RUN, "--target-epsilon", "2", "--json", *microbatches).output)
    assert Fraction(record["upper"]) <= 2
    assert Fraction(record["lower"]) > Fraction("1.9999")
    assert ("gaussian(" + record["sigma"] + ", 2)" in record["mechanism"]) == bool(microbatches)
    said = run(*RUN, "--target-epsilon", "2", *microbatches).output
    assert said.startswith(f"sigma = {record['sigma']}, for ")


@pytest.mark.slow
def test_accountants_on_the_same_run_the_tightest_sound_one_first(tmp_path):
    picture = tmp_path / "run.svg"
    asked = ("--against", "dp-accounting-rdp", "--against", "dp-accounting-pld")
    result = run(*RUN, "--sigma", "1", *asked, "--plot", str(picture))
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    pld, rdp = lines[lines.index("accountants on this run, the tightest sound one first:") + 1 :]
    assert pld.startswith("  dp-accounting-pld (upper): ")
    assert rdp.startswith("  dp-accounting-rdp (upper): ")
    assert ": sound, +" in pld
    assert "<svg" in picture.read_text()
    judged = json.loads(run(*RUN, "--sigma", "1", *asked, "--json").output)["against"]
    assert [claim["verdict"] for claim in judged] == ["sound", "sound"]
    assert judged[0]["id"].startswith("dp-accounting-pld")


@pytest.mark.parametrize("verb", ["dpsgd", "log"])
def test_a_run_has_a_certificate(tmp_path, verb):
    made, history = tmp_path / "run.json", tmp_path / "history.csv"
    history.write_text("sigma,q,steps\n2,1/10,9\n")
    given = (
        ["--rate", "1/10", "--steps", "9", "--sigma", "2"] if verb == "dpsgd" else [str(history)]
    )
    asked = [verb, *given, "--delta", "1/100000", "--digits", "8", "--certificate", str(made)]
    assert invoke(*asked).exit_code == 0
    checked = invoke("verify", made)
    assert checked.exit_code == 0
    assert "epsilon of poisson(gaussian(2, 1), 1/10)^9 at delta = 1/100000 in [" in checked.output


def test_a_certificate_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    result = run(*RUN, "--sigma", "1", "--certificate", str(tmp_path / "none" / "run.json"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot write: its folder does not exist" in result.stderr


@pytest.mark.parametrize(("delta", "met"), [("0", "no finite noise"), ("1", "any noise")])
def test_a_target_that_no_noise_or_any_meets(delta, met):
    result = run("--rate", "0.1", "--steps", "9", "--delta", delta, "--target-epsilon", "1")
    assert result.exit_code == 2
    assert f"target-epsilon: 1 at delta = {delta} is met by {met}" in result.output
    assert "sigma =" not in result.output


@pytest.mark.parametrize(("direction", "said"), [("add", "added; "), ("remove", "removed; ")])
def test_a_statement_promises_no_more_than_was_asked(direction, said):
    output = run(*RUN, "--sigma", "1", "--statement", "--direction", direction).output
    assert f"private if one record is {said}" in output
    assert "added or removed" not in output


def test_a_statement():
    said = run(*RUN, "--sigma", "1", "--statement").output
    assert "differentially private if one record is added or removed" in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (RUN, "--sigma"),
        ((*RUN, "--sigma", "1", "--target-epsilon", "1"), "--sigma"),
        ((*RUN, "--sigma", "0"), "sigma: 0"),
        ((*RUN, "--sigma", "1", "--rate", "1/2"), "rate"),
        ((*RUN, "--sigma", "1", "--against", "nobody"), "nobody"),
        ((*RUN, "--sigma", "1", "--plot", "run.doc"), "suffix"),
        (("--delta", "1e-5", "--sigma", "1", "--rate", "1/2", "--steps", "2.5"), "steps: 2.5"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, named):
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert named in result.stderr


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["epsilon", "gaussian(2)^50", "--delta", "1e-5"], "epsilon of gaussian"),
        (["delta", "pure_dp(1)^3", "--epsilon", "1"], "privacy profile"),
        (["delta", "gaussian(1)", "--epsilon", "0"], "privacy profile"),
    ],
)
def test_pictures_of_one_answer(tmp_path, arguments, shown):
    picture = tmp_path / "picture.svg"
    result = invoke(*arguments, "--plot", picture)
    assert result.exit_code == 0, result.output
    assert shown in picture.read_text()


def test_a_count_that_is_not_whole_says_what_to_write():
    result = invoke("epsilon", "gaussian(1)^(60*60000/256)", "--delta", "1e-5")
    assert result.exit_code == 2
    assert "14062.5 is not accepted; write 14062 or 14063" in result.stderr


# --- correlated noise -----------------------------------------------------------------------------


@pytest.fixture
def strategy(tmp_path):
    import numpy as np

    path = tmp_path / "strategy.npy"
    np.save(path, np.array([1, 0.5, 0.25], dtype=np.float32))
    return ("--matrix", str(path), "--steps", "100", "--delta", "1e-5")


def test_banded_matrices(strategy):
    asked = (*strategy, "--rate", "1/10", "--framework", "jax-privacy")
    record = json.loads(run(*asked, "--sigma", "2", "--json").output)
    full, last = "gaussian(2, sqrt(1.3125))", "gaussian(2)"
    assert record["mechanism"] == f"poisson({full}, 0.1)^33 * poisson({last}, 0.1)"
    assert (record["sampling"], record["steps"], record["bound"]) == ("cyclic", 100, "exact")
    said = run(*asked, "--sigma", "2").output
    assert "JAX Privacy counts 34 samples" in said
    found = json.loads(run(*asked, "--target-epsilon", "2", "--json").output)
    assert Fraction("1.9999") < Fraction(found["upper"]) <= 2
    rounded = json.loads(run(*asked, "--sigma", "2", "--figures", "2", "--json").output)
    assert rounded["bound"] == "upper"
    assert Fraction(rounded["lower"]) > Fraction(record["upper"])


def test_matrices_without_samples(strategy):
    record = json.loads(run(*strategy, "--epochs", "10", "--sigma", "5", "--json").output)
    assert (record["mechanism"], record["sampling"]) == ("gaussian(5, sqrt(13.125))", "none")
    apart = run(*strategy, "--separation", "3", "--participations", "4", "--sigma", "5").output
    assert "of gaussian(5, sqrt(5.25)) at" in apart


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rate", "0.1", "--separation", "3"), "--separation"),
        (("--rate", "0.1", "--cycle", "2"), "3 bands"),
        (("--cycle", "2"), "--cycle"),
        (("--dataset", "10"), "--dataset"),
        (("--statement",), "--statement"),
        (("--epochs", "3"), "divide"),
    ],
)
def test_matrices_that_are_refused(strategy, more, said):
    result = run(*strategy, "--sigma", "2", *more)
    assert result.exit_code == 2
    assert said in result.output


def test_options_of_matrices_need_one():
    result = run(*RUN, "--sigma", "2", "--separation", "3")
    assert result.exit_code == 2
    assert "--matrix" in result.output


def test_a_very_long_run_is_shown_as_if_it_were_written_out():
    long = from_rows([(f"1.{1000 + i}", "0.01", 2) for i in range(600)])
    assert shorten(_brief(long), 400) == shorten(shown(long), 400)
