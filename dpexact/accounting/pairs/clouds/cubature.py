"""A weighted cloud of points in a box replaced by few points: sums of functions over it.

With nodes and weights that are right for the products ``T_j(x) T_k(y)`` of a lower set of degrees,
and ``f`` analytic and at most ``B`` in modulus where ``x`` and ``y`` range over the ellipses of
parameters ``rho`` and ``tau``,

    |sum_k n_k f(x_k, y_k) - sum_i w_i f(x_i, y_i)| <= 4 B (N + |w|) sum rho^-j tau^-k,

the last sum over all other degrees (``docs/theory/logs.md``, Proposition 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

import numpy as np
from flint import arb, arb_mat

from dpexact.accounting.arrays import Flags, Floats
from dpexact.accounting.pairs.clouds import limbs
from dpexact.accounting.pairs.clouds.cells import Place, cells
from dpexact.accounting.pairs.clouds.limbs import BITS, Kept, added, full, integers
from dpexact.accounting.pairs.clouds.sides import FINER, Side, floored, scaled
from dpexact.accounting.pairs.clouds.triangular import Rows, factored, multiply_lines
from dpexact.balls import approximate, ball, current, precision
from dpexact.reals import Real, rational

_Way: TypeAlias = tuple[int, int, int]
"""Of sums: how many degrees of either variable, and bits."""

#: Bits that a place in its interval may lose, or a weight.
_SPARE_BITS: Final = 16
#: Bits of lengths, which many ask for, at least.
_LENGTH_BITS: Final = 128
#: Degrees for questions to come.
_FIRST: Final = 16
_LEJA: Final = 4001
#: Bits of a node; intervals are so wide, and nodes so far inside, that rounding keeps them there.
NODE_BITS: Final = 30
_INSIDE: Final = 0.999


@dataclass(frozen=True)
class Degrees:
    """A lower set: ``(j, k)`` with ``k < rows[j]``, which does not increase in ``j``."""

    rows: tuple[int, ...]

    @classmethod
    def down_to(cls, level: float, log_rho: float, log_tau: float) -> Degrees:
        """Those where ``rho^-j tau^-k`` is above about ``e^-level``; an infinite rate means one.

        Proposes: degrees; the tail bounds all others.
        """
        most = 1 if math.isinf(log_rho) else max(1, math.ceil(level / log_rho))
        left = [level - j * log_rho if j else level for j in range(most)]
        return cls(
            tuple(1 if math.isinf(log_tau) else max(1, math.ceil(x / log_tau)) for x in left)
        )

    def __len__(self) -> int:
        return sum(self.rows)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((j, k) for j, most in enumerate(self.rows) for k in range(most))

    def tail(self, rho: arb | None, tau: arb | None) -> arb:
        """``sum rho^-j tau^-k`` over all degrees outside; None is an interval of one point."""
        x = arb(0) if rho is None else 1 / rho
        y = arb(0) if tau is None else 1 / tau
        inside = sum((x**j * y**most for j, most in enumerate(self.rows)), arb(0))
        return (inside + x ** len(self.rows) / (1 - x)) / (1 - y)


@cache
def leja(count: int) -> tuple[float, ...]:
    """Points of ``[-1, 1]``, each where the product of distances to those before is largest.

    Proposes: nodes, since any are valid.
    """
    grid = np.cos(np.linspace(0.0, math.pi, _LEJA)) * _INSIDE
    grid[_LEJA // 2] = 0.0
    found, logs = [0.0], np.log(np.abs(grid) + 1e-300)
    while len(found) < count:
        following = float(grid[int(np.argmax(logs))])
        found.append(following)
        logs += np.log(np.abs(grid - following) + 1e-300)
    return tuple(found)


def _serves(way: _Way, wanted: tuple[float, ...]) -> bool:
    # proposes: which sums are looked up; whatever is held is right
    return all(a >= b for a, b in zip(way, wanted, strict=True))


class Cloud:
    """Points ``(x_k, y_k)`` of positive coordinates, each counted ``n_k`` times.

    The first points of a cloud are clouds too, one up to each of the ``ends``, in the same
    intervals: sums over all of them are had at once.
    """

    def __init__(
        self,
        points: Sequence[tuple[Real, Real, int]],
        ends: Sequence[int] | None = None,
        logs: Sequence[Floats] | None = None,
    ) -> None:
        self._whole, self._ends = points, [len(points)] if ends is None else ends
        stretches = pairwise([0, *self._ends])
        self._runs = [*accumulate(sum(n for *_, n in points[a:b]) for a, b in stretches)]
        self._place = len(self._ends) - 1
        self._most_often = max(n for *_, n in points)
        self._columns = [x for x, _, _ in points], [y for _, y, _ in points]
        #: Proposes: about the logarithms.
        self._logs = self._about() if logs is None else logs
        first, second = zip(self._columns, self._logs, strict=True)
        self.sides = Side.around(*first), Side.around(*second)
        #: The cloud of which it is some points, and which.
        self._origin: tuple[Cloud, Sequence[int]] | None = None
        self._found: dict[tuple[int, int], Sequence[int]] = {}
        self._found_sums: dict[_Way, dict[int, Kept]] = {}
        self._places: dict[int, list[list[int]]] = {}
        #: Proposes: about where the points are, and how many before each end.
        self._cells: list[tuple[list[tuple[Place, Place]], Floats]] = []
        self._lengths: dict[int, list[tuple[arb, ...]]] = {}
        self._inverses: dict[tuple[Degrees, int], list[list[Rows]]] = {}

    def _about(self) -> Sequence[Floats]:
        """Proposes: about the logarithms."""
        return [
            np.array([math.log(approximate(value)) for value in column]) for column in self._columns
        ]

    def first(self, place: int) -> Cloud:
        """The cloud of the points before an end."""
        found = copy(self)
        found._place = place
        return found

    @property
    def place(self) -> int:
        """Which of the ends it is up to."""
        return self._place

    @property
    def middle(self) -> tuple[Real, Real]:
        """The node in the middle."""
        return self._node(0, 0.0), self._node(1, 0.0)

    def is_summed(self, many: float, more: float) -> bool:
        """Proposes: whether sums of so many degrees over its points are known."""
        return any(_serves(way, (many, more, current())) for way in self._found_sums)

    def placed(self) -> Iterator[tuple[Place, int, int]]:
        """Each of its points, how often it is counted, and the first end that it is before."""
        for end in range(self._place + 1):
            for x, y, n in self._whole[slice(*self._stretch(end))]:
                yield (x, y), n, end

    @property
    def last(self) -> Cloud:
        """The whole of which this is the first part."""
        return self.first(len(self._ends) - 1)

    def halves(self, axis: int) -> list[Cloud]:
        """All its points, those on either side of the middle, with ends of their own.

        Proposes: which are together; every point is in one.
        """
        lower = self._logs[axis] <= self.sides[axis].centre
        return [self._some(inside) for inside in (lower, ~lower) if inside.any()]

    def _some(self, inside: Flags) -> Cloud:
        # proposes: which are together; they are what they are
        before = np.insert(np.cumsum(inside), 0, 0)
        places = np.flatnonzero(inside).tolist()
        # proposes: likewise
        points = [self._whole[place] for place in places]
        found = Cloud(points, before[self._ends].tolist(), [logs[inside] for logs in self._logs])
        whole, own = (self, range(len(self._whole))) if self._origin is None else self._origin
        # proposes: likewise
        found._origin = whole, [own[place] for place in places]
        return found

    @property
    def _end(self) -> int:
        return self._ends[self._place]

    @property
    def points(self) -> Sequence[tuple[Real, Real, int]]:
        """All of them."""
        return self._whole[: self._end]

    @property
    def total(self) -> int:
        """How many there are, as counted."""
        return self._runs[self._place]

    @property
    def most(self) -> int:
        """How many there are in the cloud of which this is the first part."""
        return self._runs[-1]

    def _sums(self, many: int, more: int, places: Sequence[int]) -> tuple[list[Kept], int]:
        """``sum_k n_k T_i(x_k) T_j(y_k)``, ``i < many``, ``j < more``, up to each of some ends.

        In units ``2^-2bits``; perhaps of more degrees, and of more bits than the precision has,
        which are told. The ends rise, and the last is its own.
        """
        least = [
            1 if side.single else max(_FIRST, count + _FIRST // 2)
            for side, count in zip(self.sides, (many, more), strict=True)
        ]
        # proposes: what is computed for later, or looked up; whatever is held is right
        ways = [way for way in self._found_sums if _serves(way, (many, more, current()))]
        ways.append((least[0], least[1], full(current())))
        # proposes: likewise
        way = min(ways, key=lambda way: self._left(way) * math.prod(way) * way[2])
        held, bits = self._found_sums.setdefault(way, {}), way[2]
        missing = [place for place in places if place not in held]
        if missing:
            before = self.first(missing[0])._summed(way)
            start = self._ends[before] if before >= 0 else 0
            part = slice(start, self._ends[missing[-1]])
            first, second = self._located(part, bits)
            counts = [n for _, _, n in self._whole[part]]
            ends = [self._ends[place] - start for place in missing]
            asked = first, second, counts, ends, way[:2], bits, self._most_often
            for place, sums in zip(missing, limbs.chebyshev_sums(*asked), strict=True):
                held[place] = sums if before < 0 else added(held[before], sums)
        return [held[place] for place in places], bits

    def _left(self, way: _Way) -> int:
        """Proposes: how many points there are to be summed, if all ends are asked for."""
        last = self._summed(way)
        return self._ends[-1] - (self._ends[last] if last >= 0 else 0)

    def _summed(self, way: _Way) -> int:
        """Proposes: the last place so far of which sums are held; else -1."""
        held = self._found_sums.get(way, ())
        return max((place for place in held if place <= self._place), default=-1)

    def moments(self, degrees: Degrees, places: Sequence[int]) -> list[list[arb]]:
        """The sum of ``n_k T_i(x_k) T_j(y_k)`` for each of the degrees, up to each of some ends."""
        units, bits = self._sums(len(degrees.rows), degrees.rows[0], places)
        first, second = zip(*degrees, strict=True)
        low = bits // BITS  # digits of less than what polynomials are off are cut off
        sums = integers(np.stack([sum_[low:, first, second] for sum_ in units], axis=-1))
        # of T_i T_j
        off = [
            arb(0, (i * i + j * j << bits + 1) + 4 * i * i * j * j + (1 << BITS * low))
            for i, j in degrees
        ]
        totals = [arb(self._runs[place]) for place in places]
        errors = arb_mat(len(off), 1, off) * arb_mat(1, len(totals), totals)
        found = arb_mat(sums) * arb(2) ** (BITS * low) + errors
        rows: list[list[arb]] = (found * arb(2) ** (-2 * bits)).tolist()
        return rows

    def _units(self, axis: int, bits: int) -> Sequence[int]:
        """Logarithms in units ``2^-bits``, less than 3/2 of one off; those of a whole serve parts.

        To be called at a precision of more bits.
        """
        if self._origin is not None:
            whole, places = self._origin
            found = whole._units(axis, bits)
            return [found[place] for place in places]
        # proposes: what is looked up; whatever is held is right
        finer = [more for at, more in self._found if at == axis and more >= bits]
        # proposes: likewise
        if not finer:
            self._found[axis, bits] = [floored(ball(x).log(), bits) for x in self._columns[axis]]
        # proposes: likewise
        held = finer[0] if finer else bits
        # proposes: likewise; rounded down twice is rounded down once
        return [unit >> held - bits for unit in self._found[axis, held]]

    def _located(self, part: slice, bits: int) -> list[list[int]]:
        """The places of some points on both axes, in units ``2^-bits``.

        What is held in smaller units is rounded down: it is at most 3/2 of a unit off still.
        """
        # proposes: what is looked up; whatever is held is right
        held = next((held for held in self._places if held >= bits), bits)
        if held not in self._places:
            with precision(bits + FINER + _SPARE_BITS):
                self._places[bits] = [
                    [side.place(column[0], bits)] * len(column)
                    if side.single
                    else side.places(self._units(axis, bits + FINER), bits)
                    for axis, (side, column) in enumerate(
                        zip(self.sides, self._columns, strict=True)
                    )
                ]
        return [[x >> held - bits for x in places[part]] for places in self._places[held]]

    def _stretch(self, place: int) -> tuple[int, int]:
        """From the end before a place to its own."""
        return self._ends[place - 1] if place else 0, self._ends[place]

    def lengths(self) -> tuple[arb, ...]:
        """``sum n log(1 - x)``, ``sum n x``, ``sum n y^2`` and the least ``y``."""
        # proposes: what is looked up; whatever is held is right
        least = max(current(), _LENGTH_BITS)
        held = next((held for held in self._lengths if held >= least), full(least))
        sums = self._lengths.setdefault(held, [])
        with precision(held):
            while len(sums) <= self._place:
                before = sums[-1] if sums else (arb(0), arb(0), arb(0), arb("inf"))
                logs, firsts, squares, least = before
                for x, y, n in self._whole[slice(*self._stretch(len(sums)))]:
                    first, second = ball(x), ball(y)
                    logs += n * (-first).log1p()
                    firsts += n * first
                    squares += n * (second * second)
                    least = arb.min(least, second)
                sums.append((logs, firsts, squares, least))
        return sums[self._place]

    def _row(self, axis: int, value: Real, count: int) -> list[arb]:
        bits = current()
        with precision(bits + FINER + _SPARE_BITS):
            units = self.sides[axis].polynomials(value, count, bits)
        return [scaled(unit, 2 * k * k, bits) for k, unit in enumerate(units)]

    def axes(self, degrees: Degrees) -> tuple[list[Real], list[Real]]:
        """Of nodes the first coordinates and the second: one of each for a degree, in its interval.

        Of the ``j``-th first one the nodes have the first ``rows[j]`` second ones.
        """
        counts = len(degrees.rows), degrees.rows[0]
        first, second = ([self._node(axis, x) for x in leja(n)] for axis, n in enumerate(counts))
        return first, second

    def nodes(self, degrees: Degrees) -> list[Place]:
        """One for each of the degrees."""
        first, second = self.axes(degrees)
        return [(x, y) for x, row in zip(first, degrees.rows, strict=True) for y in second[:row]]

    def _node(self, axis: int, x: float) -> Real:
        side = self.sides[axis]
        if side.single:
            return self._whole[0][:2][axis]
        mantissa, exponent = math.frexp(math.exp(side.centre + side.half * x))
        short = math.ldexp(round(math.ldexp(mantissa, NODE_BITS)), exponent - NODE_BITS)
        return rational(Fraction(short))

    def weights(self, degrees: Degrees, places: Sequence[int]) -> list[list[arb]]:
        """Weights with which the nodes are right for all ``degrees``, up to each of some ends."""
        axes = self.axes(degrees)
        # proposes: what is kept; nodes follow from the degrees
        if (degrees, current()) not in self._inverses:
            # the triangular systems lose about a bit a degree, what they are solved by does not
            with precision(current() + sum(map(len, axes))):
                inverses = [
                    factored([self._row(axis, x, len(values)) for x in values])
                    for axis, values in enumerate(axes)
                ]
            self._inverses[degrees, current()] = inverses
        inverses = self._inverses[degrees, current()]
        with precision(current() + _SPARE_BITS):
            sums = self.moments(degrees, places)
            values = dict(zip(degrees, sums, strict=True))
            for upward in (True, False):
                for axis in (0, 1):
                    multiply_lines(values, axis, inverses[axis][int(upward)], upward=upward)
        return [list(column) for column in zip(*values.values(), strict=True)]

    def in_cells(
        self, widths: tuple[float, float, float]
    ) -> tuple[list[tuple[Place, Place]], Floats]:
        """Proposes: cells, places and corners, as :func:`cells` has them; and about how many points
        are in each.
        """
        if not self._cells:
            counts = np.array([float(n) for _, _, n in self._whole])
            parts = [slice(*self._stretch(i)) for i in range(len(self._ends))]
            self._cells.append(cells(self._logs, counts, parts, widths))
        places, ends = self._cells[0]
        return places, ends[self._place]

    def worst(self, degrees: Degrees, bound: arb, rho: arb, tau: arb) -> arb:
        """The error of a sum of what is at most ``bound`` on the two ellipses [1].

        Next to how many points there are, as counted, and the moduli of the weights.
        """
        first, second = (
            None if side.single else ratio
            for side, ratio in zip(self.sides, (rho, tau), strict=True)
        )
        return 4 * bound * degrees.tail(first, second)
