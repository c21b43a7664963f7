r"""A composition of any pairs beside a Gaussian so small that it hardly matters, as one pair.

Laws with atoms have moments that do not decay, so a contour would not end; the Gaussian ends it.
Where it does not decay yet, the modulus of the moments of the composition is bounded on blocks of
heights, each pair's by its value in the middle and

.. math:: |\,|\varphi(u)| - |\varphi(u')|\,| \le s\,|u - u'|, \qquad
          \Big|\sqrt{1 - |\varphi(u)|^2} - \sqrt{1 - |\varphi(u')|^2}\,\Big| \le s\,|u - u'|,

``phi`` its tilted characteristic function and ``s^2`` a bound on the variance.
What the Gaussian changes is bounded by two of them: ``docs/theory/atoms.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive, weighted
from dpexact.accounting.pairs.power_sums import line_product
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.response_sums import Leak, ResponseSums, estimator
from dpexact.accounting.pairs.sizes import Look, Looks, Sizes
from dpexact.balls import ball, precision
from dpexact.reals import Real

#: Most blocks of heights times nodes of the pairs.
MAX_BLOCKS: Final = 150_000_000
#: Most blocks that are high.
_MAX_HIGH: Final = 100_000
#: Half of a block, in standard deviations of the pairs that are looked at.
_HALF: Final = 0.2
#: A block is cut into so many, and so many are cut at most.
_PARTS: Final = 5
MAX_CUTS: Final = 300
_CUT_NODES: Final = 20_000
_LINES: Final = 64
_BITS: Final = 64
_COARSE: Final = 30.0


class Block(NamedTuple):
    """Heights around ``middle``, and a bound on the modulus of the moments there."""

    middle: arb
    width: arb
    bound: arb


_Blocks: TypeAlias = tuple[Looks, list[Block]]


class Steps:
    """The pairs and what blurs of several variances share."""

    def __init__(self, factors: Sequence[tuple[Pair, int]]) -> None:
        self.factors = tuple(factors)
        self._jets: dict[float, Jet] = {}
        self._lines: dict[tuple[float, float, int, float], list[acb]] = {}
        self._looks: dict[float, Looks] = {}
        self._sums: dict[float, ResponseSums] = {}
        self._blocks: dict[tuple[float, float, float], tuple[float, _Blocks]] = {}

    @cached_property
    def reverse(self) -> Steps:
        """The reversed pairs."""
        return Steps([(pair.reverse, count) for pair, count in self.factors])

    def line(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The moments of the composition on nodes."""
        key = (c, step, count, accuracy)
        # proposes: what is kept by place is looked up by it; balls of any precision enclose
        if key not in self._lines:
            lines = (
                [value**n for value in pair.moments(c, step, count, accuracy + math.log(n))]
                for pair, n in self.factors
            )
            self._lines = {key: line_product(lines)}
        # proposes: likewise
        return self._lines[key]

    def cumulant(self, c: float) -> Jet:
        """About ``log M`` and two derivatives."""
        # proposes: what is kept by order is looked up by it
        if c not in self._jets:
            self._jets[c] = weighted((n, pair.cumulant(c)) for pair, n in self.factors)
        # proposes: likewise
        return self._jets[c]

    @cached_property
    def responses(self) -> list[tuple[Response, int]]:
        """All pairs, where they are many randomized responses and nothing else; else none."""
        found = [(pair, n) for pair, n in self.factors if isinstance(pair, Response)]
        leaks = sum(isinstance(pair, Leak) for pair, _ in self.factors)
        return found if len(self.factors) - leaks == len(found) > _LINES else []

    # --- how high the moments are far out ---------------------------------------------------------

    def watched(self, c: float) -> list[tuple[Pair, int]]:
        """Proposes: those of the pairs that are looked at, of the largest variances."""
        listed = [(pair, n) for pair, n in self.factors if pair.outline(c) is not None]
        listed.sort(key=lambda x: -x[0].cumulant(c).bend)
        return listed[:_LINES]

    def far(
        self, c: float, low: float, top: float, enough: float, variance: float, step: float
    ) -> arb:
        r"""A bound on :math:`\sum_b (w_b + h) B_b e^{-v l_b^2/2}/l_b^2`, blocks beyond ``low``.

        They reach to ``top`` at least, and ``B`` is a bound on ``|M(c + iu)| / M(c)`` on a block of
        width ``w`` from ``l`` on. Those that matter are cut; ``enough``, in logarithms, says below
        what a bound does not.
        """
        if self.responses:
            # proposes: what is kept by order is looked up by it
            if c not in self._sums:
                self._sums = {c: ResponseSums(self.responses, c)}
            # proposes: likewise
            return self._sums[c].far(low, top, -enough, variance, step)
        least, half = arb(enough).exp().upper(), arb(variance) / 2
        key = (c, low, enough)
        # proposes: what is known of as many heights serves fewer
        if key not in self._blocks or self._blocks[key][0] < top:
            self._blocks[key] = top, self._bounded(c, low, top, least)
        # proposes: likewise
        _, (looks, blocks) = self._blocks[key]

        def weighed(block: Block) -> arb:
            start = arb.max(block.middle - block.width / 2, arb(low))
            share = (block.width + arb(step)) * block.bound
            return (share * (-half * start * start).exp() / (start * start)).upper()

        queue: list[tuple[float, int, arb, Block]] = []
        total, settled, goal = arb(0), [], float(least) / low
        for block in blocks:
            weight = weighed(block)
            # proposes: which blocks are cut, the heaviest first, and when to stop
            if float(weight) > goal / len(blocks):
                heappush(queue, (-float(weight), len(queue), weight, block))
            else:
                total += weight
                settled.append(block)
        # the blocks that are not high; the first two may begin at `low`
        wide = arb(looks.width)
        total += least * (1 + arb(step) / wide) * (1 + 2 * wide / arb(low)) / arb(low)
        serial = itertools.count(len(queue))
        # proposes: whether to cut
        for _ in range(min(MAX_CUTS, _CUT_NODES // looks.nodes)):
            # proposes: when to stop cutting
            if not queue or -queue[0][0] * len(queue) < goal:
                break
            *_, block = heappop(queue)
            part = block.width / _PARTS
            for k in range(_PARTS):
                at = block.middle + part * (2 * k + 1 - _PARTS) / 2
                # proposes: nothing; no node is below `low`, a float that means its exact value
                if at + part / 2 < low:
                    continue
                found = Block(at, part, _around(looks.pairs, at, part, least))
                weight = weighed(found)
                heappush(queue, (-float(weight), next(serial), weight, found))
        settled += [block for *_, block in queue]
        # proposes: likewise
        self._blocks[key] = self._blocks[key][0], (looks, settled)
        return sum((weight for _, _, weight, _ in queue), total).upper()

    def _bounded(self, c: float, low: float, top: float, least: arb) -> _Blocks:
        """Bounds on blocks around multiples of one width."""
        looks = self._looked(c, top)
        first, whole = int(low / looks.width), arb(looks.width)
        moves = [look.slope * whole / 2 for look in looks.pairs]
        high = np.ones(len(looks.pairs[0].line) - first, dtype=bool)
        for look, move in zip(looks.pairs, moves, strict=True):
            # proposes: nothing; sizes are bounds, and what they bound rises with them
            high &= ~(look.line[first:] < float(_limit(move, look.times, least).lower()))
        places = np.flatnonzero(high) + first
        # proposes: what is too much work
        if len(places) > _MAX_HIGH:
            raise TooExpensive("the moments are high again and again")
        bounds = [arb(1)] * len(places)
        for look, move in zip(looks.pairs, moves, strict=True):
            # proposes: likewise
            for i, size in enumerate(look.line[places].tolist()):
                # proposes: whether to go on; a bound of fewer pairs is one too
                if not bounds[i] < least:
                    bounds[i] *= nearby(arb(size), move).upper() ** look.times
        found = zip(places.tolist(), bounds, strict=True)
        return looks, [Block(i * whole, whole, bound.upper()) for i, bound in found]

    def _looked(self, c: float, top: float) -> Looks:
        """The pairs that are looked at, at multiples of one width.

        Proposes: what is kept by order, and serves lower tops, is looked up by it.
        """
        if c in self._looks and self._looks[c].top >= top:
            return self._looks[c]
        watched = self.watched(c)
        if not watched:
            raise TooExpensive("no pair is listed to see how its moments decay")
        width, nodes = _width(watched, c), _nodes(watched, c)
        count, found = math.ceil(top / width) + 1, []
        # proposes: what is too much work
        if not count * nodes <= MAX_BLOCKS:
            raise TooExpensive("too many heights to bound the moments at")
        with precision(_BITS):
            for pair, n in watched:
                sizes = Sizes(pair, c, count * width, pair.moment(c, _COARSE))
                found.append(Look(n, sizes, _slope(pair, c), sizes.on_line(width, count)))
        # proposes: likewise
        self._looks = {c: Looks(top, width, nodes, found)}
        return self._looks[c]

    def spectrum(self, c: float, top: float, variance: float) -> tuple[float, NDArray[np.float64]]:
        """The width of blocks and about ``log(u sum_b w B / l^2)`` from each of them on.

        Proposes: how many nodes a contour takes.
        """
        looks = self._looked(c, top)
        total = np.zeros(math.ceil(top / looks.width) + 1)
        for look in looks.pairs:
            near = float(look.slope) * looks.width / 2 / _PARTS
            size = np.minimum(look.line[: len(total)], 1.0)
            rise = 1 - np.maximum(np.sqrt(1 - size * size) - near, 0.0) ** 2
            total += look.times * np.log(np.minimum(np.sqrt(rise), size + near))
        width = looks.width
        heights = np.arange(len(total)) * width
        starts = np.maximum(heights - width / 2, width / 2)
        weights = width * np.exp(total - variance / 2 * starts**2) / starts**2
        return width, np.log(starts * np.cumsum(weights[::-1])[::-1] + 1e-300)


class Blurred(Pair):
    """``steps`` beside a Gaussian of ``mu^2 = variance``; its moments are known to ``depth``.

    That is ``-log`` of how far down, next to the largest on a line, what is left out shall lie.
    """

    def __init__(self, steps: Steps, variance: float, depth: float) -> None:
        self.steps = steps
        self.variance = variance
        self.depth = depth

    @cached_property
    def reverse(self) -> Blurred:
        return Blurred(self.steps.reverse, self.variance, self.depth)

    def mass(self) -> arb:
        return math.prod((pair.mass() ** n for pair, n in self.steps.factors), start=arb(1))

    def overlap(self) -> arb:
        """At least the product of the overlaps."""
        still = (arb(self.variance) / 8).sqrt()  # 2 Phi(-mu/2) = erfc(mu / sqrt 8)
        overlaps = (arb.max(pair.overlap().lower(), arb(0)) ** n for pair, n in self.steps.factors)
        return math.prod(overlaps, start=still.erfc())

    def largest_loss(self) -> arb | None:
        return None

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The product, times ``e^{variance c (c + 1) / 2}``."""
        order = ball(c)
        found = (arb(self.variance) / 2 * order * (order + 1)).exp()
        for pair, n in self.steps.factors:
            found *= pair.moment(c, accuracy + math.log(n)) ** n
        return found

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        half = arb(self.variance) / 2
        nodes = (acb(arb(c), n * arb(step)) for n in range(count + 1))
        line = self.steps.line(c, step, count, accuracy)
        return [value * (half * s * (s + 1)).exp() for value, s in zip(line, nodes, strict=True)]

    def left_out(self, c: float, step: float, count: int, accuracy: float) -> arb:
        r""":math:`h N \sum_{n > N} h\,|M(c + inh)|/(nh)^2` at most.

        By blocks up to the height where the Gaussian suffices, from there by the Gaussian.
        """
        top, most = self._top, self.moment(c, accuracy)
        beyond = (-arb(self.variance) / 2 * arb(top) * arb(top)).exp()
        start = math.nextafter((count + 1) * step, 0.0)
        # proposes: where one bound takes over from the other
        if start >= top:
            return most * (-arb(self.variance) / 2 * arb(start) * arb(start)).exp()
        with precision(_BITS):
            # a block of width w holds no more than w/h + 1 nodes
            far = self.steps.far(c, start, top, -self.depth, self.variance, step)
        return most * arb.min(arb(step) * count * far + beyond, arb(1))

    # --- proposals --------------------------------------------------------------------------------

    @property
    def _top(self) -> float:
        return math.sqrt(2 * self.depth / self.variance)

    def cumulant(self, c: float) -> Jet:
        found, v = self.steps.cumulant(c), self.variance
        return Jet(
            found.value + v * c * (c + 1) / 2, found.slope + v * (2 * c + 1) / 2, found.bend + v
        )

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """By the same bounds in floats.

        Proposes: how many nodes a contour takes.
        """
        most, half, top = self.cumulant(c).value, self.variance / 2, self._top
        if responses := self.steps.responses:
            below = estimator(responses, c)
            return lambda u: most + (below(u) if u < top else -half * u * u)
        width, logs = self.steps.spectrum(c, top, self.variance)

        def estimate(u: float) -> float:
            """Proposes: likewise."""
            index = int(u / width)
            level = float(logs[index]) if index < len(logs) and u < top else -math.inf
            return most + max(min(level, 0.0), -half * max(u, top) ** 2)

        return estimate

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        costs = [pair.line_cost(c, accuracy) for pair, _ in self.steps.factors]
        counts = max(n for _, n in self.steps.factors)
        return sum(nodes for nodes, _ in costs), max(b for _, b in costs) + math.log2(counts + 1)


def _around(looks: Sequence[Look], middle: arb, width: arb, least: arb) -> arb:
    """The bound on one block."""
    bound = arb(1)
    for look in looks:
        bound *= nearby(look.sizes.at(middle), look.slope * width / 2).upper() ** look.times
        if bound < least:
            break
    return bound.upper()


def _nodes(watched: list[tuple[Pair, int]], c: float) -> int:
    """Proposes: the work of one height."""
    return sum(2 + pair.line_cost(c, _COARSE)[0] for pair, _ in watched)


def nearby(size: arb, move: arb) -> arb:
    """A bound on ``|phi|`` no farther than ``move`` standard deviations from where it is so."""
    size = arb.min(size.upper(), arb(1))
    still = arb.max((1 - size * size).sqrt() - move, arb(0)).lower()
    return arb.min(arb.min((1 - still * still).sqrt(), size + move), arb(1))


def _limit(share: arb, count: int, least: arb) -> arb:
    """A size below which ``nearby`` to the power ``count`` is below ``least``; 0 where none is."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if nearby(arb(middle), share) ** count < least else (low, middle)
    return arb(low)


def _width(watched: list[tuple[Pair, int]], c: float) -> float:
    """Proposes: how high a block is."""
    # a float of few bits, so that multiples are exact
    return math.ldexp(1.0, round(math.log2(2 * _HALF / math.sqrt(watched[0][0].cumulant(c).bend))))


def _slope(pair: Pair, c: float) -> arb:
    """A bound on ``sqrt(E (Z - m)^2)`` of the law tilted by ``e^{cZ}``, for some ``m``."""
    jet = pair.cumulant(c)
    # proposes: m and h, of few bits; any are right while c - h is above -1
    h = math.ldexp(1.0, round(math.log2(min(0.2 / math.sqrt(jet.bend), c / 3))))
    above, below = c + h, c - h
    # proposes: m and h; that they are what the bound takes them for is exact
    if Fraction(above) + Fraction(below) != 2 * Fraction(c) or above - c != h or below <= -1:
        raise TooExpensive("floats do not reach to bound a variance")
    turn = (arb(jet.slope) * arb(h)).exp()
    total = pair.moment(above, _COARSE) / turn + pair.moment(below, _COARSE) * turn
    square = (total / pair.moment(c, _COARSE) - 2) / (arb(h) * arb(h))
    return arb.max(square.upper(), arb(0)).sqrt()
