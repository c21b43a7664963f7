"""Statements decided at one member, by the exact or enclosed values of their two sides."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import arb

from dpexact import balls
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover.sampling import BITS, ball, truth, value
from proofs_checks.statements.algebra import NotReal
from proofs_checks.statements.statement import OPPOSITE, Relation, Statement
from proofs_checks.statements.writing import sentence


def decided(goal: Statement) -> Evidence:
    """Decide a goal without variables, about given numbers and laws, from its two values.

    Raises:
        Refuted: it is false.
        Declined: it has variables or hypotheses or two equal sides, an equation has no exact sides,
            or balls overlap.
    """
    (relation,) = goal.conclusion
    if goal.variables or goal.hypotheses or relation.left == relation.right:
        raise Declined(f"not closed, or says nothing: {sentence(goal)}")
    try:
        with balls.precision(BITS):
            sides = [value(side, {}) for side in (relation.left, relation.right)]
            inexact = any(isinstance(side, arb) for side in sides)
            holds = None if inexact and relation.comparison == "=" else truth(relation, {})
    except (ZeroDivisionError, NotReal) as error:
        raise Declined(f"no value: {sentence(goal)}") from error
    if holds is None:
        raise Declined(f"not decided: {sentence(goal)}")
    if not holds:
        raise Refuted("the statement is false", {})
    return Evidence("computation", sentence(goal), statement=goal)


def fails_at(statement: Statement, witness: Mapping[str, str]) -> Evidence:
    """Verify that the hypotheses hold at an exact member, and some conclusion does not.

    Raises:
        Declined: the member is outside the domain, or the statement is not certainly false there.
    """
    member = {name: Fraction(value) for name, value in witness.items()}
    with balls.precision(4 * BITS):
        inside = set(member) == set(statement.sorts) and all(
            each.holds(member[each.name]) for each in statement.variables
        )
        if not inside or not all(truth(one, member) for one in statement.hypotheses):
            raise Declined(f"{dict(witness)} is not in the domain of {sentence(statement)}")
        for one in statement.conclusion:
            if truth(one, member) is False:
                negated = Relation(one.left, OPPOSITE[one.comparison], one.right)
                return Evidence(
                    "computation",
                    f"at {', '.join(f'{n} = {v}' for n, v in witness.items())}: "
                    + sentence(Statement(statement.variables, (), (negated,))).rpartition(": ")[2],
                    sides=tuple(
                        float(ball(value(side, member)).mid()) for side in (one.left, one.right)
                    ),  # type: ignore[arg-type]
                )
    raise Declined(f"the statement is not certainly false at {dict(witness)}")
