"""The search between two certified evaluations on different sides of the target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dpexact.accounting.calibration.bracket import FARTHEST, Bracket
from dpexact.accounting.calibration.edges import Edges
from dpexact.accounting.calibration.question import Question
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.ternary import Ternary

#: Digits of the first looks.
_FEW: Final = 3
#: Looks on one side only after which an edge is asked.
_OUTWARD: Final = 3
#: How often, and by what factor each time, a look beside another is farther.
_WIDENINGS: Final = 4
_WIDER: Final = 4


class Search:
    """Values that are tried; ``edges`` are asked where those do not tell of them."""

    def __init__(self, question: Question, edges: Edges) -> None:
        self.question = question
        self.edges = edges
        #: Whether values met the target, and missed it.
        self._met = self._missed = False
        #: The answer, if a look that told nothing showed that it lies at an edge.
        self._at_edge: Enclosure | None = None

    def run(self) -> Enclosure:
        """The extreme value."""
        bracket = self._bracket()
        reason = self._narrow(bracket, bracket.short(self.question.likely[0]))
        return reason if isinstance(reason, Enclosure) else self._answer(bracket, reason)

    def _bracket(self) -> Bracket:
        """Between the ends of the domain: of whole numbers the first ones outside it."""
        ordering = self.question.ordering
        low, high = Fraction(0), self.question.highest
        if ordering.integer:
            low, high = self.question.lowest - 1, high + 1
        _, kink, power = self.question.likely
        bracket = Bracket(
            low,
            high,
            rising=not ordering.least,
            integer=ordering.integer,
            digits=self.question.digits,
            scale=self.question.scale,
            kink=kink,
            turned=self.question.is_turned,
        )
        if power is not None:
            bracket.power = power
        return bracket

    def _narrow(self, bracket: Bracket, start: Fraction) -> str | Enclosure:
        """Narrow ``bracket`` by certified evaluations only; what ended that early, or no text.

        Or the answer, if it lies at an edge of the domain.
        """
        question = self.question
        integer, most = question.ordering.integer, question.most
        pending = [start]
        few: int | None = _FEW
        whole = budget = 100 + 8 * question.digits
        while True:
            known = self._met and self._missed
            # proposes: when the edges are asked; what is certain of them is so at any time
            outward = budget <= whole - _OUTWARD and not bracket.is_closing
            unsure = not known and (bracket.is_narrow or outward)
            if unsure and (at_edge := self.edges.answer(self._met, self._missed)):
                return at_edge
            if bracket.is_narrow:
                return ""
            value = pending.pop(0) if pending else None
            if value is None:
                pending = bracket.proposals()
                few = self._planned(bracket, pending)
                continue
            if integer and value > most > bracket.low:
                value = most
            if budget == 0 or not self._in_range(value):
                return "too many evaluations" if budget == 0 else "it lies out of range"
            budget -= 1
            if not bracket.low < value < bracket.high:  # another look has told
                continue
            try:
                unclear = self._look(bracket, value, few)
            except UnsupportedMechanism as error:
                if not (self._met or self._missed):
                    if value == question.start:
                        raise
                    pending = [question.start]
                elif not bracket.retreat():
                    return str(error)
                continue
            if self._at_edge is not None:
                return self._at_edge
            if unclear is not None and not bracket.retreat():
                if not self._surround(bracket, value, unclear):
                    return f"{question.aim.name} cannot be told apart from the target"
                pending = []

    def _planned(self, bracket: Bracket, values: list[Fraction]) -> int | None:
        """Digits with which the next value is looked at first; None for all.

        Proposes: where steps still are long few digits tell the side, and the next step.
        """
        if len(values) > 1:
            return None
        if bracket.gap is None:
            return _FEW
        step = max(abs(float(bracket.gap)), 1e-300)
        return max(_FEW, math.ceil(-2 * math.log10(step)) + 3)

    def _look(self, bracket: Bracket, value: Fraction, few: int | None = None) -> Enclosure | None:
        """Evaluate at ``value`` and note the side; what was found if that is undecided.

        Then the edges are asked, once: all values may be as close to the target.
        """
        question = self.question
        digits = question.digits + 3
        if question.ordering.integer:
            digits = max(6, len(str(value)) + 4)
        last = 8 * digits + 64
        asked = digits if few is None else min(few, digits)
        while True:
            found, meets = question.at(value, asked)
            if self._is_noted(bracket, value, found, meets):
                return None
            if asked >= digits:
                self._at_edge = self.edges.answer(self._met, self._missed)
            if self._at_edge is not None or asked > last or found.digits < asked:
                return found
            asked = max(2 * asked, digits)

    def _is_noted(
        self, bracket: Bracket, value: Fraction, found: Enclosure, meets: Ternary
    ) -> bool:
        """Note the side of a value, if it is decided."""
        if meets is Ternary.UNDECIDED:
            return False
        holds = meets is Ternary.HOLDS
        self._met, self._missed = self._met or holds, self._missed or not holds
        bracket.note(value, holds, self.question.gap(found))
        return True

    def _surround(self, bracket: Bracket, value: Fraction, unclear: Enclosure) -> bool:
        """Decide on both sides of ``value``, where ``delta`` was too close to the target.

        False if that was no help.
        """
        for side in (-1, 1):
            away = self.question.doubt(unclear, met=(side < 0) == bracket.rising)
            # proposes: where to look
            for widening in range(_WIDENINGS if away else 0):
                near = bracket.beside(value, side, away * _WIDER**widening)
                if near is None or not self._in_range(near) or not self._look(bracket, near):
                    break
        return bracket.is_narrow or not bracket.low < value < bracket.high

    def _in_range(self, value: Fraction) -> bool:
        if self.question.ordering.integer:
            return self.question.lowest <= value <= self.question.most
        return 1 / FARTHEST <= value <= FARTHEST

    def _answer(self, bracket: Bracket, reason: str) -> Enclosure:
        """The extreme value: for an integer the last that meets the target."""
        question = self.question
        aim, ordering = question.aim, question.ordering
        none = bracket.low == 0 and ordering.integer and not ordering.least
        if none and not reason and not self.edges.meets:
            reason = f"{aim.name} without any cannot be told from the target"
        found = bracket.enclosure().labelled(question.method)
        if ordering.integer and bracket.high < math.inf:
            if ordering.least:
                low = bracket.high if not reason else min(bracket.low + 1, bracket.high - 1)
                found = Enclosure(low, bracket.high, question.method)
            else:
                top = bracket.low if not reason else max(bracket.high - 1, bracket.low + 1)
                found = Enclosure(bracket.low, top, question.method)
        return found.short(
            f"{question.template.parameter} was not determined: {reason}" if reason else ""
        )
