r"""A composition of any pairs beside a Gaussian so small that it hardly matters, as one pair.

Laws with atoms have moments that do not decay, so a contour would not end; the Gaussian ends it, at
heights where nodes are summed in floats, or of very many responses bounded. What the Gaussian
changes is bounded by two of them: ``docs/theory/atoms.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from flint import acb, arb

from dpexact.accounting.pairs.pair import Factors, Jet, Pair, least_overlap, product, weighted
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sums.far_nodes import CHUNK, LOST, FarNodes, FarSum, lost_of
from dpexact.accounting.pairs.sums.power_sums import line_product
from dpexact.accounting.pairs.sums.response_sums import Leak, ResponseSums, estimator
from dpexact.balls import ball, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

#: More responses than this are bounded and not summed.
_MANY: Final = 64
_BITS: Final = 64
#: Some nodes more than a line has that ends where its terms are small.
_FALL: Final = 8.0
#: By how much, as a power of e, the end of a line is lower than the kernel makes it be.
_SPARE: Final = 6.5


class Steps:
    """The pairs and what blurs of several variances share."""

    def __init__(self, factors: Factors) -> None:
        self.factors = tuple(factors)
        self._jets: dict[float, Jet] = {}
        self._lines: dict[tuple[float, float, int, float], list[acb]] = {}
        self._sums: dict[float, ResponseSums] = {}

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
        return found if len(self.factors) - leaks == len(found) > _MANY else []

    def response_sums(self, c: float) -> ResponseSums:
        """What bounds the moments of very many responses far out."""
        # proposes: what is kept by order is looked up by it
        if c not in self._sums:
            self._sums = {c: ResponseSums(self.responses, c)}
        # proposes: likewise
        return self._sums[c]


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
        return product(self.steps.factors, lambda pair: pair.mass())

    def overlap(self) -> arb:
        """At least the product of the overlaps."""
        still = (arb(self.variance) / 8).sqrt()  # 2 Phi(-mu/2) = erfc(mu / sqrt 8)
        return still.erfc() * least_overlap(self.steps.factors)

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

    def far_sums(self, c: float, step: float, near: int, more: float) -> list[FarSum]:
        """Of a line, the nodes beyond ``near``, of this blur and of the one of variance ``more``.

        Raises:
            TooExpensive: there are too many.
        """
        variances = [self.variance, more]
        # proposes: how far; as far up the kernel makes up for some of what the Gaussian does
        depth = max(self.depth - math.log(1 + self._top / (c + 1)) + _SPARE, _SPARE)
        chunks = math.ceil(math.sqrt(2 * depth / self.variance) / (step * CHUNK))
        nodes = FarNodes(self.steps.factors, (c, step, near), variances, chunks)
        return [FarSum(nodes, which, v) for which, v in enumerate(variances)]

    def left_out(self, c: float, step: float, count: int, accuracy: float) -> arb:
        r""":math:`h N \sum_{n > N} h\,|M(c + inh)|/(nh)^2` of very many responses at most.

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
            sums = self.steps.response_sums(c)
            far = sums.far(start, top, self.depth, self.variance, step)
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
        """By what floats lose, or the same bounds in floats.

        Proposes: how many nodes a contour takes.
        """
        jet, half, top = self.cumulant(c), self.variance / 2, self._top
        if responses := self.steps.responses:
            below = estimator(responses, c)
            return lambda u: jet.value + (below(u) if u < top else -half * u * u)
        lost, still = 0.0, 0.0
        for pair, n in self.steps.factors:
            logs = np.array([log for log, _ in pair.outline(c) or []])
            masses = np.exp(logs - logs.max())
            lost += n * lost_of(len(logs))
            # a modulus is about this where its outcomes turn apart
            still += n * math.log(np.sum(masses**2) / np.sum(masses) ** 2) / 2

        def estimate(u: float) -> float:
            """Proposes: likewise."""
            size = math.exp(-jet.bend * u * u / _FALL) + math.exp(still)
            return jet.value + math.log(LOST + lost * min(size, 1.0))

        return estimate

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        costs = [pair.line_cost(c, accuracy) for pair, _ in self.steps.factors]
        counts = max(n for _, n in self.steps.factors)
        return sum(nodes for nodes, _ in costs), max(b for _, b in costs) + math.log2(counts + 1)
