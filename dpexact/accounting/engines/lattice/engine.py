r"""The lattice engine: a certified enclosure of the privacy profile of a composition.

Each step is replaced by a dominating and by a dominated law on a lattice of spacing ``t``, both of
second order in ``t``; these are composed exactly, in integers rounded outward. The proofs are in
``docs/theory/lattice-engine.md``, that products of pairs stand for adaptive compositions in
``docs/theory/dominating-pairs.md``. Heuristics choose the spacing, never the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb, arb_poly

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.lattice.composition import (
    compose,
    count_of,
    focused,
    offset_of,
    working_bits,
)
from dpexact.accounting.engines.lattice.grid import (
    Grid,
    LostPrecision,
    TooMuchWork,
    dyadic,
    growth_bits,
)
from dpexact.accounting.engines.lattice.law import Lower, Upper, total
from dpexact.accounting.engines.lattice.pieces import lower_law, upper_law
from dpexact.accounting.engines.lattice.steps import Step
from dpexact.accounting.pairs.pair import added, integer
from dpexact.balls import approximate, ball, precision, to_enclosure
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real

#: The name of the method in results.
METHOD: Final = "lattice"
_SPENT: Final = "the lattice is as fine as its work allows"
#: Default work budget, in coefficients times 64-bit words: some 4 s. Composing takes 0.15 to 0.2 s
#: a million, measured for 10^4 to 10^6 coefficients of 1 to 3 words; the first pass may take twice
#: the budget.
WORK: Final = 20_000_000
_FIRST_SHARE: Final = 2
#: A first spacing is made coarser this often at most.
_COARSER: Final = 8
#: Work of evaluating a step at one point, in coefficients.
POINT_WORK: Final = 8
#: Probability tails below ``2^-MAX_BITS`` are not resolved.
MAX_BITS: Final = 2000
#: Mass that the first pass may cut off.
FIRST_TAIL_BITS: Final = 130


def solve(
    steps: Sequence[Step], epsilon: Real, digits: int, work: int = WORK
) -> tuple[Enclosure, Composed | None]:
    """Enclose ``delta(epsilon)``, and the laws of the last pass, which serve nearby epsilons.

    The enclosure is as narrow as ``work`` allowed. No laws where no finite loss is above epsilon.
    """
    bounded = _beyond_all_losses(steps, epsilon, digits)
    if bounded is not None:
        return bounded, None
    best = Enclosure(Fraction(0), Fraction(1), METHOD, _SPENT)
    with precision(64 + 4 * digits):
        steps = focused(steps, approximate(epsilon))
    count = count_of(steps)
    spacing, tail_bits, spent = _first_spacing(steps), FIRST_TAIL_BITS, 0
    # Q masses are multiplied by e^epsilon
    more_bits = min(growth_bits(approximate(epsilon)), MAX_BITS)
    bits = tail_bits + 30 + more_bits
    laws: Composed | None = None
    attempts = _COARSER
    # proposes: the precision, any of which will do
    while bits <= MAX_BITS:
        grid = Grid(spacing, bits, 1 << (bits - tail_bits))
        points = sum(s.size(float(spacing), 2.0**-tail_bits / count) for s in steps)
        words = bits // 64 + 1
        points_work = POINT_WORK * points * words
        try:
            # proposes: what is too much work
            if spent + points_work > work:
                raise TooMuchWork((spent + points_work) / work)
            laws, cost = compose_steps(steps, grid, _FIRST_SHARE * work)
        except TooMuchWork as error:
            wider = dyadic(float(spacing) * max(error.excess, 2.0))
            # proposes: the spacing, any of which will do
            if spent or attempts == 0 or wider <= spacing:
                break
            spacing, attempts = wider, attempts - 1
            continue
        except LostPrecision:
            break
        cost += points_work
        spent += cost
        found = laws.enclose(epsilon)
        best = best.meet(found)
        if best.digits >= digits:
            return best, laws
        shrink = min(_shrink(best, digits), (work - spent) / max(cost, 1) / 1.2)
        # proposes: when no work is left
        if shrink < 1.2:
            break
        spacing = dyadic(float(spacing) / shrink)
        bits, tail_bits = _next_bits(best, digits, points, count, shrink)
        bits += more_bits
    return best, laws


def _shrink(best: Enclosure, digits: int) -> float:
    """By how much the next spacing is finer: the error is of second order."""
    if best.lower <= 0:
        return 4.0
    return math.pow(10.0, min(1.2, max(0.3, 0.5 * (digits - best.digits) + 0.03)))


def _beyond_all_losses(steps: Sequence[Step], epsilon: Real, digits: int) -> Enclosure | None:
    """Bounds of ``delta`` where ``epsilon`` is the largest finite loss or more, else None.

    With ``m`` the largest finite loss, ``delta <= P(inf) + (1 - e^(epsilon - m))_+``.
    """
    with precision(64 + 4 * digits):
        most = added((step.largest(), step.count) for step in steps)
        if most is None:
            return None
        survival = sum((step.count * (-step.infinite()).log1p() for step in steps), arb(0))
        gap = ball(epsilon) - most
        if gap < 0 or not (gap.is_finite() and survival.is_finite()):
            return None
        lost = to_enclosure(-survival.expm1(), METHOD)
        extra = max(to_enclosure(-gap.expm1()).upper, Fraction(0))
        found = Enclosure(lost.lower, Fraction(lost.upper) + Fraction(extra), METHOD)
        return found.within(Fraction(0), Fraction(1))


def _first_spacing(steps: Sequence[Step]) -> Fraction:
    """A first spacing, from the widest step."""
    spans = [(step.span(1e-30), step.first_points) for step in steps]
    return dyadic(max(max((high - low) / points for (low, high), points in spans), 1e-60))


def _next_bits(
    best: Enclosure, digits: int, points: int, count: int, shrink: float
) -> tuple[int, int]:
    """Fixed-point bits and tail bits with which rounding and cutting are negligible."""
    size = Fraction(best.lower if best.lower > 0 else best.upper)
    if size == 0:
        return MAX_BITS + 1, 0
    magnitude = math.log2(size.numerator) - math.log2(size.denominator)
    tail_bits = max(math.ceil((digits + 1) * math.log2(10) - magnitude) + 6, 16)
    return tail_bits + math.ceil(math.log2(8 * points * shrink * count)), tail_bits


def compose_steps(
    steps: Sequence[Step], grid: Grid, work: float = math.inf
) -> tuple[Composed, int]:
    """The laws of the composition, and the work they took.

    Raises:
        TooMuchWork: before more than ``work`` is done.
    """
    of = count_of(steps)
    tail = math.ldexp(grid.tail, -grid.bits) / of
    with precision(working_bits(steps, grid)):
        laid = [(step.pieces(grid, tail), step.count) for step in steps]
        words = grid.bits // 64 + 1
        limit = work / (3 * words)  # the lower law has two polynomials
        uppers = ((upper_law(pieces, grid), n) for pieces, n in laid)
        upper, above = compose(uppers, grid, of, limit)
        lowers = ((lower_law(pieces, grid), n) for pieces, n in laid)
        lower, below = compose(lowers, grid, of, limit)
        return Composed(upper, lower, offset_of(steps), grid), (above + 2 * below) * words


@dataclass(frozen=True)
class Composed:
    """The two laws of a composition on one lattice: its profile at any number of ``epsilon``.

    A lattice point ``k`` of ``upper`` is the loss ``offset + k t``.
    """

    upper: Upper
    lower: Lower
    offset: arb
    grid: Grid

    def enclose(self, epsilon: Real) -> Enclosure:
        """``delta(epsilon)`` between the two laws."""
        with precision(self.grid.precision + 32):
            level = ball(epsilon)
            place = (level - self.offset) / ball(self.grid.spacing)
            lower, upper = self._below(level), min(self._above(place), Fraction(1))
        return Enclosure.bracket(lower, upper, METHOD, _SPENT)

    def _above(self, place: arb) -> Fraction:
        r"""An upper bound of :math:`\sum_{k > x} p_k (1 - e^{(x - k) t}) + p_\infty`, x = place.

        The sum is the largest of the sums over ``k >= s``; the best ``s`` is the integer after
        ``place``, and every candidate is tried.
        """
        spacing = ball(self.grid.spacing)
        low, high = (int(integer(end.floor())) for end in (place.lower(), place.upper()))
        sums = [arb(self.upper.inf)]
        for start in range(low + 1, high + 2):
            skip = max(start - self.upper.low, 0)
            kept = self.upper.masses.right_shift(skip)
            scale = ((place - self.upper.low - skip) * spacing).exp()
            tilted = arb_poly(kept)((-spacing).exp()) * scale
            sums.append(total(kept) - tilted + self.upper.inf)
        top = max(Fraction(to_enclosure(bound).upper) for bound in sums)
        return top / (1 << self.grid.bits)

    @cached_property
    def _tails(self) -> tuple[Floats, Floats]:
        """``P`` and ``Q`` of the labels from each one on, in floats, to choose a test with."""
        law, spare = self.lower, max(self.grid.bits - 900, 0)
        tails = []
        for masses, over in ((law.p, law.over_p), (law.q, law.over_q)):
            # proposes: what floats hold; any test bounds delta
            kept = [c >> spare for c in masses.coeffs()] if spare else masses.coeffs()
            values = list(map(float, map(int, kept)))
            values += [0.0] * (max(law.p.length(), law.q.length()) - len(values))
            values.append(float(int(over >> spare)))
            tails.append(np.cumsum(np.array(values)[::-1])[::-1])
        return tails[0], tails[1]

    def _below(self, level: arb) -> Fraction:
        """``P(S) - e^level Q(S)`` for a test ``S``: the labels from some one on, and overflow."""
        law = self.lower
        p_tail, q_tail = self._tails
        growth = math.exp(min(float(level.mid()), 700.0))
        start = int(np.argmax(p_tail - growth * q_tail))
        p = total(law.p.right_shift(start)) + law.over_p
        q = total(law.q.right_shift(start)) + law.over_q
        best = Fraction(to_enclosure(p - level.exp() * q).lower)
        return max(best, Fraction(0)) / (1 << self.grid.bits)
