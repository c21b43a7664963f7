"""Proposes: plans of the transforms of an allocation, judged by what comes out of them.

The Laplace transform of one, and the Mellin transforms of one that is repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.engines.allocation_put import Picture
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.allocation_rules import Shape, log_gamma, turned
from dpexact.certificate_checker_mpfr import allocation
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificates.contours import NoPlan
from dpexact.decimals import log_of

#: Digits asked of a plan on top of those of the bounds, in turn.
_SPARE: Final = {"Laplace": (2, 6, 14), "Mellin": (2, 6)}
#: Noises that floats can plan for.
_RANGE: Final = (0.1, 1e3)
#: Periods over the level that are tried, and most nodes and exponentials of a plan.
_PERIODS: Final = (1, 1.5, 2, 3, 5, 8, 12)
_MAX_COUNT: Final = 20_000
_MOST_LAPLACE: Final = 1_500_000
#: Lines that are tried, orders beyond one by these factors, and most products of a plan.
_LINES: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
_BEYOND: Final = (1.3, 1.6, 2.0, 3.0, 4.0, 6.0)
_ANGLES: Final = np.linspace(0.3, 1.5, 49)
_PLACES: Final = np.linspace(-6.0, 40.0, 461)
_MOST_MELLIN: Final = 12_000_000


def plans(
    kind: Literal["Laplace", "Mellin"],
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
    none = f"no plan for a {kind} transform"
    try:
        rate, t, epochs = allocation.step_of(steps, Arithmetic(64))
        if kind == "Laplace" and epochs > 1:
            raise NoPlan(f"{none}: several epochs")
        a = float(rate.lo)
        if not _RANGE[0] < 1 / a < _RANGE[1]:
            raise NoPlan(f"{none}: noise out of its range")
        if not size > 0:
            raise NoPlan(f"{none}: delta is 0")
        repeated = partial(_mellin, Shape(a, t), epochs)
        plan = repeated if kind == "Mellin" else partial(_laplace, Picture(a, t))
        for spare in _SPARE[kind]:
            accuracy = (digits + spare) * math.log(10) - log_of(size)
            found = {way: plan(way, points, accuracy) for way in ways}
            yield {way: plan for way, (plan, _) in found.items()}, max(n for _, n in found.values())
    except (TooExpensive, ArithmeticError, ValueError) as error:
        raise NoPlan(f"{none}: {error}") from None


def _laplace(
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
    if best[0] > _MOST_LAPLACE:
        raise NoPlan("no plan for a Laplace transform within the work of the checker")
    c, h, count, shift, inner, high = best[1]
    bits = (goal + max(0.0, high)) / math.log(2) + 2 * picture.t.bit_length() + 48
    numbers = {
        "c": c,
        "h": h,
        "lift": inner.lift,
        "spacing": inner.spacing,
        "shift": shift,
    }
    texts = {name: str(Fraction(f"{value:.7g}")) for name, value in numbers.items()}
    return {**texts, "count": str(count), "half": str(inner.half)}, math.ceil(bits)


def _mellin(
    shape: Shape, epochs: int, way: str, points: Sequence[Fraction], goal: float
) -> tuple[dict[str, str], int]:
    logs = [float(x) if way == "remove" else -float(x) for x in points]
    goal += 3 + max(0.0, -min(logs))
    tried = [_on_line(shape, epochs, c, max(logs), goal) for c in _LINES]
    work, plan, bits = min(tried, key=lambda found: found[0])
    if not work < _MOST_MELLIN:
        raise NoPlan("no plan for a Mellin transform within the work of the checker")
    return plan, bits


def _on_line(
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
    bits = math.ceil((inner + peak + goal) / math.log(2)) + 64
    work = (nodes * (2.0 * half + 20 * count)) * (1 + bits / 512)
    return work, {**texts, **{name: str(n) for name, n in sizes.items()}}, bits
