r"""The grid refined until the width asked for is reached, or its work is spent.

The width of the enclosure falls with the square of the spacing, so two or three passes are enough;
the spacing of a pass is proposed by the width of the one before. For ``epsilon(delta)`` floats
propose where a bound crosses the target. What counts is certified: the lower bound of ``delta`` is
at least the target at the lower end, the upper bound at most the target at the other.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.heterogeneous.grid import (
    BITS,
    MAX_POINTS,
    GridLaws,
    Parameters,
    TooLongError,
    grid_laws,
    largest_loss,
)
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Most work of all passes together, in masses times steps: some tens of seconds.
WORK: Final = 8_000_000_000
#: A pass costs at least this many masses a step.
_OVERHEAD: Final = 4096
#: The window of the first pass leaves out this mass; later ones are bounded by the second.
_FIRST_TAIL: Final = 1e-40
_LAST_TAIL: Final = 1e-280
_MAX_COSH: Final = 1400.0
_LEAST_SHRINK: Final = 1.2
_MANY: Final = 100
_SPENT: Final = "the grid is as fine as its work allows"
#: First distance, relative, of a proposal from the float it comes from; grows until certified.
_NUDGE: Final = 1e-11
_TRIES: Final = 24

Ask: TypeAlias = Callable[[GridLaws], Enclosure]
"""What is wanted of a pair of laws."""


class GridComposition(InvertedProfile):
    """Profile of mechanisms ``(eps_i, count)``, all ``eps_i > 0``, with any infinite-loss mass.

    Its grid laws are as fine as was needed so far.

    Raises:
        UnsupportedMechanism: too many mechanisms.
    """

    method = "heterogeneous composition: grid"

    def __init__(
        self, parameters: Parameters, infinite: InfiniteLoss, work: int | None = None
    ) -> None:
        self.parameters = parameters
        self.infinite = infinite
        self.largest: Real = largest_loss(parameters)
        self.work: int = WORK if work is None else work
        self.steps: int = sum(count for _, count in parameters)
        if self.steps * _OVERHEAD > self.work:
            raise UnsupportedMechanism(
                f"no certified accounting for {self.steps} mechanisms of different eps"
            )
        values = [(balls.approximate(eps), count) for eps, count in parameters]
        self.deviation: float = math.sqrt(
            sum(c * (v / math.cosh(min(v, _MAX_COSH) / 2)) ** 2 for v, c in values)
        )
        self.whole: float | int = 2 * sum(c * v for v, c in values)
        self.widest: float = max(v for v, _ in values)
        self._laws: GridLaws | None = None

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known

        def ask(laws: GridLaws) -> Enclosure:
            with balls.precision(BITS):
                level, lost = balls.ball(epsilon), self.infinite.ball()
                ends = (balls.ball(end(level)) for end in (laws.below, laws.above))
                low, high = (balls.to_enclosure(lost + (1 - lost) * end) for end in ends)
            return low.between(high, self.method).within(ZERO, ONE)

        return self.refine(ask, digits, lambda best: float(best.upper)).within(ZERO, ONE)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def share() -> arb:
            lost = self.infinite.ball()
            return (balls.ball(delta) - lost) / (1 - lost)

        wanted = balls.certify(share, 30, lowest=ZERO, highest=ONE)
        low, high = Fraction(wanted.lower), Fraction(wanted.upper)

        def ask(laws: GridLaws) -> Enclosure:
            below, above = _losses(laws)
            lower = _certified(
                lambda x: laws.below(balls.ball(x)) >= high,
                _crossing(laws.lower, laws.lower[::-1], below, float(high)),
                -1,
            )
            upper = _certified(
                lambda x: laws.above(balls.ball(x)) <= low,
                _crossing(laws.upper, laws.upper * np.exp(-above), above, float(low) - laws.inf),
                1,
            )
            lowest = ZERO if lower is None else lower
            return Enclosure.bracket(lowest, math.inf if upper is None else upper, self.method)

        found = self.refine(ask, digits, lambda _: float(low))
        # at the largest loss delta is down to the infinite mass
        return found.within(ZERO, Fraction(self.largest_loss(20).upper))

    def refine(self, ask: Ask, digits: int, size: Callable[[Enclosure], float]) -> Enclosure:
        """Ask finer and finer laws until ``digits`` digits are certain or the work is spent.

        ``size`` proposes from the best answer so far how large ``delta`` is where it matters.
        """
        best = Enclosure(ZERO, math.inf, self.method)
        spent = 0
        laws = self._laws
        step = max(self.deviation / 64, 2 * self.widest / (1 << 20), self._finest(_FIRST_TAIL))
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
        reach = 2 * math.sqrt(2 * math.log(1 / tail)) * self.deviation + 4 * self.widest
        return min(self.whole, reach) / (MAX_POINTS / 2)


def _dyadic(x: float) -> Fraction:
    """``x`` cut to 10 bits."""
    mantissa, exponent = math.frexp(x)
    return Fraction(int(mantissa * 1024)) * Fraction(2) ** (exponent - 10)


def _losses(laws: GridLaws) -> tuple[Floats, Floats]:
    """About the losses of the labels and of the points of the upper law."""
    with balls.precision(BITS):
        whole = sum((count * balls.ball(eps) for eps, count in laws.parameters), arb(0))
        start = float((laws.low * balls.ball(laws.spacing) - whole).mid())
    t = float(laws.spacing)
    below = (np.arange(len(laws.lower), dtype=np.float64) - (len(laws.lower) - 1) / 2) * t
    return below, start + np.arange(len(laws.upper), dtype=np.float64) * t


def _crossing(p: Floats, q: Floats, losses: Floats, target: float) -> float:
    """Proposes: where the profile of masses ``p``, ``q`` at rising losses crosses the target."""
    p_tails, q_tails = np.cumsum(p[::-1])[::-1], np.cumsum(q[::-1])[::-1]

    def profile(at: int) -> float:
        return float(p_tails[at] - math.exp(min(losses[at], 700.0)) * q_tails[at])

    # the first point where the profile is at most the target
    low = bisect_left(range(len(p) - 1), True, key=lambda at: profile(at) <= target)
    gain = (p_tails[low] - target) / q_tails[low] if q_tails[low] > 0 else 0.0
    return math.log(gain) if gain > 0 else float(losses[low])


def _certified(
    holds: Callable[[Fraction], bool], proposal: float, direction: int
) -> Fraction | None:
    """A point near ``proposal``, moved in ``direction``, where ``holds`` is certain.

    Proposes: points, of which only one that certainly holds is returned.
    """
    nudge = _NUDGE
    for _ in range(_TRIES):
        point = proposal + direction * max(abs(proposal), 1e-300) * nudge
        if not point > 0:
            point = 0.0
        if not math.isfinite(point):
            return None
        if holds(Fraction(point)):
            return Fraction(point)
        if point == 0.0 and direction < 0:
            return None
        nudge *= 4
    return None
