"""Proposes: minima in floats, which choose parameters that are valid wherever they lie."""

from __future__ import annotations

import math
from collections.abc import Callable


def minimise(
    function: Callable[[float], float], low: float, high: float, within: float = 1e-8
) -> float:
    """About the place of the minimum of a unimodal function, by golden section.

    What is infinite from some place on is sought below that place. The function has been evaluated
    at the place that is returned.
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
