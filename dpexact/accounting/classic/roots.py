"""Roots of monotone functions, proposed by midpoints, then enclosed by signs; and minima."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from dpexact import balls


def increasing_root(function: Callable[[arb], arb], low: arb, high: arb) -> arb:
    """A ball around the root of an increasing function on ``[low, high]``.

    ``function(low) <= 0 <= function(high)`` must hold; the signs near the root are certified at
    the current precision, and the ball is not finite when they cannot be.
    """
    guess = propose_root(function, low, high)
    # proposes: the first width; the signs at both ends are certified whatever it is
    radius = arb(2) ** (-balls.current() + 8) * (1 + abs(guess)) if guess == 0 else abs(guess)
    for lost in (8, 16, 32, 64):
        width = radius * arb(2) ** (lost - balls.current())
        # proposes: two points; the signs there are certified
        left, right = (guess - width).mid(), (guess + width).mid()
        # proposes: the points; at an end of the range the sign is known, elsewhere a ball decides
        below = left <= low or function(left) <= 0
        # proposes: likewise
        above = right >= high or function(right) >= 0
        if below and above:
            return left.max(low).union(right.min(high))
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
        middle = ((a + b) / 2 if halve else (a * fb - b * fa) / (fb - fa)).mid()
        if not a < middle < b:
            middle = ((a + b) / 2).mid()
        if not a < middle < b or (b - a) <= abs(middle) * arb(2) ** (4 - balls.current()):
            return middle
        value = function(middle).mid()
        if value < 0:
            a, fa = middle, value
            fb, kept = (fb / 2 if kept == -1 else fb), -1
        elif value > 0:
            b, fb = middle, value
            fa, kept = (fa / 2 if kept == 1 else fa), 1
        else:
            return middle
        halve, size = (b - a) > size / 2, b - a


def minimise(
    function: Callable[[float], float], low: float, high: float, within: float = 1e-8
) -> float:
    """About the place of the minimum of a unimodal function, by golden section.

    What is infinite from some place on is sought below that place. The function has been evaluated
    at the place that is returned. Proposes: a parameter that is valid wherever it lies.
    """
    share = (math.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    fa, fb = function(a), function(b)
    while high - low > within:
        if fa < fb or fa == math.inf:
            high, b, fb = b, a, fa
            a = high - share * (high - low)
            fa = function(a)
        else:
            low, a, fa = a, b, fb
            b = low + share * (high - low)
            fb = function(b)
    return a if fa < fb else b
