"""Taylor coefficients of an expression given as a JSON tree, in balls or in other numbers.

A tree is a number ``"3/4"``, a constant ``"pi"`` or ``"e"``, a variable name, or a list
``[operator, operand, ...]`` with the operators ``+ * / ^ exp log sqrt tanh erf erfc``; the exponent
of ``^`` is an integer. A jet is the list of the first Taylor coefficients in one variable.
The same recurrences serve every field of numbers: balls here, ranges with infinite ends in
``ranges``, and exact formal numbers in ``formal``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, Protocol, TypeAlias

from flint import arb

from dpexact import balls

Tree: TypeAlias = str | list[Any]
Jet: TypeAlias = list[Any]

NUMBER: Final = re.compile(r"-?\d+(/\d+)?")


class Field(Protocol):
    """The numbers that jets are made of."""

    def number(self, text: str) -> Any:
        """The number or constant that ``text`` names."""

    def function(self, name: str, value: Any) -> Any:
        """``name(value)`` for exp, log, sqrt, tanh, erf, erfc, and ``gauss`` = 2 e^(-x^2)/√π."""

    def power(self, value: Any, exponent: int) -> Any:
        """``value^exponent`` for an exponent >= 2."""


class Balls:
    """Balls at the current precision; undefined values are balls that are not finite."""

    def number(self, text: str) -> Any:
        if text == "pi":
            return arb.pi()
        return arb.const_e() if text == "e" else balls.ball(Fraction(text))

    def function(self, name: str, value: Any) -> Any:
        if name == "gauss":
            return 2 * (-(value * value)).exp() / arb.pi().sqrt()
        return getattr(value, name)()

    def power(self, value: Any, exponent: int) -> Any:
        if exponent % 2 == 0:  # even powers of |x|, from the ends: no negative part appears
            size = abs(value)
            low, high = size.abs_lower(), size.abs_upper()
            return (low**exponent).union(high**exponent)
        low, high = value.lower(), value.upper()  # odd powers rise
        return (low**exponent).union(high**exponent)


def jet(tree: Tree, point: Mapping[str, Jet], length: int, field: Field) -> Jet:
    """The first ``length`` Taylor coefficients of ``tree``; ``point`` gives those of its variables.

    Raises:
        ValueError: the tree has an unknown operator or variable.
    """
    zero = field.number("0")
    if isinstance(tree, str):
        if tree in point:
            return point[tree]
        if tree not in ("pi", "e") and not NUMBER.fullmatch(tree):
            raise ValueError(f"unknown name {tree!r}")
        return [field.number(tree)] + [zero] * (length - 1)
    operator, *operands = tree
    if operator == "^":
        base = jet(operands[0], point, length, field)
        return _power(base, int(operands[1]), field)
    a, *rest = [jet(operand, point, length, field) for operand in operands]
    if operator in ("+", "*", "/"):
        for b in rest:
            a = _OPERATIONS[operator](a, b)
        return a
    if operator not in _FUNCTIONS or rest:
        raise ValueError(f"unknown operator {operator!r}")
    return _function(operator, a, field)


def _add(a: Jet, b: Jet) -> Jet:
    return [x + y for x, y in zip(a, b, strict=True)]


def _multiply(a: Jet, b: Jet) -> Jet:
    return [sum((a[j] * b[k - j] for j in range(1, k + 1)), a[0] * b[k]) for k in range(len(a))]


def _divide(a: Jet, b: Jet) -> Jet:
    quotient: Jet = []
    for k, x in enumerate(a):
        quotient.append((x - sum(quotient[j] * b[k - j] for j in range(k))) / b[0])
    return quotient


def _power(base: Jet, exponent: int, field: Field) -> Jet:
    if exponent < 0:
        one = [field.number("1")] + [field.number("0")] * (len(base) - 1)
        return _divide(one, _power(base, -exponent, field))
    if exponent == 0:  # would hide where the base is undefined
        raise ValueError("unknown operator '^ 0'")
    result = base
    for bit in bin(exponent)[3:]:
        result = _multiply(result, result)
        if bit == "1":
            result = _multiply(result, base)
    if exponent > 1:
        result = [field.power(base[0], exponent), *result[1:]]
    return result


def _function(name: str, a: Jet, field: Field) -> Jet:
    """The jet of ``name(a)``, from the derivative of ``name`` as a function of its own value."""
    f = [field.function(name, a[0])]
    if len(a) == 1:
        return f
    zero = field.number("0")  # an empty sum must not be Python's 0: 0/1 is a float
    if name in ("erf", "erfc"):
        minus_square = [-x for x in _multiply(a, a)]
        inner = _series_exp(minus_square, field.function("gauss", a[0]))
        sign = 1 if name == "erf" else -1
        return f + [
            sign * sum(j * a[j] * inner[k - j] for j in range(1, k + 1)) / k
            for k in range(1, len(a))
        ]
    if name == "exp":
        return _series_exp(a, f[0])
    for k in range(1, len(a)):
        if name == "log":
            inner_sum = sum((j * f[j] * a[k - j] for j in range(1, k)), zero)
            f.append((a[k] - inner_sum / k) / a[0])
        elif name == "sqrt":
            f.append((a[k] - sum(f[j] * f[k - j] for j in range(1, k))) / (2 * f[0]))
        else:  # tanh' = 1 - tanh^2
            slope = [(1 if i == 0 else 0) - x for i, x in enumerate(_multiply(f, f))]
            f.append(sum(j * a[j] * slope[k - j] for j in range(1, k + 1)) / k)
    return f


def _series_exp(a: Jet, first: Any) -> Jet:
    """The jet of a function with f' = f a' and the value ``first``."""
    f = [first]
    for k in range(1, len(a)):
        f.append(sum(j * a[j] * f[k - j] for j in range(1, k + 1)) / k)
    return f


_OPERATIONS: Final = {"+": _add, "*": _multiply, "/": _divide}
_FUNCTIONS: Final = frozenset({"exp", "log", "sqrt", "tanh", "erf", "erfc"})
