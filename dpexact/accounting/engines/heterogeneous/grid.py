r"""Many different ``eps_i``: two laws on a uniform grid that enclose the composition.

The loss of one mechanism is ``-eps_i`` plus 0 or the gap ``2 eps_i``; only the gap is rounded, to
multiples of a spacing ``t``, so the sum of losses is :math:`-\sum \epsilon_i + n t` up to rounding.
The *upper* law splits the atom at the gap between its two neighbours on the grid such that
``P`` and ``Q`` keep their masses; the composition of such laws dominates. The *lower* law gives
outcomes the sum of their rounded gaps as a label; tests that see the label alone are tests. Both
are second order in ``t``.

Masses are binary floats. Only sums and products of non-negative floats occur, each correct to a
relative ``2^-52`` in any rounding mode of IEEE 754 unless it underflows, so a mass is correct to a
relative error that is proportional to the number of steps. Underflow need not be gradual: whether
results or operands below the smallest normal number are kept, rounded or taken for zero, an
operation errs by less than twice that number, and what all of them lose together is counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from flint import arb, arb_poly

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.lattice.grid import split_atom
from dpexact.accounting.pairs.finite import total
from dpexact.reals import Real

#: Working precision of the constants and the final sums.
BITS: Final = 128
#: Longest law.
MAX_POINTS: Final = 1 << 23
#: Twice the smallest normal number: more than what an operation loses to underflow.
UNDERFLOW: Final = Fraction(1, 1 << 1021)
#: Products, sums, cuts and conversions of a mass in one step are no more than these.
_OPERATIONS: Final = 16
#: A float sum of fewer than 2^30 non-negative terms, times this, is at least their sum.
SUM_GUARD: Final = 1 + 2.0**-20
#: ``e^x`` is finite in floats up to here.
_MAX_EXPONENT: Final = 700.0
#: Distances from ``epsilon`` that are tried where ``Q`` underflows.
_EXCESSES: Final = (1, 4, 16)


class TooLongError(Exception):
    """A law would take more than :data:`MAX_POINTS` points."""


@dataclass(frozen=True)
class GridLaws:
    """Masses on the grid.

    ``upper[i]`` is at index ``low + i``, ``inf`` beyond all. ``rounding`` bounds by how much the
    loss of an outcome differs from that of its label. ``lower`` covers an interval of labels
    that is symmetric about the middle of all labels, so that ``Q`` is ``P`` mirrored.
    """

    upper: Floats
    low: int
    inf: float
    lower: Floats
    rounding: Fraction
    spacing: Fraction
    steps: int
    operations: int
    parameters: Parameters

    @property
    def error(self) -> Fraction:
        """The relative error of every mass: per step two roundings, two sums, one constant."""
        unit = Fraction(8 * self.steps + 16, 1 << 52)
        return unit * (1 + unit)

    @property
    def underflow(self) -> Fraction:
        """The absolute error of any sum of masses; later steps spread a loss and keep its sum."""
        return self.operations * UNDERFLOW

    @property
    def points(self) -> int:
        """How many masses there are."""
        return len(self.upper) + len(self.lower)

    def above(self, epsilon: arb) -> Fraction:
        r"""An upper bound of :math:`\delta_0(\epsilon)`.

        The largest over ``s`` of the sums over ``n >= s`` of ``p_n (1 - e^((place - n) t))``.
        """
        with balls.precision(BITS):
            spacing = balls.ball(self.spacing)
            whole = sum((count * balls.ball(eps) for eps, count in self.parameters), arb(0))
            place = (epsilon + whole) / spacing
            if not balls.in_range(place):
                return Fraction(1)
            bounds = balls.to_enclosure(place)
            first, last = math.floor(bounds.lower) + 1, math.floor(bounds.upper) + 1
            if last - first > 8:
                return Fraction(1)
            best = arb(self.inf)
            for start in range(first, last + 1):
                skip = min(max(start - self.low, 0), len(self.upper))
                kept = arb_poly(self.upper[skip:].tolist())
                scale = ((place - self.low - skip) * spacing).exp()
                best = best.max(kept(1) - kept((-spacing).exp()) * scale + arb(self.inf))
            highest = balls.to_enclosure(best).upper if balls.in_range(best) else Fraction(1)
        return min(Fraction(highest) * (1 + self.error) + self.underflow, Fraction(1))

    def below(self, epsilon: arb) -> Fraction:
        """A lower bound: ``P(S) - e^epsilon Q(S)`` for ``S`` the labels from some one on."""
        size = len(self.lower)
        tails = np.cumsum(self.lower[::-1])[::-1]
        mirrored = np.cumsum(self.lower)[::-1]
        with balls.precision(BITS):
            growth = math.exp(min(float(epsilon.mid()), _MAX_EXPONENT))
            start = int(np.argmax(tails - growth * mirrored))
            lost = balls.ball(self.underflow)
            # proposes: a test; any bounds from below
            p = _sum(self.lower[start:]) / balls.ball(1 + self.error) - lost
            # proposes: likewise
            q = _sum(self.lower[: size - start]) * balls.ball(1 + self.error)
            gain = p - epsilon.exp() * (q + lost)
            if not gain.lower() > 0:
                gain = self._far_below(epsilon)
            if not balls.in_range(gain):
                return Fraction(0)
            return max(Fraction(balls.to_enclosure(gain.lower()).lower), Fraction(0))

    def _far_below(self, epsilon: arb) -> arb:
        """A cruder lower bound without ``Q``, which underflows where ``epsilon`` is large.

        Labels whose loss exceeds ``epsilon`` by ``x`` at least add ``1 - e^-x`` of their mass.
        """
        middle = Fraction(len(self.lower) - 1, 2)
        place = (epsilon + balls.ball(self.rounding)) / balls.ball(self.spacing)
        place += balls.ball(middle)
        best = arb(0)
        if not place.upper() < len(self.lower):
            return best
        for excess in _EXCESSES:
            first = place + excess / balls.ball(self.spacing)
            start = max(int(first.upper().ceil().fmpz()), 0)
            p = _sum(self.lower[start:]) / balls.ball(1 + self.error)
            p -= balls.ball(self.underflow)
            best = best.max(p * -(-arb(excess)).expm1())
        return best


def _sum(masses: Floats) -> arb:
    """The sum as a ball."""
    return arb_poly(masses.tolist())(1) if len(masses) else arb(0)


def grid_laws(parameters: Parameters, spacing: Fraction, tail: float) -> GridLaws:
    """Compose both laws, one mechanism after the other, cutting ``tail`` at the ends.

    Raises:
        TooLongError: a law grows too long.
    """
    # proposes: the order of composing, which is free
    counted = sorted(parameters, key=lambda entry: balls.approximate(entry[0]))
    steps = sum(count for _, count in counted)
    cut = tail / steps / 4
    operations = 0
    upper: Floats = np.ones(1)
    lower: Floats = np.ones(1)
    low, inf, rounding = 0, 0.0, arb(0)
    with balls.precision(BITS):
        step = balls.ball(spacing)
        for eps, count in counted:
            value = balls.ball(eps)
            up, down = 1 / (1 + (-value).exp()), 1 / (1 + value.exp())
            nearest = float((2 * value / step).mid())
            # proposes: a label; any integer may be, and its distance is in `rounding`
            if not nearest < MAX_POINTS:
                raise TooLongError
            label = round(nearest)
            rounding += count * (value - label * step / 2).abs_upper()
            index, above_index, share = split_atom(2 * value, step)
            high, left = float(up.mid()), float(down.mid())
            at, after = float((up * share).upper()), float((up * (1 - share)).upper())
            for _ in range(count):
                if len(upper) + len(lower) + 2 * above_index > 2 * MAX_POINTS:
                    raise TooLongError
                upper = _shifted_sum(upper, [(0, left), (index, at), (above_index, after)])
                lower = _shifted_sum(lower, [(0, left), (label, high)])
                operations += _OPERATIONS * (len(upper) + len(lower))
                upper, skipped, beyond = _cut_upper(upper, cut, 2 * index + 64)
                low, inf = low + skipped, (inf + beyond) * (1 + 2.0**-51)
                lower = _cut_lower(lower, cut, 2 * label + 64)
        away = Fraction(balls.to_enclosure(rounding).upper)
    return GridLaws(upper, low, inf, lower, away, spacing, steps, operations, parameters)


def _shifted_sum(masses: Floats, terms: list[tuple[int, float]]) -> Floats:
    """The sum of ``weight * masses`` shifted by ``shift`` over the terms ``(shift, weight)``."""
    size = len(masses)
    result = np.zeros(size + max(shift for shift, _ in terms))
    for shift, weight in terms:
        result[shift : shift + size] += weight * masses
    return result


def _cut_upper(masses: Floats, cut: float, reach: int) -> tuple[Floats, int, float]:
    """``(rest, skipped, above)``: up to ``cut`` of the low end moved up, of the high end taken off.

    Only ``reach`` masses at either end are looked at. Proposes: how many masses to cut; whatever is
    cut is added to a higher loss.
    """
    start = min(_negligible(masses[:reach], cut), len(masses) - 1)
    end = min(_negligible(masses[::-1][:reach], cut), len(masses) - 1 - start)
    above = float(np.sum(masses[len(masses) - end :])) * SUM_GUARD
    below = float(np.sum(masses[:start])) * SUM_GUARD
    rest = masses[start : len(masses) - end]
    rest[0] += below
    return rest, start, above


def _cut_lower(masses: Floats, cut: float, reach: int) -> Floats:
    """Drop the same number of labels at both ends, up to ``cut`` of mass at the high one.

    Proposes: how many; a test that never holds for some labels is a test.
    """
    end = min(_negligible(masses[::-1][:reach], cut), (len(masses) - 1) // 2)
    return masses[end : len(masses) - end]


def _negligible(masses: Floats, cut: float) -> int:
    """How many of the first ``masses`` sum to about ``cut`` at most."""
    return int(np.searchsorted(np.cumsum(masses), cut, side="right"))


Parameters: TypeAlias = Sequence[tuple[Real, int]]
"""Pairs ``(eps_i, count)`` with ``eps_i > 0``."""


def largest_loss(parameters: Parameters) -> Real:
    """The sum of all ``eps_i`` as a shallow expression."""
    return total(eps * count for eps, count in parameters)
