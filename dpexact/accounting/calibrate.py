"""Calibration: the extreme value of one parameter for which a mechanism meets a target.

Privacy is monotone in every parameter accepted here (``docs/theory/calibration.md`` has the proofs,
which rest on ``docs/theory/dominating-pairs.md``), so two certified evaluations on different sides
of the target bracket it.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Final

from dpexact.accounting.calibration.edges import Edges
from dpexact.accounting.calibration.question import OneEnd, Question
from dpexact.accounting.calibration.search import Search
from dpexact.accounting.calibration.targets import target_of
from dpexact.accounting.standing import Standing, counted, standing, standing_of_points
from dpexact.answers import delivered
from dpexact.arguments import digits_in, direction_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure, End
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import ShuffledBatches, Threshold
from dpexact.mechanisms.grammar import parse_template
from dpexact.mechanisms.ordering import Ordering
from dpexact.mechanisms.template import Template

_BOUNDS: Final = "the bounds below and above differ"


def calibrate(
    template: Template | str,
    epsilon: RealLike | None = None,
    delta: RealLike | None = None,
    digits: int = 6,
    direction: str = "both",
    *,
    advantage: RealLike | None = None,
    alpha: RealLike | None = None,
    beta: RealLike | None = None,
    gdp: RealLike | None = None,
    order: RealLike | None = None,
    renyi: RealLike | None = None,
) -> Enclosure:
    """Enclose the extreme value of the unknown ``?`` for which a mechanism meets a target.

    The target is one of: ``epsilon`` and ``delta``, to be (epsilon, delta)-DP; ``advantage``, a
    bound on the total variation, which is the advantage of membership inference; ``alpha`` and
    ``beta``, a type II error of at least ``beta`` for every test of type I error ``alpha``;
    ``gdp``, to be mu-GDP (Gaussian noise without samples); ``order`` and ``renyi``, a bound on the
    Rényi divergence of that order.

    Where more is more private, as of noise (``sigma`` of gaussian, ``scale``), of ``n`` of shuffle
    and of ``t`` of allocation: the infimum of the values that meet the target. Of every other
    number, and of the repetition count: the supremum. The *safe* end of a bracket, which certainly
    meets the target, is ``upper`` of an infimum and ``lower`` of a supremum; the other end
    certainly does not meet it, or is the end of the domain. Both are short decimals. Where of a
    mechanism only an upper bound is known, as of ``zcdp``, the bracket is that of the bound, and
    ``bound`` of the answer says so: the extreme itself may lie beyond the other end.

    Of repeated ``fixed_size`` samples only bounds are known; the bracket is that between the
    extremes of both, and may be wider than the digits.

    A whole number is exact: the last that certainly meets the target, while the next certainly does
    not. So are extremes at the edge of a domain, unless the quantity jumps there: noise is 0 and a
    count infinite when every value meets the target, noise is infinite when no finite one does.

    Args:
        template: text of a mechanism with one ``?`` in place of a number or a repetition count,
            or what was read from it.
        epsilon: any exact real.
        delta: any exact real in ``[0, 1]``.
        digits: significant digits of the bracket.
        direction: neighbours by ``remove``, ``add`` or ``both`` (the larger).
        advantage, alpha, beta, gdp, order, renyi: exact reals, in place of epsilon and delta.

    Raises:
        InvalidInput: an argument out of its domain; or not even the most private value meets the
            target, though the largest is sought.
        UnsupportedMechanism: privacy is not proved monotone in the unknown, or no method accounts
            for the mechanism.
        PrecisionNotReached: the quantity could not be told from the target where it mattered, or
            the extreme lies out of range; carries the bracket that was certified.

    >>> print(calibrate("gaussian(?)", 1, "1e-5").shown(6))
    3.73063...
    >>> print(calibrate("poisson(gaussian(1), 1/100)^?", 5, "1e-6"))
    5536
    >>> print(calibrate("gaussian(?)", advantage="1/10").shown(6))
    3.97894...
    >>> print(calibrate("gaussian(2)^?", gdp=3), calibrate("gaussian(?)", order=2, renyi=1).safe())
    36 1
    """
    blank = template if isinstance(template, Template) else parse_template(template)
    ordering = ordering_of(blank)
    others = {"advantage": advantage, "alpha": alpha, "beta": beta}
    others |= {"gdp": gdp, "order": order, "renyi": renyi}
    target = target_of(epsilon, delta, others)
    wanted = digits_in(digits)
    question = Question(blank, ordering, target, wanted, direction_in(direction))
    end: End = "upper" if ordering.least else "lower"
    found = _enclosed(question).relied_on(end)
    said = _standing(question, found)
    if said.bound != "exact":
        found = found.as_bound(end, said.theorem)
    return delivered(found, wanted if question.is_sharp else 0)


def _standing(question: Question, found: Enclosure) -> Standing:
    """What the quantity stands for at the ends, where it decides them, and inside the domain.

    Where it is an upper bound, what meets the target does, and of what does not nothing is certain.
    """
    beside = Fraction(question.ordering.integer)
    ends = [end for end in (found.lower, found.upper) if isinstance(end, Fraction)]
    said = standing if question.aim.epsilon is None else standing_of_points
    for value in dict.fromkeys(x for end in ends for x in (end, end - beside, end + beside)):
        with suppress(InvalidInput):  # beyond the domain
            if (here := said(question.template.fill(value))).bound != "exact":
                return here
    return said(question.template.fill(question.start))


def _enclosed(question: Question) -> Enclosure:
    """The extreme value."""
    edges = Edges(question)
    if question.is_sharp and not edges.are_near:
        return Search(question, edges).run()
    if at_edge := edges.answer():
        return at_edge
    inside = question.inside
    return Search(inside, edges).run() if question.is_sharp else _between(inside, edges)


def _between(question: Question, edges: Edges) -> Enclosure:
    """Between the extreme values by the bounds above and below, where only bounds are known."""
    below = Search(OneEnd(question, "lower"), edges).run()
    near = below.upper if question.ordering.least else below.lower
    above = Search(OneEnd(question, "upper", near), edges).run()
    if question.ordering.least:
        return below.between(above, above.method).short(_BOUNDS)
    return above.between(below, above.method).short(_BOUNDS)


def ordering_of(template: Template) -> Ordering:
    """How privacy moves with the unknown of ``template``.

    Raises:
        UnsupportedMechanism: nobody knows, so that no bracket can be certified.
    """
    parts = counted(template.mechanism)
    if any(isinstance(part, ShuffledBatches) and part.t > 1 for part in parts):
        raise UnsupportedMechanism(
            "calibrate: shuffled batches are known from below only, which no target is certain by"
        )
    if any(isinstance(around, Threshold) for around in template.around):
        raise UnsupportedMechanism(
            "calibrate: privacy is not monotone in the noise within threshold, since more of it "
            "publishes new partitions more often; ask for least"
        )
    told = template.hole.ordering
    if isinstance(told, Ordering):
        return told
    of = f"{template.parameter} of {template.owner}"
    raise UnsupportedMechanism(f"calibrate: {told or f'privacy is not proved monotone in {of}'}")
