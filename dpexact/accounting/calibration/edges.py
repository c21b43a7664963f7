"""The edges of the domain: whether every value meets the target, or not even the most private one.

The proofs are in ``docs/theory/calibration.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dpexact.accounting.calibration.question import EDGE_DIGITS, Question
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.queries import delta_answer
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    Adaptive,
    ApproxDP,
    FixedSize,
    Mechanism,
    Mix,
    Poisson,
    Repetition,
    base,
)
from dpexact.mechanisms.template import Template
from dpexact.reals import rational
from dpexact.ternary import Ternary

_ZERO: Final = Fraction(0)
#: Digits that tell most edges from most targets.
_FEW: Final = 6
#: What an unknown step may stand in, beside others, for its likelihood ratio to be seen through.
_TRANSPARENT: Final = (base.Composition, Repetition, Adaptive, Poisson, Mix)


class Edges:
    """The edges of the domain of a question, where what was tried does not tell of them.

    ``meets``: whether the most private value certainly meets the target.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.meets = self._asked = False

    @property
    def are_near(self) -> bool:
        """Whether the answer may well be one, or a bound may jump at an edge."""
        question, most = self.question, self.question.aim.most
        inside = 0 < question.target.lower < (math.inf if most is None else most)
        return not inside or question.highest < math.inf

    def answer(self, met: bool = False, missed: bool = False) -> Enclosure | None:
        """The answer if it lies at an edge; they are asked once.

        By the order a value that ``met`` the target tells that the most private one does, and one
        that ``missed`` it that the most revealing one does not.

        Raises:
            InvalidInput: no value meets the target, though the largest is sought.
        """
        if self._asked:
            return None
        self._asked, self.meets = True, met
        found = None if missed else _all_meet(self.question)
        if found is None and not met:
            found, self.meets = _most_private(self.question)
        return found


def _all_meet(question: Question) -> Enclosure | None:
    """The answer if every value certainly meets the target."""
    aim, ordering, template = question.aim, question.ordering, question.template
    extreme: Bound = question.lowest if ordering.least else question.highest
    if aim.most is not None and question.target.lower >= aim.most:
        return Enclosure.exact(extreme, f"{aim.name} is at most {aim.most}")
    try:
        if isinstance(extreme, Fraction) and extreme > 0:
            met = question.is_met_by(template.fill(extreme))
        else:
            met = question.is_met_by(template.with_owner(ApproxDP(rational(0), rational(1))))
        if not met and template.hole.owner is Repetition:
            alone = delta_answer(template.hole.fill(1), rational(0), 1, question.direction)
            met = alone.upper == 0 and question.is_met_by(template.fill(1))
    except UnsupportedMechanism:
        return None  # the search finds what this would have told
    return Enclosure.exact(extreme, question.method) if met else None


def _most_private(question: Question) -> tuple[Enclosure | None, bool]:
    """The answer if not even the most private value meets the target, or only that one.

    And whether the most private one certainly meets it.

    Raises:
        InvalidInput: none does, though the largest is sought.
    """
    ordering, template = question.ordering, question.template
    if ordering.towards is not None:
        given = dict(template.hole.given)
        del given[template.parameter]
        most = template.with_owner(ordering.towards(**given))
    else:
        most = template.fill(0) if ordering.from_zero else template.with_owner(GDP(rational(0)))
    for digits in (_FEW, question.digits + 3, question.digits + EDGE_DIGITS):
        found, meets = question.of(most, digits)
        if meets is not Ternary.UNDECIDED:
            break
    if meets is Ternary.UNDECIDED:
        return None, False
    extreme = Enclosure.exact(math.inf if ordering.least else _ZERO, found.method)
    if meets is Ternary.FAILS:
        if ordering.least:
            return extreme, False
        raise InvalidInput(
            f"{question.aim.name}: no {template.parameter} meets the target; "
            f"without any, it is {found}"
        )
    equal = found.is_exact and found == question.target and question.aim.rises
    equal = equal and ordering.towards is None
    return extreme if equal and _loses_without_bound(question) else None, True


def _loses_without_bound(question: Question) -> bool:
    """Whether any value but the most private one makes the quantity certainly larger."""
    template, way = question.template, question.direction
    try:
        sides = _sides(question)
    except UnsupportedMechanism:  # no pair: nothing is known
        return False
    if sides != (True, False):
        return all(sides)
    if not question.aim.strict:
        rest = Composition.of(template.with_owner(GDP(rational(0))).steps().items())
        if question.aim.epsilon is None or not rest.is_symmetric:
            return False
    return way != "add"


def _sides(question: Question) -> tuple[bool, bool]:
    """Whether the loss of the unknown step has no upper, and no lower bound."""
    template, start = question.template, question.start
    step = _outermost(template.mechanism)
    if isinstance(step, FixedSize) or any(isinstance(x, FixedSize) for x in template.around):
        inner = Composition.of(template.fill(start).steps().items(), fixed_size=True)
        unbounded = inner.is_unbounded
        return unbounded, unbounded  # either of two datasets may be the first
    hole = template.hole
    if question.ordering.from_zero and not _is_empty(hole.fill(0)):
        return False, False
    part = Template("", step)
    if _is_empty(part.with_owner(GDP(rational(0)))):
        return _unbounded(Composition.of(part.fill(start).steps().items()))
    if all(isinstance(x, _TRANSPARENT) and not _is_idle(x) for x in template.around):
        above, below = _unbounded(Composition.of(hole.fill(start).steps().items()))
        return above, below and not any(isinstance(x, Poisson) for x in template.around)
    return False, False


def _outermost(mechanism: Mechanism) -> Mechanism:
    """The factor of a product that holds the hole."""
    match mechanism:
        case base.Composition(parts):
            return next(_outermost(part) for part in parts if Template("", part).is_one)
        case Repetition(inner, _) | Adaptive(inner):
            return _outermost(inner)
    return mechanism


def _is_idle(around: Mechanism) -> bool:
    """Whether it may be a coin that never shows what the hole is in."""
    return isinstance(around, Mix) and any(w.fraction == 0 for w, _ in around.parts)


def _is_empty(mechanism: Mechanism) -> bool:
    return Composition.of(mechanism.steps().items()).is_empty


def _unbounded(composition: Composition) -> tuple[bool, bool]:
    """Whether the loss has no upper, and no lower bound; that of samples has a lower one."""
    found = [(_is_open(pair), _is_open(pair.reverse)) for pair, _ in composition.pairs()]
    found += [(sample.inner.is_unbounded, False) for sample, _ in composition.samples]
    return any(above for above, _ in found), any(below for _, below in found)


def _is_open(pair: Pair) -> bool:
    return pair.largest_loss() is None
