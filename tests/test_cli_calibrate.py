"""``dpexact calibrate`` as a user meets it: output, JSON, exit codes, one-line errors."""

import json
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke

import dpexact

run = partial(invoke, "calibrate")


def test_a_bracket_and_its_safe_end():
    result = run("gaussian(?)", "--epsilon", "1", "--delta", "1e-5")
    assert result.exit_code == 0
    first, second, third, fourth, _ = result.output.splitlines()
    assert first == "sigma = 3.730632"
    assert second == "  of gaussian(?) at epsilon = 1, delta = 1e-5"
    assert third.startswith("  certified in [3.73063")
    assert fourth == "  the upper end, and so 3.730632, certainly meets the target"


def test_json_has_the_keys_of_the_other_verbs_and_the_safe_end():
    arguments = ("pure_dp(?)^100", "--epsilon", "1", "--delta", "1e-6", "--digits", "9")
    record = json.loads(run(*arguments, "--json").output)
    assert list(record) == [
        "mechanism",
        "quantity",
        "epsilon",
        "delta",
        "direction",
        "lower",
        "upper",
        "digits",
        "safe",
        "bound",
        "method",
        "seconds",
        "version",
    ]
    assert (record["mechanism"], record["quantity"]) == ("pure_dp(?)^100", "eps")
    assert record["digits"] >= 9
    lower, upper = record["safe"], record["upper"]
    assert dpexact.delta(f"pure_dp({lower})^100", 1) <= Fraction(1, 10**6)
    assert dpexact.delta(f"pure_dp({upper})^100", 1) > Fraction(1, 10**6)


def test_a_repetition_count_is_printed_whole_whatever_the_digits():
    arguments = ("gaussian(1e8)^?", "--epsilon", "1", "--delta", "1e-9", "--digits", "2")
    result = run(*arguments)
    assert result.output.startswith("times = 331148304901733\n")
    assert "end certainly" not in result.output
    record = json.loads(run(*arguments, "--json").output)
    assert Fraction(record["lower"]) == Fraction(record["upper"]) == 331148304901733


def test_the_direction_matters_for_sampling():
    arguments = ("poisson(pure_dp(1), ?)^30", "--epsilon", "1", "--delta", "1e-6")
    remove, add = (run(*arguments, "--direction", way).output for way in ("remove", "add"))
    assert remove.splitlines()[0] != add.splitlines()[0]


@pytest.mark.parametrize(
    ("template", "options", "named"),
    [
        ("gaussian(1)", ["--epsilon", "1", "--delta", "0.1"], "no '?'"),
        ("gaussian(?)^?", ["--epsilon", "1", "--delta", "0.1"], "column 13"),
        ("gaussian(?^2)", ["--epsilon", "1", "--delta", "0.1"], "cannot stand here"),
        ("gausian(?)", ["--epsilon", "1", "--delta", "0.1"], "did you mean 'gaussian'"),
        ("gaussian(?)", ["--epsilon", "1", "--delta", "2"], "delta: 2"),
        ("gaussian(?)", ["--epsilon", "1"], "target: epsilon given"),
        ("staircase(1, ?)", ["--epsilon", "1", "--delta", "0.1"], "gamma of staircase"),
        ("approx_dp(?, 1/10)", ["--epsilon", "1", "--delta", "0.01"], "no eps meets"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(template, options, named):
    result = run(template, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert named in result.stderr


def test_an_undecided_search_prints_the_certified_bracket_and_exits_3():
    result = run("gdp(1e-12)^?", "--epsilon", "1", "--delta", "1e-9")
    assert result.exit_code == 3
    assert "certified in [1000000000000000000, inf]" in result.stdout
    assert "out of range" in result.stderr
