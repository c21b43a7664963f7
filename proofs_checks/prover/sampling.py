"""A statement tried at exact random members of its domain: laws, kernels, trade-off functions too.

Laws have at most three outcomes and rational atoms; reals are rational; an adaptive mechanism has
two outcomes a step. Everything about them is computed in fractions where it is rational and in
balls elsewhere. This never proves; it ties what
a statement says to what its terms mean, and refutes it where it is false at a member.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from math import comb, factorial
from typing import Any, Final

import sympy
from flint import arb

from dpexact import balls
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover.enumeration import (
    Draw,
    beta_at,
    hockey_stick,
    kov_pair,
    post_process,
    product_law,
    tradeoff,
)
from proofs_checks.statements.algebra import NotReal, expression
from proofs_checks.statements.statement import Relation, Statement, Variable
from proofs_checks.statements.terms import NUMBER, Term
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


def truth(relation: Relation, member: Mapping[str, Any]) -> bool | None:
    """Whether a relation holds at a member; None where balls cannot tell it from equality."""
    a, b = value(relation.left, member), value(relation.right, member)
    sign = relation.comparison
    if isinstance(a, list):
        return _compare_functions(a, b, sign)
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bool(_EXACT[sign](a, b))
    difference = ball(a) - ball(b)
    if not difference.is_finite():
        raise ZeroDivisionError
    if sign in ("=", "!="):
        if difference != 0:
            return sign == "!="
        near = abs(difference) < arb(2) ** (-BITS // 3)
        return (sign == "=") if near else None
    if sign in ("<", "<="):
        difference = -difference
    if difference > 0 or (sign in ("<=", ">=") and difference >= 0):
        return True
    return False if difference < 0 else None


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
        low, high = (int(value(each, member)) for each in ends)
        items = [value(body, {**member, name: Fraction(i)}) for i in range(low, high + 1)]
        if operator == "largest":
            return _extreme("max", items)
        step, start = (_add, 0) if operator == "sum" else (_multiply, 1)
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
    found = [value(operand, member) for operand in operands]
    if operator in _LAWS:
        return _LAWS[operator](*found)
    return _real(operator, found)


def _slope(body: Term, name: str, member: Mapping[str, Any]) -> Any:
    from proofs_checks.statements.algebra import term_of

    names = {each: sympy.Symbol(each, positive=True) for each in member}
    slope = sympy.diff(expression(body, names), names[name])
    return value(term_of(slope), member)


def _real(operator: str, found: list[Any]) -> Any:
    exact = all(isinstance(each, Fraction) for each in found)
    if operator in ("+", "*"):
        total = found[0]
        for each in found[1:]:
            total = _add(total, each) if operator == "+" else _multiply(total, each)
        return total
    if operator in ("max", "min"):
        return _extreme(operator, found)
    if operator == "/":
        return found[0] / found[1] if exact else ball(found[0]) / ball(found[1])
    if operator == "^":
        if exact and found[1].denominator == 1 and abs(found[1]) < 500:
            return found[0] ** int(found[1])
        return ball(found[0]) ** ball(found[1])
    if operator in ("binomial", "factorial"):
        if not exact or any(each.denominator != 1 or each < 0 for each in found):
            raise NotReal(operator)
        whole = [int(each) for each in found]
        return Fraction(comb(*whole) if operator == "binomial" else factorial(*whole))
    if operator == "abs" and exact:
        return abs(found[0])
    if operator in ("floor", "ceiling") and exact:
        return Fraction(found[0].__floor__() if operator == "floor" else found[0].__ceil__())
    if operator == "Phi":
        return (-ball(found[0]) / arb(2).sqrt()).erfc() / 2
    method = {"abs": "__abs__", "gamma": "gamma"}.get(operator, operator)
    if not hasattr(arb, method):
        raise NotReal(operator)
    return getattr(ball(found[0]), method)()


def ball(number: Any) -> arb:
    """A number as a ball."""
    return number if isinstance(number, arb) else balls.ball(number)


def _add(a: Any, b: Any) -> Any:
    return a + b if isinstance(a, Fraction) and isinstance(b, Fraction) else ball(a) + ball(b)


def _multiply(a: Any, b: Any) -> Any:
    a, b = (Fraction(each) if isinstance(each, int) else each for each in (a, b))
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else ball(a) * ball(b)


def _extreme(operator: str, found: list[Any]) -> Any:
    if not found:
        raise NotReal(f"{operator} of nothing")
    if all(isinstance(each, Fraction) for each in found):
        return (max if operator == "max" else min)(found)
    return reduce(arb.max if operator == "max" else arb.min, map(ball, found))


def _mean(body: Term, name: str, p: Any, q: Any, member: Mapping[str, Any]) -> Any:
    """The mean under ``p`` of ``body`` at the privacy loss; exact where a loss is 0."""
    total: Any = Fraction(0)
    for x in p:
        if p[x]:
            ratio = p[x] / q.get(x, Fraction(0))
            loss = Fraction(0) if ratio == 1 else ball(ratio).log()
            total = _add(total, _multiply(p[x], value(body, {**member, name: loss})))
    return total


def _moment(p: Any, q: Any, order: Fraction) -> Any:
    if any(p[x] and not q.get(x) for x in p):
        raise ZeroDivisionError
    terms = [_multiply(p[x], _real("^", [p[x] / q[x], order - 1])) for x in p if p[x]]
    return reduce(_add, terms, Fraction(0))


def _run(mechanism: Any, steps: Fraction) -> Any:
    law: dict[Any, Fraction] = {(): Fraction(1)}
    for _ in range(int(steps)):
        law = {
            (*word, x): weight * chance
            for word, weight in law.items()
            for x, chance in mechanism[word].items()
        }
    return law


def _worst_step(first: Any, second: Any, growth: Any, step: Fraction) -> Any:
    histories = [word for word in first if len(word) == step]
    if not histories:
        raise NotReal(f"step {step} of a mechanism")
    return _extreme("max", [_divergence(first[h], second[h], growth) for h in histories])


def _divergence(p: Any, q: Any, growth: Any) -> Any:
    """The hockey-stick divergence; a ball where ``growth`` is one."""
    if isinstance(growth, Fraction):
        return hockey_stick(p, q, growth)
    terms = [
        _extreme("max", [Fraction(0), ball(p.get(x, 0)) - growth * ball(q.get(x, 0))])
        for x in p.keys() | q.keys()
    ]
    return reduce(_add, terms, Fraction(0))


def _at_least(a: Any, b: Any) -> bool:
    if isinstance(a, arb) or isinstance(b, arb):
        difference = ball(a) - ball(b)
        if not (difference >= 0 or difference < 0):
            raise NotReal("an event on whose boundary an outcome lies")
        return bool(difference >= 0)
    return bool(a >= b)


def _item(sequence: Any, index: Fraction) -> Any:
    if not 0 <= index < len(sequence):
        raise NotReal(f"member {index} of a sequence")
    return sequence[int(index)]


def _mixture(share: Fraction, p: Any, q: Any) -> Any:
    outcomes = p.keys() | q.keys()
    return {x: share * p.get(x, 0) + (1 - share) * q.get(x, 0) for x in sorted(outcomes)}


def _inverse(corners: Any) -> Any:
    least = {b: a for a, b in reversed(corners)}  # of a flat part the first level
    turned = sorted(least.items())
    return turned if turned[-1][0] == 1 else [*turned, (Fraction(1), Fraction(0))]


_NUMBERS: Final = {"pi": arb.pi, "e": arb.const_e}
_LAWS: Final[dict[str, Any]] = {
    "hockey_stick": _divergence,
    "total_variation": lambda p, q: hockey_stick(p, q, Fraction(1)),
    "moment": _moment,
    "worst_hockey_stick": lambda k, m, growth: _extreme(
        "max", [_divergence(k[x], m[x], growth) for x in k]
    ),
    "worst_moment": lambda k, m, order: _extreme("max", [_moment(k[x], m[x], order) for x in k]),
    "push": lambda kernel, law: post_process(law, kernel),
    "joint": lambda law, kernel: {(x, y): law[x] * kernel[x][y] for x in law for y in kernel[x]},
    "product": lambda p, q: product_law(p, q),
    "power": lambda p, n: product_law(*[p] * int(n)),
    "mixture": _mixture,
    "bernoulli": lambda p: {0: 1 - p, 1: p},
    "response": lambda e, d: kov_pair(e, d)[0],
    "mirrored_response": lambda e, d: kov_pair(e, d)[1],
    "tradeoff": tradeoff,
    "inverse": _inverse,
    "approximate": lambda e, d: tradeoff(*kov_pair(e, d)),
    "value": beta_at,
    "probability": lambda law, event: sum((law[x] for x in law if event(x)), Fraction(0)),
    "complement": lambda event: lambda x: not event(x),
    "likely": lambda p, q, growth: lambda x: _at_least(p.get(x, 0), _multiply(growth, q.get(x, 0))),
    "expectation": lambda law, test: sum((law[x] * test[x] for x in law), Fraction(0)),
    "item": _item,
    "run": _run,
    "worst_step": _worst_step,
}


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
