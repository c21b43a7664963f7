"""What a claim is worth beside a certified enclosure: exact comparisons, and nothing computed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from dpexact.enclosure import Bound, Enclosure

Verdict: TypeAlias = Literal["unsound", "inaccurate", "undecided", "accurate", "sound"]
"""What an audit says of a claim."""

#: All verdicts, the worst first.
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

_ZERO: Final = Fraction(0)


def verdict(
    kind: str, low: Bound, high: Bound, truth: Enclosure, tolerance: Fraction = _ZERO
) -> Verdict:
    """The verdict on a claim ``c`` in ``[low, high]`` (exact: equal ends) about ``t`` in ``truth``.

    ``kind`` is ``upper`` (sound if ``c >= t``), ``lower`` (sound if ``c <= t``) or ``estimate``
    (accurate if ``|c - t| <= tolerance * t``).

    >>> verdict("upper", Fraction(1), Fraction(1), Enclosure(Fraction(1, 3), Fraction(1, 2)))
    'sound'
    """
    if kind == "estimate":
        return _estimate(low, high, truth, tolerance)
    if kind == "upper":
        holds, fails = low >= truth.upper, high < truth.lower
    else:
        holds, fails = high <= truth.lower, low > truth.upper
    return "sound" if holds else "unsound" if fails else "undecided"


def _estimate(low: Bound, high: Bound, truth: Enclosure, tolerance: Fraction) -> Verdict:
    """``accurate`` if ``(1 - tolerance) t <= c <= (1 + tolerance) t`` for all ``c`` and ``t``."""
    if truth.lower == math.inf:
        return _accuracy(low == math.inf, high < math.inf)
    if truth.upper == math.inf:
        short = tolerance < 1 and high < (1 - tolerance) * truth.lower
        return _accuracy(False, short)
    ends = Fraction(truth.lower), Fraction(truth.upper)
    floors = [(1 - tolerance) * t for t in ends]
    ceilings = [(1 + tolerance) * t for t in ends]
    return _accuracy(
        max(floors) <= low and high <= min(ceilings), high < min(floors) or low > max(ceilings)
    )


def _accuracy(holds: bool, fails: bool) -> Verdict:
    return "accurate" if holds else "inaccurate" if fails else "undecided"


def relative_error(low: Bound, high: Bound, truth: Enclosure) -> Enclosure | None:
    """Enclose ``c/t - 1`` for a claim ``c`` in ``[low, high]``; None where it is not defined."""
    if truth.is_exact and low == high == truth.lower:
        return Enclosure.exact(_ZERO)
    if not 0 < truth.lower <= truth.upper < math.inf:
        return None
    if low == math.inf:
        return Enclosure.exact(math.inf)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return None
    t0, t1 = Fraction(truth.lower), Fraction(truth.upper)
    return Enclosure(low / (t1 if low >= 0 else t0) - 1, high / (t0 if high >= 0 else t1) - 1)
