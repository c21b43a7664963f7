"""The golden table, doubted: each row recomputed by every other route there is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from dpexact.answers import best_of
from dpexact.enclosure import Enclosure
from dpexact.errors import DpexactError
from dpexact.oracle.cases import Case
from dpexact.oracle.rows import ASK
from dpexact.processes import Progress, in_processes

#: Digits of the recomputation: other than those of the export, so that other grids are cut.
_DIGITS: Final = 55
#: Digits asked of the lattice engine, whose cost grows fast; its best enclosure counts in any case.
_LATTICE_DIGITS: Final = 3
#: Other methods that may apply to a quantity; those that do not are passed over.
_METHODS: Final = {
    "epsilon": ("contour",),
    "delta": ("contour",),
    "renyi": ("binomial", "series", "trapezoid"),
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """What came of one row: the routes that were taken, and the disagreement, empty if none."""

    case: Case
    routes: tuple[str, ...]
    disagreement: str = ""


def check(
    cases: Sequence[Case],
    jobs: int = 1,
    lattice: bool = False,
    progress: Progress | None = None,
) -> list[Doubt]:
    """Recompute ``cases``; with ``lattice`` by that engine too, which takes seconds a row."""
    work = {place: partial(doubted, case, lattice) for place, case in enumerate(cases)}
    return list(in_processes(work, jobs, progress).values())


def sample(cases: Sequence[Case], number: int, seed: int) -> list[Case]:
    """``number`` of ``cases``, chosen by ``seed``, in their order."""
    chosen = random.Random(seed).sample(range(len(cases)), min(number, len(cases)))
    return [cases[i] for i in sorted(chosen)]


def doubted(case: Case, lattice: bool = False) -> Doubt:
    """One row by every route.

    At other digits the answer must lie inside the row's interval; another method's enclosure must
    overlap it; and for an epsilon, delta at its two ends must lie on the two sides of the argument.
    """
    truth = case.enclosure
    routes = []
    try:
        again = _ask(case, _DIGITS, "auto")
        routes.append(f"{again.method}, {_DIGITS} digits")
        if not truth.lower <= again.lower <= again.upper <= truth.upper:
            return Doubt(case, tuple(routes), f"{routes[-1]}: {again} is not inside")
        if case.quantity == "epsilon" and isinstance(truth.upper, Fraction):
            routes.append("delta at the two ends")
            if not _brackets(case):
                return Doubt(case, tuple(routes), "delta at the ends is on one side")
        for method in _METHODS[case.quantity] + ("lattice",) * lattice:
            if case.quantity == "renyi" and method == "lattice":
                continue
            other = _other(case, method)
            if other is not None and other.method != again.method:
                routes.append(other.method)
                if not truth.overlaps(other):
                    return Doubt(case, tuple(routes), f"{method}: {other} does not overlap")
    except DpexactError as error:
        return Doubt(case, tuple(routes), f"failed: {error}")
    return Doubt(case, tuple(routes))


def _ask(case: Case, digits: int, method: str) -> Enclosure:
    ask = ASK[case.quantity]
    return best_of(
        lambda: ask(case.mechanism, case.argument, digits, case.direction, method=method)
    )


def _other(case: Case, method: str) -> Enclosure | None:
    """The answer of ``method``, None where it does not apply."""
    try:
        return _ask(case, _LATTICE_DIGITS if method == "lattice" else 30, method)
    except DpexactError:
        return None


def _brackets(case: Case) -> bool:
    """Whether ``delta(lower) >= argument >= delta(upper)`` is not refuted: delta never grows."""
    target = Fraction(case.argument)
    lower, upper = (
        Case((), case.mechanism, "delta", str(end), case.direction, "0", "1", "")
        for end in (case.enclosure.lower, case.enclosure.upper)
    )
    at_lower = _ask(lower, 20, "auto")
    # at epsilon = 0 the truth may be cut off there: delta(0) below the argument is no contradiction
    return (Fraction(lower.argument) == 0 or at_lower.upper >= target) and _ask(
        upper, 20, "auto"
    ).lower <= target
