r"""``epsilon(delta)`` on a grid: both bounds of the profile inverted.

Floats propose where a bound crosses the target. What counts is certified: the lower bound of
``delta`` is at least the target at the lower end, the upper bound at most the target at the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.heterogeneous.grid import BITS, Floats, GridLaws
from dpexact.accounting.heterogeneous.refinement import RefinedGrid
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: First distance, relative, of a proposal from the float it comes from; grows until certified.
_NUDGE: Final = 1e-11
_TRIES: Final = 24
_ZERO: Final = Fraction(0)


def epsilon_on_grid(
    grid: RefinedGrid, infinite: InfiniteLoss, target: Real, digits: int
) -> Enclosure:
    """Enclose the smallest ``epsilon`` with ``delta(epsilon) <= target``, as work allows.

    ``target`` is above the mass of infinite loss.
    """

    def share() -> arb:
        lost = infinite.ball()
        return (balls.ball(target) - lost) / (1 - lost)

    wanted = balls.certify(share, 30, lowest=_ZERO, highest=Fraction(1))
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
        lowest = _ZERO if lower is None else lower
        return Enclosure.bracket(lowest, math.inf if upper is None else upper, grid.method)

    return grid.refine(ask, digits, lambda _: float(low))


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

    low, high = 0, len(p) - 1  # the first point where the profile is at most the target
    while low < high:
        middle = (low + high) // 2
        if profile(middle) <= target:
            high = middle
        else:
            low = middle + 1
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
