import ast
import copy
import json
import math
import random
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from fractions import Fraction
from pathlib import Path

import pytest
from certified_answers import fresh, validate
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanism_trees import impossible, mechanisms, numbers
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact import certificate_checker as checker
from dpexact.certificates import NoCertificate, certificate, to_text
from dpexact.certificates.statements import mechanism_tree
from dpexact.conversion import real
from dpexact.errors import InvalidInput

CHECKER = Path(checker.__file__)
ROOT = CHECKER.parents[1]
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
            (statement,) = _certificate(text, quantity, at, 15)["statements"]
            checker.check_statement(statement)
            for bits in range(24, 44, 2):
                with pytest.raises(checker.Undecided):
                    checker.check_statement(statement, bits)


def test_what_is_not_decided_of_one_sampled_step_is_bounded():
    """Next to the largest loss, ``-log(1 - q)``, few bits do not tell whether delta is 0."""
    steps = checker.steps_of(["poisson", GAUSSIAN, "1/3"])
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
    (statement,) = _certificate("gaussian(1)", "delta", "1", 3)["statements"]
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
        for verdict in verdicts:
            with pytest.raises(checker.Invalid, match="does not follow"):
                checker.check_finding(_finding(kind, claimed, tolerance, verdict))


def _certificate(text, quantity, at, digits=15, way="both"):
    ask = dpexact.delta if quantity == "delta" else dpexact.epsilon
    found = ask(text, at, digits, way)
    return certificate(dpexact.parse(text), quantity, real(at), way, found)


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
    document = _certificate(text, quantity, at)
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


# --- mechanisms that cannot exist ---

OUT_OF_DOMAIN = "domain|is not in|is not an integer|cannot be told from"


def stated(document, tree, **members):
    """The certificate with another mechanism, and all that follows from it."""
    document = copy.deepcopy(document)
    (statement,) = document["statements"]
    statement.update(mechanism=tree, text=checker.shown(tree), **members)
    document["digest"] = checker.digest(document)
    return document


GAUSSIAN = ["gaussian", "1", "1"]


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("poisson(gaussian(1), 1/2)", ["2", "1/4"]),
        ("poisson(gaussian(1), 1/2)", ["1/4", "2"]),
        ("poisson(gaussian(1), 1/2)", ["-1/2", "-1"]),
        ("poisson(gaussian(1), 1/2)", ["-1", "-1", "1/2"]),
        ("poisson(gaussian(1), 1/2)", [["log", "1/2"], ["/", "-1/2", ["log", "2"]]]),
    ],
)
def test_rates_of_samples_of_samples_are_each_checked(text, rates):
    """The truth depends on their product alone."""
    document = _certificate(text, "delta", "1/3")
    possible = GAUSSIAN
    for rate in ["3/4", "2/3"]:
        possible = ["poisson", possible, rate]
    assert verdict(stated(document, possible)) is None
    impossible = GAUSSIAN
    for rate in rates:
        impossible = ["poisson", impossible, rate]
    assert "domain" in verdict(stated(document, impossible))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("poisson(pure_dp(1), 1/2)^2", ["poisson", ["pure_dp", "-1"], "1/2"]),
        ("gaussian(1)^2", ["gaussian", "-1", "-1"]),
        ("gaussian(1)^2", ["gdp", "-1"]),
        ("laplace(1)^2", ["laplace", "-1", "-1"]),
        ("discrete_gaussian(1)^2", ["discrete_gaussian", "-1", "1"]),
        ("staircase(1, 1/3)^2", ["staircase", "1", "1/3", "0"]),
        ("staircase(1, 1/3)^2", ["staircase", "1", "1/3", "-1"]),
    ],
)
def test_signs_that_cancel_are_each_checked(text, tree):
    document = _certificate(text, "delta", "1/3")
    assert "domain" in verdict(stated(document, ["repeat", tree, "2"]))


def test_a_parameter_that_the_bits_do_not_place_is_not_accepted():
    """Numbers within 2^-200 of the end of a domain, on either side."""
    tiny = Fraction(1, 1 << 200)
    root = ["*", ["sqrt", "2"], ["sqrt", "2"]]  # 2, never exactly
    for name, others, shift in (("poisson", [GAUSSIAN], -1), ("gaussian", ["1"], -2)):
        for sign in (-1, 1):
            near = ["+", root, str(shift + sign * tiny)]
            tree = [name, *others, near]
            with pytest.raises(checker.Undecided, match="not certainly in its domain"):
                checker.check_domains(tree, checker.Arithmetic(64))
            if (name == "poisson") == (sign < 0):
                checker.check_domains(tree, checker.Arithmetic(300))
            else:
                with pytest.raises(checker.Undecided, match="not certainly in its domain"):
                    checker.check_domains(tree, checker.Arithmetic(300))


