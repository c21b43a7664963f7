"""A statement tried at exact random members of its domain: laws, kernels, trade-off functions too.

Laws have at most three outcomes and rational atoms; reals are rational; an adaptive mechanism has
two outcomes a step. Everything about them is computed in fractions where it is rational and in
balls elsewhere. Samples never prove; they tie what a statement says to what its terms mean, and
refute it where it is false at a member.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Final

import sympy
from flint import arb

from dpexact import balls
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover.enumeration import Draw, beta_at, tradeoff
from proofs_checks.prover.laws import (
    LAWS,
    OF_PAIRS,
    add,
    ball,
    extreme,
    is_exact,
    multiply,
    powers,
    real,
    whole,
)
from proofs_checks.statements.algebra import NotReal, expression
from proofs_checks.statements.statement import Relation, Statement, Variable
from proofs_checks.statements.terms import KINKED, NUMBER, Term, parts
from proofs_checks.statements.writing import sentence

#: The members that are tried; a hypothesis may discard some of them.
MEMBERS: Final = 80
_OUTCOMES: Final = 3
#: Names of outcomes, those of randomized response with failure included.
_OUTCOME_NAMES: Final = frozenset(range(4))
#: So many steps an adaptive mechanism has laws for.
_STEPS: Final = 4
BITS: Final = 256


def sampled(goal: Statement) -> Evidence:
    """Try the conclusion at random members that fulfil the hypotheses.

    Raises:
        Refuted: at a member where it is certainly false.
        Declined: no member could be evaluated.
    """
    draw, tried = Draw(), 0
    with balls.precision(BITS):
        for _ in range(MEMBERS):
            member = {each.name: _draw(each, draw) for each in goal.variables}
            try:
                for one in goal.hypotheses:
                    if one.comparison == "=" and one.left in member:
                        member[str(one.left)] = value(one.right, member)
                if any(truth(one, member) is False for one in goal.hypotheses):
                    continue
                found = [truth(one, member) for one in goal.conclusion]
            except (ZeroDivisionError, NotReal):
                continue
            if False in found:
                witness = {name: _shown(value) for name, value in member.items()}
                raise Refuted("the statement is false", witness)
            tried += all(one is True for one in found)
    if not tried:
        raise Declined(f"no member of the domain could be tried: {sentence(goal)}")
    return Evidence("cases", sentence(goal), cases=tried, statement=goal)


def truth(relation: Relation, member: Mapping[str, Any], certain: bool = False) -> bool | None:
    """Whether a relation holds at a member; None where balls cannot tell it from equality.

    Balls that are nearly equal pass for equal, unless it is to be ``certain``.
    """
    a, b = value(relation.left, member), value(relation.right, member)
    sign = relation.comparison
    if isinstance(a, list):
        return _compare_functions(a, b, sign)
    if is_exact((a, b)):
        return bool(_EXACT[sign](a, b))
    difference = ball(a) - ball(b)
    if not difference.is_finite():
        raise ZeroDivisionError
    if sign in ("=", "!="):
        if difference != 0:
            return sign == "!="
        near = not certain and abs(difference) < arb(2) ** (-BITS // 3)
        return (sign == "=") if near else None
    if sign in ("<", "<="):
        difference = -difference
    if difference > 0 or (sign in ("<=", ">=") and difference >= 0):
        return True
    false = difference < 0 or (sign in ("<", ">") and difference <= 0)
    return False if false else None


_EXACT: Final = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def value(term: Term, member: Mapping[str, Any]) -> Any:
    """The value of a term: a fraction, a ball, a law, a kernel, or the corners of a function.

    Raises:
        NotReal: an operator that has no exact value here.
        ZeroDivisionError: it is undefined at this member.
    """
    if isinstance(term, str):
        if term in member:
            return member[term]
        if NUMBER.fullmatch(term):
            return Fraction(term)
        if term not in _NUMBERS:
            raise NotReal(term)
        return _NUMBERS[term]()
    operator, *operands = term
    if operator in ("limit", "integral"):
        raise NotReal(operator)
    if operator in ("sum", "prod", "largest"):
        body, name, *ends = operands
        low, high = (whole(value(each, member)) for each in ends)
        items = [value(body, {**member, name: Fraction(i)}) for i in range(low, high + 1)]
        if operator == "largest":
            return extreme("max", items)
        step, start = (add, 0) if operator == "sum" else (multiply, 1)
        return reduce(step, items, Fraction(start))
    if operator == "mean":
        body, name, *pair = operands
        p, q = (value(law, member) for law in pair)
        return _mean(body, name, p, q, member)
    if operator == "at":
        body, name, point = operands
        return value(body, {**member, name: value(point, member)})
    if operator == "D":
        return _slope(operands[0], operands[1], member)
    if operator in OF_PAIRS and all(each[0] == "power" for each in operands[:2]):
        (_, p, n), (_, q, m), *rest = operands
        if n == m:
            laws = powers(*(value(each, member) for each in (p, q, n)))
            return LAWS[operator](*laws, *(value(each, member) for each in rest))
    found = [value(operand, member) for operand in operands]
    if operator in LAWS:
        return LAWS[operator](*found)
    return real(operator, found)


def _slope(body: Term, name: str, member: Mapping[str, Any]) -> Any:
    from proofs_checks.statements.algebra import term_of

    if any(isinstance(each, tuple) and each[0] in KINKED for each in parts(body)):
        raise NotReal("a slope that is not there everywhere")
    names = {each: sympy.Symbol(each, real=True) for each in member}
    slope = sympy.diff(expression(body, names), names[name])
    return value(term_of(slope), member)


def _mean(body: Term, name: str, p: Any, q: Any, member: Mapping[str, Any]) -> Any:
    """The mean under ``p`` of ``body`` at the privacy loss; exact where a loss is 0."""
    total: Any = Fraction(0)
    for x in p:
        if p[x]:
            ratio = p[x] / q.get(x, Fraction(0))
            loss = Fraction(0) if ratio == 1 else ball(ratio).log()
            total = add(total, multiply(p[x], value(body, {**member, name: loss})))
    return total


_NUMBERS: Final = {"pi": arb.pi, "e": arb.const_e}


def _compare_functions(f: Any, g: Any, sign: str) -> bool:
    """Between piecewise linear functions: at all corners of both."""
    levels = {a for a, _ in (*f, *g)}
    if sign == "=":
        return all(beta_at(f, a) == beta_at(g, a) for a in levels)
    return all(_EXACT[sign](beta_at(f, a), beta_at(g, a)) for a in levels)


def _draw(variable: Variable, draw: Draw) -> Any:
    if variable.sort == "law":
        return _law(variable, draw)
    if variable.sort == "event":
        return frozenset(x for x in _OUTCOME_NAMES if draw.integer(0, 1)).__contains__
    if variable.sort == "test":
        return {x: draw.fraction() for x in _OUTCOME_NAMES}
    if variable.sort == "mechanism":
        words = (word for n in range(_STEPS) for word in product((0, 1), repeat=n))
        return {word: _law(variable, draw, 2) for word in words}
    if variable.sort == "sequence":
        return [_real_number(variable, draw) for _ in range(_STEPS)]
    if variable.sort == "kernel":
        return {x: _law(variable, draw) for x in range(_OUTCOMES)}
    if variable.sort == "tradeoff":
        return tradeoff(draw.law(_OUTCOMES), draw.law(_OUTCOMES))
    if variable.sort == "natural":
        low, high = variable.low, variable.high
        start = int(low or 0)
        return Fraction(draw.integer(start, int(high) if high is not None else start + 3))
    return _real_number(variable, draw)


def _real_number(variable: Variable, draw: Draw) -> Fraction:
    low, high = variable.low, variable.high
    if low is None:
        low = (4 if high is None else high) - Fraction(8 if high is None else 4)
    if high is None:
        high = Fraction(4) if variable.low is None else low + 4
    while True:
        found = draw.fraction(low, high)
        if variable.holds(found):
            return found


def _law(variable: Variable, draw: Draw, size: int = _OUTCOMES) -> Any:
    while True:
        found = draw.law(size)
        if all(map(variable.holds, found.values())):
            return found


def _shown(found: Any) -> str:
    if callable(found):
        return f"{[x for x in sorted(_OUTCOME_NAMES) if found(x)]}"
    if isinstance(found, dict):
        return "{" + ", ".join(f"{x}: {_shown(found[x])}" for x in found) + "}"
    if isinstance(found, list):
        return "[" + ", ".join(map(_shown, found)) + "]"
    return str(found)
