from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.conversion import real
from dpexact.exactness import exact_ratio, exp_fraction, log_ratio


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 1),
        ("log(3/2)", Fraction(3, 2)),
        ("3*log(3/2)", Fraction(27, 8)),
        ("log(3/2)*3", Fraction(27, 8)),
        ("-log(3/2)", Fraction(2, 3)),
        ("log(4)/2", 2),
        ("log(8)*2/3", 4),
        ("log(2)+log(3)-log(5)", Fraction(6, 5)),
        ("log(4)-2*log(2)", 1),
        ("log(2)-log(2)", 1),
        ("log(2)*0.5+log(8)/2", 4),
        ("(log(2)+log(3))*2", 36),
        ("log(2)*1e-1000", None),
        ("log(2)*1000000", None),
        ("log(2)/2", None),
        ("1", None),
        ("1+log(2)", None),
        ("log(2)+1", None),
        ("log(2)*log(3)", None),
        ("log(2)/log(3)", None),
        ("log(pi)", None),
        ("pi*2", None),
        ("log(2)^2", None),
        ("sqrt(2)", None),
    ],
)
def test_exponentials_that_are_visibly_rational(text: str, expected: int | None) -> None:
    assert exp_fraction(real(text)) == expected


def test_the_size_limit() -> None:
    assert exp_fraction(real("10*log(2)"), limit_bits=30) == 1024
    assert exp_fraction(real("10*log(2)"), limit_bits=29) is None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("3", "4", Fraction(3, 4)),
        ("0", "pi", 0),
        ("pi", "0", None),
        ("0", "0", None),
        ("3*pi", "pi/2", 6),
        ("pi*(2/3)*5", "pi", Fraction(10, 3)),
        ("2*sqrt(8)", "sqrt(2)", 4),
        ("sqrt(3)", "sqrt(2)", None),
        ("sqrt(pi)", "sqrt(2)", None),
        ("log(3/2)*3", "log(3/2)", 3),
        ("log(2)+log(3)", "2*log(3)+log(2)*2", Fraction(1, 2)),
        ("log(2)+log(3)", "log(3)+2*log(2)", None),
        ("log(4)", "log(2)", 2),
        ("log(4)-log(4)", "log(2)", None),
        ("pi", "e", None),
        ("1", "pi", None),
        ("log(pi)", "log(2)", None),
    ],
)
def test_ratios_that_are_visibly_rational(a: str, b: str, expected: int | None) -> None:
    assert exact_ratio(real(a), real(b)) == expected


coefficients = st.fractions(-5, 5, max_denominator=6)


@given(coefficients, coefficients.filter(bool), st.sampled_from(["pi", "log(7/3)", "sqrt(5)", "1"]))
def test_ratio_of_multiples(a: Fraction, b: Fraction, core: str) -> None:
    assert exact_ratio(real(f"({a})*{core}"), real(f"{core}*({b})")) == a / b


@given(st.lists(st.tuples(st.integers(2, 30), st.integers(-3, 3)), min_size=1, max_size=4))
def test_exponential_of_a_combination(terms: list[tuple[int, int]]) -> None:
    expected = Fraction(1)
    for base, power in terms:
        expected *= Fraction(base) ** power
    text = "+".join(f"({power})*log({base})" for base, power in terms)
    assert exp_fraction(real(text)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("log(8)", "log(2)", 3),
        ("log(8)", "log(1/4)", Fraction(-3, 2)),
        ("log(36)", "log(2)+log(3)", 2),
        ("log(4/9)*5", "log(3/2)/7", -70),
        ("log(216)-log(6)", "log(36)", 1),
        ("log(12)", "log(18)", None),
        ("log(6)", "log(2)", None),
        ("log(2)+log(3)", "log(2)-log(3)", None),
        ("log(2)", "log(4)-2*log(2)", None),
    ],
)
def test_logarithms_of_rationals_are_always_decided(
    a: str, b: str, expected: Fraction | None
) -> None:
    assert exact_ratio(real(a), real(b)) == expected


@given(
    base=st.fractions(min_value="1/50", max_value=50, max_denominator=50),
    i=st.integers(-9, 9).filter(bool),
    j=st.integers(-9, 9).filter(bool),
    extra=st.sampled_from([1, 53, Fraction(1, 59)]),
)
def test_powers_of_one_rational(base: Fraction, i: int, j: int, extra: Fraction) -> None:
    found = exact_ratio(real(f"log({base**i * extra})"), real(f"log({base**j})"))
    if base == 1:
        assert found is None
    else:
        assert found == (Fraction(i, j) if extra == 1 else None)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("exp(2)/(1+exp(2))/3", "1/(1+exp(2))/3", "2"),
        ("sqrt(2)*exp(-3)", "sqrt(2)*exp(1)^2", "-5"),
        ("(1/exp(2))^3/5", "exp(-sqrt(2))", "-6+sqrt(2)-log(5)"),
        (
            "log(3)/(1+exp(2))",
            "sqrt(2)/(2+exp(2))^2",
            "log(log(3)*(2+exp(2))^2/sqrt(2)/(1+exp(2)))",
        ),
    ],
)
def test_what_divides_both_goes_away(a, b, expected):
    found = log_ratio(real(a), real(b))
    with balls.precision(200):
        assert balls.ball(found).overlaps(balls.ball(real(expected)))
        assert balls.ball(found).overlaps((balls.ball(real(a)) / balls.ball(real(b))).log())
    assert ("exp" in str(found)) == ("exp" in expected)