@pytest.mark.parametrize("count", ["0", "-1", "1/2", "2001", ["+", "1", "1"], ["log", "3"]])
def test_sensitivities_of_integers_and_repetitions_are_integers(count):
    a = checker.Arithmetic(64)
    for tree in (["discrete_laplace", "2", count], ["discrete_gaussian", "2", count]):
        with pytest.raises((checker.Invalid, checker.Unreadable)):
            checker.check_domains(["poisson", tree, "1/2"], a)
    if count != "2001":
        with pytest.raises((checker.Invalid, checker.Unreadable)):
            checker.check_domains(["repeat", GAUSSIAN, count], a)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "discrete_laplace", "discrete_gaussian"])
def test_noise_and_sensitivity_are_not_zero(name):
    for tree in ([name, "0", "1"], [name, "1", "0"], ["staircase", "0", "1", "1"]):
        with pytest.raises(checker.Invalid):
            checker.check_domains(["repeat", tree, "2"], checker.Arithmetic(64))


@settings(max_examples=scaled(150))
@given(impossible())
def test_a_parameter_out_of_its_domain_is_rejected_wherever_it_stands(tree):
    text = checker.shown(tree)
    with pytest.raises(InvalidInput):
        dpexact.parse(text)
    statement = {
        "mechanism": tree,
        "text": text,
        "quantity": "delta",
        "at": "1",
        "direction": "both",
        "lower": "1/10",
        "upper": "1/5",
        "digits": "1",
        "bits": "64",
    }
    for method in ("finite sum", "finite sum with a Gaussian", "finite sum with Laplace steps"):
        with pytest.raises((checker.Invalid, checker.Unreadable), match=OUT_OF_DOMAIN):
            checker.check_statement({**statement, "method": method})


@settings(max_examples=scaled(150))
@given(mechanisms())
def test_what_the_library_parses_is_in_the_domains_and_means_the_same(tree):
    a = checker.Arithmetic(200)
    checker.check_domains(tree, a)
    again = mechanism_tree(dpexact.parse(checker.shown(tree)))
    assert meaning(tree, a) == meaning(again, a)


def meaning(tree, a):
    """The steps, with their parameters to 30 digits."""
    counts = {}
    for text, count in checker.steps_of(tree).items():
        name, *parts = json.loads(text)
        inner = meaning(parts.pop(0), a) if name == "poisson" else ()
        step = (name, inner, *(near(part, a) for part in parts))
        counts[step] = counts.get(step, 0) + count
    return tuple(sorted(counts.items()))


def near(tree, a):
    value = checker.number(tree, a)
    return round((value.lo + value.hi) / 2 * 10**30)


@settings(max_examples=scaled(300))
@given(numbers())
def test_numbers_are_those_of_the_library(tree):
    """What the checker reads, the library reads as the same number."""
    try:
        found = checker.number(tree, checker.Arithmetic(100))
    except checker.Invalid:
        return
    with balls.precision(300):
        truth = balls.to_enclosure(balls.ball(real(checker.shown_number(tree))))
    assert found.lo <= truth.upper
    assert truth.lower <= found.hi


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", " 1", "1 ", "1\n", "+1", "--1", "- 1", "-0", "00", "01", "1_000", "0x10", "0b1"),
        *("1.5", "1e3", "1E3", "1e999999999", "1e-999999999", "nan", "NaN", "inf", "-inf"),
        *("Infinity", "1/0", "0/1", "2/4", "1/1", "1/-2", "-1/-2", "1//2", "1/2/3", "/2", "1/"),
        *("\u0661", "\uff11", "\u00b2", "\u00bd", "1\u0661", "\u22121", "1\u2044\u0032", "1\u200b"),
        *("pi", "e", "log(2)", "(1)", "1+1", "2^2", "9" * 4001, None, True, 1, 1.5, {}, [], ["1"]),
    ],
    ids=ascii,
)
def test_what_is_no_number_of_the_format_is_unreadable(text):
    with pytest.raises(checker.Unreadable):
        checker.number(text, checker.Arithmetic(64))
    with pytest.raises(checker.Unreadable):
        checker.natural(text, -10, 10)


