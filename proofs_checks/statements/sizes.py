"""How long the numbers of a term get when it is worked out, told before anything is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from proofs_checks.statements.statement import Statement
from proofs_checks.statements.terms import BINDERS, NUMBER, Term, parts

#: Bits of the longest number that is worked out, of fewer digits than Python makes a text of.
MOST_BITS: Final = 12_000
#: Most terms of a sum or product.
MOST_TERMS: Final = 100_000
#: What is so short is worked out to see how large an exponent is.
_SHORT: Final = 64
_FLOAT_BITS: Final = 1_000
_BITS_OF_E: Final = 1.45
_WHOLE: Final = frozenset({"floor", "ceiling", "factorial", "binomial", "sum", "prod", "largest"})


def is_too_long(statement: Statement) -> bool:
    """Whether some number of a statement, or what it is made of, may be too long to work out."""
    sides = (
        side
        for each in (*statement.hypotheses, *statement.conclusion)
        for side in (each.left, each.right)
    )
    return any(not bits(side, {}) <= MOST_BITS for side in sides)


def bits(term: Term, ranges: Mapping[str, float], rounded: bool = False) -> float:
    """A bound on the bits of numerators and denominators, infinite where there are too many terms.

    A variable counts as a bit, so that powers of it count by their degrees; ``ranges`` has the
    bits of those that sums bind. Only ``rounded`` are exponentials written out.
    """
    if isinstance(term, str):
        if NUMBER.fullmatch(term):
            value = Fraction(term)
            return max(value.numerator.bit_length(), value.denominator.bit_length())
        return ranges.get(term, 1.0)
    operator, *operands = term
    if operator in BINDERS:
        return _bound(operator, operands, ranges, rounded)
    rounded = rounded or operator in ("floor", "ceiling")
    inside = [bits(each, ranges, rounded) for each in operands]
    if operator == "^":
        return max(inside[0] * max(_size(operands[1], ranges), 1.0), inside[1])
    if operator in ("factorial", "gamma"):
        size = _size(operands[0], ranges)
        return size * math.log2(size + 2)
    if operator == "binomial":
        return max(_size(operands[0], ranges), *inside)
    if rounded and operator in ("exp", "sinh", "cosh"):
        return max(_BITS_OF_E * _size(operands[0], ranges), *inside)
    return sum(inside) + (math.log2(len(inside)) if operator == "+" else 0)


def _bound(
    operator: str, operands: list[Term], ranges: Mapping[str, float], rounded: bool
) -> float:
    """Of a term that binds a variable; a sum of whole numbers is hardly longer than its terms."""
    body, name, *rest = operands
    ends = [bits(each, ranges, rounded) for each in rest]
    inner = bits(body, {**ranges, str(name): max([*ends, 1.0])}, rounded)
    if operator not in ("sum", "prod", "largest"):
        return max([inner, *ends])
    count = sum(_size(each, ranges) for each in rest) + 1
    if count > MOST_TERMS:
        return math.inf
    divided = any(isinstance(each, tuple) and each[0] in ("/", "^") for each in parts(body))
    grows = operator == "prod" or (operator == "sum" and divided)
    return max(inner * count if grows else inner + math.log2(count), *ends)


def _size(term: Term, ranges: Mapping[str, float]) -> float:
    """A bound on the modulus of a number that is worked out, and 1 for what stays as written."""
    length = bits(term, ranges)
    if length <= _SHORT:
        if (known := _value(term)) is not None:
            return abs(float(known))
        if not any(isinstance(each, tuple) and each[0] in _WHOLE for each in parts(term)):
            return 1.0
    return 2.0**length if length < _FLOAT_BITS else math.inf


def _value(term: Term) -> Fraction | None:
    """A short number that sums, products, quotients and powers make of others; else None."""
    if isinstance(term, str):
        return Fraction(term) if NUMBER.fullmatch(term) else None
    found = [_value(each) for each in term[1:]] if term[0] in ("+", "*", "/", "^") else [None]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    first, *others = known
    match term[0]:
        case "+":
            return sum(known, Fraction(0))
        case "*":
            return math.prod(known, start=Fraction(1))
        case "/" if others[0]:
            return first / others[0]
        case "^" if others[0].denominator == 1 and (first or others[0] >= 0):
            return Fraction(first ** int(others[0]))
    return None
