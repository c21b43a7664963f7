"""Exact numbers as sympy expressions, and the symbols the closed forms share."""

from __future__ import annotations

from typing import Final

import sympy

from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: ``E = e^eps`` of one mechanism, ``delta`` its infinite-loss mass, ``X = e^epsilon`` the argument.
E: Final = sympy.Symbol("E", positive=True)
DELTA: Final = sympy.Symbol("delta", nonnegative=True)
X: Final = sympy.Symbol("X", positive=True)
EPSILON: Final = sympy.Symbol("epsilon", nonnegative=True)
MU: Final = sympy.Symbol("mu", positive=True)
#: ``alpha`` a type I error, ``y`` the slope of a supporting line, ``p`` a sampling rate.
ALPHA: Final = sympy.Symbol("alpha", nonnegative=True)
SLOPE: Final = sympy.Symbol("y", real=True)
RATE: Final = sympy.Symbol("p", positive=True)

#: Python, and so sympy, writes no longer integers.
_MAX_DIGITS: Final = 4300


def to_sympy(value: Real) -> sympy.Expr:
    """``value`` as a sympy expression, nothing rounded.

    Raises:
        UnsupportedMechanism: a numerator or denominator of more than 4,300 digits.

    >>> from dpexact.conversion import real
    >>> to_sympy(real("3*log(3/2)"))
    3*log(3/2)
    """
    if value.fraction is not None:
        if max(abs(value.fraction.numerator), value.fraction.denominator) >= 10**_MAX_DIGITS:
            raise UnsupportedMechanism(
                f"no closed form is written out with numbers of more than {_MAX_DIGITS} digits"
            )
        return sympy.Rational(value.fraction.numerator, value.fraction.denominator)
    if value.operator in ("pi", "e"):
        return sympy.pi if value.operator == "pi" else sympy.E
    operands = [to_sympy(argument) for argument in value.arguments]
    match value.operator, operands:
        case "log" | "exp" | "sqrt", [a]:
            return getattr(sympy, value.operator)(a)
        case "+", [a, b]:
            return a + b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "^", [a, b]:
            return a**b
    raise AssertionError(f"unknown operator {value.operator}")
