import ast
import copy
import json
import random
import subprocess
import sys
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from certified_answers import certified, fresh, validate, verdict
from oracles import scaled

import dpexact
from dpexact import certificate_checker as checker
from dpexact.certificates import NoCertificate, to_text
from dpexact.certificates.statements import mechanism_tree

CHECKER = Path(checker.__file__)
ROOT = CHECKER.parents[1]
SAMPLES = 40


@pytest.mark.parametrize("seed", range(scaled(SAMPLES)))
def test_fresh_certificates_are_accepted_and_mutated_ones_rejected(seed):
    document = fresh(seed)
    validate(document)
    assert verdict(document) is None
    rng = random.Random(seed)
    assert verdict(one_digit_changed(document, rng)) is not None
    forged = forgery(document, rng)
    assert forged["digest"] == checker.digest(forged)
    assert verdict(forged) is not None or is_true(forged["statements"][0]), forged


def is_true(statement):
    """What the accounting says: a step whose losses reach no other side does not matter."""
    at = checker.shown_number(statement["at"])
    ask = dpexact.delta if statement["quantity"] == "delta" else dpexact.epsilon
    found = ask(statement["text"], at, 30, statement["direction"])
    return Fraction(statement["lower"]) < found.lower <= found.upper < Fraction(statement["upper"])


@pytest.mark.parametrize("seed", range(scaled(SAMPLES)))
@pytest.mark.slow
def test_few_bits_never_exclude_the_truth(seed):
    (statement,) = fresh(seed)["statements"]
    for bits in range(24, 72, 4):
        with suppress(checker.Undecided):  # but never Refuted, whatever is rounded or left out
            checker.check_statement(statement, bits)


def one_digit_changed(document, rng):
    text = json.dumps(document)
    places = [i for i, mark in enumerate(text) if mark.isdigit()]
    place = rng.choice(places)
    other = rng.choice([digit for digit in "0123456789" if digit != text[place]])
    return json.loads(text[:place] + other + text[place + 1 :])


def forgery(document, rng):
    """One digit of the content changed, and all that follows from it made right again."""
    while True:
        forged = copy.deepcopy(document)
        statement = forged["statements"][0]
        name = rng.choice(["mechanism", "at", "lower", "upper", "digits"])
        changed = one_digit_changed({name: statement[name]}, rng)[name]
        statement[name] = changed
        if _meaning(statement) == _meaning(document["statements"][0]):
            continue
        try:
            statement["text"] = checker.shown(statement["mechanism"])
        except (checker.Unreadable, checker.Invalid):
            continue
        forged["digest"] = checker.digest(forged)
        return forged


def _meaning(statement):
    """What the truth depends on: neither 0^0 nor the sensitivity of a staircase."""
    tree = json.dumps(statement["mechanism"])
    found = json.loads(tree)

    def forget(node):
        if isinstance(node, list) and node and node[0] == "staircase":
            node[3] = "1"
        for part in node if isinstance(node, list) else ():
            forget(part)

    forget(found)
    return found, statement["at"], statement["lower"], statement["upper"], statement["digits"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "pure_dp(1/10)^20",
        "staircase(1, 1/3)^2",
        "pure_dp(1/10)^9 * pure_dp(log(2))",
        "discrete_laplace(2, 3)",
        "laplace(1)^2",
    ],
)
def test_few_bits_are_right_up_to_the_largest_loss(text):
    steps = checker.steps_of(mechanism_tree(dpexact.parse(text)))
    for epsilon in (Fraction(n, 20) for n in range(45)):
        truth = dpexact.delta(text, epsilon, 30)
        for bits in (20, 24, 32):
            a = checker.Arithmetic(bits)
            point = checker.Point(a, checker.exp(a.exact(epsilon)), a.exact(epsilon))
            found = checker.Profile(steps, "remove", a).delta(point)
            assert found.lo <= truth.upper
            assert truth.lower <= found.hi


def test_bounds_that_the_bits_do_not_tell_from_the_truth_are_not_verified():
    """So few bits that the enclosure sticks out of the bounds."""
    for quantity, at in (("delta", "1"), ("epsilon", "1e-3")):
        for text in ("gaussian(1)", "pure_dp(sqrt(2)/10)^40", "laplace(2)^3"):
            (statement,) = certified(text, quantity, at, 15)["statements"]
            checker.check_statement(statement)
            for bits in range(24, 44, 2):
                with pytest.raises(checker.Undecided):
                    checker.check_statement(statement, bits)


