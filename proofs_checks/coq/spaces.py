"""On which sets of outcomes the laws of a statement live: inferred, as general as they can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from proofs_checks.statements.statement import Statement
from proofs_checks.statements.terms import Term, parts

#: ``("own", n)``, ``("pair", s, t)``, ``("words", s, length)``, ``("letters",)`` or ``("bool",)``.
Space: TypeAlias = tuple[Any, ...]

_ON_OUTCOMES: Final = frozenset({"law", "event", "test", "mechanism", "tradeoff"})


class NoGoal(Exception):
    """The statement speaks of what the generator does not write in Coq."""


class Spaces:
    """The space of every variable of a statement: one each, made equal where a term demands it."""

    def __init__(self, statement: Statement) -> None:
        self._same: dict[Space, Space] = {}
        self._of: dict[str, Space] = {}
        self._kernels: dict[str, tuple[Space, Space]] = {}
        self._fresh = 0
        for each in statement.variables:
            if each.sort == "kernel":
                self._kernels[each.name] = self._own(), self._own()
            elif each.sort in _ON_OUTCOMES:
                self._of[each.name] = self._own()
        for relation in (*statement.hypotheses, *statement.conclusion):
            for side in (relation.left, relation.right):
                for part in parts(side):
                    self._demand(part)

    def of(self, name: str) -> Space:
        """The space of a law, event, test, mechanism or trade-off function."""
        return self._found(self._of[name])

    def kernel(self, name: str) -> tuple[Space, Space]:
        """From where to where a kernel goes."""
        first, second = self._kernels[name]
        return self._found(first), self._found(second)

    def law(self, term: Term) -> Space:
        """The space of a law.

        Raises:
            NoGoal: two laws of one term cannot live on one space.
        """
        if isinstance(term, str):
            return self.of(term)
        operator, *operands = term
        if operator == "push":
            start, end = self.kernel(_name(operands[0]))
            self._unify(start, self.law(operands[1]))
            return self._found(end)
        if operator == "joint":
            first = self.law(operands[0])
            start, end = self.kernel(_name(operands[1]))
            self._unify(start, first)
            return ("pair", self._found(first), self._found(end))
        if operator == "product":
            return ("pair", self.law(operands[0]), self.law(operands[1]))
        if operator == "power":
            return ("words", self.law(operands[0]), operands[1])
        if operator == "run":
            return ("words", self.of(_name(operands[0])), operands[1])
        if operator == "mixture":
            self._unify(self.law(operands[1]), self.law(operands[2]))
            return self.law(operands[1])
        return ("bool",) if operator == "bernoulli" else ("letters",)

    def atoms(self) -> Iterator[int]:
        """The numbers of the spaces that are left, each once."""
        ends = [*self._of.values(), *(end for pair in self._kernels.values() for end in pair)]
        seen: set[int] = set()
        for end in ends:
            found = self._found(end)
            if found[0] == "own" and found[1] not in seen:
                seen.add(found[1])
                yield found[1]

    def _own(self) -> Space:
        self._fresh += 1
        return ("own", self._fresh)

    def _demand(self, term: Term) -> None:
        if isinstance(term, str):
            return
        operator, *operands = term
        match operator:
            case "hockey_stick" | "total_variation" | "moment" | "tradeoff":
                self._unify(self.law(operands[0]), self.law(operands[1]))
            case "mean":
                self._unify(self.law(operands[2]), self.law(operands[3]))
            case "probability" | "expectation":
                self._unify(self._event(operands[1]), self.law(operands[0]))
            case "likely":
                self._unify(self.law(operands[0]), self.law(operands[1]))
            case "worst_hockey_stick" | "worst_moment":
                ends = zip(*(self.kernel(_name(each)) for each in operands[:2]), strict=True)
                for first, second in ends:
                    self._unify(first, second)
            case "worst_step":
                self._unify(self.of(_name(operands[0])), self.of(_name(operands[1])))

    def _event(self, term: Term) -> Space:
        if isinstance(term, str):
            return self.of(term)
        return self._event(term[1]) if term[0] == "complement" else self.law(term[1])

    def _found(self, space: Space) -> Space:
        while space in self._same:
            space = self._same[space]
        if space[0] == "pair":
            return ("pair", self._found(space[1]), self._found(space[2]))
        return ("words", self._found(space[1]), space[2]) if space[0] == "words" else space

    def _unify(self, first: Space, second: Space) -> None:
        first, second = self._found(first), self._found(second)
        if first == second:
            return
        if second[0] == "own":
            first, second = second, first
        if first[0] == "own" and not _within(first, second):
            self._same[first] = second
        elif first[0] == second[0] == "pair":
            self._unify(first[1], second[1])
            self._unify(first[2], second[2])
        elif first[0] == second[0] == "words" and first[2] == second[2]:
            self._unify(first[1], second[1])
        else:
            raise NoGoal("two laws live on different outcomes")


def _within(inner: Space, outer: Space) -> bool:
    """Whether one space is a part of another."""
    return inner == outer or any(_within(inner, each) for each in outer[1:] if type(each) is tuple)


def _name(term: Term) -> str:
    if not isinstance(term, str):
        raise NoGoal("only variables stand for kernels and mechanisms")
    return term
