"""Goals: statements with one relation, established from facts at hand or by the provers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Final

import sympy

from proofs_checks.evidence import CONCLUSIVE, Declined, Evidence, Refuted
from proofs_checks.prover import intervals, polynomials
from proofs_checks.prover.deciding import decided, fails_at
from proofs_checks.prover.domains import defined, evident, gap
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.sampling import sampled
from proofs_checks.prover.signs import by_factors, by_signs, is_rational
from proofs_checks.prover.symbolic import identity, limit
from proofs_checks.statements.algebra import NotReal, expression, symbols
from proofs_checks.statements.reading import statement
from proofs_checks.statements.sizes import MOST_BITS, MOST_TERMS, is_too_long
from proofs_checks.statements.statement import Relation, Statement, Variable
from proofs_checks.statements.writing import sentence

_BOXES: Final = 200
#: Where an identity is tried, of a domain that reaches to infinity.
_FAR: Final = Fraction(3)


def settle(goal: Statement) -> Evidence:
    """Prove a goal on its whole domain; one without variables may be decided by its two values.

    Raises:
        Refuted: an exact point where it fails.
        Declined: no prover comes through.
    """
    if is_too_long(goal):
        raise Declined(
            f"numbers of more than {MOST_BITS} bits, or sums of more than {MOST_TERMS} terms, are "
            "not worked out"
        )
    try:
        return _proved(goal)
    except Refuted as error:
        # a prover knows neither hypotheses nor that a variable is natural
        if _fails(goal, error.witness):
            raise
        raise Declined(f"no prover settles {sentence(goal)}") from error
    except Declined as error:
        if any(each.sort != "natural" or each.high is None for each in goal.variables):
            raise
        try:
            return decided(goal)
        except Refuted:
            raise
        except Declined:
            raise error from None


def _proved(goal: Statement) -> Evidence:
    (relation,) = goal.conclusion
    if relation.left == relation.right:
        raise Declined(f"{sentence(goal)} says nothing")
    if not defined(goal):
        raise Declined(f"a term may have no value in {sentence(goal)}")
    try:
        names = symbols(goal.variables)
        known = _definitions(goal, names)
        left, right = (
            expression(side, names).subs(known) for side in (relation.left, relation.right)
        )
    except NotReal as error:
        raise Declined(f"{error}: {sentence(goal)}") from error
    if relation.comparison == "=" and left == right:
        sampled(goal)
        return Evidence("identity", "one expression once written out", statement=goal)
    for attempt in _attempts(goal, relation, left, right):
        if known and attempt.statement is not None:
            attempt = (
                replace(attempt, statement=goal) if not attempt.statement.hypotheses else attempt
            )
        if attempt.statement is not None and covers(attempt.statement, goal):
            return attempt
    raise Declined(f"no prover settles {sentence(goal)}")


def _fails(goal: Statement, witness: Mapping[str, str]) -> bool:
    try:
        fails_at(goal, {name: witness[name] for name in goal.sorts if name in witness})
    except (Declined, NotReal, ZeroDivisionError):
        return False
    return True


def step(then: str, for_all: Mapping[str, str], *where: str) -> Evidence:
    """A step of a written proof, as the catalogue writes statements: one relation, settled here.

    Raises:
        Refuted, Declined: as :func:`settle`.
    """
    return settle(statement({"for_all": for_all, "where": where, "then": [then]}))


def _definitions(goal: Statement, names: Mapping[str, Any]) -> dict[Any, Any]:
    """What the hypotheses of the form ``name = term`` say of their names."""
    found: dict[Any, Any] = {}
    for each in goal.hypotheses:
        if each.comparison == "=" and each.left in names:
            found[names[str(each.left)]] = expression(each.right, names).subs(found)
    return found


def covered(goal: Statement, facts: Iterable[Evidence]) -> Evidence | None:
    """The fact that establishes the goal on its whole domain, if there is one."""
    if is_too_long(goal) or not defined(goal):
        return None
    for fact in facts:
        if fact.kind in CONCLUSIVE and fact.statement is not None and covers(fact.statement, goal):
            return fact
    return None


def covers(known: Statement, goal: Statement) -> bool:
    """Whether the goal is one relation of ``known``, on a part of its domain."""
    theirs = {variable.name: variable for variable in goal.variables}
    if any(
        variable.name not in theirs or not variable.covers(theirs[variable.name])
        for variable in known.variables
    ):
        return False
    (wanted,) = goal.conclusion
    try:
        if not all(one in goal.hypotheses or evident(one, goal) for one in known.hypotheses):
            return False
        if wanted in known.conclusion:
            return True
        names = symbols(goal.variables)
        return any(_says(one, wanted, names) for one in known.conclusion)
    except NotReal:
        return False


def _says(one: Relation, wanted: Relation, names: Mapping[str, Any]) -> bool:
    """Whether one relation between reals is another, up to ring algebra."""
    signs = one.comparison, wanted.comparison
    if "=" in signs and signs != ("=", "=") and wanted.comparison not in ("<=", ">="):
        return False
    mine, theirs = (gap(each, names) for each in (one, wanted))
    if one.comparison == "=":
        return any(sympy.expand(mine - sign * theirs) == 0 for sign in (1, -1))
    if "!=" in signs:
        return signs == ("!=", "!=") and sympy.expand(mine - theirs) == 0
    weaker = wanted.comparison in ("<=", ">=") or one.comparison in ("<", ">")
    return weaker and sympy.expand(mine - theirs) == 0


def _attempts(goal: Statement, relation: Relation, left: Any, right: Any) -> Iterator[Evidence]:
    sign = relation.comparison
    if isinstance(left, sympy.Limit) and sign == "=":
        body, symbol, point, _ = left.args
        found = [limit(body, symbol, point, right, side) for side in _sides(point)]
        yield found[0]
        return
    if not (left - right).free_symbols:
        if sign == "=" and not (left.is_Rational and right.is_Rational):
            yield identity(left, right, {})
        else:
            if left.free_symbols:
                left, right = left - right, sympy.Integer(0)
            left, right = (side.doit() for side in (left, right))
            yield certain(left, sign, right)
        return
    if sign == "=":
        yield identity(left, right, _sampled_box(goal.variables))
        return
    if sign == "!=":
        raise Declined("no prover for !=")
    strict = sign in ("<", ">")
    difference = right - left if sign in ("<", "<=") else left - right
    if difference.has(sympy.Derivative, sympy.Subs):
        difference = difference.doit()
    yield from _inequality(difference, strict, goal)


def _sides(point: Any) -> str:
    return "+-" if point.is_finite else "+"


def _inequality(difference: Any, strict: bool, goal: Statement) -> Iterator[Evidence]:
    sign: Any = ">" if strict else ">="
    if by_signs(difference, sign, goal.variables):
        yield Evidence(
            "polynomial",
            f"{difference} {sign} 0: no coefficient is negative where every variable is positive",
            statement=goal,
        )
    elif not strict and by_factors(difference, goal.variables):
        yield Evidence(
            "polynomial",
            f"{difference} >= 0: its factors are squares, or have a sign",
            statement=goal,
        )
    if _from_hypotheses(difference, sign, goal):
        yield Evidence(
            "polynomial",
            f"{difference} {sign} 0: a hypothesis, times what is not negative, plus such a rest",
            statement=goal,
        )
    free = sorted(difference.free_symbols, key=str)
    box = {each.name: each for each in goal.variables}
    if len(free) == 1 and difference.is_polynomial(*free) and is_rational(difference, free):
        at = box[free[0].name]
        try:
            yield polynomials.sign(difference, free[0], sign, at.low, at.high)
        except Refuted:
            raise
        except Declined:
            pass
    ends: dict[Any, Ends] = {name: _ends(box[name.name]) for name in free}
    last: Declined | None = None
    boxes = _BOXES // len(free) ** 2
    for touch in _touches(free, ends) if _worth_boxes(difference, free, box) else ():
        try:
            yield intervals.prove(difference, sign, ends, touch=touch, max_boxes=boxes)
        except Refuted:
            raise
        except Declined as error:
            last = error
    if last is not None:
        raise last


def _worth_boxes(difference: Any, free: list[Any], box: Mapping[str, Variable]) -> bool:
    """Whether a subdivision may come to an end: few variables, no exponents that vary."""
    if len(free) > 2 or any(box[each.name].sort == "natural" for each in free):
        return False
    bounded = all(None not in (box[each.name].low, box[each.name].high) for each in free)
    return len(free) == 1 or bounded


def _from_hypotheses(difference: Any, sign: str, goal: Statement) -> bool:
    """Whether one hypothesis, times 1 or a variable that is not negative, leaves a plain rest."""
    names = symbols(goal.variables)
    written = _definitions(goal, names)
    factors = [sympy.Integer(1), *(each for each in names.values() if each.is_nonnegative)]
    above, below = sympy.fraction(sympy.together(difference))
    targets = [difference]
    if not below.is_Rational and by_signs(below, ">", goal.variables):
        targets.append(above)
    for each in goal.hypotheses:
        known = gap(each, names).subs(written)
        signs = (1, -1) if each.comparison == "=" else (1,)
        if each.comparison == "!=":
            continue
        for target, factor in product(targets, (way * one for way in signs for one in factors)):
            rest = sympy.expand(target - factor * known)
            carried = each.comparison in ("<", ">") and factor == 1
            if by_signs(rest, ">=" if carried else sign, goal.variables):
                return True
    return False


def _touches(free: list[Any], ends: Mapping[Any, Ends]) -> Iterator[list[tuple[Any, Any, int]]]:
    yield []
    points = [(symbol, end) for symbol in free for end in ends[symbol] if "oo" not in str(end)]
    points += [
        (symbol, inner) for symbol in free for inner in (0, 1) if _inside(inner, ends[symbol])
    ]
    for symbol, point in dict.fromkeys(points):
        for order in (1, 2, 3):
            yield [(symbol, point, order)]


def _inside(point: int, ends: Ends) -> bool:
    low, high = (None if "oo" in str(end) else Fraction(end) for end in ends)
    return (low is None or low < point) and (high is None or point < high)


def _ends(variable: Variable) -> Ends:
    return (
        "-oo" if variable.low is None else variable.low,
        "oo" if variable.high is None else variable.high,
    )


def _sampled_box(variables: Iterable[Variable]) -> dict[Any, Ends]:
    """A bounded part of the domain, where an identity is tried."""
    found: dict[Any, Ends] = {}
    for each in variables:
        low = each.low if each.low is not None else (each.high or 0) - _FAR
        high = each.high if each.high is not None else low + _FAR
        found[each.name] = low, high
    return found
