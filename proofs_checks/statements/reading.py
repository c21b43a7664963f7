"""Statements from the catalogue: ``{"for_all": {"x": "real > 0"}, "then": ["x < x + 1"]}``.

A domain is a sort (``real``, ``natural``, ``law``, ``kernel``, ``tradeoff``, ``event``, ``test``,
``mechanism``, ``sequence``), alone or followed by ``> 0``, ``>= 1/2``, ``< 1``, ``<= 1`` or
``in [0, 1)``; it holds for every probability of a law and every member of a sequence. ``where`` and
``then`` hold chains of relations between terms, which are written as Python expressions with ``^``
for powers. ``also`` is a list of further statements, such as the converse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, cast, get_args

from proofs_checks.statements.statement import Comparison, Relation, Statement, Variable
from proofs_checks.statements.terms import BINDERS, OPERATORS, Sort, Term, number

_RELATION: Final = re.compile(r"(<=|>=|!=|=|<|>)")
_DOMAIN: Final = re.compile(
    r"(?P<sort>\w+)(?: (?:(?P<sign><=|>=|<|>) (?P<end>\S+)|in (?P<interval>[(\[].+[)\]])))?"
)


def statement(entry: Mapping[str, Any]) -> Statement:
    """The statement that an entry of the catalogue writes down.

    Raises:
        TypeError: something is not of the forms above, or not well sorted; the message quotes it.
    """
    try:
        return Statement(
            tuple(variable(name, text) for name, text in entry.get("for_all", {}).items()),
            relations(entry.get("where", ())),
            relations(entry["then"]),
            tuple(map(statement, entry.get("also", ()))),
        )
    except (KeyError, ValueError, SyntaxError) as error:
        raise TypeError(f"no statement: {entry!r} ({error})") from error


def variable(name: str, text: str) -> Variable:
    """A variable with the domain that ``text`` describes."""
    found = _DOMAIN.fullmatch(text)
    if found is None or found["sort"] not in get_args(Sort):
        raise TypeError(f"the domain of {name} is not understood: {text!r}")
    sort: Sort = found["sort"]  # type: ignore[assignment]
    if found["interval"]:
        low, high = found["interval"][1:-1].split(",")
        return Variable(
            name,
            sort,
            _end(low),
            _end(high),
            found["interval"][0] == "(",
            found["interval"][-1] == ")",
        )
    if found["sign"] is None:
        return Variable(name, sort, Fraction(0) if sort == "natural" else None)
    end, is_open = Fraction(found["end"]), len(found["sign"]) == 1
    if found["sign"][0] == ">":
        return Variable(name, sort, end, None, is_open)
    return Variable(name, sort, Fraction(0) if sort == "natural" else None, end, False, is_open)


def relations(texts: Iterable[str]) -> tuple[Relation, ...]:
    """The relations of chains such as ``0 <= x < 1``."""
    found = []
    for text in texts:
        pieces = _RELATION.split(text)
        if len(pieces) < 3:
            raise TypeError(f"not a relation: {text!r}")
        sides = [term(piece) for piece in pieces[::2]]
        for (left, right), sign in zip(pairwise(sides), pieces[1::2], strict=True):
            found.append(Relation(left, cast(Comparison, sign), right))
    return tuple(found)


def term(text: str) -> Term:
    """The term that an expression writes down."""
    return _term(ast.parse(text.strip().replace("^", "**"), mode="eval").body)


def _term(node: ast.expr) -> Term:
    match node:
        case ast.Constant(value=int(value)):
            return number(value)
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _negated(_term(operand))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return ("+", _term(left), _negated(_term(right)))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            a, b = _term(left), _term(right)
            if isinstance(a, str) and isinstance(b, str) and a.isdigit() and b.isdigit():
                return number(Fraction(a) / Fraction(b))
            return ("/", a, b)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Pow() as sign, right=right):
            return (
                {ast.Add: "+", ast.Mult: "*", ast.Pow: "^"}[type(sign)],
                _term(left),
                _term(right),
            )
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in OPERATORS:
            operands = [_term(argument) for argument in arguments]
            if name in BINDERS and (len(operands) < 2 or not isinstance(operands[1], str)):
                raise ValueError(f"{name} binds no name")
            return (name, *operands)
    raise ValueError(f"not a term: {ast.unparse(node)}")


def _negated(value: Term) -> Term:
    if isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value):
        return number(-Fraction(value))
    return "-oo" if value == "oo" else ("*", "-1", value)


def _end(text: str) -> Fraction | None:
    return None if text.strip() in ("oo", "-oo") else Fraction(text.strip())
