"""A composition that runs, as a whole, on a Poisson sample.

The two theorems on the law of such a sample are in section 8 of ``docs/theory/lattice-engine.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Final

from flint import arb, fmpz

from dpexact.accounting.engines.lattice.composition import (
    compose,
    count_of,
    offset_of,
    working_bits,
)
from dpexact.accounting.engines.lattice.grid import Grid, dyadic, exact, growth_bits
from dpexact.accounting.engines.lattice.law import TwoSided, Upper, total
from dpexact.accounting.engines.lattice.pieces import Label, Pieces, Point, two_sided_law, upper_law
from dpexact.accounting.engines.lattice.steps import Sampling, Step
from dpexact.accounting.pairs.pair import added
from dpexact.balls import ball, precision

_PLANNING_BITS: Final = 256
_ZERO: Final = fmpz(0)
_EFFORT: Final = 6


@dataclass(frozen=True)
class NestedStep(Step):
    """A composition of ``inner`` steps (direction ``remove``), sampled at a rate below 1.

    Its two laws are those of the composition on a lattice of its own, sampled outcome by outcome.
    The lattice starts at the image of the loss ``-inf``.
    """

    inner: tuple[Step, ...]
    sampling: Sampling
    count: int

    def offset(self) -> arb:
        """The image of an outcome impossible under ``P``."""
        return self.sampling.edge()

    def largest(self) -> arb | None:
        """The image of the largest loss; in direction ``add`` the edge."""
        if self.sampling.add:
            return self.sampling.edge()
        loss = added((step.largest(), step.count) for step in self.inner)
        return None if loss is None else self.sampling.loss(loss)

    def supremum(self) -> arb | None:
        """The image of the supremum; in direction ``add`` the edge may be out of reach."""
        if self.sampling.add:
            return None
        loss = added((step.supremum(), step.count) for step in self.inner)
        return None if loss is None else self.sampling.loss(loss)

    def infinite(self) -> arb:
        """``s`` times that of the composition; none in direction ``add``."""
        if self.sampling.add:
            return arb(0)
        kept = arb(1)
        for step in self.inner:
            kept *= (1 - step.infinite()) ** step.count
        return ball(self.sampling.rate) * (1 - kept)

    def lost_bits(self) -> int:
        return self.sampling.lost_bits()

    def _inner_span(self, tail: float) -> tuple[float, float]:
        middle = square = 0.0
        with precision(_PLANNING_BITS):
            start = float(offset_of(self.inner).mid())
        for step in self.inner:
            low, high = step.span(tail)
            middle += step.count * (low + high) / 2
            square += step.count * ((high - low) / 2) ** 2
        return start + middle - math.sqrt(square), start + middle + math.sqrt(square)

    def _inner_spacing(self, spacing: float, tail: float) -> Fraction:
        """At least that of the sample: sampling brings losses closer together."""
        (low, high), (left, right) = self._inner_span(tail), self.span(tail)
        return dyadic(spacing * max((high - low) / max(right - left, 1e-300) / 2, 1.0))

    def size(self, spacing: float, tail: float) -> int:
        """Outcome by outcome, sampling takes longer than composing."""
        low, high = self._inner_span(tail)
        fine = float(self._inner_spacing(spacing, tail))
        inner = sum(step.size(fine, tail) for step in self.inner)
        return inner + _EFFORT * int((high - low) / fine) + super().size(spacing, tail)

    def span(self, tail: float) -> tuple[float, float]:
        """From the edge to the image of the largest loss that occurs."""
        _, high = self._inner_span(tail)
        with precision(_PLANNING_BITS):
            x = self.sampling.about(high) - float(self.offset().mid())
        return min(x, 0.0), max(x, 0.0)

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The composition on a lattice, then sampled."""
        low, _ = self._inner_span(tail)
        bits = grid.bits + min(growth_bits(-low), grid.bits) + 16
        spacing = self._inner_spacing(float(grid.spacing), tail)
        fine = Grid(spacing, bits, max(int(math.ldexp(tail, bits)), 1))
        with precision(working_bits(self.inner, fine)):
            of, share = count_of(self.inner), tail / count_of(self.inner)
            laid = [(step.pieces(fine, share), step.count) for step in self.inner]
            above, _ = compose(((upper_law(p, fine), n) for p, n in laid), fine, of)
            below, _ = compose(((two_sided_law(p, fine), n) for p, n in laid), fine, of)
            points, infinite = self._sampled_points(above, fine)
            labels, overflow = self._sampled_labels(below, fine)
        if self.sampling.add:  # the highest losses become the lowest
            labels, overflow = [*labels, overflow], Label(0.0, arb(0), arb(0))
        useful = [label for label in labels if label.p > 0]  # any labels may be left out
        return Pieces(points, useful, infinite, (overflow.p, overflow.q))

    def _sampled_points(self, law: Upper, grid: Grid) -> tuple[list[Point], arb]:
        """The dominating law of the sample, and its mass at infinity."""
        unit, rate = arb(fmpz(1) << grid.bits), ball(self.sampling.rate)
        spacing, start, offset = exact(grid.spacing), offset_of(self.inner), self.offset()
        found, whole, other = [], arb(law.inf) / unit, arb(0)
        for index, units in enumerate(law.masses.coeffs(), law.low):
            if units == 0:
                continue
            loss = start + index * spacing
            p = arb(units) / unit
            q = p * (-loss).exp()
            found.append(Point(self.sampling.loss(loss) - offset, self.sampling.pair(p, q)[0]))
            whole, other = whole + p, other + q
        missing = (1 - other).max(arb(0))  # under Q, where P has no mass
        found.append(Point(arb(0), self.sampling.pair(arb(0), missing)[0]))
        if not self.sampling.add:
            return found, rate * law.inf / unit
        return found, rate / (1 - rate) * (whole - 1).max(arb(0))

    def _sampled_labels(self, law: TwoSided, grid: Grid) -> tuple[list[Label], Label]:
        """The labels of the sample, that of what was cut below among them; and the overflow."""
        one, offset = fmpz(1) << grid.bits, float(self.offset().mid())
        straight, swapped = law.straight, law.swapped  # P below, Q above; and Q below, P above

        def label(p_low: fmpz, p_high: fmpz, q_low: fmpz, q_high: fmpz) -> Label:
            p, q = self.sampling.pair(_between(p_low, p_high, one), _between(q_low, q_high, one))
            loss = (p.mid() / q.mid()).log() if p > 0 and q > 0 else arb(0)
            return Label(float(loss.mid()) - offset, p, q)

        columns = (straight.p, swapped.q, swapped.p, straight.q)
        coefficients = [column.coeffs() for column in columns]
        over = (straight.over_p, swapped.over_q, swapped.over_p, straight.over_q)
        p_low, p_high, q_low, q_high = (
            max(one - total(c) - o, _ZERO) for c, o in zip(columns, over, strict=True)
        )
        labels = [label(*masses) for masses in zip_longest(*coefficients, fillvalue=_ZERO)]
        labels.append(label(p_high, p_low, q_high, q_low))
        return labels, label(*over)


def _between(low: fmpz, high: fmpz, one: fmpz) -> arb:
    return arb(low).union(arb(max(low, high))) / arb(one)