@pytest.mark.parametrize(
    "tree",
    [
        *(["^", "0", "0"], ["^", "0", "-1"], ["^", "-2", "2"], ["^", "2", "8001"]),
        *(["log", "0"], ["log", "-1"], ["sqrt", "-1"], ["/", "1", "0"], ["/", "0", "0"]),
        *(["/", "1", ["+", "1", "-1"]], ["/", "1", ["log", "1"]], ["exp", ["log", "-2"]]),
        *(["exp", ["*", "2", ["log", "-2"]]], ["*", "0", ["log", "-1"]]),
        *(["^", ["^", ["^", "9", "8000"], "8000"], "8000"], ["exp", "1" + "0" * 999]),
    ],
    ids=str,
)
def test_what_has_no_value_is_invalid(tree):
    with pytest.raises(checker.Invalid):
        checker.number(tree, checker.Arithmetic(64))


@pytest.mark.parametrize(
    "tree",
    [
        *(["zcdp", "1/2"], ["fixed_size", GAUSSIAN, "1"], ["uniform", "1"], ["?"], "gdp"),
        *(["compose", ["poisson", GAUSSIAN, "1/2"], ["repeat_and_select", GAUSSIAN, "9"]],),
        *(["compose", GAUSSIAN], ["compose"], ["gaussian", "1"], ["poisson", "1/2", GAUSSIAN]),
        *(["gaussian", "1", "1", "1"], ["poisson", GAUSSIAN], ["repeat", "2", GAUSSIAN]),
    ],
    ids=str,
)
def test_what_is_no_mechanism_of_the_format_is_unreadable(tree):
    with pytest.raises(checker.Unreadable):
        checker.shown(tree)
    with pytest.raises(checker.Unreadable):
        checker.check_domains(tree, checker.Arithmetic(64))


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"at": "-1/10"}, "the exact value is|the bounds exclude"),
        ({"at": ["log", "1/2"]}, "the exact value is|the bounds exclude"),
        ({"quantity": "epsilon", "at": "3/2"}, "delta is not in"),
        ({"quantity": "epsilon", "at": "-1/2"}, "delta is not in"),
        ({"quantity": "epsilon", "at": ["log", "1/2"]}, "delta is not in"),
        ({"lower": "1/2", "upper": "1/5"}, "not consecutive"),
        ({"lower": "0", "upper": "1"}, "not consecutive"),
        ({"lower": "-1/5", "upper": "-1/10", "digits": "1"}, "not consecutive"),
        ({"lower": "1/5", "upper": "inf"}, "not consecutive"),
        ({"lower": "0", "upper": "1", "digits": "exact"}, "an exact value has two bounds"),
        ({"lower": "inf", "upper": "inf", "digits": "exact"}, "delta is not infinite"),
        ({"lower": "-1", "upper": "-1", "digits": "exact"}, "another|exclude"),
        (
            {"quantity": "epsilon", "at": "1/9", "lower": "2", "upper": "2", "digits": "exact"},
            "0 or",
        ),
        ({"quantity": "renyi"}, "unknown quantity"),
        ({"direction": "replace"}, "or direction"),
        ({"lower": "nan"}, "not the text of a rational"),
        ({"upper": "-inf"}, "not the text of a rational"),
        ({"method": "finite sum with Laplace steps"}, "the method is not"),
        ({"text": "pure_dp(1) ^ 2"}, "the text is not"),
        ({"note": "1"}, "does not have the members"),
        ({"plan": {}}, "does not have the members"),
        ({"bits": 64}, "bits of a statement is not text"),
    ],
    ids=str,
)
def test_members_that_mean_nothing_are_rejected(members, reason):
    document = _certificate("pure_dp(1)^2", "delta", "1/2")
    (statement,) = document["statements"]
    statement.update(members)
    document["digest"] = checker.digest(document)
    with pytest.raises((checker.Invalid, checker.Unreadable), match=reason):
        checker.check(document)


def test_documents_of_other_forms_are_unreadable():
    text = to_text(_certificate("pure_dp(1)", "delta", "1/2"))
    assert checker.check(checker.read(text.encode()))
    for old, new in (
        ('"version": "1"', '"version": "01"'),
        ('"version": "1"', '"version": 1'),
        ('"version": "1"', '"version": "1", "note": ""'),
        ('"version": "1",', ""),
        ('"at": ', '"at": "2", "at": '),
        ('"at": ', '"at": "2", "\\u0061t": '),
        ('"statements": [', '"statements": [[], '),
        ('"findings": []', '"findings": {}'),
        ('"findings": []', '"findings": [{}]'),
        ('"uncertified": []', '"uncertified": [{"id": "1"}]'),
        ('"bits": "', '"bits": 1e9, "_": "'),
    ):
        assert text.count(old) == 1, old
        assert unread(text.replace(old, new)), new


