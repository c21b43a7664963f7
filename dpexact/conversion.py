"""From what a user writes as a number to an exact :class:`~dpexact.reals.Real`, unrounded."""

from __future__ import annotations

import math
import numbers
import operator
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from dpexact.errors import InvalidInput
from dpexact.reals import (
    MAX_BITS,
    MAX_HEIGHT,
    PI,
    E,
    Real,
    bits_of,
    exponential,
    logarithm,
    rational,
    square_root,
)
from dpexact.tokens import Token, Tokens, quoted, shorten

#: What an operation on small numbers costs, in bits of an operation on large ones.
OPERATION_COST: Final = 100

ACCEPTED: Final = (
    "an int, Fraction, Decimal, finite float, text such as '1.3', '256/60000', '1e-5', "
    "'log(3/2)' or 'sqrt(2)', or a sympy or mpmath number"
)

RealLike: TypeAlias = Any
"""Anything :func:`real` accepts: see ``ACCEPTED``."""


# --- values of Python, numpy, mpmath and sympy ----------------------------------------------------


def real(value: RealLike, name: str = "number") -> Real:
    """Convert ``value`` to an exact :class:`Real` without rounding.

    A ``float`` (also numpy's) means its exact binary value, text means what it says, so
    ``real("0.1")`` is 1/10 and ``real(0.1)`` is 3602879701896397/36028797018963968.

    Raises:
        InvalidInput: NaN, infinities, bool, complex, empty text, sizes beyond ``MAX_BITS``, and
            whatever is not a number; the message names the argument ``name``.

    >>> real("256/60000").fraction
    Fraction(8, 1875)
    >>> str(real("log(3/2) * 3"))
    'log(1.5)*3'
    """
    if isinstance(value, Real):
        return value
    try:
        return parse_real(value) if isinstance(value, str) else _convert(value)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _convert(value: RealLike) -> Real:
    """Of what is neither a real nor text."""
    if type(value) is int:
        return rational(value)
    if type(value) is float and math.isfinite(value):
        return rational(Fraction(value))
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise InvalidInput(f"a truth value ({value}) is not a number; accepted: {ACCEPTED}")
    if isinstance(value, numbers.Integral) and hasattr(value, "__index__"):
        return rational(operator.index(value))
    if isinstance(value, Fraction):  # its integers may be those of numpy, which wrap around
        return _ratio(value)
    if isinstance(value, Decimal):
        return _from_decimal(value)
    foreign = _from_mpmath(value) or _from_sympy(value)
    if foreign is not None:
        return foreign
    if isinstance(value, numbers.Real) and hasattr(value, "as_integer_ratio"):  # also numpy's
        if value != value or abs(value) == math.inf:
            raise InvalidInput(f"{value} is not a finite number; accepted: {ACCEPTED}")
        return _ratio(value)
    numpy = sys.modules.get("numpy")
    if numpy and type(value) is numpy.ndarray and not value.ndim and value.dtype != object:
        inside = value[()]
        return parse_real(inside) if isinstance(inside, str) else _convert(inside)
    kind = type(value).__name__
    raise InvalidInput(f"{quoted(value)} ({kind}) is not accepted; use {ACCEPTED}")


def _ratio(value: Any) -> Real:
    """Of two integers, of whatever kind."""
    return rational(Fraction(*map(int, value.as_integer_ratio())))


def _from_decimal(value: Decimal) -> Real:
    if not value.is_finite():
        raise InvalidInput(f"{value} is not a finite number")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    digits = len(value.as_tuple().digits)
    if value and (digits + abs(exponent)) * 3.33 > MAX_BITS:
        size = "small" if value.adjusted() < 0 else "large"
        raise InvalidInput(f"number too {size}: {shorten(str(value))}")
    return rational(Fraction(value)) if value else rational(0)


def _from_mpmath(value: object) -> Real | None:
    mpmath = sys.modules.get("mpmath")
    if mpmath is None:
        return None
    for constant, exact in ((mpmath.mp.pi, PI), (mpmath.mp.e, E)):
        if value is constant:
            return exact
    if not isinstance(value, mpmath.mpf) or not hasattr(value, "_mpf_"):
        return None
    if not mpmath.isfinite(value):
        raise InvalidInput(f"{value} is not a finite number")
    sign, mantissa, exponent, _ = value._mpf_
    if abs(exponent) > MAX_BITS:
        size = "small" if exponent < 0 else "large"
        raise InvalidInput(f"number too {size}: {shorten(str(value))}")
    return rational((-1) ** sign * int(mantissa) * Fraction(2) ** exponent)


