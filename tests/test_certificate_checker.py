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

import jsonschema
import pytest
from certified_answers import fresh
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import certificate_checker as checker
from dpexact.certificates import NoCertificate, certificate, to_text
from dpexact.certificates.trees import mechanism_tree
from dpexact.reals import real

CHECKER = Path(checker.__file__)
ROOT = CHECKER.parents[1]
SCHEMA = json.loads((ROOT / "docs/certificate.schema.json").read_text())
SAMPLES = 40


def verdict(document):
    """None if the certificate is verified, else why not."""
    try:
        checker.check(checker.read(to_text(document).encode()))
    except (checker.Invalid, checker.Unreadable) as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(scaled(SAMPLES)))
def test_fresh_certificates_are_accepted_and_mutated_ones_rejected(seed):
    document = fresh(seed)
    jsonschema.validate(document, SCHEMA)
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


def _certificate(text, quantity, at, digits=15, way="both"):
    ask = dpexact.delta if quantity == "delta" else dpexact.epsilon
    found = ask(text, at, digits, way)
    return certificate(dpexact.parse(text), quantity, real(at), way, found)


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
    ],
)
def test_every_route_is_verified(text, quantity, at):
    document = _certificate(text, quantity, at)
    jsonschema.validate(document, SCHEMA)
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
        "zcdp(1/2)",
        "laplace(1) * gaussian(1)",
        "fixed_size(gaussian(1), 1, 10)",
    ],
)
def test_what_the_checker_has_no_route_for_is_refused(text):
    with pytest.raises(NoCertificate, match="no certificate: "):
        _certificate(text, "delta", "1/2")


def test_true_bounds_of_other_digits_are_rejected():
    document = _certificate("gaussian(1)", "delta", "1", 20)
    statement = document["statements"][0]
    lower, upper = Fraction(statement["lower"]), Fraction(statement["upper"])
    for low, high in ((lower * 2 - upper, upper), (lower, upper * 2 - lower), (upper, upper)):
        statement.update(lower=str(low), upper=str(high))
        document["digest"] = checker.digest(document)
        assert verdict(document) is not None


def test_the_stated_direction_is_the_one_that_is_checked():
    document = _certificate("poisson(gaussian(1), 1/3)", "delta", "1/2", way="remove")
    document["statements"][0]["direction"] = "add"
    document["digest"] = checker.digest(document)
    assert verdict(document) == "the bounds exclude the truth"


# --- the arithmetic of the checker ---


@given(
    st.fractions(Fraction(-300), Fraction(300), max_denominator=10**9),
    st.fractions(Fraction(1, 10**9), Fraction(10**9), max_denominator=10**9),
    st.integers(40, 400),
)
def test_elementary_functions_enclose_closely(x, y, bits):
    a = checker.Arithmetic(bits)
    ctx.prec = 4 * bits + 600
    try:
        for found, truth in (
            (checker.exp(a.exact(x)), _ball(x).exp()),
            (checker.log(a.exact(y)), _ball(y).log()),
            (checker.sqrt(a.exact(y)), _ball(y).sqrt()),
            (checker.pi(a), arb.pi()),
        ):
            assert _ball(found.lo) <= truth + abs(truth) * arb(2) ** (-4 * bits)
            assert _ball(found.hi) >= truth - abs(truth) * arb(2) ** (-4 * bits)
            assert found.hi - found.lo <= abs(found.hi) / 2 ** (bits - 40) + Fraction(1, 2**bits)
    finally:
        ctx.prec = 53


@given(st.fractions(Fraction(-40), Fraction(40), max_denominator=10**6), st.integers(40, 300))
def test_the_normal_tail_encloses_closely(x, bits):
    a = checker.Arithmetic(bits)
    found = checker.upper_tail(a.exact(x))
    ctx.prec = 4 * bits + 6000
    try:
        truth = (_ball(x) / arb(2).sqrt()).erfc() / 2
        assert _ball(found.lo) <= truth <= _ball(found.hi)
    finally:
        ctx.prec = 53
    assert found.hi - found.lo <= found.hi / 2 ** (bits - 16)


def _ball(x):
    return arb(x.numerator) / x.denominator


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
    started = time.perf_counter()
    assert checker.main([str(path)]) == 2
    assert time.perf_counter() - started < 2
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
    document = _certificate("pure_dp(1)^2", "delta", "1/2")
    statement = document["statements"][0]
    statement[name] = value
    if name == "mechanism":
        with suppress(checker.Invalid, checker.Unreadable):
            statement["text"] = checker.shown(value)
            statement["method"] = checker.method_of(checker.steps_of(value))
    document["digest"] = checker.digest(document)
    path = tmp_path / "file"
    path.write_text(to_text(document))
    started = time.perf_counter()
    code = checker.main([str(path)])
    assert time.perf_counter() - started < 10
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
    path.write_text(to_text(_certificate("gaussian(1)", "epsilon", "1e-5")))
    command = [sys.executable, "-I", "-S", str(CHECKER), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "valid: 1 verified\n")


def test_as_a_module_it_loads_no_flint(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(to_text(_certificate("pure_dp(1)", "delta", "1/2")))
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