def unread(text):
    """Why the content of a file, its digest made right, is no certificate."""
    try:
        document = checker.read(text.encode())
        checker.check({**document, "digest": checker.digest(document)})
    except checker.Unreadable as error:
        return str(error)
    return None


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


# --- each error term is needed: the series, and cuts that precision would hide ---


def encloses(found, truth):
    """Whether the interval holds the number, to thousands of bits."""
    low, high = found if isinstance(found, tuple) else (found.lo, found.hi)
    return bool(_ball(low) <= truth) and bool(truth <= _ball(high))


@pytest.fixture
def fine():
    ctx.prec = 4000
    yield
    ctx.prec = 53


def exponential_series(y, shift):
    return checker._series(y**0, y, 0, 1, shift)


def normal_series(x, shift):
    return checker._series(x, x * x, 1, 2, shift)


def normal_integral(x):
    """``int_0^x e^((x^2-t^2)/2) dt``."""
    return (x * x / 2).exp() * (x / arb(2).sqrt()).erf() * (arb.pi() / 2).sqrt()


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("shift", [8, 33, 200])
@pytest.mark.parametrize("size", [-200, -33, -8, 0])
def test_series_bound_what_they_leave_out(shift, size):
    """Numbers of one unit, where nothing is rounded and the second term is already left out."""
    x = Fraction(2) ** size
    assert encloses(exponential_series(x / 256, shift), _ball(x / 256).exp())
    assert encloses(normal_series(x, shift), normal_integral(_ball(x)))
    z = x / 3
    for point in (z, Fraction(1, 1 << shift), Fraction(1, 1 << max(shift // 2, 2))):
        assert encloses(checker._artanh_series(point, shift), _ball(point).atanh())
        assert encloses(exponential_series(point, shift), _ball(point).exp())
        assert encloses(normal_series(point, shift), normal_integral(_ball(point)))


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("shift", [4, 7, 10, 31, 64, 300])
def test_series_enclose_closely(shift):
    rng = random.Random(shift)
    for _ in range(scaled(150)):
        z = Fraction(rng.randrange(1, 1000), 3000)
        x, n = 12 * z, rng.randrange(2, 300)
        for found, truth in (
            (checker._artanh_series(z, shift), _ball(z).atanh()),
            (exponential_series(z, shift), _ball(z).exp()),
            (normal_series(x, shift), normal_integral(_ball(x))),
            (checker._arctan(n, shift), (1 / arb(n)).atan()),
        ):
            assert encloses(found, truth)
            assert found[1] - found[0] <= (1 + found[1]) * (shift + 20) / Fraction(2) ** shift


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("bits", [4, 8, 24, 53, 300])
def test_exponentials_enclose_closely(bits):
    rng = random.Random(bits)
    for _ in range(scaled(100)):
        x = Fraction(rng.randrange(-(10**6), 10**6), rng.choice([1 << 20, 10**4, 10**9, 21]))
        found = checker._exp_end(x, checker.Arithmetic(bits))
        assert encloses((found.lo, found.hi), _ball(x).exp())
        assert found.hi - found.lo <= found.lo / 2 ** (bits + 8)


@pytest.mark.usefixtures("fine")
def test_a_series_goes_on_until_its_terms_halve():
    """From a first term of one unit they grow to millions."""
    tiny = Fraction(1, 1 << 40)
    truth = normal_integral(arb(6)) / 6 * _ball(tiny)
    assert encloses(checker._series(tiny, Fraction(36), 1, 2, 40), truth)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("depth", range(7))
@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(2), Fraction(7)])
def test_two_convergents_enclose_the_ratio_of_mills(x, depth):
    point = _ball(x)
    truth = (point * point / 2).exp() * (point / arb(2).sqrt()).erfc() * (arb.pi() / 2).sqrt()
    found = checker._mills(x, depth, checker.Arithmetic(300))
    assert encloses(found, truth)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("last", [1, 2, 5, 9])
@pytest.mark.parametrize("decay", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_the_weights_left_out_of_a_discrete_gaussian_are_counted(decay, last):
    weights, total = checker._weights(checker.Arithmetic(400).exact(decay), last)
    assert len(weights) == last + 1
    assert weights[last].lo <= decay ** (last * last) <= weights[last].hi
    whole = sum((_ball(decay) ** (x * x) for x in range(1, 3000)), arb(0)) * 2 + 1
    assert encloses(total, whole)
    assert total.lo < total.hi


@pytest.mark.parametrize("width", [Fraction(0), Fraction(1, 7), Fraction(3)])
@pytest.mark.parametrize("x", [Fraction(n, 3) for n in (-20, -4, -1, 0, 1, 5, 26)])
def test_functions_of_intervals_hold_both_ends(x, width):
    a = checker.Arithmetic(60)
    wide = checker.Interval(x, x + width, a)
    ends = [a.exact(x), a.exact(x + width)]
    above = checker.Interval(x + 10, x + width + 10, a)
    pairs = [(checker.exp(wide), map(checker.exp, ends))]
    pairs += [(checker.upper_tail(wide), map(checker.upper_tail, ends))]
    pairs += [(f(above), [f(y + 10) for y in ends]) for f in (checker.log, checker.sqrt)]
    pairs += [(wide * wide, [y * z for y in ends for z in ends])]
    for found, narrow in pairs:
        for part in narrow:
            assert found.lo <= part.lo
            assert found.hi >= part.hi


@pytest.mark.parametrize("bits", [4, 30, 200])
@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-2, 7), Fraction(10**40, 9), Fraction(5)])
def test_what_does_not_fit_is_rounded_outward(x, bits):
    a, tiny = checker.Arithmetic(bits), Fraction(1, 1 << 300)
    found = a.make(x, x + tiny)
    assert found.lo <= x < x + tiny <= found.hi
    assert found.hi - found.lo <= abs(x) / 2 ** (bits - 2)


