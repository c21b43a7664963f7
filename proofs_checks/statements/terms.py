"""Typed terms: JSON trees over reals, naturals, sequences, and what is tested between finite laws.

A term is a number ``"3/4"``, a name, or a tuple ``(operator, operand, ...)``. Natural numbers are
reals. Some operators bind the variable that they name: ``("D", f, x)`` is the derivative,
``("at", f, x, value)`` the value of ``f`` at ``x = value``, ``("sum", f, i, low, high)`` a sum,
``prod`` a product, ``largest`` the largest term, ``("mean", f, z, P, Q)`` the mean of ``f`` under
``P``, ``z`` the privacy loss ``log(P/Q)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

Term: TypeAlias = str | tuple[Any, ...]
Sort: TypeAlias = Literal[
    "real",
    "natural",
    "sequence",
    "law",
    "kernel",
    "tradeoff",
    "event",
    "test",
    "mechanism",
]

NUMBER: Final = re.compile(r"-?\d+(/\d+)?")
CONSTANTS: Final = frozenset({"pi", "e", "oo", "-oo"})
BINDERS: Final = frozenset({"D", "at", "sum", "prod", "integral", "limit", "largest", "mean"})
#: They have no slope somewhere; sympy gives them one.
KINKED: Final = frozenset({"max", "min", "abs", "floor", "ceiling", "sign"})

#: The operators on reals that take any number of operands, from one on.
_MANY: Final = frozenset({"+", "*", "max", "min"})
_REAL: Final = {
    **dict.fromkeys(
        [
            "exp",
            "log",
            "sqrt",
            "tanh",
            "sinh",
            "cosh",
            "coth",
            "sech",
            "csch",
            "erf",
            "erfc",
            "Phi",
            "abs",
            "floor",
            "ceiling",
            "factorial",
            "gamma",
            "sign",
        ],
        1,
    ),
    **dict.fromkeys(("/", "^", "binomial"), 2),
}
#: What the operators on other sorts take and give.
_SIGNATURES: Final[Mapping[str, tuple[tuple[Sort, ...], Sort]]] = {
    "hockey_stick": (("law", "law", "real"), "real"),
    "total_variation": (("law", "law"), "real"),
    "moment": (("law", "law", "real"), "real"),
    "worst_moment": (("kernel", "kernel", "real"), "real"),
    "worst_hockey_stick": (("kernel", "kernel", "real"), "real"),
    "push": (("kernel", "law"), "law"),
    "joint": (("law", "kernel"), "law"),
    "product": (("law", "law"), "law"),
    "power": (("law", "natural"), "law"),
    "mixture": (("real", "law", "law"), "law"),
    "bernoulli": (("real",), "law"),
    "response": (("real", "real"), "law"),
    "mirrored_response": (("real", "real"), "law"),
    "tradeoff": (("law", "law"), "tradeoff"),
    "inverse": (("tradeoff",), "tradeoff"),
    "approximate": (("real", "real"), "tradeoff"),
    "subsampled": (("real", "tradeoff"), "tradeoff"),
    "value": (("tradeoff", "real"), "real"),
    "probability": (("law", "event"), "real"),
    "complement": (("event",), "event"),
    "likely": (("law", "law", "real"), "event"),
    "expectation": (("law", "test"), "real"),
    "item": (("sequence", "real"), "real"),
    "run": (("mechanism", "natural"), "law"),
    "worst_step": (("mechanism", "mechanism", "real", "real"), "real"),
}
OPERATORS: Final = frozenset({*_MANY, *_REAL, *_SIGNATURES, *BINDERS})


def sort_of(term: Term, variables: Mapping[str, Sort]) -> Sort:
    """The sort of a term whose free names have the sorts ``variables``.

    Raises:
        TypeError: a name or operator is unknown, or an operand has the wrong sort.
    """
    if isinstance(term, str):
        if NUMBER.fullmatch(term) or term in CONSTANTS:
            return "real"
        if term not in variables:
            raise TypeError(f"unknown name {term!r}")
        return variables[term]
    operator, *operands = term
    if operator in BINDERS:
        body, name, *rest = operands
        if name in CONSTANTS:
            raise TypeError(f"{operator} binds {name}, a constant")
        for operand in rest:
            _demand(operator, operand, variables, "law" if operator == "mean" else "real")
        _demand(operator, body, {**variables, name: "real"}, "real")
        return "real"
    if operator in _SIGNATURES:
        wanted, result = _SIGNATURES[operator]
        if len(wanted) != len(operands):
            raise TypeError(f"{operator} takes {len(wanted)} operands, not {len(operands)}")
        for operand, sort in zip(operands, wanted, strict=True):
            _demand(operator, operand, variables, sort)
        return result
    if operator not in _MANY and _REAL.get(operator) != len(operands):
        raise TypeError(f"unknown operator {operator!r} of {len(operands)} operands")
    for operand in operands:
        _demand(operator, operand, variables, "real")
    return "real"


def _demand(operator: str, operand: Term, variables: Mapping[str, Sort], sort: Sort) -> None:
    found = sort_of(operand, variables)
    if found != sort and {found, sort} != {"real", "natural"}:
        raise TypeError(f"{operator} takes a {sort}, not a {found}")


def names(term: Term) -> set[str]:
    """The free names of a term."""
    if isinstance(term, str):
        return set() if NUMBER.fullmatch(term) or term in CONSTANTS else {term}
    operator, *operands = term
    if operator in BINDERS:
        body, name, *rest = operands
        return (names(body) - {name}).union(*map(names, rest))
    return set().union(*map(names, operands))


def parts(term: Term) -> Iterator[Term]:
    """The term and every term inside it; bound names are no terms."""
    yield term
    if isinstance(term, tuple):
        operator, *operands = term
        if operator in BINDERS:
            operands = [operands[0], *operands[2:]]
        for operand in operands:
            yield from parts(operand)


def frozen(tree: Any) -> Term:
    """The term of a JSON tree: lists become tuples, integers their text."""
    if isinstance(tree, list | tuple):
        return tuple(frozen(part) for part in tree)
    return str(tree)


def number(value: Fraction | int) -> Term:
    """The term of an exact number."""
    return str(Fraction(value))