def test_what_is_not_decided_of_one_sampled_step_is_bounded():
    """Next to the largest loss, ``-log(1 - q)``, few bits do not tell whether delta is 0."""
    steps = checker.steps_of(["poisson", ["gaussian", "1", "1"], "1/3"])
    for bits in (8, 12, 16, 24):
        a = checker.Arithmetic(bits)
        profile = checker.Profile(steps, "add", a)
        edge = checker.log(checker.Arithmetic(400).exact(Fraction(3, 2))).lo
        epsilon = edge - Fraction(1, 2 ** (bits + 2))
        truth = dpexact.delta("poisson(gaussian(1), 1/3)", epsilon, 10, "add")
        found = profile.delta(checker.Point(a, checker.exp(a.exact(epsilon)), a.exact(epsilon)))
        assert found.lo <= truth.lower
        assert truth.upper <= found.hi


def _finding(kind, claimed, tolerance, verdict):
    (statement,) = certified("gaussian(1)", "delta", "1", 3)["statements"]
    found = {"id": "a", "kind": kind, "claimed": claimed, "tolerance": tolerance}
    return {**found, "verdict": verdict, "statement": statement}


@pytest.mark.parametrize(
    ("kind", "tolerance", "verdicts"),
    [
        ("upper", "0", ("sound", "unsound")),
        ("lower", "0", ("sound", "unsound")),
        ("estimate", "1/1" + "0" * 60, ("accurate", "inaccurate")),
    ],
)
def test_a_claim_between_the_bounds_has_no_verdict(kind, tolerance, verdicts):
    statement = _finding(kind, "0", tolerance, "")["statement"]
    lower, upper = Fraction(statement["lower"]), Fraction(statement["upper"])
    for part in (1, 5, 9):
        claimed = str(lower + (upper - lower) * part / 10)
        for said in verdicts:
            with pytest.raises(checker.Invalid, match="does not follow"):
                checker.check_finding(_finding(kind, claimed, tolerance, said))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "quantity", "at"),
    [
        ("approx_dp(log(3/2), 1/7)^9", "delta", "log(3/2)*3"),
        ("pure_dp(0.1)^3", "epsilon", "0"),
        ("pure_dp(0.1)^3", "delta", "0.3"),
        ("pure_dp(1/10)", "epsilon", "0.9"),
        ("gaussian(1)", "epsilon", "1e-300"),
        ("gdp(1/100)", "delta", "0.7"),
        ("pure_dp(sqrt(2))^5 * pure_dp(log(2))^4", "delta", "1"),
        ("laplace(1)^12 * laplace(1/3)", "delta", "2"),
        ("discrete_gaussian(5/2, 3)^4", "epsilon", "1e-5"),
        ("staircase(log(2), 1/4)^50", "delta", "log(3)"),
        ("gaussian(2) * discrete_laplace(4, 2)^2", "delta", "1"),
        ("poisson(approx_dp(1, 1/100), 1/10)^20", "epsilon", "1e-2"),
        ("poisson(poisson(gaussian(1), 1/2), 1/3)", "delta", "1/4"),
        ("approx_dp(1, 1/1000)^2", "epsilon", "1/1000"),
        ("gaussian(1) * approx_dp(1, 1/1000)", "epsilon", "1/1000"),
        ("approx_dp(1, 1)", "delta", "1"),
        ("pure_dp(e-2)^3", "delta", "pi/4"),
        ("randomized_response(1, 5)^3 * randomized_response(1/2)", "delta", "1/2"),
        ("truncated_discrete_gaussian(3, 6, 2)^2 * gaussian(2)", "delta", "1/2"),
        ("truncated_discrete_gaussian(sqrt(2), 1, 3)", "delta", "1/2"),
        ("truncated_laplace(1, 10, 2)", "delta", "1/2"),
        ("group(truncated_laplace(3, 2), 3)", "delta", "1/2"),
        ("truncated_laplace(1, 1, 3)^2", "delta", "1/2"),
        ("poisson(truncated_laplace(1, 10), 1/10)", "epsilon", "1/1000"),
        ("partition_selection(1, 1/1000)^3", "delta", "1/2"),
        ("partition_selection(1/2, 1/10) * gaussian(2)", "epsilon", "1/3"),
        ("partition_selection(0, 1/7)^2", "delta", "1/2"),
        ("partition_selection(log(2), 1/10)", "delta", "1/3"),
        ("poisson(partition_selection(1, 1/100), 1/3)^2", "delta", "1/5"),
        ("threshold(laplace(2), 9)^2 * laplace(3)", "delta", "1/2"),
        ("threshold(laplace(2), 1/2)", "delta", "1/5"),
        ("threshold(gaussian(2), 9)", "epsilon", "1/100"),
        ("group(pure_dp(1/2), 3)^2", "delta", "1"),
        ("group(approx_dp(1/2, 1/20), 4)", "delta", "1/2"),
        ("replace(staircase(1/2, 1/3) * gdp(1/2))", "delta", "1"),
        ("group(poisson(gaussian(1), 1/10), 3)", "delta", "1/2"),
        ("replace(poisson(gaussian(1), 1/10)) * pure_dp(1/2)", "delta", "1/2"),
        ("gaussian_mixture(2, 0: 1/2, 1: 1/4, 3: 1/4)", "delta", "1/2"),
        ("gaussian_mixture(2, 1: 1/4, 3: 3/4)", "epsilon", "1/100"),
        ("poisson(gaussian_mixture(1, 0: 1/2, 1: 1/2), 1/2)", "epsilon", "1/1000"),
        ("truncated_poisson(gaussian(1), 1/10, 50, 9)", "delta", "1/2"),
        ("replace(truncated_poisson(gdp(1), 1/10, 20, 4))", "delta", "1/2"),
        ("truncated_poisson(gaussian(1), 1, 9, 3)", "delta", "1/2"),
        ("mix(1/3: pure_dp(1/3), 1/6: approx_dp(1, 1/9), 1/2: laplace(2))^2", "delta", "1/2"),
        (
            "group(mix(1/3: pure_dp(1/4), 2/3: mix(1/2: pure_dp(1), 1/2: laplace(2))), 2)",
            "delta",
            "1",
        ),
        ("mix(1/3: poisson(gaussian(1), 1/10), 2/3: gaussian(2)) * pure_dp(1)", "delta", "1"),
        ("zcdp(1/10, 1/4)^2 * gaussian(2) * approx_dp(1/2, 1/1000)", "delta", "1"),
        ("group(zcdp(1/10, 1/10), 3)", "epsilon", "1/1000"),
        ("zcdp(1/3, 1/10)", "delta", "1/5"),
        ("permute_and_flip(1/2)^3 * pure_dp(1/9)", "delta", "1/5"),
        ("group(report_noisy_max(log(2)), 2)", "epsilon", "1/20"),
        ("bounded_range(1/3)^9", "delta", "1/5"),
        ("shuffle(pure_dp(log(3)), 20)", "epsilon", "1/20"),
        ("shuffle(pure_dp(1), 5) * approx_dp(1/3, 1/30)", "delta", "1/5"),
        ("shuffle(pure_dp(1/2), 1)", "delta", "1/5"),
        ("fixed_size(gaussian(1) * gdp(1/2), 1, 10)", "epsilon", "1/100"),
        ("fixed_size(gaussian(1), 3, 3)", "delta", "1/5"),
        ("poisson(zcdp(1/3), 1/10)^9 * pure_dp(1/9)", "epsilon", "1/1000"),
        ("renyi_dp((2, 1/10), (8, 4/10), (32, 3/2))^3 * pure_dp(1/2)", "delta", "2"),
        (
            "renyi_dp((3/2, 1/10), (8, 2)) * renyi_dp((3, 1/5), (9, 1)) * zcdp(1/9, 1/9)",
            "epsilon",
            "1/99",
        ),
    ],
)
def test_every_route_is_verified(text, quantity, at):
    document = certified(text, quantity, at)
    validate(document)
    assert verdict(document) is None
    statement = document["statements"][0]
    for bits in range(24, 72, 4):
        with suppress(checker.Undecided):
            checker.check_statement(statement, bits)
    shown = dpexact.parse(statement["text"])
    assert dpexact.parse(text).steps().keys() == shown.steps().keys()


