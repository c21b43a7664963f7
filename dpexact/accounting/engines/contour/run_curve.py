"""What the first steps of a run of Gaussians, sampled or not, are to the contour engine."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.engines.contour.inversion import Contour, Orders
from dpexact.accounting.engines.contour.planning import Plan
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import MAX_WORK, ContourProfile
from dpexact.accounting.pairs.bundle import BUNDLE, CELL, FEWEST_RUNS, Bundle
from dpexact.accounting.pairs.clouds.boxes import gathered
from dpexact.accounting.pairs.clouds.cells import cells
from dpexact.accounting.pairs.clouds.cubature import Cloud
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.pairs.prefix import Prefix
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.arguments import WAYS, Direction
from dpexact.balls import approximate
from dpexact.kept import cached_property
from dpexact.reals import Real

Row = tuple[Real, Real, int]

#: Logarithm of the ratio of numbers of steps that share bounds.
_ALIKE: Final = 0.4
_NOTHING: Final = NoLoss(InfiniteLoss())


def run_curve(
    rows: Sequence[Row], counts: Sequence[int], direction: Direction
) -> list[Callable[[int], Profile]]:
    """The profile after so many steps of rows ``(q, sigma, n)``, in each way.

    So many are some of ``counts``, which rise, and share what they can.
    """
    cut = _Cut(rows, counts)
    return [_Way(cut, way == "remove").after for way in WAYS[direction]]


class _Cut:
    """The rows in order, sorted by which cloud they are in, and where the counts cut each sort."""

    def __init__(self, rows: Sequence[Row], counts: Sequence[int]) -> None:
        self.counts = counts
        ends = list(accumulate(n for _, _, n in rows))
        pieces: list[tuple[int, Row]] = []  # with how many steps were before
        for end, (q, sigma, n) in zip(ends, rows, strict=True):
            start, end = end - n, min(end, counts[-1])
            if start >= end or balls.sign(q, "q") == 0:
                continue
            inside = counts[bisect_left(counts, start + 1) : bisect_left(counts, end)]
            for place, following in zip([start, *inside], [*inside, end], strict=True):
                pieces.append((place, (q, sigma, following - place)))
        distinct: Counter[tuple[Real, Real]] = Counter()
        for _, (q, sigma, n) in pieces:
            distinct[q, sigma] += n
        clouds, _ = gathered([(*step, n) for step, n in distinct.items()])
        where = {(q, sigma): i for i, cloud in enumerate(clouds) for q, sigma, _ in cloud.points}
        sorts: list[list[tuple[int, Row]]] = [[] for _ in range(len(clouds) + 1)]
        for place, row in pieces:
            sorts[where.get(row[:2], -1)].append((place, row))
        self.sorts = [[row for _, row in sort] for sort in sorts]
        self.ends = [
            [bisect_left(sort, count, key=lambda piece: piece[0]) for count in counts]
            for sort in sorts
        ]
        self.clouds = [
            Cloud(points, ends)
            for points, ends in zip(self.sorts[:-1], self.ends[:-1], strict=True)
        ]


class _Way:
    """One direction of a run that was cut."""

    def __init__(self, cut: _Cut, removes: bool) -> None:
        self._cut, self._removes = cut, removes
        #: With which others are compared, by place.
        self.lines: dict[Plan, dict[int, _Between]] = {}
        #: Orders that lines of a plan have in common, and the place that chose them.
        self.orders: dict[Plan, Orders] = {}
        self.chooses = len(cut.counts) - 1
        self._bundles = [Bundle(cloud, removes=removes) for cloud in cut.clouds]
        few = [
            sum(cloud.first(i).total < FEWEST_RUNS for i, _ in enumerate(cut.counts))
            for cloud in cut.clouds
        ]
        sorts = [
            (math.floor(math.log(count) / _ALIKE), *(place >= most for most in few))
            for place, count in enumerate(cut.counts)
        ]
        #: The last of the counts that are about as large as each, and bundles of as many clouds.
        self.last_alike = [bisect_right(sorts, sort) - 1 for sort in sorts]
        self._chains = [
            list(self._chain(rows, ends[:most], alike))
            for rows, ends, most, alike in zip(
                cut.sorts,
                cut.ends,
                [*few, len(cut.counts)],
                [True] * len(few) + [False],
                strict=True,
            )
        ]

    def _chain(
        self, rows: Sequence[Row], ends: Sequence[int], alike: bool
    ) -> Iterator[Prefix | None]:
        """The rows before each of the ends."""
        before: Prefix | None = None
        start, most = 0, sum(n for _, _, n in rows[: ends[-1]]) if ends else 0
        for end in ends:
            more: Counter[tuple[Real, Real]] = Counter()
            for q, sigma, n in rows[start:end]:
                more[q, sigma] += n
            if more:
                steps = [(self._pair(*step), n) for step, n in more.items()]
                few = [(self._pair(*step), n) for *step, n in _few(more)] if alike else steps
                before = Prefix(before, steps, most, few)
            start = end
            yield before

    def _pair(self, q: Real, sigma: Real) -> Pair:
        if q.fraction == 1:
            return Gaussian(1 / sigma)
        return (remove if self._removes else add)(sigma, q)

    def after(self, count: int) -> Profile:
        """The profile after one of the counts."""
        place = bisect_left(self._cut.counts, count)
        return _Beginning(self, place) if self.pairs(place) else _NOTHING

    def pairs(self, place: int) -> list[tuple[Pair, int]]:
        """What has run after one of the counts."""
        pairs: list[tuple[Pair, int]] = []
        for i, chain in enumerate(self._chains):
            if place >= len(chain):
                pairs.append((self._bundles[i].first(place), 1))
            elif (prefix := chain[place]) is not None:
                pairs.append((prefix, 1))
        return pairs


class _Beginning(ContourProfile):
    """What has run after one of the counts."""

    def __init__(self, way: _Way, place: int) -> None:
        pairs = way.pairs(place)
        bundled = any(isinstance(pair, Bundle) for pair, _ in pairs)
        super().__init__(pairs, InfiniteLoss(), MAX_WORK * (BUNDLE if bundled else 1))
        self._way, self._place = way, place

    def line(self, plan: Plan) -> Contour:
        """Its own; of a plan that is shared, with bounds of others on it."""
        return self._between(plan) if plan.shared else super().line(plan)

    def _between(self, plan: Plan) -> _Between:
        known = self._way.lines.setdefault(plan, {})
        if self._place in known:
            return known[self._place]
        first, last = min(known, default=self._place), self._way.last_alike[self._place]
        shorter = known[first] if first < self._place else None
        longer: _Between | None = None
        # proposes: of which others bounds are taken
        if shorter is not None and last > self._place:
            longer = _Beginning(self._way, last)._between(plan)
        orders = self._way.orders.setdefault(plan, {})
        found = _Between(self.product, plan, orders, shorter, longer)
        if longer is None:
            known[self._place] = found
        return found

    def bounded_alone(self) -> bool:
        """Likewise, orders too; and beginnings of this one have these."""
        alike, place = self._way.last_alike, self._place
        # proposes: of which others bounds are taken
        if alike[place] == place == self._way.chooses:
            return False
        self._way.orders, self._way.chooses = {}, place
        alike[: place + 1] = [min(last, place) for last in alike[: place + 1]]
        return True


class _Between(Contour):
    """The line of a run that begins with a shorter, and that a longer one begins with, or itself.

    What runs in between multiplies a moment by its own, of which is known that on the line:
    ``docs/theory/logs.md``, section 6. Orders are those of all on a plan.
    """

    def __init__(
        self,
        product: Product,
        plan: Plan,
        orders: Orders,
        shorter: _Between | None,
        longer: _Between | None,
    ) -> None:
        super().__init__(product, plan)
        self._orders, self._shorter, self._longer = orders, shorter, longer

    @cached_property
    def left_out(self) -> arb:
        if self._shorter is None:
            return super().left_out
        return self._shorter.left_out * self.start / self._shorter.start

    @cached_property
    def _later(self) -> arb:
        """Of what runs until the end of the longer one, the moment at the abscissa."""
        assert self._longer is not None
        return self._longer.start / self.start

    def moment(self, order: float) -> arb:
        # proposes: an order; it and the abscissa mean their exact values
        if self._longer is None or order < self.plan.abscissa:
            return super().moment(order)
        return self._longer.moment(order) / self._later ** (arb(order) / self._c)

    def _sort(self, epsilon: arb, repeat: int) -> tuple[int, int]:
        return repeat, int(epsilon > 0)

    def reverse_moment(self, order: float) -> arb:
        if self._longer is None:
            return super().reverse_moment(order)
        later = self._longer.product.reverse.mass(1) / self.product.reverse.mass(1)
        return self._longer.reverse_moment(order) / later ** (1 + arb(order))


def _few(steps: Counter[tuple[Real, Real]]) -> Iterator[Row]:
    """Proposes: few steps about like many."""
    logs = [np.array([math.log(approximate(step[axis])) for step in steps]) for axis in (0, 1)]
    counts = np.array([float(n) for n in steps.values()])
    places, (inside,) = cells(logs, counts, [slice(None)], CELL)
    return ((*place, round(n)) for (place, _), n in zip(places, inside.tolist(), strict=True))
