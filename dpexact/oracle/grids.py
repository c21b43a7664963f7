"""What the golden table asks: the grids of its suites.

A suite is the YAML file of its name in the folder ``suites``, in the format of workload files, with
the workload of the same name where :data:`WORKLOADS` says so. The suite ``renyi`` is stated here,
for workloads ask for epsilon and delta only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from dpexact.arguments import Direction
from dpexact.audits.workloads import load
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, gaussian, parse, poisson
from dpexact.oracle.cases import Quantity
from dpexact.tokens import unknown

_FOLDER: Final = Path(__file__).with_name("suites")
#: Workloads that are part of the suite of the same name.
WORKLOADS: Final = ("basics", "dpsgd")

_SIGMAS: Final = ("0.6", "1", "2", "5", "20")
_RATES: Final = ("1/1000", "1/100", "1/10")
_SAMPLED_ORDERS: Final = ("1.5", "2", "3", "8", "32", "128")
_ORDERS: Final = ("1", "1.1", "2", "10", "64", "inf")
_UNSAMPLED: Final = (
    "gaussian(1)",
    "gaussian(10)^100",
    "gaussian(3, 2)^7",
    "laplace(1)",
    "laplace(10)^50",
    "pure_dp(1/2)",
    "pure_dp(1/10)^100",
    "gaussian(2) * laplace(5)^3",
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is the ``quantity`` of ``mechanism`` at ``argument``? ``suites`` ask it."""

    mechanism: Mechanism
    quantity: Quantity
    argument: str
    direction: Direction
    suites: tuple[str, ...] = ()


def names() -> list[str]:
    """The suites."""
    return sorted({*(path.stem for path in _FOLDER.glob("*.yaml")), "renyi"})


def description(suite: str) -> str:
    """One line about ``suite``."""
    if suite == "renyi":
        return "Rényi divergences of sampled Gaussians and of closed forms, by order"
    return load(str(_FOLDER / f"{suite}.yaml")).description


def questions(suites: Sequence[str] = ()) -> list[Question]:
    """The questions of ``suites`` (all, if empty) in a fixed order, none twice.

    Raises:
        InvalidInput: an unknown suite.
    """
    for name in suites:
        if name not in names():
            raise InvalidInput(f"suite: {unknown('name', name, names())}")
    asked: dict[Question, list[str]] = {}
    for name in names():
        if not suites or name in suites:
            for question in _renyi() if name == "renyi" else _workload(name):
                asked.setdefault(question, [])
                if name not in asked[question]:
                    asked[question].append(name)
    return [
        Question(q.mechanism, q.quantity, q.argument, q.direction, tuple(found))
        for q, found in asked.items()
    ]


def _workload(suite: str) -> Iterator[Question]:
    files = [str(_FOLDER / f"{suite}.yaml")] + [suite] * (suite in WORKLOADS)
    for file in files:
        for case in load(file).cases:
            # readers of the table have no logarithms, and no trade-off functions
            if case.at.fraction is not None and case.quantity != "beta":
                yield Question(case.mechanism, case.quantity, str(case.at), case.direction)


def _renyi() -> Iterator[Question]:
    directions: tuple[Direction, ...] = ("remove", "add")
    for sigma, q, order, way in product(_SIGMAS, _RATES, _SAMPLED_ORDERS, directions):
        yield Question(poisson(gaussian(sigma), q), "renyi", order, way)
    for text, order in product(_UNSAMPLED, _ORDERS):
        yield Question(parse(text), "renyi", order, "both")
