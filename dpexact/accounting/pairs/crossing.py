"""Where the likelihood ratio of two mixtures crosses a level: certified from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from dpexact.accounting.pairs.shifts import Wave
from dpexact.balls import current

_NEVER = arb("inf")
_NEWTON = 80


def crossing(
    up: Wave, down: Wave, lowest: arb | None, highest: arb | None, ratio: arb
) -> tuple[arb, arb]:
    """Points ``(low, high)`` between which ``A(x) = ratio B(x)``; the ratio increases with ``x``.

    ``lowest`` and ``highest`` are the infimum and supremum of ``log A - log B``, None where there
    is none. An end is infinite where the ratio may not be attained.
    """
    if ratio <= 0:
        return -_NEVER, -_NEVER
    if not ratio > 0:
        return -_NEVER, crossing(up, down, lowest, highest, ratio.upper())[1]
    level = ratio.log()
    if lowest is not None and level <= lowest:
        return -_NEVER, -_NEVER
    if highest is not None and level >= highest:
        return _NEVER, _NEVER

    def excess(x: arb) -> arb:
        return up.at(x).log() - down.at(-x).log() - level

    x = _root(up, down, excess)
    width = (1 + abs(x)) * arb(2) ** (10 - current())
    low, high = -_NEVER, _NEVER
    while width < 2**10:
        if not low.is_finite() and excess((x - width).lower()) < 0:
            low = (x - width).lower()
        if not high.is_finite() and excess((x + width).upper()) > 0:
            high = (x + width).upper()
        if low.is_finite() and high.is_finite():
            break
        width *= 2**6
    return low, high


def _root(up: Wave, down: Wave, excess: Callable[[arb], arb]) -> arb:
    """Proposes: about where ``excess`` is zero, by bracketing and Newton's method."""
    low, high = arb(-1), arb(1)
    for _ in range(60):
        if excess(low) < 0 or not excess(low).is_finite():
            break
        low *= 2
    for _ in range(60):
        if excess(high) > 0 or not excess(high).is_finite():
            break
        high *= 2
    x = ((low + high) / 2).mid()
    for _ in range(_NEWTON + int(math.log2(current()))):
        value = excess(x)
        if value > 0:
            high = x
        elif value < 0:
            low = x
        else:
            break
        guess = (x - value / (up.slope(x) + down.slope(-x))).mid()
        inside = guess.is_finite() and low < guess < high
        following = guess if inside else ((low + high) / 2).mid()
        if following == x:
            break
        x = following
    return x
