"""Whether a goal means something on its whole domain, as far as that is evident.

Sympy cancels ``x/x``, writes ``x`` for ``exp(log(x))`` before anything is proved, and computes with
complex numbers: so this asks the terms themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, Final

import sympy

from dpexact import balls
from proofs_checks.prover.sampling import BITS, value
from proofs_checks.prover.signs import by_signs
from proofs_checks.statements.algebra import NotReal, expression, symbols
from proofs_checks.statements.statement import Comparison, Relation, Statement, Variable
from proofs_checks.statements.terms import BINDERS, KINKED, NUMBER, Term
from proofs_checks.statements.terms import names as free_names

#: How the operand of a function must compare with 0.
_NEEDS: Final[Mapping[str, Comparison]] = {
    "log": ">",
    "sqrt": ">=",
    "gamma": ">",
    "coth": "!=",
    "csch": "!=",
}
_COUNTS: Final = frozenset({"binomial", "factorial"})
_NOT_NEGATIVE: Final = _COUNTS | {"sqrt", "abs", "Phi", "erfc", "moment", "probability"}


def gap(relation: Relation, names: Mapping[str, Any]) -> Any:
    """Left minus right, or right minus left for ``<`` and ``<=``: the side that is to be large."""
    a, b = (expression(side, names) for side in (relation.left, relation.right))
    found = b - a if relation.comparison in ("<", "<=") else a - b
    return found.doit() if found.has(sympy.Derivative, sympy.Subs) else found


def defined(goal: Statement) -> bool:
    """Whether every term of the goal evidently has a real value on its domain."""
    return all(
        _defined(side, goal, sloped=False)
        for each in (*goal.hypotheses, *goal.conclusion)
        for side in (each.left, each.right)
    )


def evident(hypothesis: Relation, goal: Statement) -> bool:
    """Whether a hypothesis (a denominator that does not vanish) follows from the goal's domain."""
    if hypothesis.comparison != "!=":
        return False
    names = symbols(goal.variables)
    pole, below = sympy.fraction(sympy.together(gap(hypothesis, names)))
    pole = sympy.expand(pole if below.is_positive else pole / below)
    if pole.is_nonzero:
        return True
    return any(
        each.comparison in ("!=", "<", ">") and sympy.expand(gap(each, names) - sign * pole) == 0
        for each in goal.hypotheses
        for sign in (1, -1)
    ) or any(by_signs(sign * pole, ">", goal.variables) for sign in (1, -1))


def _defined(term: Term, goal: Statement, sloped: bool) -> bool:
    if isinstance(term, str):
        return True
    operator, *operands = term
    if operator in BINDERS:
        body, _, *rest = operands
        return _defined(body, _inside(term, goal), sloped or operator == "D") and all(
            _defined(each, goal, sloped) for each in rest
        )
    if (sloped and operator in KINKED) or (
        operator in _COUNTS and not all(_whole(each, goal) for each in operands)
    ):
        return False
    return all(_holds(*need, goal) for need in _needs(operator, operands, goal, sloped)) and all(
        _defined(each, goal, sloped) for each in operands
    )


def _inside(term: Any, goal: Statement) -> Statement:
    """The goal within a binder: with the domain of the bound variable, or more."""
    operator, _, name, *rest = term
    found = next((each for each in goal.variables if each.name == name), None)
    if operator != "D" or found is None:
        low = _least(rest[0], goal) if rest and operator != "mean" else None
        found = Variable(name)
        if operator in ("sum", "prod", "largest") and low is not None and low >= 0:
            found = Variable(name, "natural", low)
        elif operator == "limit" and rest[0] == "oo":
            found = Variable(name, "real", Fraction(0), None, True)
        elif operator == "at" and isinstance(rest[0], str) and NUMBER.fullmatch(rest[0]):
            found = Variable(name, "real", low, low)
    others = [each for each in goal.variables if each.name != name]
    return _scope([*others, found], goal.hypotheses if operator == "D" else ())


