"""Differences and ratios of enclosures, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

from dpexact.enclosure import Enclosure


def difference(a: Enclosure, b: Enclosure) -> Enclosure | None:
    """``a - b``; ``None`` where an infinity leaves it undefined or unbounded below."""
    if b.upper == math.inf or a.lower == math.inf:
        return None
    low = Fraction(a.lower) - Fraction(b.upper)
    high = math.inf if a.upper == math.inf else Fraction(a.upper) - Fraction(b.lower)
    return Enclosure(low, high)


def ratio(a: Enclosure, b: Enclosure) -> Enclosure | None:
    """``a / b`` for ``b > 0``; ``None`` where it is undefined."""
    if b.lower <= 0 or b.upper == math.inf or a.upper == math.inf:
        return None
    ends = [Fraction(x) / Fraction(y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    return Enclosure(min(ends), max(ends))
