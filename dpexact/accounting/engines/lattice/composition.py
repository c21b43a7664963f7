"""Composition of the laws of steps on one lattice."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

from flint import arb, fmpz

from dpexact.accounting.engines.lattice.grid import Grid, TooMuchWork
from dpexact.accounting.engines.lattice.steps import Step

#: Most bits that the factors of a step may lose: exponentials of more do not end.
_MOST_LOST: Final = 1 << 20


class Law(Protocol):
    """What can be composed."""

    def compose(self: _L, other: _L, bits: int, tail: fmpz) -> _L:
        """The law of the sum of losses or labels, where ``tail`` may be cut at either end."""

    def size(self) -> int:
        """How many coefficients it takes."""


_L = TypeVar("_L", bound=Law)

#: ``2 sqrt(2)/(sqrt(2) - 1)``: twice the sum of the sizes of all squarings by that of the last.
_SQUARINGS: Final = 6.8
#: By how much one squaring widens a law of many steps, about.
_SQUARED: Final = 1.5


def compose(
    laws: Iterable[tuple[_L, int]], grid: Grid, of: int, limit: float = math.inf
) -> tuple[_L, int]:
    """All laws, each as often as said, ``of`` in all; and the coefficients it took.

    Raises:
        TooMuchWork: before a squaring would lead beyond ``limit`` coefficients.
    """
    cost = 0
    waiting: list[tuple[int, int, int, _L]] = []
    for base, count in laws:
        law, more = _power(base, count, grid, of, limit - cost)
        cost += more + law.size()
        waiting.append((law.size(), len(waiting), count, law))
    heapq.heapify(waiting)
    serial = len(waiting)
    while len(waiting) > 1:
        # proposes: the order of composing, which is free: the shortest ones first
        (_, _, done, law), (_, _, more, other) = heapq.heappop(waiting), heapq.heappop(waiting)
        law, done = law.compose(other, grid.bits, grid.tail_for(done + more, of)), done + more
        cost += law.size()
        serial += 1
        heapq.heappush(waiting, (law.size(), serial, done, law))
    return waiting[0][3], cost


def _power(base: _L, count: int, grid: Grid, of: int, limit: float) -> tuple[_L, int]:
    """``count`` copies of ``base`` composed, by repeated squaring; and the coefficients it took."""
    result, done, cost = base, 1, 0
    for bit in bin(count)[3:]:
        # proposes: what is too much work
        if cost + 2 * _SQUARED * result.size() > limit:
            # a law of d steps is about sqrt(d) wide, and the squarings left are a geometric sum
            ahead = _SQUARINGS * result.size() * math.sqrt(count / done)
            raise TooMuchWork((cost + ahead) / max(limit, 1.0))
        result, done = result.compose(result, grid.bits, grid.tail_for(2 * done, of)), 2 * done
        cost += 2 * result.size()
        if bit == "1":
            result, done = result.compose(base, grid.bits, grid.tail_for(done + 1, of)), done + 1
            cost += 2 * result.size()
    return result, cost + base.size()


def count_of(steps: Sequence[Step]) -> int:
    """The number of steps, with repetition."""
    return sum(step.count for step in steps)


def offset_of(steps: Sequence[Step]) -> arb:
    """Where the lattice of the composition starts."""
    return sum((step.count * step.offset() for step in steps), arb(0))


def focused(steps: Sequence[Step], epsilon: float) -> list[Step]:
    """The steps, each resolved only where its loss decides whether ``epsilon`` is exceeded.

    If one loss exceeds what is left of ``2 epsilon`` when all others are at their lowest, the total
    exceeds it whatever they are; likewise below ``epsilon / 2``.
    """
    offset = float(offset_of(steps).mid())
    reaches = [step.reach() for step in steps]
    # how many may lie below or above 0; alone, a step leaves no other to do so
    below = sum(step.count for step, (low, _) in zip(steps, reaches, strict=True) if low < 0)
    above = sum(step.count for step, (_, high) in zip(steps, reaches, strict=True) if high > 0)
    result = []
    for step, (low, high) in zip(steps, reaches, strict=True):
        least = -math.inf if above > (high > 0) else epsilon / 2 - offset
        most = math.inf if below > (low < 0) else 2 * epsilon - offset
        result.append(step.focused((least, most)))
    return result


def working_bits(steps: Sequence[Step], grid: Grid) -> int:
    """The precision in which the steps are evaluated.

    Raises:
        TooMuchWork: more bits than any table is worth.
    """
    lost = max(step.lost_bits() for step in steps)
    if lost > _MOST_LOST:
        raise TooMuchWork(lost / _MOST_LOST)
    return grid.precision + 32 + lost
