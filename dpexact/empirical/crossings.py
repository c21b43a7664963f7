"""Where a continuous function of one number changes its sign, certified by balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpexact import balls

#: Bits beyond which a sign is left undecided.
_CAP = 4096


def is_positive(compute: Callable[[], arb]) -> bool | None:
    """Whether a number is above 0 (False: it is below); None where the cap leaves it open.

    ``compute`` must enclose the number at any precision.
    """
    bits = 96
    while bits <= _CAP:
        with balls.precision(bits):
            value = compute()
            if value > 0:
                return True
            if value < 0:
                return False
        bits *= 2
    return None


def crossing(
    low: Fraction, high: Fraction, beyond: Callable[[Fraction], bool | None], digits: int
) -> tuple[Fraction, Fraction]:
    """Two numbers next to each other, the first certainly before and the second certainly beyond.

    ``low`` is before and ``high`` beyond; they come to within ``10^-digits`` of the second,
    or as near as ``beyond`` decides.
    """
    shares = [
        Fraction(1, 2),
        Fraction(3, 7),
    ]  # where one hits the crossing, the other misses
    while (high - low) * 10**digits > high:
        for share in shares:
            # proposes: a short dyadic near the point; `beyond` decides on which side it lies
            point = _rounded(low + share * (high - low), high - low)
            decided = beyond(point)
            if decided is not None:
                break
        else:
            return low, high
        if decided:
            high = point
        else:
            low = point
    return low, high


def _rounded(point: Fraction, width: Fraction) -> Fraction:
    """A dyadic number within an eighth of ``width`` of ``point``."""
    scale = 1 << max((8 / width).__ceil__().bit_length(), 0)
    return Fraction(round(point * scale), scale)
