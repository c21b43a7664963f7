"""Minima in floats: they choose parameters and decide nothing."""

from __future__ import annotations

import math
from collections.abc import Callable


def minimise(function: Callable[[float], float], low: float, high: float) -> float:
    """About the place of the minimum of a unimodal function, by golden section."""
    share = (math.sqrt(5) - 1) / 2
    a, b = high - share * (high - low), low + share * (high - low)
    fa, fb = function(a), function(b)
    for _ in range(40):
        if fa < fb:
            high, b, fb = b, a, fa
            a = high - share * (high - low)
            fa = function(a)
        else:
            low, a, fa = a, b, fb
            b = low + share * (high - low)
            fb = function(b)
    return (low + high) / 2
