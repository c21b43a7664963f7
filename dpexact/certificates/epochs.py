"""Proposes: plans of the Mellin transforms of repeated allocations, judged by what they give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.allocation_put import Picture
from dpexact.accounting.pairs.allocation_rules import Shape, log_gamma, turned
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.certificate_checker_mpfr import allocation
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificates.contours import NoPlan
from dpexact.decimals import log_of

#: Digits asked of a plan on top of those of the bounds, in turn.
_SPARE: Final = (2, 6)
_GUARD_BITS: Final = 64
#: Noises that floats can plan for.
_RANGE: Final = (0.1, 1e3)
#: Lines that are tried, and orders beyond one by these factors.
_LINES: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
_BEYOND: Final = (1.3, 1.6, 2.0, 3.0, 4.0, 6.0)
_ANGLES: Final = np.linspace(0.3, 1.5, 49)
_PLACES: Final = np.linspace(-6.0, 40.0, 461)
#: Most products of a plan.
_MAX_WORK: Final = 12_000_000


def plans(
    steps: checker.Steps,
    ways: tuple[str, ...],
    points: Sequence[Fraction],
    digits: int,
    size: Fraction,
) -> Iterator[tuple[dict[str, Any], int]]:
    """As :func:`dpexact.certificates.transforms.plans`, for several epochs.

    Raises:
        NoPlan: floats cannot plan it, or not within the work of the checker.
    """
    try:
        rate, t, epochs = allocation.step_of(steps, Arithmetic(64))
        a = float(rate.lo)
        if not _RANGE[0] < 1 / a < _RANGE[1]:
            raise NoPlan("no plan for a Mellin transform: noise out of its range")
        if not size > 0:
            raise NoPlan("no plan for a Mellin transform: delta is 0")
        small = -log_of(size)
        shape = Shape(a, t)
        for spare in _SPARE:
            goal = (digits + spare) * math.log(10) + small
            found = {way: _best(shape, epochs, way, points, goal) for way in ways}
            yield {way: plan for way, (plan, _) in found.items()}, max(n for _, n in found.values())
    except (TooExpensive, ArithmeticError, ValueError) as error:
        raise NoPlan(f"no plan for a Mellin transform: {error}") from None


def _best(
    shape: Shape, epochs: int, way: str, points: Sequence[Fraction], goal: float
) -> tuple[dict[str, str], int]:
    logs = [float(x) if way == "remove" else -float(x) for x in points]
    goal += 3 + max(0.0, -min(logs))
    tried = [_plan(shape, epochs, c, max(logs), goal) for c in _LINES]
    work, plan, bits = min(tried, key=lambda found: found[0])
    if not work < _MAX_WORK:
        raise NoPlan("no plan for a Mellin transform within the work of the checker")
    return plan, bits


def _plan(
    shape: Shape, epochs: int, c: float, log: float, goal: float
) -> tuple[float, dict[str, str], int]:
    """The work of a plan on the line ``c`` at ``K = e^log``, the plan, and the bits it needs."""
    a, t = shape.a, shape.t
    moment = shape.moment(-c).value
    peak = max(0.0, (1 + c) * log + epochs * moment - math.log(c * (c + 1)))
    periods = []
    for factor in _BEYOND:
        b = c * factor + 1
        bound = epochs * shape.moment(-b).value + (1 + b) * log + goal
        periods.append((bound / (b - c), b))
    period, beyond = min(periods)
    period = max(period, (goal + 2 + max(0.0, log)) / (1 + c), 1.0) * 1.05
    h, count = 2 * math.pi / period, 4
    while True:
        u = (count + 1) * h
        kappa, shift, bound = turned(a, t, c, u)
        falls = math.lgamma(c) - log_gamma(c, u)
        decay = moment + bound + falls - math.pi / 2 * u
        if (1 + c) * log + epochs * decay - math.log(math.pi * h * count) < -goal:
            break
        count = math.ceil(1.2 * count)
    # of gamma(c), at the last node
    need = goal + peak + falls + math.log(epochs * count) + 3
    waves = u + (need - c * np.log(np.cos(_ANGLES))) / _ANGLES
    angle, frequency = float(_ANGLES[np.argmin(waves)]), float(waves.min()) + 3
    first = (math.lgamma(c) - need - 2) / c
    psi = Picture(a, t).log_psi(np.exp(_PLACES))
    slopes = -np.gradient(psi, _PLACES)
    small = c * _PLACES + psi < math.lgamma(c) + moment - need
    ends = np.flatnonzero(small & (slopes > beyond + 1) & (np.exp(_PLACES) > beyond + 1))
    if not len(ends):
        return math.inf, {}, 0
    last = float(_PLACES[ends[0]])
    inner = need + 2 * math.log(t) - float(psi[ends[0]]) / t + 8
    edge = min(0.999 * math.pi / (2 * a), math.sqrt(2 * inner))
    spacing = 2 * math.pi * edge / (inner + edge * edge / 2 + 2)
    every = math.ceil(a * spacing * frequency / (2 * math.pi))
    half = math.ceil(math.sqrt(2 * inner) / spacing)
    nodes = math.ceil((last - first) * every / (a * spacing))
    numbers = {
        "c": c,
        "h": h,
        "spacing": spacing,
        "edge": edge,
        "first": first,
        "angle": angle,
        "turn": kappa,
        "shift": shift,
        "beyond": beyond,
    }
    texts = {name: str(Fraction(f"{value:.7g}")) for name, value in numbers.items()}
    sizes = {"count": count, "half": half, "nodes": nodes, "every": every}
    bits = math.ceil((inner + peak + goal) / math.log(2)) + _GUARD_BITS
    work = (nodes * (2.0 * half + 20 * count)) * (1 + bits / 512)
    return work, {**texts, **{name: str(n) for name, n in sizes.items()}}, bits
