"""Between terms over the reals and sympy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

import sympy

from proofs_checks.statements.statement import Comparison, Relation, Statement, Variable
from proofs_checks.statements.terms import Term, number

_TO: Final[dict[str, Callable[..., Any]]] = {
    **{
        name: getattr(sympy, name)
        for name in [
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
            "binomial",
            "factorial",
            "gamma",
            "floor",
            "ceiling",
            "sign",
        ]
    },
    "abs": sympy.Abs,
    "max": sympy.Max,
    "min": sympy.Min,
    "Phi": lambda x: sympy.erfc(-x / sympy.sqrt(2)) / 2,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "+": lambda *a: sympy.Add(*a),
    "*": lambda *a: sympy.Mul(*a),
}
_FROM: Final = {
    **{
        getattr(sympy, name): name
        for name in [
            "exp",
            "log",
            "tanh",
            "sinh",
            "cosh",
            "coth",
            "sech",
            "csch",
            "erf",
            "erfc",
            "binomial",
            "factorial",
            "gamma",
            "floor",
            "ceiling",
            "sign",
        ]
    },
    sympy.Abs: "abs",
    sympy.Max: "max",
    sympy.Min: "min",
}
_CONSTANTS: Final = {
    "pi": sympy.pi,
    "e": sympy.E,
    "oo": sympy.oo,
    "-oo": -sympy.oo,
}


class NotReal(TypeError):
    """A term that is no expression over the reals, or an expression that is no term."""


def symbols(variables: Iterable[Variable]) -> dict[str, Any]:
    """A sympy symbol for each variable, with the assumptions that its domain allows."""
    found = {}
    for each in variables:
        if each.sort not in ("real", "natural"):
            raise NotReal(f"{each.name} is a {each.sort}")
        known: dict[str, bool] = {"real": True}
        if each.sort == "natural":
            known["integer"] = True
        if each.low is not None and each.low >= 0:
            strict = each.low > 0 or each.low_open
            known["positive" if strict else "nonnegative"] = True
        elif each.high is not None and each.high <= 0:
            strict = each.high < 0 or each.high_open
            known["negative" if strict else "nonpositive"] = True
        found[each.name] = sympy.Symbol(each.name, **known)
    return found


def expression(term: Term, names: Mapping[str, Any]) -> Any:
    """The sympy expression of a term; derivatives, substitutions and sums stay unevaluated.

    Raises:
        NotReal: the term speaks of laws, kernels or trade-off functions.
    """
    if isinstance(term, str):
        if term in names:
            return names[term]
        return _CONSTANTS[term] if term in _CONSTANTS else sympy.Rational(term)
    operator, *operands = term
    if operator in ("D", "at", "sum", "integral", "limit"):
        body, name, *rest = operands
        # the domain of a variable of the same name is none of the bound one's, but for a slope
        bound = names.get(name) if operator == "D" else None
        bound = bound or sympy.Symbol(name, integer=operator == "sum" or None)
        inner = expression(body, {**names, name: bound})
        ends = [expression(each, names) for each in rest]
        if operator == "D":
            return sympy.Derivative(inner, bound)
        if operator == "at":
            return sympy.Subs(inner, bound, ends[0])
        if operator == "limit":
            return sympy.Limit(inner, bound, ends[0])
        return (sympy.Sum if operator == "sum" else sympy.Integral)(inner, (bound, *ends))
    if operator not in _TO:
        raise NotReal(f"{operator} is not an operator on reals")
    return _TO[operator](*(expression(operand, names) for operand in operands))


def term_of(found: Any) -> Term:
    """The term of a sympy expression.

    Raises:
        NotReal: the language has no such operator.
    """
    found = sympy.sympify(found)
    if found.is_Symbol:
        return str(found.name)
    if found.is_Rational:
        return number(Fraction(int(found.p), int(found.q)))
    for name, value in _CONSTANTS.items():
        if found == value:
            return name
    if found.is_Add:
        ordered = found.as_ordered_terms()
        return ("+", *map(term_of, ordered))
    if found.is_Mul:
        return _product(found)
    if found.is_Pow:
        return _power(found)
    if found.func in _FROM:
        return (_FROM[found.func], *map(term_of, found.args))
    if isinstance(found, sympy.Derivative):
        inner = found.expr
        result = term_of(inner)
        for symbol, count in found.variable_count:
            for _ in range(int(count)):
                result = ("D", result, symbol.name)
        return result
    if isinstance(found, sympy.Subs):
        result = term_of(found.expr)
        for symbol, value in zip(found.variables, found.point, strict=True):
            result = ("at", result, symbol.name, term_of(value))
        return result
    if isinstance(found, sympy.Sum | sympy.Integral) and len(found.limits) == 1:
        symbol, low, high = found.limits[0]
        name = "sum" if isinstance(found, sympy.Sum) else "integral"
        return (name, term_of(found.function), symbol.name, term_of(low), term_of(high))
    raise NotReal(f"the language of statements has no {found.func.__name__}")


def quantified(
    conclusion: Iterable[tuple[Any, Comparison, Any]],
    variables: Iterable[Variable],
    hypotheses: Iterable[tuple[Any, Comparison, Any]] = (),
) -> Statement | None:
    """The statement about sympy expressions, or None where the language cannot say it."""
    try:
        return Statement(
            tuple(sorted(variables, key=lambda each: each.name)),
            tuple(Relation(term_of(a), sign, term_of(b)) for a, sign, b in hypotheses),
            tuple(Relation(term_of(a), sign, term_of(b)) for a, sign, b in conclusion),
        )
    except TypeError:
        return None


def assumed(symbol: Any) -> Variable:
    """The variable that a symbol stands for, from its assumptions alone."""
    sort = "natural" if symbol.is_integer and symbol.is_nonnegative else "real"
    if symbol.is_nonnegative:
        low = 1 if sort == "natural" and symbol.is_positive else 0
        strict = bool(symbol.is_positive) and sort == "real"
        return Variable(symbol.name, sort, Fraction(low), None, strict)  # type: ignore[arg-type]
    if symbol.is_nonpositive:
        return Variable(symbol.name, "real", None, Fraction(0), high_open=bool(symbol.is_negative))
    return Variable(symbol.name, "real")


def _product(found: Any) -> Term:
    above: list[Term] = []
    below: list[Term] = []
    for factor in found.as_ordered_factors():
        if factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
            below.append(term_of(1 / factor))
        elif factor.is_Rational and factor.q != 1:
            below.append(str(factor.q))
            if factor.p != 1:
                above.append(str(factor.p))
        else:
            above.append(term_of(factor))
    product = _several(above)
    return ("/", product, _several(below)) if below else product


def _several(factors: list[Term]) -> Term:
    if len(factors) == 1:
        return factors[0]
    return ("*", *factors) if factors else "1"


def _power(found: Any) -> Term:
    base, exponent = found.args
    if base is sympy.E:
        return ("exp", term_of(exponent))
    if exponent.is_Rational and exponent < 0:
        return ("/", "1", term_of(1 / found))
    if exponent == sympy.Rational(1, 2):
        return ("sqrt", term_of(base))
    return ("^", term_of(base), term_of(exponent))
