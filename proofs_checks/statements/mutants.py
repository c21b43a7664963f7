"""Statements made wrong on purpose: each must make the check of its claim fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from proofs_checks.statements.statement import OPPOSITE, Relation, Statement
from proofs_checks.statements.terms import BINDERS, NUMBER, Sort, Term, number, parts, sort_of


def mutants(statement: Statement) -> Iterator[Statement]:
    """The statement with its last inequality flipped, or the last constant of an equation changed.

    An equation without a constant gets one: 1 is added to its right side. A statement with further
    parts has one mutant a part.
    """
    *before, last = statement.conclusion
    yield replace(statement, conclusion=(*before, _wrong(last, statement.sorts)))
    for i, part in enumerate(statement.also):
        for wrong in mutants(part):
            others = (*statement.also[:i], wrong, *statement.also[i + 1 :])
            yield replace(statement, also=others)


def negated(statement: Statement) -> Statement:
    """The statement with every relation of its conclusion turned into its opposite.

    Where a statement fails, this holds: so it is the mutant of a statement that is refuted.
    """
    opposite = (replace(one, comparison=OPPOSITE[one.comparison]) for one in statement.conclusion)
    return replace(statement, conclusion=tuple(opposite))


def _wrong(relation: Relation, sorts: Mapping[str, Sort]) -> Relation:
    if relation.comparison != "=":
        return replace(relation, comparison=OPPOSITE[relation.comparison])
    for changed in _constants_changed(relation.right):
        return replace(relation, right=changed)
    if sort_of(relation.right, sorts) != "tradeoff":
        return replace(relation, right=("+", relation.right, "1"))
    for part in parts(relation.right):
        if isinstance(part, tuple) and part[0] == "approximate":
            return replace(relation, right=("approximate", ("+", part[1], "1"), part[2]))
    return replace(relation, right=("inverse", relation.right))


def _constants_changed(term: Term) -> Iterator[Term]:
    if isinstance(term, str):
        if NUMBER.fullmatch(term):
            yield number(Fraction(term) + 1)
        return
    operator, *operands = term
    for i, operand in enumerate(operands):
        if operator in BINDERS and i == 1:
            continue
        for changed in _constants_changed(operand):
            yield (operator, *operands[:i], changed, *operands[i + 1 :])
