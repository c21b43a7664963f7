from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled, to_fraction

from dpexact import balls, reals
from dpexact.conversion import parse_real, real
from dpexact.errors import InvalidInput
from dpexact.reals import MAX_BITS, MAX_HEIGHT, PI, Real

# --- what is accepted -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (-(10**4400), Fraction(-(10**4400))),
        (Fraction(-8, 1875), Fraction(-8, 1875)),
        (Decimal("1.30"), Fraction(13, 10)),
        (Decimal("-1E-300"), Fraction(-1, 10**300)),
        (Decimal("0E+999999999"), Fraction(0)),
        ("1.3", Fraction(13, 10)),
        (" 256/60000\n", Fraction(8, 1875)),
        ("1e-5", Fraction(1, 100000)),
        ("+.5E+1", Fraction(5)),
        ("2.", Fraction(2)),
        ("-2^2", Fraction(-4)),
        ("2^-2", Fraction(1, 4)),
        ("2**3^2", Fraction(512)),
        ("8/4/2", Fraction(1)),
        ("1-2-3", Fraction(-4)),
        ("2020 - 01 - 01", Fraction(2018)),
        ("1-(2-3)", Fraction(2)),
        ("- - +3", Fraction(3)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("sqrt(0)", Fraction(0)),
        ("log(1)+exp(0)", Fraction(1)),
        ("log(e)", Fraction(1)),
        ("log(exp(7))", Fraction(7)),
        ("exp(log(3/2))", Fraction(3, 2)),
        ("0*pi", Fraction(0)),
        ("pi^0", Fraction(1)),
        ("0^0", Fraction(1)),
        ("(-1)^399999", Fraction(-1)),
        ("0e999999999", Fraction(0)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(13421773, 134217728)),
        (np.array(0.1), Fraction(0.1)),
        (np.array("1/10"), Fraction(1, 10)),
        (np.array(2, np.uint8), Fraction(2)),
        (np.float16(0.1), Fraction(819, 8192)),
        (np.longdouble(2) ** 16000, Fraction(2) ** 16000),
        (np.int8(-3), Fraction(-3)),
        (gmpy2.mpq(1, 3), Fraction(1, 3)),
        (gmpy2.mpfr("0.5"), Fraction(1, 2)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(np.int64(3), np.int64(7)), Fraction(3, 7)),
        (mpf(3) / 4, Fraction(3, 4)),
        (mpf(0), Fraction(0)),
        (mpf("-1e-100000"), None),
        (sympy.Integer(7), Fraction(7)),
        (sympy.Rational(-2, 7), Fraction(-2, 7)),
        (sympy.Float("0.1", 40), to_fraction(mp.make_mpf(sympy.Float("0.1", 40)._mpf_))),
        (sympy.sqrt(sympy.Rational(9, 4)), Fraction(3, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rational_forms_are_exact(value: Any, expected: Fraction | None) -> None:
    found = real(value)
    assert found.fraction == (to_fraction(value) if expected is None else expected)
    assert (found.operator, found.arguments, found.height) == ("rational", (), 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (mpmath.pi, "pi"),
        (mpmath.e, "e"),
        (sympy.pi, "pi"),
        (sympy.E, "e"),
        (sympy.exp(2), "exp(2)"),
        (sympy.log(3), "log(3)"),
        (sympy.sqrt(2), "sqrt(2)"),
        (sympy.sqrt(2) ** 3 * sympy.pi, "2*sqrt(2)*pi"),
        (sympy.log(sympy.Rational(3, 2)) * 3, "3*log(1.5)"),
        (1 + sympy.pi**-2, "1+pi^(-2)"),
        (sympy.log(3, 10), "log(10)^(-1)*log(3)"),
        ("exp(1)", "e"),
        ("1.50*log(3/2)-pi", "1.5*log(1.5)+(-1)*pi"),
        ("(pi^2)^3", "(pi^2)^3"),
        ("pi^1", "pi"),
        ("pi/1+0", "pi"),
        ("pi/(2/3)", "pi/(2/3)"),
        ("sqrt(pi)", "sqrt(pi)"),
        ("2-(e-pi)", "2+(-1)*(e+(-1)*pi)"),
        ("1e-300", "1e-300"),
        ("12e2", "1200"),
        ("1e400", "1e400"),
        ("1/3", "1/3"),
        ("1/1024", "0.0009765625"),
        ("-8/1875", "-8/1875"),
    ],
)
def test_expressions_print_as_text_that_means_the_same(value: Any, text: str) -> None:
    found = real(value)
    if isinstance(value, sympy.Expr):  # sympy orders its operands as it likes
        assert sorted(str(found)) == sorted(text)
    else:
        assert str(found) == text
    assert real(str(found)) == found
    assert repr(found) == f"Real({str(found)!r})"


def test_sympy_expressions_keep_their_value() -> None:
    x = (sympy.sqrt(2) * sympy.log(5) - sympy.exp(-sympy.sqrt(3))) ** 3 / (sympy.pi + 1)
    with mp.workdps(60), balls.precision(150):
        truth = to_fraction(sympy.N(x, 60)._to_mpmath(200))
        found = balls.to_enclosure(balls.ball(real(x)))
    assert found.digits > 30
    assert found.lower - Fraction(1, 10**50) < truth < found.upper + Fraction(1, 10**50)


def test_a_real_is_a_value() -> None:
    x = real("log(3/2)*3")
    assert real(x) is x
    assert pickle.loads(pickle.dumps(x)) == copy.deepcopy(x) == x
    assert hash(real("log(3/2)*3")) == hash(x)
    assert len({x, real("3*log(3/2)"), real("log(1.5)*3")}) == 2
    with pytest.raises(AttributeError):
        x.operator = "pi"  # type: ignore[misc]


# --- what is refused ------------------------------------------------------------------------------


def deep_sympy(levels: int) -> sympy.Expr:
    x: Any = sympy.pi
    for _ in range(levels):
        x = sympy.log(sympy.Add(x, 1, evaluate=False), evaluate=False)
    return x


class Impostor:
    def __repr__(self) -> str:
        return "x" * 1000


REFUSED: list[tuple[Any, str]] = [
    (float("nan"), "not a finite number"),
    (float("inf"), "not a finite number"),
    (np.float32("-inf"), "not a finite number"),
    (np.longdouble("nan"), "not a finite number"),
    (Decimal("NaN"), "not a finite number"),
    (Decimal("sNaN"), "not a finite number"),
    (Decimal("-Infinity"), "not a finite number"),
    (mpf("nan"), "not a finite number"),
    (mpf("inf"), "not a finite number"),
    ("nan", "not a finite number"),
    ("2020-01-01 ", "2020-01-01 is a date, not a number"),
    ("-inf", "not a finite number"),
    (" +Infinity", "not a finite number"),
    ("1+NaN", "not a finite number"),
    (True, "truth value"),
    (np.bool_(False), "truth value"),
    (1j, "complex"),
    (np.complex128(1), "complex128"),
    (np.timedelta64(3, "D"), "timedelta64"),
    (mpmath.mpc(1, 0), "mpc"),
    (mpmath.iv.mpf([1, 2]), "ivmpf"),
    (mpmath.euler, "constant"),
    (mpmath.ln2, "constant"),
    (np.array([0.5]), "ndarray"),
    (np.array(None), "ndarray"),
    (np.array(True), "truth value"),
    (np.array(3, "m8[D]"), "timedelta64"),
    (np.ma.masked, "MaskedConstant"),
    ([1], "list"),
    (None, "NoneType"),
    (b"1", "bytes"),
    (Impostor(), "Impostor"),
    (sympy.oo, "sympy expression"),
    (sympy.nan, "sympy expression"),
    (sympy.zoo, "sympy expression"),
    (sympy.I, "sympy expression"),
    (sympy.Symbol("x"), "sympy expression"),
    (sympy.Symbol("x") + 1, "sympy expression"),
    (sympy.sin(1), "sympy expression"),
    (sympy.EulerGamma, "sympy expression"),
    (sympy.true, "BooleanTrue"),
    (sympy.cbrt(2), "must be an integer"),
    (sympy.log(-1, evaluate=False), "must be positive"),
    (deep_sympy(3000), "nested more than"),
    (2**MAX_BITS, "number too large"),
    (Fraction(1, 2**MAX_BITS), "number too small"),
    (Fraction(2**MAX_BITS + 1, 2**MAX_BITS), "number too long"),
    (Decimal("1e999999"), "number too large"),
    (mpf(2) ** (2 * MAX_BITS), "number too large: "),
    (mpf(2) ** (-2 * MAX_BITS), "number too small: "),
    (sympy.Integer(2) ** (2 * MAX_BITS), "number too large"),
    ("", "empty text"),
    (" \t\n", "empty text"),
    ("1e999999999", "number too large"),
    ("1e-999999999", "number too small"),
    ("1e-300000", "number too small"),
    ("1e400000", "number too large"),
    ("1e99999999999999999999", "number too large"),
    ("9" * 1_000_000, "number too long"),
    ("0." + "0" * 999_990 + "1", "number too long"),
    ("9" * 1_000_001, "too long"),
    ("9^9^9^9", "too large"),
    ("2^400001", "too large"),
    ("10^200000", "number too large: 10^200000"),
    ("10^-200000", "number too small: 10^-200000"),
    ("0.1^200000", "number too small: 0.1^200000"),
    ("(1/7)^-200000", "number too large: more"),
    ("2^" * 50 + "2", "too large"),
    ("(" * 10 + "2" + "^9)" * 10, "number too large"),
    ("1e100000*1e100000", "number too large"),
    ("+".join(["(2^199000-1)/3^100000-(2^199000-1)/3^100000"] * 9_000), "too much arithmetic"),
    ("+".join(["1"] * 110_000), "too much arithmetic"),
    ("+".join(["pi"] * 5000), "nested operations"),
    ("pi-" * 5000 + "pi", "nested operations"),
    ("(" * 400_000, "nested more than"),
    ("(" * 50 + "1", "expected ')' to close the bracket of column 50, found the end"),
    ("-" * 100_000 + "5", "nested more than"),
    ("-" * 1000 + "pi", "nested more than"),
    ("log(" * 1000 + "pi" + ")" * 1000, "nested more than"),
    ("__import__('os')", "column 12"),
    ("__import__", "unknown name"),
    ("().__class__", "column 3"),
    ("lambda: 0", "unknown name"),
    ("open(1)", "unknown name 'open'"),
    ("１", "column 1"),
    ("1\x002", "column 2"),
    ("1_000", "unexpected '_000' after the number"),
    ("1,3", "unexpected ',' after the number"),
    ("0x10", "unexpected 'x10'"),
    ("1 2", "unexpected '2'"),
    ("2e", "unexpected 'e'"),
    ("e2", "unknown name 'e2'"),
    ("1e+", "unexpected 'e'"),
    ("1e5.5", "unexpected '.5'"),
    ("E", "unknown name 'E'"),
    ("1.2.3", "unexpected '.3'"),
    (".", "unexpected character '.'"),
    ("1/0", "column 2 of '1/0': division by zero"),
    ("1/(2-2)", "division by zero"),
    ("0^-1", "division by zero"),
    ("2^0.5", "must be an integer"),
    ("2^pi", "must be an integer"),
    ("log(0)", "argument of log must be positive"),
    ("log(-1/2)", "argument of log must be positive"),
    ("sqrt(-1)", "must not be negative"),
    ("log 2", "expected '('"),
    ("log()", "expected a number, found ')'"),
    ("log(2", "to close the bracket of column 4"),
    ("log(2,10)", "expected ')'"),
    ("1+", "expected a number, found the end"),
    ("*1", "expected a number, found '*'"),
    ("gaussian(1)", "unknown name 'gaussian'"),
    ("?", "expected a number, found '?'"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_refusals_are_one_line_that_names_the_argument(value: Any, reason: str) -> None:
    start = time.process_time()
    with pytest.raises(InvalidInput) as caught:
        real(value, "sigma")
    message = str(caught.value)
    assert message.startswith("sigma: ")
    assert reason in message
    assert "\n" not in message
    assert len(message) < 500
    assert time.process_time() - start < 20


@given(st.text(max_size=30) | st.text("0123456789.e+-*/^()logsqrtpi ", max_size=30))
@settings(max_examples=scaled(500))
def test_any_text_is_a_number_that_prints_back_or_refused(text: str) -> None:
    try:
        value = real(text)
    except InvalidInput as error:
        assert "\n" not in str(error)
    else:
        assert real(str(value)) == value


def test_heights_are_limited_when_built_too() -> None:
    x = PI
    for _ in range(MAX_HEIGHT):
        x = reals.square_root(x)
    assert real(str(x)) == x
    with pytest.raises(InvalidInput, match="nested operations"):
        reals.square_root(x)


# --- the round trip and the value -----------------------------------------------------------------

Tree = tuple[Any, ...]

rationals = st.fractions(max_denominator=50).filter(lambda x: abs(x) < 1000)


def grow(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.one_of(
        st.tuples(st.sampled_from("+-*/"), children, children),
        st.tuples(st.sampled_from(["log", "exp", "sqrt", "neg"]), children),
        st.tuples(st.just("^"), children, st.integers(-4, 4)),
    )


trees = st.recursive(
    st.tuples(st.just("number"), rationals) | st.tuples(st.sampled_from(["pi", "e"])),
    grow,
    max_leaves=12,
)


def written(tree: Tree) -> str:
    match tree:
        case "number", value:
            return f"({value})"
        case ("pi" | "e",):
            return tree[0]
        case "neg", a:
            return f"(-{written(a)})"
        case "^", a, n:
            return f"({written(a)}^{n})"
        case operator, a, b:
            return f"({written(a)} {operator} {written(b)})"
        case function, a:
            return f"{function}({written(a)})"
    raise AssertionError(tree)


def evaluated(tree: Tree) -> mpf:
    match tree:
        case "number", value:
            return mpf(value.numerator) / value.denominator
        case ("pi",):
            return +mp.pi
        case ("e",):
            return +mp.e
        case "neg", a:
            return -evaluated(a)
        case "^", a, n:
            return evaluated(a) ** n
        case (("log" | "exp" | "sqrt"), a):
            x = evaluated(a)
            if (tree[0] != "exp" and x <= 0) or abs(x) > 2000:
                raise ZeroDivisionError
            return getattr(mp, tree[0])(x)
        case operator, a, b:
            x, y = evaluated(a), evaluated(b)
            operations: dict[str, Callable[[mpf, mpf], mpf]] = {
                "+": mpf.__add__,
                "-": mpf.__sub__,
                "*": mpf.__mul__,
                "/": mpf.__truediv__,
            }
            return operations[operator](x, y)
    raise AssertionError(tree)


@given(trees)
@settings(max_examples=scaled(400))
def test_a_parsed_tree_prints_back(tree: Tree) -> None:
    try:
        value = real(written(tree))
    except InvalidInput:
        assume(False)
    assert real(str(value)) == value


def agrees(value: Real, tree: Tree) -> bool | None:
    """Whether the enclosure holds mpmath's value of the same tree; None if that has no value."""
    with mp.workdps(90):
        try:
            truth = evaluated(tree)
        except (ZeroDivisionError, OverflowError):
            return None
        if not mpmath.isfinite(truth) or abs(truth) > mpf(10) ** 1000:
            return None
        exact = to_fraction(truth)
    with balls.precision(100):
        ball = balls.ball(value)
        if not ball.is_finite():
            return None
        found = balls.to_enclosure(ball)
    slack = (abs(exact) + 1) / 10**60
    return found.lower - slack <= exact <= found.upper + slack


decided = 0


@given(trees)
@settings(max_examples=scaled(400))
def test_the_value_agrees_with_mpmath(tree: Tree) -> None:
    global decided
    try:
        value = real(written(tree))
    except InvalidInput:
        assume(False)
    verdict = agrees(value, tree)
    assert verdict is not False, (written(tree), str(value))
    decided += verdict is True


def test_that_comparison_had_power() -> None:
    assert decided > scaled(400) * 0.4
    tree = ("+", ("log", ("number", Fraction(3, 2))), ("pi",))
    assert agrees(real("log(3/2)+pi"), tree) is True
    assert agrees(real("log(3/2)-pi"), tree) is False


@given(st.integers(0, 10**41), st.integers(1, 10**41), st.sampled_from(["", "0"]))
def test_ratios_are_read_as_expressions_are(top: int, bottom: int, zero: str) -> None:
    text = f"{zero}{top}/{bottom}"
    assert parse_real(text) == parse_real(f"({text})") == reals.rational(Fraction(top, bottom))
