from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import mechanisms
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, parse
from dpexact.mechanisms.base import MAX_NESTING, compose, repeat
from dpexact.mechanisms.grammar import NAMES

# --- round trip -----------------------------------------------------------------------------------

positive: st.SearchStrategy[Any] = st.one_of(
    st.fractions(min_value=Fraction(1, 1000), max_value=1000),
    st.sampled_from(
        ["log(3/2)", "sqrt(2)", "pi/4", "exp(-1)*3", "1e-300", "1e300", "2-log(2)", "e^2"]
    ),
    st.floats(min_value=1e-300, max_value=1e300),
)
not_negative = positive | st.just(0)
shares: st.SearchStrategy[Any] = st.one_of(
    st.fractions(min_value=0, max_value=1), st.sampled_from(["exp(-2)", "1e-5", "pi/4", "0", "1"])
)
whole = st.integers(1, 10**18)

single = st.one_of(
    st.builds(mechanisms.approx_dp, not_negative, shares),
    st.builds(mechanisms.pure_dp, not_negative),
    st.builds(mechanisms.gdp, not_negative),
    st.builds(mechanisms.zcdp, not_negative),
    st.builds(mechanisms.gaussian, positive, positive | st.just(1)),
    st.builds(mechanisms.laplace, positive, positive | st.just(1)),
    st.builds(mechanisms.discrete_laplace, positive, whole | st.just(1)),
    st.builds(mechanisms.discrete_gaussian, positive, whole | st.just(1)),
    st.builds(mechanisms.staircase, positive, shares, positive | st.just(1)),
)


def nested(children: st.SearchStrategy[Mechanism]) -> st.SearchStrategy[Mechanism]:
    return st.one_of(
        st.builds(mechanisms.poisson, children, shares),
        st.builds(
            lambda m, a, b: mechanisms.fixed_size(m, min(a, b), max(a, b)), children, whole, whole
        ),
        st.builds(lambda parts: compose(*parts), st.lists(children, min_size=1, max_size=4)),
        st.builds(repeat, children, whole),
    )


