from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from dpexact import errors
from dpexact.enclosure import Enclosure


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.InvalidInput, ValueError),
        (errors.UnsupportedMechanism, NotImplementedError),
        (errors.UndecidedComparison, ArithmeticError),
        (errors.PrecisionNotReached, ArithmeticError),
    ],
)
def test_each_error_has_the_common_root_and_a_builtin_one(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, errors.DpexactError)
    assert issubclass(error, builtin)


def test_precision_not_reached_keeps_its_enclosure_when_pickled() -> None:
    best = Enclosure(Fraction(1, 3), Fraction(2, 3), "some method")
    copy = pickle.loads(pickle.dumps(errors.PrecisionNotReached("not reached", best)))
    assert (str(copy), copy.best, copy.best.method) == ("not reached", best, "some method")