@pytest.mark.parametrize(
    "text",
    [
        "poisson(laplace(1), 0.1)^2",
        "threshold(laplace(1), -1)",
        "bounded_range(1/2) * pure_dp(1/2)",
        "mix(1/2: bounded_range(1/2), 1/2: pure_dp(1))",
    ],
)
def test_what_the_checker_has_no_route_for_is_refused(text):
    with pytest.raises(NoCertificate, match="no certificate: "):
        certified(text, "delta", "1/2")


def test_true_bounds_of_other_digits_are_rejected():
    document = certified("gaussian(1)", "delta", "1", 20)
    statement = document["statements"][0]
    lower, upper = Fraction(statement["lower"]), Fraction(statement["upper"])
    for low, high in ((lower * 2 - upper, upper), (lower, upper * 2 - lower), (upper, upper)):
        statement.update(lower=str(low), upper=str(high))
        document["digest"] = checker.digest(document)
        assert verdict(document) is not None


def test_the_stated_direction_is_the_one_that_is_checked():
    document = certified("poisson(gaussian(1), 1/3)", "delta", "1/2", way="remove")
    document["statements"][0]["direction"] = "add"
    document["digest"] = checker.digest(document)
    assert verdict(document) == "the bounds exclude the truth"


# --- hostile files ---

