"""The command line as a user meets it: output, JSON, exit codes, one-line errors."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from command_line import invoke as run

import dpexact
from dpexact.cli import main
from dpexact.tokens import Tokens


def test_the_first_line_may_be_quoted_and_the_enclosure_has_the_digits():
    result = run("delta", "approx_dp(1/10, 1/1000)^30", "--epsilon", "3/2", "--digits", "30")
    assert result.exit_code == 0
    first, _, third, _ = result.output.splitlines()
    assert first == "delta <= 0.03045063"
    assert third.startswith("  certified in [0.0304506231829102831295644359059")


@pytest.mark.parametrize(
    ("arguments", "relation"),
    [
        (("delta", "poisson(gaussian(1), 1/10)^50", "--epsilon", "1"), "<="),
        (("epsilon", "gaussian(1.1)^14", "--delta", "1e-5"), "<="),
        (("renyi", "poisson(gaussian(1), 0.01)", "--order", "2.5"), "<="),
        (("tradeoff", "gaussian(1)", "--alpha", "0.05"), ">="),
        (("calibrate", "gaussian(?)^100", "--epsilon", "3", "--delta", "1e-5"), "="),
        (("calibrate", "poisson(gaussian(1), ?)^9", "--epsilon", "3", "--delta", "1e-5"), "="),
    ],
)
def test_the_quoted_number_is_on_the_safe_side_and_near(arguments, relation):
    first = run(*arguments).output.splitlines()[0].split()
    record = json.loads(run(*arguments, "--json").output)
    assert first[1:] == [relation, record["safe"]]
    safe, lower, upper = (Fraction(record[key]) for key in ("safe", "lower", "upper"))
    assert safe <= lower if first[0] in ("tradeoff", "q") else safe >= upper
    assert abs(safe - lower) <= lower / 10**5


def test_a_number_that_is_printed_exactly_is_equal():
    assert run("delta", "pure_dp(1)", "--epsilon", "1").output.startswith("delta = 0\n")
    assert run("epsilon", "gaussian(1)", "--delta", "0").output.startswith("epsilon = inf\n")


@pytest.mark.parametrize(
    ("verb", "expr", "option", "value"),
    [
        ("delta", "gdp(1/100)", "epsilon", "0.7"),
        ("delta", "approx_dp(log(3/2), 1/7)^9", "epsilon", "log(3/2)*3"),
        ("epsilon", "gaussian(1)", "delta", "1e-300"),
        ("epsilon", "pure_dp(0.1)^100", "delta", "1e-6"),
    ],
)
def test_json_has_the_contracted_keys_and_outward_bounds(verb, expr, option, value):
    result = run(verb, expr, f"--{option}", value, "--digits", "20", "--json")
    record = json.loads(result.output)
    assert list(record) == [
        "mechanism",
        "quantity",
        option,
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
    assert record["digits"] >= 20
    assert record[option] == value
    finer = getattr(dpexact, verb)(expr, value, 60)
    assert Fraction(record["lower"]) <= finer.lower <= finer.upper <= Fraction(record["upper"])
    assert dpexact.parse(record["mechanism"]) == dpexact.parse(expr)


def test_renyi_and_tradeoff_answer_as_the_library_does(tmp_path):
    found = json.loads(run("renyi", "laplace(2)^3", "--order", "inf", "--json").output)
    assert (found["order"], Fraction(found["lower"])) == ("inf", Fraction(3, 2))
    picture = tmp_path / "f.svg"
    result = run("tradeoff", "pure_dp(log(2))", "--alpha", "1/6", "--plot", str(picture), "--json")
    assert json.loads(result.output)["alpha"] == "1/6"
    assert Fraction(json.loads(result.output)["lower"]) <= Fraction(2, 3)
    assert "<svg" in picture.read_text()
    assert run("tradeoff", "pure_dp(1)", "--plot", str(tmp_path / "f.doc")).exit_code == 2
    assert run("tradeoff", "pure_dp(1)").exit_code == 2


def test_a_profile_beyond_floats_is_not_drawn(tmp_path):
    result = run("delta", "pure_dp(1)", "--epsilon", "1e400", "--plot", str(tmp_path / "f.svg"))
    assert result.exit_code == 2
    assert "too large to draw" in result.output


@pytest.mark.parametrize(
    ("verb", "option", "points"),
    [
        ("delta", "--epsilon", ("1", "1/2", "-1")),
        ("epsilon", "--delta", ("1e-5", "1/1000")),
    ],
)
def test_several_points_are_answered_as_each_alone(verb, option, points):
    expr = "poisson(gaussian(1), 1/10)^20"
    asked = [part for at in points for part in (option, at)]
    lines = run(verb, expr, *asked, "--json").output.splitlines()
    assert len(lines) == len(points)
    for line, at in zip(lines, points, strict=True):
        many, one = json.loads(line), json.loads(run(verb, expr, option, at, "--json").output)
        assert many.keys() == one.keys()
        assert many[option.strip("-")] == at
        assert many["digits"] >= 15
        assert Fraction(many["lower"]) <= Fraction(one["upper"])
        assert Fraction(one["lower"]) <= Fraction(many["upper"])


def test_of_several_points_one_may_fall_short(tmp_path):
    found = run("delta", "gaussian(1)", "--epsilon", "1e7", "--epsilon", "1")
    assert found.exit_code == 3
    assert found.stdout.count("certified in [0") == 2
    assert found.stderr.count("15 digits were not reached") == 1
    points = ["--delta", "1e-5", "--delta", "1e-6"]
    for option in ("--certificate", "--plot"):
        refused = run("epsilon", "gaussian(1)", *points, option, str(tmp_path / "one.svg"))
        assert refused.exit_code == 2
        assert "one point" in refused.output


def test_infinite_epsilon_is_reported():
    record = json.loads(run("epsilon", "gaussian(1)", "--delta", "0", "--json").output)
    assert record["lower"] == record["upper"] == "inf"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["delta", "gaussian(-1)", "--epsilon", "1"], "sigma: -1"),
        (["delta", "poisson(gaussian(1), 1.5)", "--epsilon", "1"], "q: 1.5"),
        (["delta", "gaussian(nan)", "--epsilon", "1"], "nan"),
        (["delta", "gaussian(1)", "--epsilon", "nan"], "epsilon: nan"),
        (["delta", "gaussian(1)", "--epsilon", "1e999999999"], "epsilon"),
        (["delta", "gausian(1)", "--epsilon", "1"], "did you mean 'gaussian'"),
        (["delta", "gaussian(1", "--epsilon", "1"], "column 11"),
        (["delta", "", "--epsilon", "1"], "empty"),
        (["delta", "gaussian(1)"], "--epsilon"),
        (["epsilon", "gaussian(1)", "--delta", "2"], "delta: 2"),
        (["epsilon", "gaussian(1)", "--delta", "1", "--digits", "0"], "--digits"),
        (["epsilon", "fixed_size(laplace(1), 1, 2)", "--delta", "1/2"], "laplace(1)"),
        (["symbolic", "laplace(1)"], "laplace(1)"),
        (["audit"], "nothing to audit"),
        (["audit", "no-such-file.yaml"], "no-such-file.yaml"),
        (["audit", "--accountant", "no-such"], "no-such"),
        (["audit", "--workload", "basics"], "nothing to audit"),
        (["audit", "pyproject.toml", "--workload", "basics"], "--workload"),
        (["no-such-verb"], "no-such-verb"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, named):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert named in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_precision_not_reached_prints_the_best_enclosure_and_exits_3():
    result = run("delta", "gaussian(1)", "--epsilon", "1e7")
    assert result.exit_code == 3
    assert "certified in [0, " in result.stdout
    assert "1.02e-301030" in result.stderr


def test_symbolic_output_and_latex():
    assert "(E + 1)**2" in run("symbolic", "pure_dp(1)^2").output
    assert r"\begin{cases}" in run("symbolic", "pure_dp(1)^2", "--latex").output
    record = json.loads(run("symbolic", "approx_dp(1, 1/7)^2", "--json").output)
    assert record["values"] == {"E": "exp(1)", "delta": "1/7"}
    result = run("symbolic", "poisson(gaussian(2), 1/10)", "--form", "renyi", "--order", "2")
    assert result.output.startswith("log(p**2*exp(mu**2)")
    assert run("symbolic", "poisson(gaussian(2), 1/10)", "--form", "renyi").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell):
    assert "_DPEXACT_COMPLETE" in run("completion", shell).output


def test_mechanism_names_complete():
    environment = {
        "_DPEXACT_COMPLETE": "bash_complete",
        "COMP_WORDS": "dpexact delta disc",
        "COMP_CWORD": "2",
    }
    command = [sys.executable, "-m", "dpexact"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "discrete_gaussian(" in result.stdout


@pytest.mark.parametrize("set_", [{}, {"COMP_WORDS": "dpexact", "COMP_CWORD": "second"}])
def test_completion_that_no_shell_asked_for(monkeypatch, capsys, set_):
    for name, value in {"_DPEXACT_COMPLETE": "bash_complete", **set_}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "COMP_CWORD are not as a shell sets them" in capsys.readouterr().err


def test_every_verb_has_help_with_an_example():
    for name, command in main.commands.items():
        result = run(name, "--help")
        assert result.exit_code == 0
        assert f"dpexact {name}" in result.output, name
        assert command.help


def test_no_arguments_shows_help():
    result = run()
    assert result.exit_code == 2
    assert "Exit codes" in result.output


def test_python_dash_m():
    command = [sys.executable, "-m", "dpexact", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["dpexact", dpexact.__version__]


@pytest.mark.parametrize(
    ("verb", "text", "options"),
    [
        ("epsilon", "gaussian(2)^3", ("--delta", "1e-5")),
        ("delta", "zcdp(1/2)", ("--epsilon", "2")),
        ("renyi", "gaussian(2)", ("--order", "3")),
        ("tradeoff", "gaussian(2)", ("--alpha", "1/3")),
        ("calibrate", "gaussian(?)", ("--epsilon", "1", "--delta", "1e-5")),
    ],
)
def test_the_text_of_a_mechanism_is_read_once(monkeypatch, verb, text, options):
    read, made = [], Tokens.__init__
    monkeypatch.setattr(Tokens, "__init__", lambda self, t: (read.append(t), made(self, t))[1])
    assert run(verb, text, *options).exit_code == 0
    assert read.count(text) == 1
