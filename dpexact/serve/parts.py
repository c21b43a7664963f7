"""The parts of the page that show an answer, as HTML in which all foreign text is inert."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dpexact.audits.reports.templates import templates
from dpexact.balls import approximate
from dpexact.conversion import real
from dpexact.errors import DpexactError
from dpexact.figures.runs import profile_figure, run_figure
from dpexact.mechanisms.base import shown
from dpexact.serve.answering import DIGITS, Answered, Asked, answered, asked
from dpexact.serve.forms import CHOICES, EXAMPLE, WHEN, Form
from dpexact.serve.plots import plot
from dpexact.tokens import shorten
from dpexact.training.frameworks import statement
from dpexact.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

#: Longer mechanisms are shortened on the page.
_SHOWN: Final = 600
#: Characters on each side of the column that an error points at.
_AROUND: Final = 28
_POINTED: Final = re.compile(r"(?:(?P<field>[a-z-]+): )?column (?P<column>\d+) of '", re.DOTALL)
_NAMED: Final = re.compile(r"(?P<field>[a-z-]+): ")

#: What a method does, in words, by a word of its name.
_METHODS: Final = {
    "upper bound": "a proved upper bound; the truth may be smaller",
    "closed form": "an exact formula, evaluated with outward rounding",
    "largest loss": "the largest privacy loss, which is known exactly",
    "contour": "an integral along a path in the complex plane, with every error bounded",
    "lattice": "the privacy losses on a grid, once rounded up and once rounded down",
    "optimal composition": "a finite sum over all outcomes, exactly",
    "binomial": "a finite sum over all outcomes, exactly",
    "heterogeneous": "a finite sum over all outcomes, grouped by their losses",
    "outcomes": "a finite sum over all outcomes, exactly",
}
#: How two datasets differ, for a training run and for any mechanism.
_NEIGHBOURS: Final = {
    "both": ("the worse of adding and of removing one record", "in the worse direction"),
    "add": ("adding one record only", "in the direction of adding only"),
    "remove": ("removing one record only", "in the direction of removing only"),
}


class Caret(NamedTuple):
    """The part of a text around a column, and the blanks before that column."""

    text: str
    blanks: str


def rendered(name: str, /, **values: object) -> str:
    """The template ``name`` filled in."""
    return _templates().get_template(name).render(**values)


def page(form: Form, problem: str = "") -> str:
    """The whole page, with the fields of ``form``; a ``problem`` of its address is told."""
    return rendered("page.html", form=form, choices=CHOICES, example=EXAMPLE, problem=problem)


def static(name: str) -> str:
    """The content of a file of the page."""
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def part(name: str, form: Form) -> dict[str, Any]:
    """One part of the answer to ``form``: ``html``, and more for parts that are not shown.

    A mistake in the form gives ``{"error": message, "field": name, "html": ...}``.
    """
    try:
        return PARTS[name](form)
    except DpexactError as error:
        return problem(str(error), form)


def problem(message: str, form: Form | None = None) -> dict[str, Any]:
    """An error as the page shows it: one line, and where it points at a column, the text there."""
    found = _POINTED.match(message) or _NAMED.match(message)
    field, caret = "", None
    if form is not None and found is not None:
        field = found["field"] or "expr"
        if field not in EXAMPLE or not form.counts(field):
            field = ""
        elif found.re is _POINTED:
            caret = _caret(form[field], int(found["column"]))
    html = rendered("problem.html", message=message, caret=caret)
    return {"error": visible(message), "field": field, "html": html}


def missing(name: str, message: str) -> dict[str, Any]:
    """Why a part other than the answer is not shown."""
    return {"html": rendered("missing.html", name=name, message=message)}


# --- the parts ------------------------------------------------------------------------------------


def _answer(form: Form) -> dict[str, Any]:
    answer = answered(form)
    question, found = answer.asked, answer.found
    words: list[str] = []
    if question.run is not None and found.upper < math.inf:
        promised = statement(
            question.run, question.sigma, found.safe(), question.at, question.direction
        )
        words = promised.splitlines()
    digits = max(found.digits, 1) + 2 if answer.problem else DIGITS + 5
    bounds = found.decimal_bounds(digits)
    html = rendered(
        "answer.html",
        form=form,
        answer=answer,
        asked=question,
        found=found,
        mechanism=shorten(shown(question.mechanism), _SHOWN),
        relation=_sign(found.relation),
        bounds=bounds,
        common=_common(*bounds),
        method=_method(answer),
        neighbours=_NEIGHBOURS[question.direction][question.run is None],
        words=words,
    )
    name, safe = question.quantity, found.safe()
    short = f"{name} {_sign(found.relation)} {safe}"
    is_ = {"<=": "at most", ">=": "at least"}.get(found.relation, "is")
    return {"html": html, "spoken": f"{name} {is_} {safe}", "short": short}


def _curve(form: Form) -> dict[str, Any]:
    question = asked(form)
    if question.quantity == "delta":
        return {"html": ""}
    panel = run_figure(question.mechanism, question.at, question.direction).panels[0]
    points = panel.series[0].points
    picture = plot(points, Fraction(points[-1].x.lower), ("step", "epsilon"))
    return {"html": _figure(picture, "curve")}


def _profile(form: Form) -> dict[str, Any]:
    answer = answered(form)
    question = answer.asked
    at = answer.found.safe() if question.quantity == "epsilon" else question.at
    if at == "inf":
        return {"html": ""}
    panel = profile_figure(question.mechanism, at, question.direction).panels[0]
    here = Fraction(approximate(real(at)))
    picture = plot(panel.series[0].points, here, ("epsilon", "delta"), logarithmic=True)
    return {"html": _figure(picture, "profile")}


def _certificate(form: Form) -> dict[str, Any]:
    from dpexact.certificates import certificate, to_text

    answer = answered(form)
    question = answer.asked
    document = certificate(
        question.mechanism, question.quantity, real(question.at), question.direction, answer.found
    )
    return {"document": to_text(document)}


def _question(form: Form) -> dict[str, Any]:
    """The question in text, for those who ask accountants about it."""
    question: Asked = asked(form)
    return {
        "mechanism": str(question.mechanism),
        "quantity": question.quantity,
        "at": question.at,
        "direction": question.direction,
    }


PARTS: Final[dict[str, Callable[[Form], dict[str, Any]]]] = {
    "answer": _answer,
    "curve": _curve,
    "profile": _profile,
    "certificate": _certificate,
    "question": _question,
}


# --- words ----------------------------------------------------------------------------------------


def _figure(picture: object, name: str) -> str:
    return "" if picture is None else rendered("plot.html", plot=picture, name=name)


def _common(first: str, second: str) -> str:
    """What both begin with."""
    for length, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return first[:length]
    return min(first, second, key=len)


def _method(answer: Answered) -> str:
    method = answer.found.method
    return next((words for word, words in _METHODS.items() if word in method), "")


def _sign(relation: str) -> str:
    return {"<=": "≤", ">=": "≥"}.get(relation, "=")


def _caret(text: str, column: int) -> Caret:
    """The text around ``column``, each character as wide as one."""
    start = max(0, column - 1 - _AROUND)
    before, cut = ("…" if start else ""), text[start : column + _AROUND]
    after = "…" if column + _AROUND < len(text) else ""
    plain = "".join(c if c.isprintable() else "·" for c in cut)
    return Caret(before + plain + after, " " * (column - 1 - start + len(before)))


@cache
def _templates() -> Environment:
    found = templates("dpexact.serve", "page")
    found.globals |= {"when": WHEN}
    return found
