import pickle
from fractions import Fraction
from itertools import accumulate

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.numbers import (
    ExpRatio,
    ball,
    binomial_terms,
    compare,
    enclose,
    exponential,
    number,
    partial_sums,
    sign,
    to_real,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(log(9)/2)", Fraction(3)),
        ("exp(2/3)*exp(-1/3)/exp(1/3)", Fraction(1)),
        ("sqrt(2)*sqrt(8)", Fraction(4)),
        ("sqrt(6)/sqrt(2)/sqrt(3)", Fraction(1)),
        ("(1+e)^2 - e^2 - 2*e", Fraction(1)),
        ("exp(log(2)/3)^3", Fraction(2)),
        ("exp(1/sqrt(10)) - exp(sqrt(1/10))", Fraction(0)),
        ("exp(2/sqrt(10)) - exp(sqrt(40)/10)", Fraction(0)),
        ("exp(pi)*exp(-pi)", Fraction(1)),
        ("exp(1/(1/pi)) / exp(pi)", Fraction(1)),
        ("exp(log(pi))/pi", Fraction(1)),
        ("(exp(2) - 1)/(e - 1) - e", Fraction(1)),
        ("log(1/2) + log(1/2)*exp(0)", None),
    ],
)
def test_expressions_fold_to_what_they_are(text, expected):
    value = number(text)
    if expected is None:
        assert isinstance(value, ExpRatio)
    else:
        assert value == expected


@pytest.mark.parametrize(
    "text", ["exp(1/3)", "pi - 4", "1/(1+exp(sqrt(2)))", "log(1/3)/7", "sqrt(pi)"]
)
def test_value_agrees_with_an_independent_engine(text):
    value = number(text)
    assert isinstance(value, ExpRatio)
    found = enclose(value, 30, "")
    names = {name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "pi", "e")}
    with mpmath.workdps(60):
        true = mpmath.mpf(eval(text.replace("1/3", "mpf(1)/3"), {**names, "mpf": mpmath.mpf}))
        slack = Fraction(1, 10**50)
        exact = Fraction(*map(int, (mpmath.floor(true * mpmath.mpf(10) ** 55), 10**55)))
    assert found.lower - slack <= exact <= found.upper + slack


_values = st.builds(
    lambda a, b, c, d: (a * exponential(real(b)) + c) / (1 + exponential(real(d))),
    st.integers(-5, 5).map(Fraction),
    st.fractions(-2, 2, max_denominator=6),
    st.integers(-5, 5).map(Fraction),
    st.fractions(-1, 1, max_denominator=4),
)


@given(_values, _values, _values)
def test_field_laws(x, y, z):
    assert x + y == y + x
    assert x * (y + z) == x * y + x * z
    assert (x + y) + z == x + (y + z)
    assert x - x == 0
    if sign(y):
        assert x / y * y == x
        assert y**-2 * y**2 == 1


@given(_values, _values)
def test_operations_agree_with_balls(x, y):
    with balls.precision(256):
        for exact, approximate in ((x + y, ball(x) + ball(y)), (x * y, ball(x) * ball(y))):
            assert ball(exact).overlaps(approximate)
            assert ball(exact).rel_accuracy_bits() > 100 or sign(exact) == 0


@given(_values, _values)
def test_order_is_total_and_agrees_with_differences(x, y):
    assert compare(x, y) == -compare(y, x) == sign(x - y)
    assert (x < y) + (x == y) + (x > y) == 1


@given(_values)
def test_round_trips(x):
    assert number(to_real(x)) == x
    assert pickle.loads(pickle.dumps(x)) == x


@given(_values, _values, st.integers(0, 6))
def test_binomial_theorem(x, y, n):
    assert sum(binomial_terms(x, y, n), Fraction(0)) == (x + y) ** n


@given(st.lists(st.integers(-3, 3).map(Fraction) | _values, max_size=5), st.integers(0, 1))
def test_partial_sums_are_sums(values, start):
    found = partial_sums(values, Fraction(start))
    assert found == [*accumulate(values, initial=Fraction(start))]


def test_partial_sums_keep_to_one_denominator():
    """Exponents so far apart have no short polynomials, which could be reduced."""
    bottoms = [1 + exponential(real(text)) for text in ("1.2345", "0.54321", "2")]
    values = [1 / bottom for bottom in bottoms * 7]
    assert {len(value.denominator) for value in partial_sums(values, Fraction(0))[1:]} == {8}


def test_equal_numerators_over_different_denominators_differ():
    assert compare(number("1/(1+e)"), number("1/(1+e^2)")) == 1
    assert number("e/(1+e)") != number("e/(1+e^2)")


def test_tiny_differences_are_decided():
    x = exponential(real("1e-60")) - 1
    assert sign(x) == 1
    assert sign(x - Fraction(1, 10**60)) == 1


def test_zero_division_and_complex_numbers_are_refused():
    with pytest.raises(ZeroDivisionError):
        exponential(real(1)) / (exponential(real(1)) - number("e"))
    with pytest.raises(InvalidInput, match="alpha"):
        number("sqrt(1-2*pi)", "alpha")
