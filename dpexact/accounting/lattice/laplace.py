"""The Laplace mechanism as a step of the lattice engine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from flint import arb

from dpexact.accounting.lattice.grid import Grid
from dpexact.accounting.lattice.pieces import Pieces, Survival, atomic, tabulate
from dpexact.accounting.lattice.sampling import Sampling
from dpexact.accounting.lattice.steps import Step
from dpexact.balls import approximate, ball
from dpexact.reals import Real


@dataclass(frozen=True)
class LaplaceStep(Step):
    r"""Laplace noise of sensitivity/scale ``rate > 0``, perhaps on a Poisson sample.

    The loss is ``rate`` or ``-rate`` with masses ``1/2`` and :math:`e^{-rate}/2` under ``P``,
    swapped under ``Q``; between, without atoms,

    .. math:: P(e^Z > r) = \frac{1 - \sqrt{r e^{-rate}}}{2}, \qquad
              Q(e^Z > r) = \frac{\sqrt{e^{-rate}/r} - e^{-rate}}{2}.

    The lattice starts at the image of ``-rate``, its lowest loss, in direction ``add`` the highest.
    There, with ``s`` the sampling rate, :math:`r = e^{-rate} + (e^{|x|} - 1)(1-s+s e^{-rate})/s`.
    """

    rate: Real
    sampling: Sampling
    count: int
    first_points: ClassVar[int] = 64

    def offset(self) -> arb:
        """The image of the loss ``-rate``."""
        return self.sampling.loss(-ball(self.rate))

    def largest(self) -> arb:
        """The image of one of the ends."""
        rate = ball(self.rate)
        return self.sampling.loss(-rate if self.sampling.add else rate)

    def lost_bits(self) -> int:
        """Those of sampling, and those of factors up to ``e^rate``."""
        return self.sampling.lost_bits() + math.ceil(3 * approximate(self.rate))

    def span(self, tail: float) -> tuple[float, float]:
        """Between the images of the two ends."""
        rate = approximate(self.rate)
        x = self.sampling.about(rate) - self.sampling.about(-rate)
        return min(x, 0.0), max(x, 0.0)

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """Two atoms, and a table for what is between."""
        low = (-ball(self.rate)).exp()
        pairs = [(low / 2, arb(1) / 2), (arb(1) / 2, low / 2)]
        found = atomic((self.sampling.pair(*p) for p in pairs), self.offset(), arb(0))
        left, right = self.span(tail)
        first, last = grid.index(left) - 1, grid.index(right) + 1
        first, last = (first, 0) if self.sampling.add else (0, last)
        table = tabulate(self._survivals(low), grid, first, last, (1 - low) / 2)
        return replace(found, table=table)

    def _survivals(self, low: arb) -> Survival:
        sampling, scale, whole = self.sampling, self.offset().exp(), (1 - low) / 2
        stretch = (-self.offset() if sampling.add else self.offset()).exp() / ball(sampling.rate)

        def evaluate(x: arb) -> tuple[arb, arb, arb]:
            growth = (-x if sampling.add else x).expm1()
            ratio = (low + growth * stretch).min(1 / low)
            p = (1 - (ratio * low).sqrt()) / 2
            q = ((low / ratio).sqrt() - low) / 2
            if sampling.add:  # the loss falls as the ratio rises
                p, q = whole - p, whole - q
            p, q = sampling.pair(p, q)
            return p, q, p - scale * x.exp() * q

        return evaluate
