"""What the modules of the engine share: exact ends, and the limit on work."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.enclosure import Enclosure

LN2: Final = math.log(2)
LN10: Final = math.log(10)


class TooExpensive(ArithmeticError):
    """The planned evaluation would exceed the work allowed."""


def enclosed(value: arb, method: str) -> Enclosure:
    """The exact ends of a ball, of which none may have overflowed."""
    if not balls.in_range(value):
        raise TooExpensive("an enclosure overflowed")
    return balls.to_enclosure(value, method)


def relative_width(found: Enclosure) -> float:
    """``(upper - lower)/lower`` as a float; infinite when ``lower`` is not positive."""
    if found.is_exact:
        return 0.0
    if found.lower <= 0 or found.upper == math.inf:
        return math.inf
    low, high = Fraction(found.lower), Fraction(found.upper)
    return float((high - low) / low)
