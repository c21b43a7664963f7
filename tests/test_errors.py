from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from dpexact import errors
from dpexact.answers import PrecisionNotReached
from dpexact.enclosure import Enclosure


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.InvalidInput, ValueError),
        (errors.UnsupportedMechanism, NotImplementedError),
        (errors.UndecidedComparison, ArithmeticError),
        (PrecisionNotReached, ArithmeticError),
        (errors.Contradiction, RuntimeError),
    ],
)
def test_each_error_has_the_common_root_and_a_builtin_one(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, errors.DpexactError)
    assert issubclass(error, builtin)


def test_precision_not_reached_keeps_its_enclosure_when_pickled() -> None:
    best = Enclosure(Fraction(1, 3), Fraction(2, 3), "some method")
    copy = pickle.loads(pickle.dumps(PrecisionNotReached("not reached", best)))
    assert (str(copy), copy.best, copy.best.method) == ("not reached", best, "some method")


def test_a_contradiction_keeps_both_answers_when_pickled() -> None:
    error = errors.Contradiction("[1, 2] by one method", "[3, 4] by another")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is errors.Contradiction
    assert (copy.first, copy.second) == (error.first, error.second)
    assert str(copy) == str(error)
    assert "[1, 2] by one method and [3, 4] by another" in str(copy)
    assert "please report" in str(copy)


def test_no_other_handler_takes_a_contradiction_for_its_own() -> None:
    """Engines catch arithmetic and value errors of their planning, never this."""
    assert not issubclass(errors.Contradiction, (ArithmeticError, ValueError, NotImplementedError))
