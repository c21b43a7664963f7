from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import pytest

from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import (
    GDP,
    Composition,
    FixedSize,
    Gaussian,
    Mechanism,
    Poisson,
    Repetition,
    approx_dp,
    discrete_gaussian,
    discrete_laplace,
    fixed_size,
    gaussian,
    gdp,
    laplace,
    parse,
    poisson,
    pure_dp,
    staircase,
    zcdp,
)
from dpexact.mechanisms.base import MAX_NESTING, compose, repeat

ALL = [
    approx_dp("0.1", "1e-5"),
    pure_dp("log(3)"),
    gdp(2),
    zcdp("1/2"),
    gaussian("1.3", "sqrt(2)"),
    laplace(2),
    discrete_laplace(2, 3),
    discrete_gaussian("0.5"),
    staircase(1, "1/3"),
    poisson(gaussian(1), "0.01"),
    fixed_size(gaussian(1), 5, 100),
    gaussian(1) * gdp(1),
    gdp(1) ** 7,
]


@pytest.mark.parametrize("m", ALL, ids=str)
def test_a_mechanism_is_a_value(m: Mechanism) -> None:
    for twin in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), parse(str(m))):
        assert twin == m
        assert hash(twin) == hash(m)
        assert twin is not m
    with pytest.raises((AttributeError, TypeError)):
        m.name = "other"  # type: ignore[misc]
    for attribute in m.__slots__:
        with pytest.raises(AttributeError):
            setattr(m, attribute, None)
    assert len({*ALL, m}) == len(ALL)


def test_numbers_are_exact_in_any_form() -> None:
    assert gaussian(0.5) == gaussian("1/2") == gaussian(Fraction(1, 2)) == Gaussian(real("0.5"))
    assert gaussian(0.1) != gaussian("0.1")
    assert gdp("log(2)").mu == real("log(2)")


def test_operators() -> None:
    a, b, c = gaussian(1), gdp(2), pure_dp(3)
    assert a * b * c == a * (b * c) == Composition((a, b, c)) == compose(a, b, c)
    assert a**3 == a ^ 3 == Repetition(a, 3) == repeat(a, "3") == a ** Fraction(3)
    assert a**1 == a
    assert compose(a) == a
    assert a * b != b * a
    for wrong in (2, "gdp(1)", None):
        with pytest.raises(TypeError):
            a * wrong  # type: ignore[operator]
        with pytest.raises(TypeError):
            wrong * a  # type: ignore[operator]


def test_steps_merge_what_is_equal() -> None:
    a, b = gaussian(1), gdp(2)
    assert a.steps() == {a: 1}
    assert (a * b * a).steps() == {a: 2, b: 1}
    assert ((a * b**2) ** 3 * a).steps() == {a: 4, b: 6}
    assert ((a**2) ** 5).steps() == {a: 10}
    sampled = poisson(a * b, "0.1")
    assert (sampled**4 * sampled).steps() == {sampled: 5}
    assert (gaussian("1/2") * gaussian(0.5)).steps() == {gaussian("0.5"): 2}


def test_a_repetition_count_may_be_computed() -> None:
    assert parse("pure_dp(1)^(10^18)") == parse("pure_dp(1)^1000000000000000000")
    assert parse("(pure_dp(1)^(2*3))**(4-1)") == parse("(pure_dp(1)^6)^3")
    with pytest.raises(InvalidInput, match=r"14062\.5 is not accepted; write 14062 or 14063"):
        parse("pure_dp(1)^(60*60000/256)")