def _from_sympy(value: object, depth: int = 0) -> Real | None:
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(value, sympy.Expr):
        return None
    if isinstance(value, sympy.Rational):
        return rational(Fraction(int(value.p), int(value.q)))
    if isinstance(value, sympy.Float):
        converted = _from_mpmath(value._to_mpmath(value._prec))
        assert converted is not None
        return converted
    if value is sympy.pi:
        return PI
    if value is sympy.E:
        return E
    if depth > MAX_HEIGHT:
        raise InvalidInput(f"sympy expression nested more than {MAX_HEIGHT} deep")
    parts = [_from_sympy(argument, depth + 1) for argument in value.args]
    if parts and all(part is not None for part in parts):
        operands = [part for part in parts if part is not None]
        if isinstance(value, sympy.Add | sympy.Mul):
            combine = operator.add if isinstance(value, sympy.Add) else operator.mul
            total = operands[0]
            for operand in operands[1:]:
                total = combine(total, operand)
            return total
        if isinstance(value, sympy.exp):
            return exponential(operands[0])
        if isinstance(value, sympy.log) and len(operands) == 1:
            return logarithm(operands[0])
        if isinstance(value, sympy.Pow):
            base, exponent = operands
            if exponent.fraction is not None and exponent.fraction.denominator == 2:
                return square_root(base) ** exponent.fraction.numerator
            return exponential(exponent) if base == E else base**exponent
    raise InvalidInput(
        f"the sympy expression {shorten(str(value))!r} is not a real number in log, exp, sqrt"
    )


# --- text ---------------------------------------------------------------------------------------

_FUNCTIONS: Final = {"log": logarithm, "exp": exponential, "sqrt": square_root}
_RATIO: Final = re.compile(r"([0-9]{1,40})/([1-9][0-9]{0,39})")
_DECIMAL: Final = re.compile(r"([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,3}))?")
#: As YAML and spreadsheets write dates, which nobody means as a difference.
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONSTANTS: Final = {"pi": PI, "e": E}
_OPERATORS: Final = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "**": operator.pow,
}
#: How closely they bind, and those that bind at least so.
_SUM, _PRODUCT, _POWER = range(3)
_FROM: Final = [list(_OPERATORS)[2 * level :] for level in range(3)]


def parse_real(text: str) -> Real:
    """Parse one number or expression; see :func:`real`."""
    # logs hold a hundred thousand of these
    if plain := _DECIMAL.fullmatch(text):
        whole, places, power = plain.groups(default="")
        return Real("rational", (), _scaled(int(whole + places), int(power or 0) - len(places)))
    if plain := _RATIO.fullmatch(text):
        return Real("rational", (), Fraction(*map(int, plain.groups())))
    if not text.strip():
        raise InvalidInput(f"empty text is not a number; accepted: {ACCEPTED}")
    lowered = text.strip().lstrip("+-").lower()
    if lowered in ("nan", "inf", "infinity"):
        raise InvalidInput(f"{text.strip()} is not a finite number")
    if _DATE.fullmatch(lowered):
        raise InvalidInput(
            f"{lowered} is a date, not a number; a difference needs blanks around '-'"
        )
    tokens = Tokens(text)
    value = read_real(tokens)
    if tokens.next.kind != "end":
        raise tokens.error(f"unexpected {tokens.found()} after the number")
    return value


def _scaled(units: int, power: int) -> Fraction:
    """``units`` times a power of ten."""
    return Fraction(units * 10**power) if power >= 0 else Fraction(units, 10**-power)


def read_real(tokens: Tokens, level: int = _SUM) -> Real:
    """Read operands with operators of ``level`` and above between them from ``tokens``.

    A sign binds as a power does: ``-2^2`` is -4, and ``2^-2`` is 1/4.
    """
    if sign := tokens.accept("+", "-"):
        with tokens.nested():
            value = read_real(tokens, _POWER)
        value = value if sign.text == "+" else -value
    else:
        value = read_atom(tokens)
    while found := tokens.accept(*_FROM[level]):
        build = _OPERATORS[found.text]
        if build is operator.pow:
            with tokens.nested():
                right = read_real(tokens, _POWER)
        else:
            right = read_real(tokens, _PRODUCT if found.text in "+-" else _POWER)
        value = _located(tokens, found, build, value, right)
    return value


def read_atom(tokens: Tokens) -> Real:
    """Read ``atom := number | name | name "(" sum ")" | "(" sum ")"`` from ``tokens``."""
    if tokens.next.text == "(":
        with tokens.brackets():
            return read_real(tokens)
    token = tokens.take()
    if token.kind == "number":
        return _located(tokens, token, _decimal, token.text)
    if token.kind == "name" and token.text in _CONSTANTS:
        return _CONSTANTS[token.text]
    if token.kind == "name" and token.text in _FUNCTIONS:
        with tokens.brackets():
            argument = read_real(tokens)
        return _located(tokens, token, _FUNCTIONS[token.text], argument)
    if token.kind == "name":
        if token.text.lower() in ("nan", "inf", "infinity"):
            raise tokens.error(f"{token.text} is not a finite number", token)
        names = ", ".join([*_FUNCTIONS, *_CONSTANTS])
        raise tokens.error(
            f"unknown name {shorten(token.text)!r} in a number; known: {names}", token
        )
    found = "the end" if token.kind == "end" else repr(token.text)
    raise tokens.error(f"expected a number, found {found}", token)


def _decimal(text: str) -> Real:
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 9 or len(mantissa) > MAX_BITS:
        size = "small" if exponent.startswith("-") else "large"
        if len(mantissa) > MAX_BITS:
            size = "long"
        raise InvalidInput(f"number too {size}: {shorten(text)}")
    return _from_decimal(Decimal(text))


def _located(tokens: Tokens, token: Token, build: Any, *operands: Any) -> Real:
    try:
        result: Real = build(*operands)
    except InvalidInput as error:
        raise tokens.error(str(error), token) from None
    tokens.spend(bits_of(result.fraction or Fraction(0)) + OPERATION_COST)
    return result
