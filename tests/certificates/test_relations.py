"""Neighbours, lists of numbers and pairs as given, as the checker that stands alone reads them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from certified_answers import certified

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid, Unreadable

SAMPLE = ["poisson", ["gaussian", "1", "1"], "1/100"]


@pytest.mark.parametrize(
    ("tree", "error", "reason"),
    [
        (["compose", ["group", SAMPLE, "3"], SAMPLE], Invalid, "different neighbours"),
        (["compose", ["replace", SAMPLE], SAMPLE], Invalid, "different neighbours"),
        (["group", ["replace", SAMPLE], "2"], Invalid, "different neighbours"),
        (["replace", ["group", SAMPLE, "2"]], Invalid, "different neighbours"),
        (["poisson", ["group", ["gaussian", "1", "1"], "2"], "1/2"], Invalid, "different neigh"),
        (["group", SAMPLE, "0"], Invalid, "domain|not in"),
        (["group", SAMPLE, "1/2"], Unreadable, "not an integer"),
        (["group", SAMPLE], Unreadable, "wrong number"),
        (["gaussian_mixture", "1"], Unreadable, "wrong number"),
        (["gaussian_mixture", "1", ["1", "1/2"]], Invalid, "add up to 1"),
        (["gaussian_mixture", "1", ["1", "1/2"], ["2", "1/3"]], Invalid, "add up to 1"),
        (["gaussian_mixture", "1", ["-1", "1"]], Invalid, "domain"),
        (["gaussian_mixture", "1", ["1", "3/2"], ["2", "-1/2"]], Invalid, "domain"),
        (["gaussian_mixture", "0", ["1", "1"]], Invalid, "domain"),
        (["pair", ["1/2", "1/2"], ["1/2", "1/3"]], Invalid, "add up to 1"),
        (["pair", ["1/2", "1"], ["1/3", "0"]], Invalid, "add up to 1"),
        (["pair"], Unreadable, "wrong number"),
        (["pair", ["1"]], Unreadable, "wrong number"),
    ],
)
def test_mechanisms_that_cannot_exist_are_refused(tree, error, reason):
    def read():
        standard.check_domains(tree, standard.Arithmetic(64))
        standard.check_neighbours(tree)

    with pytest.raises(error, match=reason):
        read()


@pytest.mark.parametrize(
    ("law", "at", "lower", "upper"),
    [
        ([["3/4", "1/4"], ["1/4", "3/4"]], "0", "1/2", "1/2"),
        ([["1/2", "1/4"], ["1/4", "3/4"], ["1/4", "0"]], "0", "1/2", "1/2"),
        ([["1/2", "1/4"], ["1/4", "3/4"], ["1/4", "0"]], ["log", "2"], "1/4", "1/4"),
    ],
)
def test_pairs_as_given(law, at, lower, upper):
    tree = ["pair", *law]
    statement = {
        "mechanism": tree,
        "text": standard.shown(tree),
        "quantity": "delta",
        "at": at,
        "direction": "remove",
        "lower": lower,
        "upper": upper,
        "digits": "exact",
        "bits": "64",
        "method": "finite sum",
    }
    assert standard.check_statement(json.loads(json.dumps(statement)))
    with pytest.raises(Invalid):
        standard.check_statement(statement | {"lower": "1/3", "upper": "1/3"})


PAIRS = [
    "pair((5/8, 1/8), (1/8, 5/8), (1/4, 1/4))^10",
    "pair((5/8, 1/4), (3/8, 3/4))^10",
    "pair((1/2, 1/3), (499/1000, 2/3), (1/1000, 0))^4",
    "poisson(pair((5/8, 1/4), (3/8, 3/4)), 1/10)^5",
    "pair((1/2, 1/3), (499/1000, 2/3), (1/1000, 0)) * gaussian(3)",
]


@pytest.mark.parametrize("text", PAIRS)
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
@pytest.mark.parametrize(("quantity", "at"), [("delta", "1/2"), ("epsilon", "1e-2")])
def test_pairs_are_certified_and_moved_bounds_are_not(text, direction, quantity, at):
    written = certified(text, quantity, at, 12, direction)
    assert standard.check(written)
    statement = written["statements"][0]
    if statement["digits"] == "exact":
        return
    unit = Fraction(statement["upper"]) - Fraction(statement["lower"])
    for name in ("lower", "upper"):
        statement[name] = str(Fraction(statement[name]) + unit)
    written["digest"] = standard.digest(written)
    with pytest.raises(Invalid):
        standard.check(written)


def test_the_laws_of_a_pair_are_not_exchanged():
    written = certified(PAIRS[1], "delta", "1/2", 12, "remove")
    written["statements"][0]["direction"] = "add"
    written["digest"] = standard.digest(written)
    with pytest.raises(Invalid):
        standard.check(written)
