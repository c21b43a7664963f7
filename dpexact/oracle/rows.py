"""From a question to a golden row: certified, and cut to the same digits by whatever method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import partial
from typing import Any, Final

import dpexact
from dpexact import balls
from dpexact.answers import best_of
from dpexact.enclosure import Enclosure
from dpexact.errors import DpexactError
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.oracle.cases import DIGITS, Case, Quantity
from dpexact.oracle.grids import Question, questions
from dpexact.processes import Progress, in_processes
from dpexact.reals import Real

#: Digits of the printed bounds: two bounds one unit in the last place apart certify DIGITS.
PRINTED: Final = DIGITS + 2
#: Digits asked for. So many more than are printed that the rounded bounds are, but for a chance of
#: one in millions, those of the truth itself: the same by any method on any machine.
ASKED: Final = 50

ASK: Final[dict[Quantity, Callable[..., Enclosure]]] = {
    "epsilon": dpexact.epsilon,
    "delta": dpexact.delta,
    "renyi": dpexact.renyi,
}


def row(question: Question) -> Case | str:
    """The golden row that answers ``question``, or why there is none."""
    ask = ASK[question.quantity]
    try:
        found = best_of(
            lambda: ask(question.mechanism, question.argument, ASKED, question.direction)
        )
    except DpexactError as error:
        return str(error)
    lower, upper = found.decimal_bounds(PRINTED)
    family, parameters = simple_form(question.mechanism)
    case = Case(
        question.suites,
        str(question.mechanism),
        question.quantity,
        question.argument,
        question.direction,
        lower,
        upper,
        found.method,
        family,
        parameters,
    )
    certified = case.enclosure.digits
    return case if certified >= DIGITS else f"{certified} of {DIGITS} digits"


def simple_form(mechanism: Mechanism) -> tuple[str, dict[str, float | int]]:
    """The family and the parameters of one repeated mechanism; nothing of any other.

    >>> from dpexact import parse
    >>> simple_form(parse("poisson(gaussian(1.3), 1/4)^10"))
    ('poisson(gaussian)', {'sigma': 1.3, 'sensitivity': 1.0, 'q': 0.25, 'steps': 10})
    """
    counts = mechanism.steps()
    if len(counts) != 1:
        return "", {}
    [(step, count)] = counts.items()
    inner = step.mechanism if isinstance(step, Poisson) else step
    if inner.steps() != {inner: 1} or isinstance(inner, Poisson | FixedSize):
        return "", {}
    given = {field.name: getattr(inner, field.name) for field in fields(inner)}
    if not all(isinstance(value, Real | int) for value in given.values()):
        return "", {}
    found = {name: _plain(value) for name, value in given.items()}
    if isinstance(step, Poisson):
        return f"poisson({inner.name})", {**found, "q": _plain(step.q), "steps": count}
    return inner.name, {**found, "steps": count}


def _plain(value: Any) -> float | int:
    """``value`` as the nearest float, or as the int that it is."""
    if not isinstance(value, Real):
        return int(value)
    if value.fraction is not None:
        return float(value.fraction)
    return float(Fraction(balls.certify(lambda: balls.ball(value), 30).lower))


def export(
    suites: Sequence[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> tuple[list[Case], dict[Question, str]]:
    """The rows of ``suites`` (all, if empty), and the questions without a row, with the reason."""
    work = {question: partial(row, question) for question in questions(suites)}
    found = in_processes(work, jobs, progress)
    rows = [case for case in found.values() if isinstance(case, Case)]
    return rows, {asked: reason for asked, reason in found.items() if isinstance(reason, str)}
