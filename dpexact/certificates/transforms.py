"""Proposes: plans of the Laplace transform of an allocation, judged by what comes out of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.allocation_put import Picture
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.certificate_checker_mpfr import allocation
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificates.contours import NoPlan
from dpexact.decimals import log_of

#: Digits asked of a plan on top of those of the bounds, in turn.
_SPARE: Final = (2, 6, 14)
_GUARD_BITS: Final = 48
#: Noises that floats can plan for.
_RANGE: Final = (0.1, 1e3)
#: Periods over the level that are tried.
_PERIODS: Final = (1, 1.5, 2, 3, 5, 8, 12)
#: Most nodes and exponentials of a plan.
_MAX_COUNT: Final = 20_000
_MAX_WORK: Final = 1_500_000


def plans(
    steps: checker.Steps,
    ways: tuple[str, ...],
    points: Sequence[Fraction],
    digits: int,
    size: Fraction,
) -> Iterator[tuple[dict[str, Any], int]]:
    """Plans for delta at ``points`` to about ``digits`` digits of ``size``, finer ones later.

    With each, the bits it needs.

    Raises:
        NoPlan: floats cannot plan it, or not within the work of the checker.
    """
    try:
        rate, t, count = allocation.step_of(steps, Arithmetic(64))
        if count > 1:
            raise NoPlan("no plan for a Laplace transform: several epochs")
        a = float(rate.lo)
        if not _RANGE[0] < 1 / a < _RANGE[1]:
            raise NoPlan("no plan for a Laplace transform: noise out of its range")
        picture = Picture(a, t)
        if not size > 0:
            raise NoPlan("no plan for a Laplace transform: delta is 0")
        small = -log_of(size)
        for spare in _SPARE:
            accuracy = (digits + spare) * math.log(10) + small
            found = {way: _plan(picture, way, points, accuracy) for way in ways}
            yield {way: plan for way, (plan, _) in found.items()}, max(n for _, n in found.values())
    except (TooExpensive, ArithmeticError, ValueError) as error:
        raise NoPlan(f"no plan for a Laplace transform: {error}") from None


def _plan(
    picture: Picture, way: str, points: Sequence[Fraction], accuracy: float
) -> tuple[dict[str, str], int]:
    levels = [math.exp(float(x) if way == "remove" else -float(x)) for x in points]
    level, goal = max(levels), accuracy + 3 + max(0.0, -math.log(min(levels)))
    best: tuple[float, Any] = (math.inf, None)
    for longer in _PERIODS:
        period = level * longer * (1 + 1e-6)
        c, h = (goal + math.log(1 + level)) / period, 2 * math.pi / period
        high = c * level + float(picture.log_psi(np.array([c]))[0]) - 2 * math.log(c)
        count = 4
        while count < _MAX_COUNT:
            log, shift = picture._beyond(c, (count + 1) * h)
            if c * level + log - math.log(h * count) < -goal:
                break
            count = math.ceil(1.2 * count)
        else:
            continue
        inner = picture.inner(goal + max(0.0, high) + math.log(picture.t * count) + 4)
        work = count * (2 * inner.half + 1) * (1 + max(0.0, high) / 100)
        if work < best[0]:
            best = work, (c, h, count, shift, inner, high)
    if best[0] > _MAX_WORK:
        raise NoPlan("no plan for a Laplace transform within the work of the checker")
    c, h, count, shift, inner, high = best[1]
    bits = (goal + max(0.0, high)) / math.log(2) + 2 * picture.t.bit_length() + _GUARD_BITS
    numbers = {
        "c": c,
        "h": h,
        "lift": inner.lift,
        "spacing": inner.spacing,
        "shift": shift,
    }
    texts = {name: str(Fraction(f"{value:.7g}")) for name, value in numbers.items()}
    return {**texts, "count": str(count), "half": str(inner.half)}, math.ceil(bits)