HOSTILE = [
    b"",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"format": 1, "version": NaN}',
    b'{"format": 1e999999999}',
    b'{"format": "dpexact certificate", "format": "dpexact certificate"}',
    b'{"format": "dpexact certificate", "version": "2"}',
    b'{"format": "dpexact certificate", "version": "1"}',
    b'"' + b"\\" * 1_000_001,
    b" " * (checker.MAX_BYTES + 1),
    b"9" * 1_000_000,
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_are_unreadable(content, tmp_path, capsys):
    path = tmp_path / "file"
    path.write_bytes(content)
    started = time.process_time()
    assert checker.main([str(path)]) == 2
    assert time.process_time() - started < 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("unreadable: ")


TOWER = "3"
for _ in range(30):
    TOWER = ["exp", TOWER]
SQUARES = "3"
for _ in range(30):
    SQUARES = ["^", SQUARES, "8000"]
WRONG_MEMBERS = {
    "mechanism": [
        *("x", [], {}, None, ["nothing"], [["gdp"]], ["gdp"], ["gdp", "1", "1"]),
        *(["gdp", "-1"], ["gdp", "0x1"], ["gdp", "1/0"], ["gdp", "2/4"], ["gdp", "9" * 5000]),
        *(["gdp", TOWER], ["gdp", SQUARES], ["gdp", ["log", "-1"]], ["gdp", ["/", "1", "0"]]),
        *(["gdp", True], ["gdp", {}], ["gdp", "\u0661"], ["gdp", ["^", "2", "1/2"]]),
        ["repeat", ["gdp", "1"], "9" * 30],
        ["repeat", ["pure_dp", "1/1000000"], "1" + "0" * 18],
        ["repeat", ["discrete_gaussian", "1000000", "1"], "5"],
        ["repeat", ["discrete_gaussian", "99", "1"], "99999"],
        ["repeat", ["laplace", "1", "1"], "300"],
        ["repeat", ["discrete_laplace", "1", "2000"], "999999"],
        ["compose", *(["pure_dp", f"1/{n}"] for n in range(1, 60))],
        ["compose", *(["pure_dp", ["sqrt", str(n)]] for n in range(2, 60))],
        ["approx_dp", "1", "2"],
        ["poisson", ["gdp", "1"], "0"],
        ["pure_dp", "1" + "0" * 3000],
        ["gaussian", "1/1" + "0" * 3000, "1"],
    ],
    "at": ["-1", [], ["e", "1"], TOWER, "1" + "0" * 3000, "1/1" + "0" * 3000],
    "lower": ["inf", "", "-1", "9" * 5000],
    "bits": ["0", "999999999", "-5", "1/2"],
    "digits": ["0", "inf", "1" * 30],
    "quantity": ["rho", "epsilon"],
    "direction": ["sideways"],
    "method": ["magic"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(name, value, id=f"{name}-{i}")
        for name, values in WRONG_MEMBERS.items()
        for i, value in enumerate(values)
    ],
)
def test_hostile_members_are_rejected_in_bounded_time(name, value, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(checker, "MAX_WORK", checker.MAX_WORK // 20)
    document = certified("pure_dp(1)^2", "delta", "1/2")
    statement = document["statements"][0]
    statement[name] = value
    if name == "mechanism":
        with suppress(checker.Invalid, checker.Unreadable):
            statement["text"] = checker.shown(value)
            statement["method"] = checker.method_of(checker.steps_of(value))
    document["digest"] = checker.digest(document)
    path = tmp_path / "file"
    path.write_text(to_text(document))
    started = time.process_time()
    code = checker.main([str(path)])
    assert time.process_time() - started < 10
    output = capsys.readouterr()
    assert code in (1, 2)
    assert len((output.out + output.err).splitlines()) == 1


# --- independence ---


def test_it_imports_the_standard_library_alone():
    tree = ast.parse(CHECKER.read_text())
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module.partition(".")[0])
    assert names <= sys.stdlib_module_names


def test_it_runs_by_path_without_site_packages(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(to_text(certified("gaussian(1)", "epsilon", "1e-5")))
    command = [sys.executable, "-I", "-S", str(CHECKER), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "valid: 1 verified\n")


def test_as_a_module_it_loads_no_flint(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(to_text(certified("pure_dp(1)", "delta", "1/2")))
    code = (
        "import runpy, sys\n"
        f"sys.argv = ['checker', {str(path)!r}]\n"
        "try: runpy.run_module('dpexact.certificate_checker', run_name='__main__')\n"
        "except SystemExit as error: assert error.code == 0\n"
        "assert not {'flint', 'numpy', 'sympy', 'click'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_missing_file_is_unreadable(tmp_path, capsys):
    assert checker.main([str(tmp_path / "none")]) == 2
    assert checker.main([]) == 2
    assert "unreadable: No such file" in capsys.readouterr().err
