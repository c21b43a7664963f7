"""Certified points for figures: questions to the library, answered in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Final, Literal, TypeAlias

import dpexact
from dpexact.accounting.tradeoff_of import tradeoff
from dpexact.answers import best_of
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.figures.model import Point, Series, curve
from dpexact.processes import Progress, in_processes
from dpexact.reals import Real
from dpexact.tradeoffs import PiecewiseLinear, Vertex
from dpexact.tradeoffs.numbers import enclose

Quantity: TypeAlias = Literal["delta", "epsilon", "renyi", "tradeoff"]

#: Fewer questions than this are answered here, since processes take time to start.
_FEW: Final = 24

_VERTEX: Final = "exact vertex"


@dataclass(frozen=True, slots=True)
class Question:
    """``quantity`` of ``mechanism`` at the exact number ``at``."""

    quantity: Quantity
    mechanism: str
    at: str
    direction: Direction = "both"

    def answer(self, digits: int) -> Enclosure:
        """The enclosure, wider where ``digits`` were not reached."""
        if self.quantity == "tradeoff":
            return best_of(lambda: tradeoff(self.mechanism)(self.at, digits))
        ask = getattr(dpexact, self.quantity)
        return best_of(lambda: ask(self.mechanism, self.at, digits, self.direction))


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where figures are computed: the digits asked for, the processes, and who is told."""

    digits: int = 30
    jobs: int = 1
    progress: Progress = lambda done, total: None

    def answers(self, questions: Sequence[Question]) -> list[Enclosure]:
        """The answers in the order of the questions; equal ones are answered once."""
        asked = list(dict.fromkeys(questions))
        jobs = self.jobs if len(asked) >= _FEW else 1
        work = {question: partial(question.answer, self.digits) for question in asked}
        found = in_processes(work, jobs, self.progress)
        return [found[question] for question in questions]

    def curves(
        self, quantity: Quantity, labelled: Iterable[tuple[str, str]], arguments: Sequence[Fraction]
    ) -> tuple[Series, ...]:
        """A series for each pair of label and mechanism: ``quantity`` over ``arguments``."""
        pairs = list(labelled)
        questions = [Question(quantity, m, str(x)) for _, m in pairs for x in arguments]
        answers = iter(self.answers(questions))
        return tuple(curve(label, arguments, islice(answers, len(arguments))) for label, _ in pairs)


def sampled_run(sigma: Real, rate: Fraction, scale: Fraction) -> str:
    """Poisson-sampled Gaussian steps, ``T = (scale/rate)^2`` of them cut to an integer."""
    steps = max(1, int((scale / rate) ** 2))
    return f"poisson(gaussian({sigma}), {rate})^{steps}"


def exact(x: Fraction | int, y: Fraction | int) -> Point:
    """A point that is known exactly."""
    return Point(Enclosure.exact(Fraction(x)), Enclosure.exact(Fraction(y)))


def grid(low: Fraction | int, high: Fraction | int, count: int) -> list[Fraction]:
    """``count + 1`` equally spaced exact numbers from ``low`` to ``high``."""
    step = (Fraction(high) - Fraction(low)) / count
    return [Fraction(low) + k * step for k in range(count + 1)]


def affine(slope: Fraction, x: Enclosure, offset: Fraction | int = 0) -> Enclosure:
    """``slope x + offset`` of a finite enclosure."""
    low, high = sorted(slope * Fraction(end) + offset for end in (x.lower, x.upper))
    return Enclosure(low, high, x.method)


def outline(label: str, f: PiecewiseLinear, digits: int) -> Series:
    """The graph of a piecewise-linear trade-off function, from vertex to vertex."""
    return path(label, f.vertices, digits)


def path(label: str, vertices: Iterable[Vertex], digits: int) -> Series:
    """The exact points ``vertices``, joined."""
    return Series(
        label,
        tuple(
            Point(enclose(alpha, digits, _VERTEX), enclose(beta, digits, _VERTEX))
            for alpha, beta in vertices
        ),
    )
