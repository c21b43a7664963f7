"""Proposes: cells of many sampled Gaussians, which the checker judges."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from dpexact import certificate_checker as checker
from dpexact.accounting.arrays import Complexes, Floats
from dpexact.kept import cached_property

#: Fewer different steps are taken one by one.
FEWEST: Final = 100
#: How often the least is the most of a rate and of a variance that one step stands for.
_RATIOS: Final = (1.9, 1.5)
#: By how much a box is wider than its rows, and the least ratio of its middle to an end.
_SPARE: Final = 1e-6
_TILES: Final = 3
#: Radii of ellipses that are tried.
_RADII: Final = np.geomspace(1.25, 100.0, 28)
#: Most points on a side, and terms of large orders, as the checker takes them.
_MAX_POINTS, _MAX_POWER = 60, 1_000
#: Nodes of integrals that float sums take, over deviations, and how far they go.
_REACH, _NODES = 14.0, 800
#: Microseconds of a node at a point, of one at a pair of points and an order, of a logarithm, of
#: a row at a point, and of an order of a step by itself.
_PER_NODE, _PER_PRODUCT, _PER_VALUE, _PER_ROW, _ALONE = 60.0, 0.06, 12.0, 1.0, 300.0


@dataclass(frozen=True)
class Goal:
    """What a contour asks of a row: orders ``kappa + iu``, and minus the logs of the errors."""

    kappa: float
    heights: Floats
    accuracy: Floats
    #: The height beyond all, and minus the logarithm of the error there.
    beyond: float
    coarse: float


@dataclass
class Box:
    """Rows ``(q, v, n)``, each a step of the composition."""

    rows: Floats
    names: list[str]

    @property
    def step(self) -> tuple[float, float, int]:
        """Rate, noise and number of what stands for all of them."""
        q, v, n = self.rows.T
        total = n.sum()
        return math.sqrt(n @ (q * q) / total), math.sqrt(n @ v / total), round(total)

    @cached_property
    def sides(self) -> list[tuple[Fraction, Fraction]]:
        """The middle of each side, and how many times it the end is; they hold the rows."""
        found = []
        for column in self.rows.T[:2]:
            low, high = float(column.min()), float(column.max())
            ratio = math.sqrt(high / low) * (1 + _SPARE)
            found.append((short_number(math.sqrt(low * high)), short_number(ratio * (1 + _SPARE))))
        return found

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The least and the most of the sides."""
        (q, x), (v, y) = ((float(middle), float(ratio)) for middle, ratio in self.sides)
        return (q / x, q * x), (v / y, v * y)

    def corners(self) -> list[tuple[float, float, int]]:
        """Rate, noise and number of what loses more than the rows of each of some tiles."""
        (low, high), (least, most) = self.ends
        places = np.log(self.rows[:, :2] / (low, least)) / np.log([high / low, most / least])
        tiles = np.floor(places * _TILES).clip(0, _TILES - 1)
        found = []
        for right, down in np.unique(tiles, axis=0):
            n = self.rows[(tiles == (right, down)).all(axis=1), 2].sum()
            rate = low * (high / low) ** ((right + 1) / _TILES)
            found.append((rate, math.sqrt(least * (most / least) ** (down / _TILES)), round(n)))
        return found

    @property
    def corner(self) -> tuple[float, float]:
        """Rate and noise of the corner of the largest moments, or a little beyond."""
        (_, rate), (variance, _) = self.ends
        return rate, math.sqrt(variance) * (1 - _SPARE)

    def cut(self) -> tuple[Box, Box] | None:
        """In two, across the longer side; None if one step stands for the rows."""
        low, high = self.rows[:, :2].min(axis=0), self.rows[:, :2].max(axis=0)
        parts = np.log(high / low) / np.log(_RATIOS)
        axis = int(np.argmax(parts))
        if parts[axis] <= 1:
            return None
        share = max(1, math.ceil(parts[axis]) // 2) / max(2, math.ceil(parts[axis]))
        left = self.rows[:, axis] <= low[axis] * (high[axis] / low[axis]) ** share
        one, other = (
            Box(self.rows[side], [x for x, s in zip(self.names, side, strict=True) if s])
            for side in (left, ~left)
        )
        return one, other

    @property
    def leaves(self) -> Iterator[Box]:
        """Boxes of rows for which one step may stand."""
        halves = self.cut()
        if halves is None:
            yield self
        else:
            for half in halves:
                yield from half.leaves


def box_of(steps: checker.Steps) -> Box | None:
    """The steps that are sampled Gaussians of numbers that floats hold; None if they are few."""
    names, rows = [], []
    for name, count in steps.items():
        row = _sampled_row(json.loads(name), count)
        if row is not None:
            names.append(name)
            rows.append(row)
    return Box(np.array(rows), names) if len(rows) >= FEWEST else None


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


def log_moments(box: Box, kappa: float, heights: Floats) -> Complexes:
    """Sums of logarithms of moments of the rows, as those of what stands for its leaves."""
    total = np.zeros(len(heights), complex)
    for leaf in box.leaves:
        q, sigma, n = leaf.step
        total += n * np.log(_integrals(q, sigma, kappa, heights, 0.0))
    return total


def _integrals(q: float, sigma: float, kappa: float, heights: Floats, y: float) -> Complexes:
    """``int g A^k`` at each height; of moduli on the line ``y`` above, but for ``e^(v y^2/2)``."""
    z = np.linspace(-_REACH, _REACH + max(kappa, 0.0) / sigma, _NODES)
    weights = np.exp(-z * z / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    log = np.log1p(q * np.expm1((z - 1 / (2 * sigma)) / sigma + 1j * y))
    orders = kappa + 1j * heights[:, None]
    found: Complexes = np.exp((orders * log).real if y else orders * log) @ weights + 0j
    return found


# --- cells ----------------------------------------------------------------------------------------


Cell: TypeAlias = "tuple[Box, list[str], list[dict[str, Any]]]"
"""A box, the rule of its line, and its tails."""


def cells_of(box: Box, goal: Goal) -> list[Cell]:
    """Cells that cost little together; rows in none of them are by themselves."""
    return _best(box, goal)[1]


def _best(box: Box, goal: Goal) -> tuple[float, list[Cell]]:
    alone = len(box.names) * _ALONE * (len(goal.heights) + 40)
    best: tuple[float, list[Any]] = (alone, [])
    line = _line(box, goal)
    if line is not None and line[0] < alone:
        tails = [_tail(leaf, goal) for leaf in box.leaves]
        if None not in tails:
            best = line[0], [(box, line[1], tails)]
    halves = box.cut() if best[0] > 0 else None
    if halves is not None:
        parts = [_best(half, goal) for half in halves]
        cost = sum(part[0] for part in parts)
        if cost < best[0]:
            best = cost, [*parts[0][1], *parts[1][1]]
    return best


def written(box: Box, rule: list[str]) -> dict[str, Any]:
    """A box of a plan."""
    sides = [list(map(str, side)) for side in box.sides]
    return {"q": sides[0], "v": sides[1], "rule": rule}


def _line(box: Box, goal: Goal) -> tuple[float, list[str]] | None:
    """The rule of a line, and what it costs."""
    accuracy = float(goal.accuracy.max())
    rule = _oblique(box, goal.kappa, accuracy)
    found = _points(box, goal.kappa, goal.heights, goal.accuracy, 0.0)
    if rule is None or found is None:
        return None
    (many, more), radii = found
    nodes, orders = int(rule[4]) - int(rule[3]) + 1, len(goal.heights)
    cost = nodes * (many + more) * _PER_NODE + len(box.names) * (many + more) * _PER_ROW
    cost += many * orders * more * (nodes * _PER_PRODUCT + _PER_VALUE)
    return cost, [*rule, str(many), str(more), *radii]


def _tail(box: Box, goal: Goal) -> dict[str, Any] | None:
    """The box of integrals of moduli, on the line where they are least."""
    q, sigma, _ = box.step
    beyond = np.array([goal.beyond])
    heights = np.geomspace(1e-4, 1.5, 50)
    moduli = [
        (sigma * y) ** 2 / 2 + math.log(_integrals(q, sigma, goal.kappa, beyond, y)[0].real)
        for y in heights
    ]
    y = float(heights[int(np.argmin(moduli))])
    rule = _level(box, goal.kappa, y, goal.coarse)
    found = _points(box, goal.kappa, beyond, np.array([goal.coarse]), y)
    if rule is None or found is None:
        return None
    (many, more), radii = found
    return written(box, [*rule, str(many), str(more), *radii])


def _oblique(box: Box, kappa: float, accuracy: float) -> list[str] | None:
    """The rule of a line above the real one, of few nodes."""
    (_, most) = box.ends[1]
    accuracy += max(0.0, math.log(abs(_integrals(*box.corner, kappa, np.zeros(1), 0.0)[0])))
    edges = np.linspace(0.3, 3.0, 28)
    growth = most * edges**2 / 2 + min(kappa, 0.0) * np.log(np.cos(edges / 2))
    spacings = 2 * math.pi * edges / (2 * accuracy + growth + 2)
    best = int(np.argmax(spacings))
    height = spacings[best] * (accuracy + 1) / (2 * math.pi)
    return _rule(box, kappa, height, edges[best], spacings[best], accuracy)


def _level(box: Box, kappa: float, y: float, accuracy: float) -> list[str] | None:
    """The rule of integrals of moduli at a height, of few nodes."""
    (_, most) = box.ends[1]
    accuracy += max(0.0, math.log(abs(_integrals(*box.corner, kappa, np.zeros(1), 0.0)[0])))
    edges = np.linspace(0.05, max(y, 1.55 - y), 30)
    growth = most * (y * y + edges**2) / 2 + min(kappa, 0.0) * np.log(np.cos((y + edges) / 2))
    spacings = 2 * math.pi * edges / (accuracy + growth + 1)
    best = int(np.argmax(spacings))
    return _rule(box, kappa, y, edges[best], spacings[best], accuracy)


def _rule(
    box: Box, kappa: float, height: float, edge: float, spacing: float, accuracy: float
) -> list[str] | None:
    """As text, with as many nodes as leave out no more than allowed."""
    (_, q), (least, most) = box.ends
    offset = -1 / (2 * float(box.sides[1][0]))
    short = [short_number(x) for x in (height, edge, spacing)]
    ends = []
    for end in (-1, 1):
        x = offset + end * float(short[2]) * np.arange(1, 4000)
        grown = kappa * np.log1p(q * np.expm1(np.minimum(x, 700.0)))
        if kappa < 0:
            grown = 0 * x - kappa * q  # A is at least 1 - q
        logs = [
            (math.log(v) - v * x * x - x - 1 / (4 * v) + v * height**2) / 2 for v in (least, most)
        ]
        falls = end * (least * x + 0.5) - (max(-kappa, 0.0) if end < 0 else max(kappa, 0.0))
        enough = (np.maximum(*logs) + grown < -accuracy - 3) & (falls > 0.1)
        if not enough.any():
            return None
        ends.append(end * (int(np.argmax(enough)) + 2))
    return [*map(str, short), *map(str, ends)]


def _points(
    box: Box, kappa: float, heights: Floats, accuracy: Floats, y: float
) -> tuple[tuple[int, int], list[str]] | None:
    """Numbers of points, as few as there may be, and radii; None if there are none."""
    radii, logs = [], []
    for rho in _RADII:
        for tau in _RADII:
            bound = _bounds(box, kappa, heights, y, rho, tau)
            if bound is None:
                break
            radii.append((rho, tau))
            logs.append(np.log(8 * bound / ((1 - 1 / rho) * (1 - 1 / tau)) + 1e-300) + accuracy)
    if not radii:
        return None
    pairs, excess = np.log(radii), np.array(logs) + math.log(2)
    best: tuple[int, int] | None = None
    for many in range(1, _MAX_POINTS + 1):
        fits = excess <= many * pairs[:, :1]
        more = np.where(fits, np.ceil(excess / pairs[:, 1:]), np.inf).min(axis=0).max()
        more = max(1.0, more)
        if more <= _MAX_POINTS and (best is None or many * more < math.prod(best)):
            best = many, int(more)
    if best is None:
        return None
    errors = np.logaddexp(excess - best[0] * pairs[:, :1], excess - best[1] * pairs[:, 1:])
    used = sorted(set(np.argmin(errors, axis=0).tolist()))
    texts = [str(short_number(float(x))) for i in used for x in radii[i]]
    return best, texts


def _bounds(
    box: Box, kappa: float, heights: Sequence[float] | Floats, y: float, rho: float, tau: float
) -> Floats | None:
    """What the checker finds for a logarithm on ellipses, infinite where it is not bounded."""
    halves = [math.log(float(ratio)) for _, ratio in box.sides]
    middle, centre = (float(x) for x, _ in box.sides)
    (wide, angle), (tall, turn) = (
        ((x + 1 / x) / 2 * half, (x - 1 / x) / 2 * half)
        for x, half in zip((rho, tau), halves, strict=True)
    )
    q = middle * math.exp(wide)
    power = max(0, math.ceil(kappa) - 2)
    if q >= 0.99 or max(angle, turn) > 1.57 or power > _MAX_POWER:
        return None
    most, least = centre * math.exp(tall), centre * math.exp(-tall)
    cosine, sine = math.cos(turn), math.sin(turn)
    precision, slope = least * cosine, angle * sine / cosine
    lead = most * angle**2 / (2 * cosine) + sine * sine / (8 * cosine * least)
    parts = np.array([0.5 * slope, 1.5 * slope + 1 / precision])
    j = np.arange(1, power + 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        total = np.exp(parts).sum() - 2 * math.cos(angle) * math.cos(y) * math.exp(-slope / 2)
        total *= (1 + q) ** power
        for n in (j, j + 2):
            logs = [math.log(math.comb(power, i)) + (power - i) * math.log1p(q) for i in j]
            logs = (
                np.array(logs) + j * math.log(q) + slope * (n - 0.5) + n * (n - 1) / (2 * precision)
            )
            total += np.exp(logs).sum()
        scale = total * (1 + math.tan(y) + q / (1 - q)) * q * q * np.exp(lead) / (2 * cosine**0.5)
        scale *= (1 - q) ** min(kappa - 2, 0.0)
        k = kappa + 1j * np.asarray(heights)
        share = abs(k) * (abs(k) + 1) * np.exp(k.imag * q / (1 - q)) * scale
        share += q * abs((k * (np.exp(1j * y) - 1)).real)
        bounds = most * y * y / 2 - np.log1p(-np.minimum(share, 1.0))
    return np.where(share < 0.999, bounds, np.inf)
