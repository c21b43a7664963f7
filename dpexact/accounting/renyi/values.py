"""An exact real as an enclosure."""

from __future__ import annotations

from fractions import Fraction

from dpexact import balls
from dpexact.enclosure import Enclosure
from dpexact.reals import Real


def value(x: Real, digits: int) -> Enclosure:
    """The real number ``x >= 0`` itself, exact when rational."""
    if x.fraction is not None:
        return Enclosure.exact(x.fraction)
    return balls.certify(lambda: balls.ball(x), digits, lowest=Fraction(0))
