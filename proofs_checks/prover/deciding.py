"""Statements decided member by member: where a domain is finite, and at a witness."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from dpexact import balls
from proofs_checks.evidence import Declined, Evidence, Kind, Refuted
from proofs_checks.prover.laws import ball
from proofs_checks.prover.sampling import BITS, truth, value
from proofs_checks.statements.algebra import NotReal
from proofs_checks.statements.statement import OPPOSITE, Relation, Statement
from proofs_checks.statements.writing import sentence

#: So many members are tried one by one.
_DECIDED: Final = 500


def decided(goal: Statement) -> Evidence:
    """Every member of a finite domain: a statement without variables, or of bounded naturals.

    Raises:
        Refuted: at a member where it is certainly false.
        Declined: the domain is not finite or too large, or a member is not decided.
    """
    (relation,) = goal.conclusion
    ends = [(each.name, each.sort, each.low, each.high) for each in goal.variables]
    if relation.left == relation.right or any(
        sort != "natural" or high is None for _, sort, _, high in ends
    ):
        raise Declined(f"no prover settles {sentence(goal)}")
    inside = [
        [n for n in range(int(high or 0) + 1) if variable.holds(Fraction(n))]
        for variable, (*_, high) in zip(goal.variables, ends, strict=True)
    ]
    if prod(map(len, inside)) > _DECIDED:
        raise Declined(f"too many members: {sentence(goal)}")
    tried = 0
    with balls.precision(4 * BITS):
        for point in product(*inside):
            member = {name: Fraction(n) for (name, *_), n in zip(ends, point, strict=True)}
            try:
                if any(truth(one, member) is False for one in goal.hypotheses):
                    continue
                holds = truth(relation, member, certain=True)
            except (ZeroDivisionError, NotReal) as error:
                raise Declined(f"{error}: {sentence(goal)}") from error
            if holds is None:
                raise Declined(f"not decided at {member}: {sentence(goal)}")
            if not holds:
                raise Refuted("the statement is false", {n: str(v) for n, v in member.items()})
            tried += 1
    if not tried:
        raise Declined(f"no member of the domain could be tried: {sentence(goal)}")
    kind: Kind = "enumeration" if goal.variables else "computation"
    return Evidence(kind, sentence(goal), cases=tried, statement=goal)


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
        if not inside or not all(truth(one, member, certain=True) for one in statement.hypotheses):
            raise Declined(f"{dict(witness)} is not in the domain of {sentence(statement)}")
        for one in statement.conclusion:
            if truth(one, member, certain=True) is False:
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
