"""Mechanisms that cannot exist, and documents of other forms, are refused by the checker."""

import copy
import json
from fractions import Fraction

import pytest
from certified_answers import certified, verdict
from hypothesis import given, settings
from mechanism_trees import impossible, mechanisms, numbers
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact import certificate_checker as checker
from dpexact.certificates import to_text
from dpexact.certificates.statements import mechanism_tree
from dpexact.conversion import real
from dpexact.errors import InvalidInput

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
    document = certified(text, "delta", "1/3")
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
    document = certified(text, "delta", "1/3")
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
    document = certified("pure_dp(1)^2", "delta", "1/2")
    (statement,) = document["statements"]
    statement.update(members)
    document["digest"] = checker.digest(document)
    with pytest.raises((checker.Invalid, checker.Unreadable), match=reason):
        checker.check(document)


def test_documents_of_other_forms_are_unreadable():
    text = to_text(certified("pure_dp(1)", "delta", "1/2"))
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