def _needs(
    operator: str, operands: list[Term], goal: Statement, sloped: bool
) -> Iterator[tuple[Term, Comparison]]:
    """How operands must compare with 0 for a value, and if ``sloped`` a slope, to be there."""
    if operator == "/":
        yield operands[1], "!="
    elif operator in _NEEDS:
        yield operands[0], ">" if sloped and operator == "sqrt" else _NEEDS[operator]
    elif operator in _COUNTS:
        yield from ((each, ">=") for each in operands)
    elif operator == "^":
        base, power = operands
        least = _least(power, goal)
        if not _whole(power, goal):
            yield base, ">=" if least is not None and least >= 1 else ">"
        elif least is None or least < 0:
            yield base, "!="


def _holds(term: Term, comparison: Comparison, goal: Statement) -> bool:
    least = _least(term, goal)
    if least is not None and (least > 0 or (least == 0 and comparison == ">=")):
        return True
    if comparison == ">=":
        return False
    try:
        if comparison == ">" and (least is None or least < 0):
            return _positive(term, goal)
        return evident(Relation(term, "!=", "0"), _of_reals(goal))
    except NotReal:
        return False


def _positive(term: Term, goal: Statement) -> bool:
    reals = _of_reals(goal).variables
    above, below = sympy.fraction(sympy.together(expression(term, symbols(reals))))
    return bool(below.is_positive) and by_signs(sympy.expand(above), ">", reals)


def _least(term: Term, goal: Statement) -> Fraction | None:
    """What the term is certainly not below wherever it has a value; None if nothing is known."""
    try:
        if not free_names(term):
            return _number(term)
        if isinstance(term, tuple):
            return _least_of(term, goal)
        written = (
            each.right
            for each in goal.hypotheses
            if each.left == term and each.comparison == "=" and term not in free_names(each.right)
        )
        known = [each.low for each in goal.variables if each.name == term]
        return max(
            (low for low in (*known, *(_least(each, goal) for each in written)) if low is not None),
            default=None,
        )
    except NotReal:
        return None


def _least_of(term: Any, goal: Statement) -> Fraction | None:
    operator, *operands = term
    if operator == "sum":
        least = _least(operands[0], _inside(term, goal))
        return None if least is None or least < 0 else Fraction(0)
    if operator == "item":
        return _least(operands[0], goal)
    if operator in _NOT_NEGATIVE:
        return Fraction(0)
    if operator not in BINDERS:
        lows = [low for each in operands if (low := _least(each, goal)) is not None]
        if len(lows) == len(operands):
            if operator in ("+", "max"):
                return sum(lows, Fraction(0)) if operator == "+" else max(lows)
            if operator == "*" and min(lows) >= 0:
                return prod(lows, start=Fraction(1))
            if operator in ("/", "^") and min(lows) >= 0:
                return Fraction(0)
            if (operator == "exp" and lows[0] >= 0) or (operator == "log" and lows[0] >= 1):
                return Fraction(1 if operator == "exp" else 0)
        if operator == "exp":
            return Fraction(0)
    reals = _of_reals(goal).variables
    found = expression(("+", operands[0], "-1") if operator == "log" else term, symbols(reals))
    return Fraction(0) if found.is_nonnegative or by_signs(found, ">=", reals) else None


def _number(term: Term) -> Fraction | None:
    with balls.precision(BITS):
        try:
            found = value(term, {})
            return (
                found if isinstance(found, Fraction) else Fraction(balls.to_enclosure(found).lower)
            )
        except (ArithmeticError, OverflowError):
            return None


def _whole(term: Term, goal: Statement) -> bool:
    try:
        return bool(expression(term, symbols(_of_reals(goal).variables)).is_integer)
    except NotReal:
        return False


def _of_reals(goal: Statement) -> Statement:
    """The domain of the goal without laws, and without hypotheses about them."""
    return _scope(
        [each for each in goal.variables if each.sort in ("real", "natural")], goal.hypotheses
    )


def _scope(variables: Sequence[Variable], hypotheses: Iterable[Relation]) -> Statement:
    """What is known where a term stands: variables, and the hypotheses about them alone."""
    names = {each.name for each in variables}
    known = (each for each in hypotheses if free_names(each.left) | free_names(each.right) <= names)
    return Statement(tuple(variables), tuple(known), (Relation("0", "=", "0"),))
