"""Differences and ratios of enclosures, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

from dpexact.enclosure import Enclosure


def difference(a: Enclosure, b: Enclosure) -> Enclosure | None:
    """``a - b``; ``None`` where an infinity leaves it undefined or unbounded below."""
    if b.upper == math.inf or not isinstance(a.lower, Fraction):
        return None
    low = a.lower - Fraction(b.upper)
    if a.upper == math.inf or b.lower == -math.inf:
        return Enclosure(low, math.inf)
    return Enclosure(low, Fraction(a.upper) - Fraction(b.lower))


def ratio(a: Enclosure, b: Enclosure) -> Enclosure | None:
    """``a / b`` for ``b > 0``; ``None`` where it is undefined."""
    if b.lower <= 0 or math.inf in (b.upper, a.upper, -a.lower):
        return None
    ends = [Fraction(x) / Fraction(y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    return Enclosure(min(ends), max(ends))
