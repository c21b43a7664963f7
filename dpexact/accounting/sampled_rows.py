"""Many samples of one Gaussian each, kept as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from dpexact.balls import approximate
from dpexact.kept import cached_property
from dpexact.mechanisms.table import Table
from dpexact.reals import Real

_T = TypeVar("_T")

#: So many different steps are few, and in so many of all a record seldom takes part.
_FEW, _SELDOM = 1000, 0.1

Row: TypeAlias = tuple[Real, Real, int]
"""A rate, a noise, and how often."""


class Rows(Sequence[_T]):
    """What ``make`` makes of each of the ``rows``, when somebody asks for it."""

    def __init__(self, rows: Sequence[Row], make: Callable[[Real, Real, int], _T]) -> None:
        self.rows, self._make = rows, make

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self._made[place]

    @cached_property
    def _made(self) -> list[_T]:
        return [self._make(*row) for row in self.rows]


def distinct(table: Table) -> list[Row]:
    """Its rows; equal ones are one."""
    counts: dict[tuple[Real, Real], int] = {}
    for sigma, q, n in table.rows:
        counts[q, sigma] = counts.get((q, sigma), 0) + n
    return [(q, sigma, n) for (q, sigma), n in counts.items()]


def rates_of(samples: Sequence[tuple[Any, int]]) -> Iterator[tuple[Real, int]]:
    """That of each, and how often."""
    if isinstance(samples, Rows):
        return ((q, n) for q, _, n in samples.rows)
    return ((sample.q, n) for sample, n in samples)


def are_seldom(rates: Iterable[tuple[Real, int]]) -> bool:
    """Proposes: whether of few different steps a record takes part in so few that windows pay."""
    few = list(islice(rates, _FEW + 1))
    return len(few) <= _FEW and sum(approximate(q) * n for q, n in few) < _SELDOM
