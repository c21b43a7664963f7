"""A long run of sampled Gaussians as a table of numbers, which are mechanisms when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from dpexact.mechanisms.base import ADD_REMOVE, Composition, Mechanism, Poisson, Relation, repeat
from dpexact.mechanisms.noises import Gaussian
from dpexact.reals import Real

Row: TypeAlias = tuple[Real, Real, int]
"""``(sigma, q, n)``: ``poisson(gaussian(sigma), q)^n``."""


class Table(Composition):
    """The composition of two or more rows ``(sigma, q, n)``, ``sigma > 0``, ``0 < q < 1``.

    It is equal to the :class:`Composition` of what they stand for. Rows are as they were given, and
    parts are made when somebody asks for them: logs have a hundred thousand.
    """

    __slots__ = ("_made", "rows")

    rows: tuple[Row, ...]
    _made: tuple[Mechanism, ...]

    def __init__(self, rows: Iterable[Row]) -> None:
        self._set(rows=tuple(rows), _made=())

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """What each of the rows stands for."""
        if not self._made:
            self._set(_made=tuple(map(_made, self.rows)))
        return self._made

    def ends(self, count: int) -> list[Mechanism]:
        return [*map(_made, self.rows[:count]), *map(_made, self.rows[count:][-1:])]

    def kinds(self) -> Iterator[Mechanism]:
        """One for all, since they differ in numbers only."""
        yield _made((*self.rows[0][:2], 1))

    def speakers(self) -> Iterator[tuple[str, Relation]]:
        yield Poisson.name, ADD_REMOVE

    def with_inner(self, change: Callable[[Mechanism], Mechanism]) -> Mechanism:
        return Composition(tuple(map(change, self.parts)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Composition) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.parts,))

    def __reduce__(self) -> tuple[type[Table], tuple[tuple[Row, ...]]]:
        return type(self), (self.rows,)


def _made(row: Row) -> Mechanism:
    sigma, q, n = row
    step = Poisson(Gaussian(sigma), q)
    return step if n == 1 else repeat(step, n)
