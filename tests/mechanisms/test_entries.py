"""Lists of arguments: read, printed back, and refused with the column."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

import dpexact
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms.base import MAX_NESTING, POSITIVE, Mechanism
from dpexact.mechanisms.entries import listed
from dpexact.mechanisms.grammar import NAMES, parse, parse_template
from dpexact.reals import Real


def as_they_are(entries, name):
    return entries


@dataclass(frozen=True, slots=True, repr=False)
class Weighed(Mechanism):
    name: ClassVar[str] = "weighed"
    sigma: Real = field(metadata=POSITIVE)
    weights: tuple[tuple[Real, Real], ...] = field(metadata=listed("number: number", as_they_are))


@dataclass(frozen=True, slots=True, repr=False)
class Several(Mechanism):
    name: ClassVar[str] = "several"
    parts: tuple[tuple[Real, Mechanism], ...] = field(
        metadata=listed("number: mechanism", as_they_are)
    )


@dataclass(frozen=True, slots=True, repr=False)
class Tuples(Mechanism):
    name: ClassVar[str] = "tuples"
    outcomes: tuple[tuple[Real, Real], ...] = field(
        metadata=listed("(number, number)", as_they_are)
    )


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for kind in (Weighed, Several, Tuples):
        monkeypatch.setitem(NAMES, kind.name, kind)


@pytest.mark.parametrize(
    "text",
    [
        "weighed(2, 1: 0.5, 3: 0.5)",
        "weighed(sigma=2, weights=1: 1/3)^4 * gaussian(1)",
        "several(0.5: gaussian(1)^3 * laplace(2), log(2): several(1: pure_dp(1)))^10",
        "poisson(several(0.5: poisson(gaussian(1), 1/2)), 1/3)",
        "tuples((1/2, 1/3), ((1 + 1)/4, 2 * exp(-1)))",
    ],
)
def test_what_is_printed_is_read_back(text):
    found = parse(text)
    assert parse(str(found)) == found
    assert hash(parse(str(found))) == hash(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weighed(2, 1)", "column 13 .* expected ':'"),
        ("weighed(2, 1: gaussian(1))", "column 15 "),
        ("weighed(2, 1: 1/2, 3)", "column 21 .* expected ':'"),
        ("weighed(2)", r"weights is missing: weighed\(sigma, number: number, ...\)"),
        ("weighed()", "sigma is missing"),
        ("several(1: 2)", "column 12 .* expected a mechanism"),
        ("tuples((1, 2), 3)", r"column 16 .* expected '\('"),
        ("tuples((1, 2, 3))", r"column 13 .* expected '\)' to close the bracket of column 8"),
        ("gaussian(1: 2)", "column 11 "),
    ],
)
def test_bad_lists_have_a_column(text, said):
    with pytest.raises(InvalidInput, match=said):
        parse(text)


def test_python_takes_lists_and_dictionaries():
    assert Weighed(2, {1: "1/2", 3: "1/2"}) == Weighed(2, [(1, "1/2"), (3, "1/2")])
    for wrong in ((), 3, [1, 2], [(1, 2, 3)], [(1, "x")]):
        with pytest.raises(InvalidInput, match="weights"):
            Weighed(2, wrong)
    with pytest.raises(InvalidInput, match="is not a mechanism"):
        Several([(1, 2)])


def test_templates_have_their_hole_at_any_depth():
    blank = parse_template("several(1/2: gaussian(?)^3, 1/2: pure_dp(1))^10")
    assert blank.owner == "gaussian"
    assert [part.name for part in blank.around] == ["", "several", ""]
    assert str(blank.fill(3)) == "several(0.5: gaussian(3)^3, 0.5: pure_dp(1))^10"
    weighed = parse_template("weighed(2, 1: ?)")
    assert (weighed.parameter, weighed.hole.ordering) == ("weights", None)
    assert weighed.fill(1) == parse("weighed(2, 1: 1)")
    with pytest.raises(UnsupportedMechanism, match="not proved monotone in weights of weighed"):
        dpexact.calibrate(weighed, 1, 0)


def test_nesting_counts_what_is_in_lists():
    m = dpexact.gaussian(1)
    for _ in range(MAX_NESTING - 1):
        m = Several([(1, m)])
    assert parse(str(m)) == m
    with pytest.raises(InvalidInput, match=f"more than {MAX_NESTING} deep"):
        Several([(1, m)])
