"""What the user gets of an answer."""

import ast
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import dpexact
from dpexact.answers import PrecisionNotReached, delivered
from dpexact.enclosure import Enclosure

NARROW = Enclosure(Fraction(1), 1 + Fraction(1, 10**6), "m", "stale")


@pytest.mark.parametrize("answer", [Enclosure.exact(Fraction(1, 3)), Enclosure.exact(math.inf)])
def test_the_exact_has_every_digit(answer):
    assert delivered(answer, 10**6) is answer


def test_digits_that_are_there_are_delivered_whatever_the_reason_says():
    assert delivered(NARROW, 6) is NARROW


def test_a_wide_answer_becomes_an_error_that_carries_it():
    with pytest.raises(PrecisionNotReached) as caught:
        delivered(NARROW.short("the work ran out"), 7)
    assert caught.value.best is not NARROW
    assert caught.value.best == NARROW
    assert caught.value.best.method == "m"
    assert str(caught.value) == f"7 digits were not reached: the work ran out; it is in {NARROW}"


def test_without_a_reason_none_is_made_up():
    wide = Enclosure(Fraction(0), math.inf)
    with pytest.raises(PrecisionNotReached) as caught:
        delivered(wide, 1)
    assert caught.value.best is wide
    assert str(caught.value) == "1 digits were not reached; it is in [0, inf]"


def _named(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node else set()


@pytest.mark.slow
def test_missing_digits_are_raised_and_caught_in_one_place_each():
    """The command line and the page aside, which show what a user would get."""
    package = Path(dpexact.__file__).parent
    found = Counter()
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] in ("cli", "serve"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            caught = isinstance(node, ast.ExceptHandler) and "PrecisionNotReached" in _named(
                node.type
            )
            raised = isinstance(node, ast.Raise) and "PrecisionNotReached" in _named(node.exc)
            found[str(path.relative_to(package)), type(node).__name__] += caught or raised
    assert {place: n for place, n in found.items() if n} == {
        ("answers.py", "ExceptHandler"): 1,
        ("answers.py", "Raise"): 1,
    }
