"""One question of a calibration, and the evaluations that decide it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Final

from dpexact import balls
from dpexact.accounting.profiles import profile
from dpexact.accounting.targets import Target
from dpexact.arguments import Direction
from dpexact.decimals import Bound, log_of
from dpexact.enclosure import Enclosure, End
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.ordering import Ordering
from dpexact.mechanisms.template import Template
from dpexact.ternary import Ternary

#: Digits with which it is decided at most whether the most private value meets the target.
EDGE_DIGITS: Final = 400
_HALF: Final = Fraction(1, 2)


class Question:
    """Which values of the unknown of ``template`` meet a target.

    ``method`` is that of the last evaluation that met it. ``lowest`` and ``highest`` are the ends
    of the domain, the latter infinite where there is none.
    """

    def __init__(
        self,
        template: Template,
        ordering: Ordering,
        aim: Target,
        digits: int,
        direction: Direction,
    ) -> None:
        self.template = template
        self.ordering = ordering
        self.aim = aim
        self.digits = digits
        self.direction = direction
        self.method = ""
        hole = template.hole
        #: The least of whole numbers; others begin beyond 0, or at it.
        self.lowest: Fraction = hole.end(ordering.lowest) if ordering.integer else Fraction(0)
        self.highest: Bound = math.inf if ordering.highest is None else hole.end(ordering.highest)
        self.target: Enclosure = balls.enclosed(
            aim.bound, 2 * digits + EDGE_DIGITS, Fraction(0), aim.most
        )

    @property
    def inside(self) -> Question:
        """The same question of values inside the domain."""
        aim = self.aim.inside
        if aim is None:
            return self
        return Question(self.template, self.ordering, aim, self.digits, self.direction)

    @property
    def level(self) -> float:
        """Proposes: about ``-log(target)`` of what is at most 1, where that is small; else 0."""
        target = Fraction(self.target.upper)
        if self.aim.most is None or not 0 < target < _HALF:
            return 0.0
        return -log_of(target)

    @property
    def start(self) -> Fraction:
        """A value inside the domain."""
        start = max(self.ordering.start, self.lowest)
        return min(start, self.highest) if isinstance(self.highest, Fraction) else start

    @property
    def most(self) -> Fraction:
        """The largest whole number that is tried."""
        limit = Fraction(self.ordering.limit)
        return min(limit, self.highest) if isinstance(self.highest, Fraction) else limit

    @cached_property
    def is_sharp(self) -> bool:
        """Whether the quantity is known to any digits, and not between bounds of theorems only.

        Asked at two values: all records, and one step, are known where less or more is not.
        """
        further = 2 * self.start
        if self.ordering.integer:
            further = min(further, self.most)
        try:
            inside = [self.template.fill(value) for value in {self.start, further}]
            return all(profile(x, self.direction).sharp for x in inside)
        except UnsupportedMechanism:  # no profile: what is asked has its own ways
            return True

    def at(self, value: Fraction, digits: int) -> tuple[Enclosure, Ternary]:
        """The quantity at ``value``, and whether it certainly is, or is not, in the target."""
        return self.of(self.template.fill(value), digits)

    def of(self, mechanism: Mechanism, digits: int) -> tuple[Enclosure, Ternary]:
        """The same of a mechanism."""
        found = self.aim.ask(mechanism, digits, self.direction)
        meets = found.at_most(self.target)
        if meets is Ternary.HOLDS:
            self.method = found.method
        return found, meets

    def is_met_by(self, mechanism: Mechanism) -> bool:
        """Whether ``mechanism`` certainly meets the target."""
        return self.of(mechanism, self.digits + 3)[1] is Ternary.HOLDS

    def gap(self, found: Enclosure) -> Fraction | None:
        """Proposes: about ``log(quantity/target)``; None if infinite."""
        if found.upper == math.inf:
            return None
        middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
        if middle <= 0 or self.target.upper <= 0:
            return None
        with balls.precision(balls.bits_for(self.digits + 10)):
            ratio = balls.ball(middle) / balls.ball(Fraction(self.target.upper))
            return balls.midpoint(ratio.log())


class OneEnd(Question):
    """The same question of one end of what encloses the quantity, which tells every value's side.

    Proposes: ``near``, where to start. Where the upper end meets the target, so does the quantity;
    where the lower one does not, neither does it.
    """

    def __init__(self, question: Question, end: End, near: Bound | None = None) -> None:
        super().__init__(
            question.template,
            question.ordering,
            question.aim,
            question.digits,
            question.direction,
        )
        self.end: End = end
        self.near = near

    @property
    def start(self) -> Fraction:
        """Where the other end was."""
        return self.near if isinstance(self.near, Fraction) and self.near > 0 else super().start

    def of(self, mechanism: Mechanism, digits: int) -> tuple[Enclosure, Ternary]:
        """Of one end."""
        whole = self.aim.ask(mechanism, digits, self.direction)
        found = Enclosure.exact(whole.upper if self.end == "upper" else whole.lower, whole.method)
        meets = found.at_most(self.target)
        if meets is Ternary.HOLDS:
            self.method = found.method
        return found, meets
