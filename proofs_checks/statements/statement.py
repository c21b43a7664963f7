"""The checked object: quantified variables with domains, hypotheses, and a conclusion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, get_args

from proofs_checks.statements.terms import CONSTANTS, Sort, Term, frozen, names, sort_of

Comparison: TypeAlias = Literal["=", "<", "<=", ">", ">=", "!="]
COMPARISONS: Final[tuple[Comparison, ...]] = get_args(Comparison)
OPPOSITE: Final[dict[Comparison, Comparison]] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A universally quantified variable; None is an end at infinity, ``open`` ends are outside."""

    name: str
    sort: Sort = "real"
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False

    def covers(self, other: Variable) -> bool:
        """Whether the domain of ``other`` lies within this one."""
        if self.sort != other.sort and (self.sort, other.sort) != ("real", "natural"):
            return False
        return _end_covers(self.low, self.low_open, other.low, other.low_open, 1) and _end_covers(
            self.high, self.high_open, other.high, other.high_open, -1
        )

    def holds(self, value: Fraction) -> bool:
        """Whether a number lies in the domain."""
        if self.sort == "natural" and value.denominator != 1:
            return False
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        return self.high is None or not (
            value > self.high or (self.high_open and value == self.high)
        )


@dataclass(frozen=True, slots=True)
class Relation:
    """``left comparison right`` between two terms of one sort."""

    left: Term
    comparison: Comparison
    right: Term


@dataclass(frozen=True, slots=True)
class Statement:
    """For all ``variables`` with ``hypotheses``, every relation of ``conclusion`` holds.

    ``also`` are further statements, which have variables of their own, such as a converse.

    Raises:
        TypeError: a term is not well sorted, a comparison is unknown, nothing is concluded, or a
            variable has the name of a constant.
    """

    variables: tuple[Variable, ...]
    hypotheses: tuple[Relation, ...]
    conclusion: tuple[Relation, ...]
    also: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        sorts = self.sorts
        if not self.conclusion or len(sorts) != len(self.variables):
            raise TypeError("a statement concludes something, of variables with different names")
        if constant := CONSTANTS & sorts.keys():
            raise TypeError(f"{', '.join(sorted(constant))} names a constant, no variable")
        for relation in (*self.hypotheses, *self.conclusion):
            if relation.comparison not in COMPARISONS:
                raise TypeError(f"unknown comparison {relation.comparison!r}")
            found = {sort_of(side, sorts) for side in (relation.left, relation.right)}
            if not found <= {"real", "natural"} and (
                found != {"tradeoff"} or relation.comparison == "!="
            ):
                raise TypeError(f"{sorted(found)} are not compared by {relation.comparison}")

    @property
    def sorts(self) -> dict[str, Sort]:
        """The sort of each variable."""
        return {variable.name: variable.sort for variable in self.variables}

    def goals(self) -> tuple[Statement, ...]:
        """One statement for each relation of the conclusion, here and in ``also``."""
        own = tuple(replace(self, conclusion=(one,), also=()) for one in self.conclusion)
        return own + tuple(goal for each in self.also for goal in each.goals())

    def to_json(self) -> dict[str, Any]:
        """The typed tree as JSON; the hash is made of it."""
        found: dict[str, Any] = {
            "for_all": [
                [
                    each.name,
                    each.sort,
                    *(None if end is None else str(end) for end in (each.low, each.high)),
                    each.low_open,
                    each.high_open,
                ]
                for each in self.variables
            ],
            "where": [[r.comparison, r.left, r.right] for r in self.hypotheses],
            "then": [[r.comparison, r.left, r.right] for r in self.conclusion],
        }
        return found | {"also": [each.to_json() for each in self.also]} if self.also else found

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that change with any part of the statement."""
        return digest(self.to_json())


def from_json(tree: Mapping[str, Any]) -> Statement:
    """The statement with this typed tree.

    Raises:
        TypeError: it is not well sorted.
    """
    return Statement(
        tuple(
            Variable(name, sort, _end(low), _end(high), low_open, high_open)
            for name, sort, low, high, low_open, high_open in tree["for_all"]
        ),
        _relations(tree["where"]),
        _relations(tree["then"]),
        tuple(map(from_json, tree.get("also", ()))),
    )


def digest(tree: Any) -> str:
    """The hash of a JSON tree."""
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def used(variables: Iterable[Variable], relations: Iterable[Relation]) -> tuple[Variable, ...]:
    """Those variables that occur freely in the relations."""
    occurring = set().union(*(names(r.left) | names(r.right) for r in relations))
    return tuple(variable for variable in variables if variable.name in occurring)


def _relations(trees: Iterable[Any]) -> tuple[Relation, ...]:
    return tuple(Relation(frozen(left), sign, frozen(right)) for sign, left, right in trees)


def _end(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _end_covers(
    mine: Fraction | None, mine_open: bool, other: Fraction | None, other_open: bool, sign: int
) -> bool:
    if mine is None or other is None:
        return mine is None
    if mine == other:
        return other_open or not mine_open
    return sign * mine < sign * other