def test_text_of_products_and_powers() -> None:
    a, b = gaussian(1), gdp(2)
    assert str(a * b) == "gaussian(1) * gdp(2)"
    assert str((a * b) ** 2 * a) == "(gaussian(1) * gdp(2))^2 * gaussian(1)"
    assert str((a**2) ** 3) == "(gaussian(1)^2)^3"
    assert str(poisson(a * b, 1)) == "poisson(gaussian(1) * gdp(2), 1)"
    assert str(gaussian(1, 2)) == "gaussian(1, 2)"
    assert str(discrete_laplace(1, 1)) == "discrete_laplace(1)"
    assert str(fixed_size(a, 1, 2)) == "fixed_size(gaussian(1), 1, 2)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: approx_dp(-1, 0), "eps: -1 is not accepted; must be >= 0"),
        (lambda: approx_dp(1, "1.01"), "delta: 1.01 is not accepted; must be >= 0 and <= 1"),
        (lambda: approx_dp(1, "-1e-9"), "delta: "),
        (lambda: pure_dp("-log(2)"), "eps: "),
        (lambda: gdp(float("nan")), "mu: nan is not a finite number"),
        (lambda: zcdp(-1), "rho: "),
        (lambda: gaussian(0), "sigma: 0 is not accepted; must be > 0"),
        (lambda: gaussian(1, 0), "sensitivity: 0"),
        (lambda: gaussian("one"), "sigma: column 1"),
        (lambda: laplace(-1), "scale: "),
        (lambda: laplace(1, -1), "sensitivity: "),
        (lambda: discrete_laplace(0), "scale: "),
        (
            lambda: discrete_laplace(1, "1/2"),
            "sensitivity: 0.5 is not accepted; must be an integer",
        ),  # type: ignore[arg-type]
        (lambda: discrete_gaussian(1, 0), "sensitivity: 0"),
        (lambda: discrete_gaussian("-1e-5"), "sigma: "),
        (lambda: staircase(0, 0), "eps: "),
        (lambda: staircase(1, 2), "gamma: "),
        (lambda: staircase(1, 1, 0), "sensitivity: "),
        (lambda: poisson(gdp(1), "1.5"), "q: 1.5 is not accepted; must be >= 0 and <= 1"),
        (lambda: poisson(gdp(1), True), "q: a truth value"),
        (lambda: gaussian("1e-70000"), "sigma: 1e-70000 has more than 100000 bits"),
        (lambda: gaussian(1, "1e70000"), "sensitivity: 1e70000 has more than 100000 bits"),
        (lambda: gdp("1e70000"), "mu: 1e70000 has more than 100000 bits"),
        (lambda: poisson("gdp(1)", 1), "mechanism: 'gdp(1)' is not a mechanism"),  # type: ignore[arg-type]
        (lambda: fixed_size(gdp(1), 0, 2), "m: 0 is not accepted; must be an integer from 1 to 2"),
        (lambda: fixed_size(gdp(1), 3, 2), "m: 3 is not accepted; must be an integer from 1 to 2"),
        (lambda: fixed_size(gdp(1), 1, 0), "n: 0"),
        (lambda: fixed_size(1, 1, 2), "mechanism: 1 is not"),  # type: ignore[arg-type]
        (lambda: Composition((gdp(1),)), "at least two"),
        (lambda: Composition((gdp(1), 2)), "parts: 2 is not a mechanism"),  # type: ignore[arg-type]
        (lambda: Repetition(gdp(1), 1), "times: 1"),
        (lambda: Repetition(2, 2), "mechanism: 2"),  # type: ignore[arg-type]
        (lambda: gdp(1) ** 0, "times: 0"),
        (lambda: gdp(1) ** -3, "times: -3"),
        (lambda: gdp(1) ** "1/2", "times: 0.5"),
        (lambda: gdp(1) ** (10**18 + 1), "times: "),
    ],
)
def test_bad_arguments_are_named(build: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        build()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda m: poisson(m, "1/2"),
        lambda m: fixed_size(m, 1, 2),
        lambda m: Repetition(m, 2),
        lambda m: Repetition(m * GDP(real(1)), 2),
    ],
)
def test_nesting_is_limited_so_that_everything_prints_and_parses(wrap: Any) -> None:
    m: Mechanism = gdp(deep())
    message = ""
    for _ in range(MAX_NESTING + 1):
        assert parse(str(m)) == m
        try:
            m = wrap(m)
        except InvalidInput as error:
            message = str(error)
            break
    assert f"nested more than {MAX_NESTING} deep" in message
    assert isinstance(m, Poisson | FixedSize | Repetition)


def deep() -> Any:
    """A number as high as is accepted."""
    return real("sqrt(" * 79 + "pi+1" + ")" * 79)


@pytest.mark.parametrize(
    ("value", "shows"),
    [
        (f"1/{2**1074}", True),
        (f"1/{2**1075}", False),
        (f"{10**339 + 1}/2", False),
        ("1/3e5000", False),
    ],
)
def test_floats_are_shown_as_such_whatever_the_number(value, shows):
    assert ("as a float" in repr(laplace(value) ** 2)) is shows