@pytest.mark.usefixtures("fine")
@pytest.mark.parametrize("bits", [8, 50])
@pytest.mark.parametrize("x", [Fraction(n, 7) for n in (1, 2, 3, 5, 20, 7**9, 2 * 7**5)])
def test_roots_are_enclosed(x, bits):
    found = checker.sqrt(checker.Arithmetic(bits).exact(x))
    assert encloses(found, _ball(x).sqrt())
    assert found.hi - found.lo <= found.hi / 2 ** (bits - 3)


@pytest.mark.parametrize("bits", [6, 20, 60])
@pytest.mark.parametrize(("p", "q", "count"), [(1, 2, 3), (2, 5, 9), (90, 7, 40), (1, 1, 7)])
def test_binomial_masses_are_at_most_the_true_ones(p, q, count, bits):
    scale = p + q
    terms = checker._binomial_terms(p, q, scale, count, checker.Arithmetic(bits))
    for j in range(count + 1):
        truth = Fraction(math.comb(count, j) * p**j * q ** (count - j), scale**count)
        mass = Fraction(terms.get(j, 0), 1 << bits)
        assert mass <= truth
        assert truth - mass <= Fraction(4 * count, 1 << bits)


class Fixed:
    """A profile that is ``low .. high`` everywhere."""

    def __init__(self, low, high):
        self.enclosure = low, high

    def delta(self, point):
        return checker.Interval(*map(Fraction, self.enclosure), point.a)


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ("3/20", "4/25", None),
        ("1/10", "4/25", checker.Undecided),
        ("3/20", "1/5", checker.Undecided),
        ("1/20", "4/25", checker.Undecided),
        ("3/20", "3/10", checker.Undecided),
        ("1/20", "3/10", checker.Undecided),
        ("1/20", "1/10", checker.Refuted),
        ("1/5", "3/10", checker.Refuted),
    ],
)
def test_a_delta_is_verified_with_all_of_its_enclosure_inside(low, high, error):
    bounds = Fraction(1, 10), Fraction(1, 5)
    with pytest.raises(error) if error else nullcontext():
        claim = checker.Claim([], "", "delta", "1", (), *bounds, {}, checker.Arithmetic(64), False)
        checker._check_delta([Fixed(low, high)], claim)


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ("1/20", "1/10", checker.Refuted),  # delta(lower) is to be above the target
        ("1/5", "3/10", checker.Refuted),  # and delta(upper) not
        ("1/20", "3/10", checker.Undecided),
        ("1/10", "3/10", checker.Undecided),
    ],
)
def test_an_epsilon_is_verified_with_delta_on_either_side(low, high, error):
    bounds = Fraction(1), Fraction(2)
    with pytest.raises(error):
        checker._check_epsilon([Fixed(low, high)], "1/10", *bounds, checker.Arithmetic(64))


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
