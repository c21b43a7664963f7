"""The search between two certified evaluations on different sides of the target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpexact import balls
from dpexact.accounting.bracket import FARTHEST, Bracket
from dpexact.accounting.calibration.question import Question
from dpexact.accounting.composition import Composition
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.laplace_cells import LaplaceCells
from dpexact.accounting.lattice_law import MixedProfile
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.profile import Fallback, FirstToReach, Profile, WorseDirection
from dpexact.accounting.profiles import profile
from dpexact.accounting.rare.profile import RareProfile
from dpexact.arguments import Direction
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real
from dpexact.ternary import Ternary

#: Profiles that do much more work than a saddle point.
_DEAR: Final = (FirstToReach, LatticeComposition, MixedProfile, LaplaceCells)


def saddle_gap(
    mechanism: Mechanism, epsilon: Real, target: Fraction, direction: Direction, far: bool = False
) -> float | None:
    """Proposes: about ``log(delta(epsilon)/target)`` by the saddle point, where there is one.

    There is none where exact evaluations are as cheap; nor of rare samples, where it takes as long
    and is off by factors, unless the answer may be ``far``, where they are not rare.
    """
    accounting = profile(mechanism, direction)
    ways: dict[Direction, Profile] = {"remove" if direction == "both" else direction: accounting}
    if isinstance(accounting, WorseDirection):
        ways = {"remove": accounting.remove, "add": accounting.add}
    point = balls.approximate(epsilon)
    log_target = log_of(target)
    try:
        with np.errstate(all="ignore"):
            logs = [_log_delta(x, mechanism, way, point, far) for way, x in ways.items()]
            gap = max(logs) - log_target
    except (_NoSaddle, UnsupportedMechanism, ArithmeticError, ValueError):
        return None
    return None if math.isnan(gap) else gap


class _NoSaddle(Exception):
    """An evaluation is as cheap as a saddle point, or none is known."""


def _log_delta(
    part: Profile, mechanism: Mechanism, way: Direction, epsilon: float, far: bool
) -> float:
    if isinstance(part, Fallback):
        part = part.first
    if isinstance(part, ContourProfile):
        return min(part.product.saddle(epsilon, 1)[1], 0.0)
    if not isinstance(part, _DEAR) or (_has_windows(part) and not far):
        raise _NoSaddle
    composition = Composition.of(mechanism.steps().items())
    product = Product(composition.facing(way).everything(way))
    return min(product.saddle(epsilon, 1)[1], 0.0)


def _has_windows(part: Profile) -> bool:
    """Whether samples are rare."""
    return isinstance(part, FirstToReach) and any(isinstance(x, RareProfile) for x in part.routes)


#: Float evaluations for a first guess, and the gap with which it is near enough.
_GUESSES: Final = 40
_NEAR: Final = 0.2
#: Digits of the first looks.
_FEW: Final = 3


class Search:
    """Values that are tried; ``edge_meets``: whether the most private one meets the target."""

    def __init__(self, question: Question, edge_meets: bool) -> None:
        self.question = question
        self.edge_meets = edge_meets

    def run(self) -> Enclosure:
        """The extreme value."""
        question = self.question
        bracket = self._bracket(question.digits)
        start, bracket.slope = self._guess(self._bracket(1))
        return self._answer(bracket, self._narrow(bracket, start))

    def _bracket(self, digits: int) -> Bracket:
        """Between the ends of the domain: of whole numbers the first ones outside it."""
        ordering = self.question.ordering
        low, high = Fraction(0), self.question.highest
        if ordering.integer:
            low, high = self.question.lowest - 1, high + 1
        rising, level = not ordering.least, self.question.level
        return Bracket(
            low, high, rising=rising, integer=ordering.integer, digits=digits, level=level
        )

    def _guess(self, bracket: Bracket) -> tuple[Fraction, float | None]:
        """Where to start: about the answer and the slope of the gap there, or the default.

        Proposes: the first value of a search that certifies every value it uses.
        """
        question = self.question
        value, target, epsilon = question.start, question.target.upper, question.aim.epsilon
        if target <= 0 or epsilon is None:
            return value, None
        for _ in range(_GUESSES):
            if not self._in_range(value):
                break
            mechanism = question.template.fill(value)
            far = question.ordering.integer
            gap = saddle_gap(mechanism, epsilon, Fraction(target), question.direction, far)
            if gap is None:
                break
            bracket.note(value, gap <= 0, Fraction(gap) if abs(gap) < math.inf else None)
            if abs(gap) < _NEAR or bracket.is_narrow:
                return value, bracket.local_slope()
            value = bracket.proposals()[0]
        return question.start, None

    def _narrow(self, bracket: Bracket, start: Fraction) -> str:
        """Narrow ``bracket`` by certified evaluations only; what ended that early, or no text."""
        question = self.question
        integer, most = question.ordering.integer, question.most
        pending = [start]
        few: int | None = _FEW
        budget = 100 + 8 * question.digits
        while not bracket.is_narrow:
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
            if not self._look(bracket, value, few) and not bracket.retreat():
                if not self._surround(bracket, value):
                    return f"{question.aim.name} cannot be told apart from the target"
                pending = []
        return ""

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

    def _look(self, bracket: Bracket, value: Fraction, few: int | None = None) -> bool:
        """Evaluate at ``value`` and note the side; False if that is undecided."""
        question = self.question
        digits = question.digits + 3
        if question.ordering.integer:
            digits = max(6, len(str(value)) + 4)
        last = 8 * digits + 64
        if few is not None and few < digits:
            found, meets = question.at(value, few)
            if meets is not Ternary.UNDECIDED:
                bracket.note(value, meets is Ternary.HOLDS, question.gap(found))
                return True
        while True:
            found, meets = question.at(value, digits)
            if meets is not Ternary.UNDECIDED:
                bracket.note(value, meets is Ternary.HOLDS, question.gap(found))
                return True
            if digits > last or found.digits < digits:
                return False
            digits *= 2

    def _surround(self, bracket: Bracket, value: Fraction) -> bool:
        """Decide on both sides of ``value``, where ``delta`` was too close to the target.

        False if that was no help.
        """
        for side in (-1, 1):
            for widening in range(self.question.digits + 4):
                near = bracket.beside(value, side, widening)
                if near is None or not self._in_range(near) or self._look(bracket, near):
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
        if none and not reason and not self.edge_meets:
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