@given(st.recursive(single, nested, max_leaves=8))
@settings(max_examples=scaled(300))
def test_text_parses_back(m: Mechanism) -> None:
    text = str(m)
    assert parse(text) == m
    assert parse(f"  ( {text.replace(' ', '')} ) ") == m
    assert str(parse(text)) == text
    assert sum(m.steps().values()) >= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gdp(1)", "gdp(1)"),
        ("gaussian(sigma=1.3, sensitivity=2)", "gaussian(1.3, 2)"),
        ("gaussian(sensitivity=2, sigma=1.3)", "gaussian(1.3, 2)"),
        ("gaussian(1.3, sensitivity=1)", "gaussian(1.3)"),
        ("poisson(q=1/2, mechanism=gdp(1))", "poisson(gdp(1), 0.5)"),
        ("poisson(gdp(1)^2*gdp(3), 0.5)**3", "poisson(gdp(1)^2 * gdp(3), 0.5)^3"),
        ("((gdp((1))))", "gdp(1)"),
        ("(gdp(1)*gdp(2))*gdp(3)", "gdp(1) * gdp(2) * gdp(3)"),
        ("gdp(1)^1e3", "gdp(1)^1000"),
        ("gdp(1)^1", "gdp(1)"),
        ("approx_dp(log(3/2)*2-1/4,1e-5)", "approx_dp(log(1.5)*2+(-0.25), 0.00001)"),
        ("poisson(gaussian(1.3), 256/60000)^3515", "poisson(gaussian(1.3), 8/1875)^3515"),
        ("fixed_size(laplace(1), 10, 1e2)", "fixed_size(laplace(1), 10, 100)"),
        ("\tgdp ( 1 ) \n * gdp(2)", "gdp(1) * gdp(2)"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


def test_every_public_constructor_has_its_name_in_the_grammar() -> None:
    lower = {name for name in mechanisms.__all__ if name[0].islower()} - {"parse"}
    assert lower == set(NAMES)
    for name, kind in NAMES.items():
        assert kind.name == name


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("gausian(1)", 1, "unknown mechanism 'gausian'; did you mean 'gaussian'?"),
        ("spam(1)", 1, "unknown mechanism 'spam'; known: approx_dp, pure_dp"),
        ("GDP(1)", 1, "unknown mechanism 'GDP'"),
        ("gdp(1) * spam(1)", 10, "unknown mechanism"),
        ("poisson(spam(1), 1)", 9, "unknown mechanism"),
        ("gdp", 4, "expected '(', found the end"),
        ("gdp 1", 5, "expected '(', found '1'"),
        ("gdp(", 5, "expected a number, found the end"),
        ("gdp(1", 6, "expected ')' to close the bracket of column 4, found the end"),
        ("gdp(1))", 7, "unexpected ')' after the mechanism"),
        ("(gdp(1)", 8, "expected ')' to close the bracket of column 1, found the end"),
        ("gdp(1) gdp(2)", 8, "unexpected 'gdp' after the mechanism"),
        ("gdp()", 4, "mu is missing: gdp(mu)"),
        ("approx_dp(1)", 10, "delta is missing: approx_dp(eps, delta)"),
        ("gaussian(sensitivity=2)", 9, "sigma is missing: gaussian(sigma, sensitivity=1)"),
        ("gdp(1, 2)", 8, "too many arguments: gdp(mu)"),
        ("gdp(1,)", 7, "too many arguments"),
        ("gaussian(1,)", 12, "expected a number, found ')'"),
        ("gaussian(mu=1)", 10, "unknown parameter of gaussian 'mu'"),
        ("gaussian(sigm=1)", 10, "did you mean 'sigma'?"),
        ("gaussian(sigma=1, 2)", 19, "a positional argument cannot follow a named one"),
        ("gaussian(1, sigma=2)", 13, "sigma is given twice"),
        ("gaussian(sigma=1, sigma=2)", 19, "sigma is given twice"),
        ("gaussian(-1)", 1, "sigma: -1 is not accepted; must be > 0"),
        ("gdp(2) * gaussian(0)", 10, "sigma: 0"),
        ("poisson(gdp(1), 2)", 1, "q: 2 is not accepted; must be >= 0 and <= 1"),
        ("gdp(nan)", 5, "nan is not a finite number"),
        ("gdp(1e999999999)", 5, "number too large"),
        ("gdp(1/0)", 6, "division by zero"),
        ("gdp(gdp(1))", 5, "unknown name 'gdp' in a number"),
        ("poisson(0.5, gdp(1))", 9, "expected a mechanism, found '0.5'"),
        ("poisson(gdp(1))", 8, "q is missing: poisson(mechanism, q)"),
        ("gdp(1)^", 8, "expected a positive integer number of repetitions"),
        ("gdp(1)^(1/2)", 8, "times: 0.5 is not accepted"),
        ("gdp(1)^-2", 8, "expected a positive integer"),
        ("gdp(1)^0", 8, "must be an integer from 1 to"),
        ("gdp(1)^1.5", 8, "times: 1.5"),
        ("gdp(1)^1e19", 8, "times: 10000000000000000000"),
        ("gdp(1)^2^3", 9, "a power of a power needs brackets"),
        ("gdp(1)^2**3", 9, "a power of a power needs brackets"),
        ("gdp(1) *", 9, "expected a mechanism, found the end"),
        ("* gdp(1)", 1, "expected a mechanism, found '*'"),
        ("2 * gdp(1)", 1, "expected a mechanism, found '2'"),
        ("gdp(1) + gdp(2)", 8, "unexpected '+'"),
        ("()", 2, "expected a mechanism, found ')'"),
        ("gdp(1; 2)", 6, "unexpected character ';'"),
        ("gdp(１)", 5, "unexpected character"),
        ("__import__('os')", 12, "unexpected character"),
        ("__import__(1)", 1, "unknown mechanism"),
        ("fixed_size(gdp(1), 3, 2)", 1, "m: 3 is not accepted; must be an integer from 1 to 2"),
        ("gdp(?)", 5, "'?' is an unknown"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert str(caught.value).startswith(f"column {column} of ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty text"),
        (" \n", "empty text"),
        (None, "None is not text"),
        (b"gdp(1)", "is not text"),
        ("gdp(1)*" * 200_000, "too long"),
        ("(" * 100_000, "nested more than"),
        ("poisson(" * 10_000, "nested more than"),
        ("poisson(" * (MAX_NESTING + 1) + "gdp(1)" + ",1)" * (MAX_NESTING + 1), "nested more than"),
        ("gdp(" + "-" * 1000 + "1)", "nested more than"),
    ],
)
@pytest.mark.slow
def test_other_refusals(text: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@given(st.text(max_size=40) | st.text("gdpoisn(),^*=1. ", max_size=40))
@settings(max_examples=scaled(300))
def test_any_text_is_a_mechanism_or_refused(text: str) -> None:
    try:
        m = parse(text)
    except InvalidInput as error:
        assert "\n" not in str(error)
    else:
        assert parse(str(m)) == m


def test_many_mechanisms() -> None:
    text = " * ".join(f"gaussian({i})" for i in range(1, 3000))
    m = parse(text)
    assert str(m) == text
    assert len(m.steps()) == 2999
