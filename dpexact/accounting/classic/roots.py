"""Roots of monotone functions, proposed by midpoints, then enclosed by signs; and minima."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import arb, arb_poly

from dpexact import balls

#: How near :func:`minimise` comes to the minimum.
_WITHIN: Final = 1e-8
#: Places that :func:`minimise_from` tries, at most.
_TRIES: Final = 60
#: How many of them its polynomials meet, and how far above the lowest, relatively.
_MET: Final = 5
_CLIFF: Final = 3


def increasing_root(function: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """A ball around the root of an increasing function on ``[low, high]``.

    ``function(low) <= 0 <= function(high)`` must hold; the signs near the root are certified at
    the current precision, and the ball is not finite when they cannot be.
    """
    guess = propose_root(function, low, high)
    # proposes: the first width; the signs at both ends are certified whatever it is
    radius = arb(2) ** (-balls.current() + 8) * (1 + abs(guess)) if guess == 0 else abs(guess)
    lost = 8  # bits; of what is next to 0, as log(1/delta) next to delta = 1, many cancel
    while lost < balls.current():
        width = radius * arb(2) ** (lost - balls.current())
        # proposes: two points; the signs there are certified
        left, right = (guess - width).mid(), (guess + width).mid()
        # proposes: the points; at an end of the range the sign is known, elsewhere a ball decides
        below = left <= low or function(left) <= 0
        # proposes: likewise
        above = right >= high or function(right) >= 0
        if below and above:
            return left.max(low).union(right.min(high))
        lost *= 2
    return arb.nan()


def propose_root(function: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """About the root of an increasing function: regula falsi, halving where it is slow.

    Proposes: a point, which is certified, or used where any will do, by who asks for it.
    """
    a, b = low.mid(), high.mid()
    fa, fb = function(a).mid(), function(b).mid()
    if fa >= 0 or fb <= 0:
        return a if fa >= 0 else b
    halve, kept, size = False, 0, b - a
    while True:
        middle = (_between(a, b) if halve else (a * fb - b * fa) / (fb - fa)).mid()
        if not a < middle < b:
            middle = ((a + b) / 2).mid()
        if not a < middle < b or (b - a) <= abs(middle) * arb(2) ** (4 - balls.current()):
            return middle
        value = function(middle)
        # proposes: what is enough, as nearer ones are not told apart from the root
        if value.contains(0):
            return middle
        value = value.mid()
        if value < 0:
            a, fa = middle, value
            fb, kept = (fb / 2 if kept == -1 else fb), -1
        else:
            b, fb = middle, value
            fa, kept = (fa / 2 if kept == 1 else fa), 1
        halve, size = (b - a) > size / 2, b - a


def _between(a: arb, b: arb) -> arb:
    """Proposes: a point that halves the interval, or its logarithm where that is long."""
    if 0 < 4 * a < b:
        return (a * b).sqrt()
    return b * b if a == 0 and b < 0.5 else (a + b) / 2


def minimise(function: Callable[[float], float], low: float, high: float) -> float:
    """About the place of the minimum of a unimodal function, by golden section.

    What is infinite from some place on is sought below that place. The function has been evaluated
    at the place that is returned. Proposes: a parameter that is valid wherever it lies.
    """
    share = (math.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    fa, fb = function(a), function(b)
    while high - low > _WITHIN:
        if fa < fb or fa == math.inf:
            high, b, fb = b, a, fa
            a = high - share * (high - low)
            fa = function(a)
        else:
            low, a, fa = a, b, fb
            b = low + share * (high - low)
            fb = function(b)
    return a if fa < fb else b


def minimise_from(
    function: Callable[[float], Fraction | float],
    tried: list[float],
    low: float,
    high: float,
    within: float,
) -> float:
    """About the place of the minimum of a smooth unimodal function, from places tried before.

    Growing steps lead downhill until the best place has neighbours; then polynomials through the
    nearest places say where to look. The function has been evaluated at the place that is returned,
    and far out only if its minimum is there; all places are added to ``tried``. What is infinite
    from some place on is sought below it. Proposes: a parameter that is valid wherever it lies.
    """
    values = {x: function(x) for x in tried}
    best, step = tried[0], 1.0
    for _ in range(_TRIES):
        best = min(values, key=lambda x: (values[x], x))
        left = max((x for x in values if x < best), default=low)
        right = min((x for x in values if x > best), default=high)
        # proposes: the next place, here and below; any is valid
        if right not in values and values[best] < math.inf:
            place, step = min(best + step, high), 2 * step
        elif left not in values:
            place, step = max(best - step, low), 2 * step
        elif best in (low, high):
            return best
        else:
            place = _stationary(values, best)
            if not left < place < right:
                place = best + 0.4 * max(left - best, right - best, key=abs)
        if abs(place - best) < within:
            return best
        values[place] = function(place)
        tried.append(place)
    return best


def _stationary(values: dict[float, Fraction | float], best: float) -> float:
    """Where the polynomial through the values nearest to ``best`` is level, if Newton finds it."""
    lowest = values[best]  # proposes: which places are fair; none on a cliff, that is hard to fit
    fair = (x for x, value in values.items() if value - lowest <= _CLIFF * max(lowest, -lowest))
    # proposes: the places to fit
    near = sorted(fair, key=lambda x: abs(x - best))[:_MET]
    if len(near) < 3:
        return math.nan
    met = [arb(x) - arb(best) for x in near], [balls.ball(Fraction(values[x])) for x in near]
    slope = arb_poly.interpolate(*met).derivative()
    bend, place = slope.derivative(), arb(0)
    for _ in range(8):
        # proposes: as all steps of Newton here; the place is one to try
        place = (place - slope(place) / bend(place)).mid()
    return best + float(place)
