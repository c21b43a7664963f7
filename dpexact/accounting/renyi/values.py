"""Enclosures of exact reals, and their sums; orders."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

from dpexact import balls
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

Order: TypeAlias = Real | None
"""A Rényi order ``>= 1``; ``None`` is infinity."""

INFINITE: Final = Enclosure.exact(math.inf, "closed form: infinite")


def value(x: Real, digits: int) -> Enclosure:
    """The real number ``x >= 0`` itself, exact when rational."""
    return balls.enclosed(x, digits, Fraction(0))


def plus(total: Enclosure, part: Enclosure, count: int = 1) -> Enclosure:
    """``total + count * part``; both are at least 0, so no digit is lost."""
    if not part.upper:
        return total
    if not total.upper and count == 1:
        return part
    label = " + ".join(dict.fromkeys(filter(None, f"{total.method} + {part.method}".split(" + "))))
    lower, upper = total.lower + count * part.lower, total.upper + count * part.upper
    return Enclosure(lower, upper, label, total.reason or part.reason)


def lost_bits(q: Real, *others: Real) -> int:
    """About how many bits the smallness of ``q`` and the size of what else enters take."""
    # proposes: a first precision; certify raises it where it is too low
    log = balls.approximate_log
    size = sum((2 * abs(log(x)) for x in others if x.fraction != 0), -log(q))
    return math.ceil(min(size / math.log(2), balls.CAP_EXTRA)) + 8
