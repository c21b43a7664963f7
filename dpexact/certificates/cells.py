"""Proposes: cells of many sampled Gaussians that differ little, which the checker judges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.arrays import Floats

#: Fewer different steps are taken one by one.
FEWEST: Final = 100
#: The largest half of a side of a cell over its middle, and by how much a cell is wider.
_HALVES: Final = (0.3, 0.2)
_SPARE: Final = 1e-6
_TILES: Final = 3
#: Radii of ellipses that are tried, over the least of them.
_RADII: Final = np.geomspace(1.5, 40.0, 24)
_MOST_SHARE: Final = 0.7
#: Most points on a side, as the checker takes them.
MAX_DEGREE: Final = 60
#: How much longer rules are, for all rows, and how much lower that of the line is.
_LONGER: Final = 1.12
_LOWER: Final = 0.4


@dataclass
class Box:
    """Rows ``(q, v, n)`` that differ little, each a step of the composition."""

    rows: Floats
    names: list[str]

    @property
    def step(self) -> tuple[float, float, int]:
        """Rate, noise and number of what stands for all of them."""
        q, v, n = self.rows.T
        total = n.sum()
        return math.sqrt(n @ (q * q) / total), math.sqrt(n @ v / total), round(total)

    def corners(self) -> list[tuple[float, float, int]]:
        """Rate, noise and number of what loses more than the rows of each of some tiles."""
        (q, r), (v, s) = [(float(x), float(y)) for x, y in self.sides()]
        places = (self.rows[:, :2] - (q - r, v - s)) / (2 * r, 2 * s) * _TILES
        tiles = np.floor(places).clip(0, _TILES - 1)
        tiles[:, 0] += 1
        found = []
        for right, down in np.unique(tiles, axis=0):
            n = self.rows[(tiles == (right, down)).all(axis=1), 2].sum()
            variance = v - s + 2 * s * down / _TILES
            found.append((q - r + 2 * r * right / _TILES, math.sqrt(variance), round(n)))
        return found

    @property
    def corner(self) -> tuple[float, float]:
        """Rate and noise of the corner of the largest moments, or a little beyond."""
        (q, r), (v, s) = self.sides()
        return float(q + r), math.sqrt(float(v - s)) * (1 - _SPARE)

    def sides(self) -> list[tuple[Fraction, Fraction]]:
        """The middle and the half of each side, which hold the rows."""
        found = []
        for column in self.rows.T[:2]:
            low, high = float(column.min()), float(column.max())
            middle = short_number((low + high) / 2)
            half = (high - low) / 2 * (1 + _SPARE) + _SPARE * float(middle)
            found.append((middle, short_number(half * (1 + _SPARE))))
        return found


def boxes_of(steps: checker.Steps, narrower: float = 1.0) -> list[Box]:
    """Boxes of the steps of which there are many that differ little; the others are in none."""
    names, rows = [], []
    for name, count in steps.items():
        row = _sampled_row(json.loads(name), count)
        if row is not None:
            names.append(name)
            rows.append(row)
    if len(rows) < FEWEST:
        return []
    found, parts = [], [Box(np.array(rows), names)]
    while parts:
        box = parts.pop()
        ends = box.rows[:, :2].min(axis=0), box.rows[:, :2].max(axis=0)
        wide = (ends[1] - ends[0]) / (ends[1] + ends[0]) / np.array(_HALVES) / narrower
        axis = int(np.argmax(wide))
        if wide[axis] <= 1:
            found.append(box)
            continue
        times = math.ceil(math.log(ends[1][axis] / ends[0][axis]) / (2 * _HALVES[axis] * narrower))
        cut = ends[0][axis] * (ends[1][axis] / ends[0][axis]) ** (
            max(1, times // 2) / max(2, times)
        )
        low = box.rows[:, axis] <= cut
        parts += [
            Box(box.rows[side], [x for x, s in zip(box.names, side, strict=True) if s])
            for side in (low, ~low)
        ]
    return [box for box in found if len(box.names) >= FEWEST]


def _sampled_row(tree: Any, count: int) -> tuple[float, float, float] | None:
    """Rate, variance and count of a sampled Gaussian that floats hold."""
    if tree[0] != "poisson" or tree[1][0] not in ("gaussian", "gdp"):
        return None
    numbers = [*tree[1][1:], tree[2]]
    if any(isinstance(x, list) for x in numbers):
        return None
    one, *other, q = (float(Fraction(x)) for x in numbers)
    sigma = one / other[0] if other else 1 / one if one else math.inf
    return (q, sigma * sigma, count) if 1e-12 < q < 0.5 and 0.1 < sigma < 1e4 else None


def short_number(x: float) -> Fraction:
    """A number near ``x`` of few digits."""
    mantissa, exponent = math.frexp(x)
    return Fraction(round(mantissa * 2**24), 2**24) * Fraction(2) ** exponent


def cell_of(
    box: Box,
    rules: dict[str, list[str]],
    orders: Mapping[str, tuple[float, Sequence[float]]],
    accuracies: dict[str, float],
) -> dict[str, list[str]] | None:
    """The plan of a cell from rules of what stands for it; None if it is too wide.

    Args:
        box: the rows.
        rules: by role.
        orders: by role, the real part of the order, and heights that must have ellipses.
        accuracies: by role, minus the logarithm of the error of a row.
    """
    sides = box.sides()
    found: dict[str, list[str]] = {
        name: list(map(str, side)) for name, side in zip("qv", sides, strict=True)
    }
    for role, rule in rules.items():
        if role not in orders:
            found[role] = rule
            continue
        texts = _rule(rule, box.step[1], _LOWER if role == "line" else 1.0)
        spread = _spread(sides, texts, *orders[role], moduli=role != "line")
        points = _points(sides, spread, accuracies[role])
        if points is None:
            return None
        found[role] = [*texts, *points]
    return found


def _rule(rule: Sequence[str], sigma: float, lower: float) -> list[str]:
    """A rule in ``w``, a little longer, and lower, where moduli are less above their sum."""
    height, edge, spacing, first, last = map(Fraction, rule)
    numbers = [float(x) / sigma * lower for x in (height, edge, spacing)]
    ends = [math.ceil(abs(end) * _LONGER / lower) for end in (first, last)]
    return [*(str(short_number(x)) for x in numbers), str(-ends[0]), str(ends[1])]


def _spread(
    sides: list[tuple[Fraction, Fraction]],
    rule: list[str],
    kappa: float,
    heights: Sequence[float],
    *,
    moduli: bool,
) -> Callable[[Any, Any], Any]:
    """``E`` as a function of radii, the worst of some heights; see the checker."""
    (q, r), (v, s) = [(float(x), float(y)) for x, y in sides]
    height, _, spacing, first, last = (float(Fraction(x)) for x in rule)
    w = np.arange(first, last + 1) * spacing - 1 / (2 * v) + 1j * height
    power = np.log(1 - q + q * np.exp(w))
    d, b = np.expm1(w) / np.exp(power), 0.5 + 1 / (8 * v) - v * w * w / 2
    density = -(v * w * w + w) / 2

    def worst(rho: float, tau: float) -> float:
        wide, less = r * (rho + 1 / rho) / 2, s * (tau + 1 / tau) / 2 / v
        if not (less < 1 and (wide * abs(d)).max() < 1):
            return math.inf
        rest = -(math.log1p(-less) + less) / 2 + less * less / (8 * v * (1 - less))
        slopes, found = -np.log1p(-wide * abs(d)), 0.0
        for u in heights:
            k = complex(kappa, u)
            terms, linear = np.exp(k * power + density), (k * wide * d, less * b)
            if moduli:
                terms, linear = abs(terms), (linear[0].real, linear[1].real)
            sizes = [abs(x) for x in (wide * abs(k) * d, linear[1])]
            grown = np.expm1(abs(k) * slopes + sizes[1] + rest) - sizes[0] - sizes[1]
            total = sum(abs(terms @ x) for x in linear) + abs(terms) @ grown
            found = max(found, float(total / abs(terms.sum())))
        return found if math.isfinite(found) else math.inf

    return worst


def _points(
    sides: list[tuple[Fraction, Fraction]], worst: Callable[[Any, Any], Any], accuracy: float
) -> list[str] | None:
    """The radii that need the fewest points, and how many; None if there are none."""
    best: tuple[float, list[str]] = (math.inf, [])
    least = [1 if half > middle / 1000 else middle / half / 1000 for middle, half in sides]
    for rho in _RADII * float(least[0]):
        for tau in _RADII * float(least[1]):
            share = worst(rho, tau)
            if not share < _MOST_SHARE:
                break
            level = accuracy + math.log(16 * -math.log1p(-share) + 1e-300)
            level -= math.log((1 - 1 / rho) * (1 - 1 / tau))
            counts = [max(1, math.ceil(level / math.log(x))) for x in (rho, tau)]
            if max(counts) <= MAX_DEGREE and math.prod(counts) < best[0]:
                texts = [str(short_number(rho)), str(short_number(tau)), *map(str, counts)]
                best = math.prod(counts), texts
    return best[1] or None
