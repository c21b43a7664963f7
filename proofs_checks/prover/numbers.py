"""Closed statements about numbers, decided exactly or in balls."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import sympy

from dpexact.enclosure import Enclosure
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover.expressions import enclose, rational, tree_of
from proofs_checks.statements.algebra import quantified
from proofs_checks.statements.statement import Statement
from proofs_checks.statements.terms import number
from proofs_checks.statements.writing import text as shown

Number: TypeAlias = Any
"""A fraction, an integer, an enclosure, or a sympy expression without symbols."""

Relation: TypeAlias = Literal["<", "<=", ">", ">=", "=", "!="]

_BITS: Final = (128, 512, 2048, 8192)


def certain(left: Number, relation: Relation, right: Number, text: str = "") -> Evidence:
    """Evidence that ``left relation right`` holds; ``text`` is a remark on what the numbers are.

    ``=``, ``!=`` and ties are decided between fractions only.

    Raises:
        Refuted: the opposite is certain.
        Declined: the enclosures overlap at the highest precision.
    """
    words = f"{_shown(left)} {relation} {_shown(right)}"
    for bits in _BITS:
        a, b = _bounds(left, bits), _bounds(right, bits)
        decided = _decide(a, relation, b)
        if decided:
            return Evidence(
                "computation",
                words,
                statement=_stated(left, relation, right),
                role=text,
                sides=_rounded(a, b),
            )
        if decided is False:
            raise Refuted(
                f"it is false that {text or words}", {"left": str(left), "right": str(right)}
            )
    raise Declined(f"cannot tell whether {text or words}")


def _rounded(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[float, float] | None:
    """The middles of both sides, if a float can hold them."""
    try:
        left, right = (float((low + high) / 2) for low, high in (a, b))
    except (OverflowError, TypeError):
        return None
    return (left, right) if math.isfinite(left) and math.isfinite(right) else None


def _stated(left: Number, relation: Relation, right: Number) -> Statement | None:
    if isinstance(left, Enclosure) or isinstance(right, Enclosure):
        return None
    sides = (rational(side) if isinstance(side, Fraction | int) else side for side in (left, right))
    a, b = sides
    return quantified([(a, relation, b)], ())


def _shown(value: Number) -> str:
    if isinstance(value, Enclosure):
        return f"[{float(value.lower):.8g}, {float(value.upper):.8g}]"
    return str(value) if isinstance(value, sympy.Basic) else shown(number(value))


def _decide(a: tuple[Any, Any], relation: Relation, b: tuple[Any, Any]) -> bool | None:
    if relation in (">", ">="):
        return _decide(b, "<" if relation == ">" else "<=", a)
    if relation == "!=":
        equal = _decide(a, "=", b)
        return None if equal is None else not equal
    if relation == "=":
        if a[0] == a[1] == b[0] == b[1]:
            return True
        return False if a[1] < b[0] or b[1] < a[0] else None
    if relation == "<":
        return True if a[1] < b[0] else False if a[0] >= b[1] else None
    return True if a[1] <= b[0] else False if a[0] > b[1] else None


def _bounds(value: Number, bits: int) -> tuple[Any, Any]:
    if isinstance(value, Enclosure):
        return value.lower, value.upper
    if isinstance(value, Fraction | int):
        return Fraction(value), Fraction(value)
    if isinstance(value, sympy.Basic):
        if value.is_Rational:
            return (Fraction(int(value.p), int(value.q)),) * 2
        return enclose(tree_of(value), {}, bits)
    raise TypeError(f"{value!r} is not an exact number; floats such as {math.pi:.3} are none")
