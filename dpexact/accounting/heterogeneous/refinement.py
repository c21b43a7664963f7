r"""The grid refined until the width asked for is reached, or its work is spent.

The width of the enclosure falls with the square of the spacing, so two or three passes are enough;
the spacing of a pass is proposed by the width of the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from dpexact import balls
from dpexact.accounting.heterogeneous.grid import (
    MAX_POINTS,
    GridLaws,
    TooLongError,
    grid_laws,
)
from dpexact.accounting.heterogeneous.parameters import Parameters
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism

#: Most work of all passes together, in masses times steps: some tens of seconds.
WORK: Final = 8_000_000_000
#: A pass costs at least this many masses a step.
_OVERHEAD: Final = 4096
#: The window of the first pass leaves out this mass; later ones are bounded by the second.
_FIRST_TAIL: Final = 1e-40
_LAST_TAIL: Final = 1e-280
_SPENT: Final = "the grid is as fine as its work allows"
_ZERO: Final = Fraction(0)

Ask = Callable[[GridLaws], Enclosure]
"""What is wanted of a pair of laws."""


class RefinedGrid:
    """The grid laws of ``parameters``, as fine as was needed so far.

    ``enough`` says of an enclosure whether it is narrow enough.
    """

    method = "heterogeneous composition: grid"

    def __init__(self, parameters: Parameters, work: int = WORK) -> None:
        self.parameters = parameters
        self.work = work
        self.steps: int = sum(count for _, count in parameters)
        if self.steps * _OVERHEAD > work:
            raise UnsupportedMechanism(
                f"no certified accounting for {self.steps} mechanisms of different eps"
            )
        values = [(balls.approximate(eps), count) for eps, count in parameters]
        self.deviation: float = math.sqrt(
            sum(c * (v / math.cosh(min(v, _MAX_COSH) / 2)) ** 2 for v, c in values)
        )
        self.whole: float | int = 2 * sum(c * v for v, c in values)
        self.largest: float = max(v for v, _ in values)
        self._laws: GridLaws | None = None

    def refine(self, ask: Ask, digits: int, size: Callable[[Enclosure], float]) -> Enclosure:
        """Ask finer and finer laws until ``digits`` digits are certain or the work is spent.

        ``size`` proposes from the best answer so far how large ``delta`` is where it matters.
        """
        best = Enclosure(_ZERO, math.inf, self.method)
        spent = 0
        laws = self._laws
        step = max(self.deviation / 64, 2 * self.largest / (1 << 20), self._finest(_FIRST_TAIL))
        tail = _FIRST_TAIL
        while True:
            if laws is None:
                try:
                    laws = grid_laws(self.parameters, _dyadic(step), tail)
                except TooLongError:
                    return best.short(_SPENT)
                spent += self.steps * max(laws.points, _OVERHEAD)
                self._laws = laws
            else:
                step = float(laws.spacing)
            found = ask(laws)
            best = best.meet(found).labelled(self.method)
            if best.digits >= digits:
                return best
            shrink, tail = self._next(best, tail, digits, size(best))
            cost = self.steps * max(laws.points, _OVERHEAD)
            shrink = min(shrink, (self.work - spent) / cost, step / self._finest(tail))
            # proposes: when no work is left
            if shrink < _LEAST_SHRINK:
                return best.short(_SPENT)
            step /= shrink
            laws = None

    def _next(self, best: Enclosure, tail: float, digits: int, size: float) -> tuple[float, float]:
        """By how much to divide the spacing, and the next tail; all proposals."""
        if best.lower <= 0 or best.upper == math.inf:
            return 4.0, max(tail * tail, _LAST_TAIL)
        least = size * 10.0 ** -min(digits, _MANY) / 100
        width = (Fraction(best.upper) - Fraction(best.lower)) / Fraction(best.upper)
        wanted = math.sqrt(float(width * 10**digits)) * 1.15 if digits < _MANY else 16.0
        return min(max(wanted, 1.3), 16.0), max(least, _LAST_TAIL)

    def _finest(self, tail: float) -> float:
        """About the finest spacing of a law of ``MAX_POINTS`` points."""
        reach = 2 * math.sqrt(2 * math.log(1 / tail)) * self.deviation + 4 * self.largest
        return min(self.whole, reach) / (MAX_POINTS / 2)


_MAX_COSH: Final = 1400.0
_LEAST_SHRINK: Final = 1.2
_MANY: Final = 100


def _dyadic(x: float) -> Fraction:
    """``x`` cut to 10 bits."""
    mantissa, exponent = math.frexp(x)
    return Fraction(int(mantissa * 1024)) * Fraction(2) ** (exponent - 10)
