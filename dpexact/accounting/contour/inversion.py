"""The inversion itself: delta from moments on a vertical line, enclosed with every error term.

With ``x = 2 pi / h`` and ``s_n = c + i n h``

    (h / 2 pi) sum_n e^{-s_n eps} M(s_n) / (s_n (s_n + 1)) = sum_m e^{cxm} delta(eps + xm),

where ``delta`` counts the finite losses only and ``m`` runs over all integers: delta itself and its
aliases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from flint import acb, acb_mat, arb

from dpexact.accounting.contour import bounds
from dpexact.accounting.contour.planning import Composition, Plan, Planner
from dpexact.accounting.pairs.power_sums import powers

#: A number of repetitions is split into a multiple of this and a rest.
_STRIDE: Final = 128


class Errors(NamedTuple):
    """Bounds on the truncation of the sum and on the unknown part of the aliases of both sides."""

    tail: arb
    above: arb
    below: arb
    deficit: arb


class Terms(NamedTuple):
    """The parts of one evaluation: ``delta = infinite + total +- tail - above - known - below``."""

    total: arb
    known: arb
    infinite: arb
    errors: Errors

    def enclosure(self) -> arb:
        """Delta: the tail has either sign, each alias lies between its known part and its bound."""
        centre = self.infinite + self.total - self.known
        lower = centre - self.errors.tail - self.errors.above - self.errors.below
        return lower.union(centre + self.errors.tail + self.errors.deficit)


class Contour:
    """Moments of a composition on one line, from which delta follows at any epsilon and repetition.

    Create and use it at the precision of its plan.
    """

    def __init__(self, planner: Planner, plan: Plan) -> None:
        # proposes: the plan; floats mean their exact values, and no others are allowed
        if not (plan.abscissa > 0 and plan.step > 0 and plan.count > 0):
            raise ValueError(f"the abscissa, step and count of {plan} must be positive")
        self.plan = plan
        self._planner = planner
        self._composition: Composition = planner.composition
        self._moments: dict[tuple[int, float, bool], arb] = {}
        self._orders: dict[tuple[int, int, bool], float] = {}
        self._weights: tuple[int, list[acb]] = (0, [])
        self._powers: dict[int, list[acb]] = {}
        self._starts: dict[int, list[acb]] = {}

    @cached_property
    def _single(self) -> list[acb]:
        """``M(s_n)`` of the composition run once."""
        plan = self.plan
        values: list[acb] = []
        for step, n in self._composition:
            line = step.moments(plan.abscissa, plan.step, plan.count, plan.accuracy)
            powers = [value**n for value in line] if n > 1 else line
            values = [a * b for a, b in zip(values, powers, strict=True)] if values else powers
        return values

    @cached_property
    def _period(self) -> arb:
        """``x = 2 pi / h``."""
        return 2 * arb.pi() / arb(self.plan.step)

    @cached_property
    def _nodes(self) -> list[acb]:
        """``s_n = c + i n h``."""
        c, h = arb(self.plan.abscissa), arb(self.plan.step)
        # proposes: how many nodes; the tail bounds all others
        return [acb(c, n * h) for n in range(self.plan.count + 1)]

    @cached_property
    def _kernel(self) -> list[acb]:
        """``1 / (s (s + 1))`` at the nodes, halved at the real one."""
        kernel = [1 / (s * (s + 1)) for s in self._nodes]
        return [kernel[0] / 2, *kernel[1:]]

    @cached_property
    def _decayed(self) -> list[arb]:
        """Bounds on the moments of each step beyond the last node."""
        plan = self.plan
        return [s.decayed(plan.abscissa, plan.height, plan.coarse) for s, _ in self._composition]

    def _power(self, repeat: int) -> list[acb]:
        """``M(s_n)^repeat``, kept: neighbouring repetitions share both of their factors."""
        if repeat not in self._powers:
            self._powers[repeat] = [m**repeat for m in self._single]
        return self._powers[repeat]

    def _weighted(self, repeat: int) -> list[acb]:
        """``M(s_n)^repeat / (s_n (s_n + 1))``, the row of the last repetition kept."""
        if self._weights[0] != repeat:
            many, few = divmod(repeat, _STRIDE)
            if few not in self._starts:
                self._starts[few] = _times(self._power(few), self._kernel)
            row = self._starts[few]
            if many:
                row = _times(row, self._power(many * _STRIDE))
            self._weights = repeat, row
        return self._weights[1]

    def _inverted(self, rows: list[list[acb]], epsilons: Sequence[arb]) -> list[list[arb]]:
        """``(h / pi) Re sum_n row_n e^{-s_n eps}`` for each epsilon and row."""
        c, h = arb(self.plan.abscissa), arb(self.plan.step)
        count = self.plan.count + 1
        turns = [value for e in epsilons for value in powers(acb(0, -h * e).exp(), count)]
        matrix = acb_mat(len(rows), count, [value for row in rows for value in row])
        sums = acb_mat(len(epsilons), count, turns) * matrix.transpose()
        scales = [h / arb.pi() * (-c * e).exp() for e in epsilons]
        return [
            [scale * value.real for value in line]
            for scale, line in zip(scales, sums.tolist(), strict=True)
        ]

    def newton(self, epsilon: arb, repeat: int, target: arb) -> arb | None:
        """A better epsilon for ``delta = target``: a Newton step on ``log delta``.

        Proposes: a point, on both sides of which the caller certifies delta.
        None where the errors of the sum drown delta.
        """
        weights = self._weighted(repeat)
        slopes = [-a * b for a, b in zip(weights, self._nodes, strict=True)]
        ((total, slope),) = self._inverted([weights, slopes], [epsilon])
        finite = self._finite(repeat)
        below = self._order(epsilon, repeat, False)
        fixed, growing = self._known(finite, epsilon, below)
        value = (1 - finite + total - fixed + growing).mid()
        if not value > 0:
            return None
        return (epsilon + (target / value).log() * value / (slope + growing)).mid()

    def _finite(self, repeat: int) -> arb:
        """``P(Z finite)``."""
        finite = arb(1)
        for step, n in self._composition:
            finite *= step.mass() ** (n * repeat)
        return finite

    def _known(self, finite: arb, epsilon: arb, order: float) -> tuple[arb, arb]:
        """The known part of the aliases from below, ``fixed - growing`` [8].

        ``growing`` is proportional to ``e^eps``, and zero for orders below one.
        """
        c, period = arb(self.plan.abscissa), self._period
        fixed = finite / (c * period).expm1()
        # proposes: the order; the known part is right for either kind
        if order < 1:
            return fixed, arb(0)
        return fixed, finite * epsilon.exp() / ((c + 1) * period).expm1()

    def terms(self, epsilons: Sequence[arb], repeat: int = 1) -> list[Terms]:
        """Delta at each of the increasing ``epsilons``, of the composition repeated, in parts.

        The error bounds are monotone in epsilon, so one set of them serves the whole range.
        """
        below = self._order(epsilons[-1], repeat, False)
        errors = self._errors(epsilons[0], epsilons[-1], repeat, below)
        totals = self._inverted([self._weighted(repeat)], epsilons)
        finite = self._finite(repeat)
        found = []
        for epsilon, (total,) in zip(epsilons, totals, strict=True):
            fixed, growing = self._known(finite, epsilon, below)
            found.append(Terms(total, fixed - growing, 1 - finite, errors))
        return found

    def _errors(self, first: arb, last: arb, repeat: int, order: float) -> Errors:
        """Error bounds for every epsilon from ``first`` to ``last``."""
        c, h, period = arb(self.plan.abscissa), arb(self.plan.step), self._period
        decayed = arb(1)
        for (_, n), bound in zip(self._composition, self._decayed, strict=True):
            decayed *= bound ** (n * repeat)
        tail = bounds.outer_tail(decayed, (-c * first).exp(), h, self.plan.count)
        above = below = deficit = arb(0)
        if not never_exceeds(self._composition, first + period, repeat):
            b = max(self._order(first, repeat, True), self.plan.abscissa + self.plan.step / 6)
            moment = self._product(b, repeat, backward=False)
            above = bounds.alias_above(moment, arb(b), c, period, first)
        # proposes: the order; each kind has a bound of its own, for all orders of the kind
        if order < 1:
            moment = self._product(-order, repeat, backward=False)
            deficit = bounds.alias_deficit(moment, arb(order), c, period, last)
        elif not never_exceeds(self._composition, period - last, repeat, backward=True):
            moment = self._product(order - 1, repeat, backward=True)
            below = bounds.alias_below(moment, arb(order - 1), c, period, last)
        return Errors(tail.upper(), above.upper(), below.upper(), deficit.upper())

    def _order(self, epsilon: arb, repeat: int, above: bool) -> float:
        """A good order for an alias, which neighbouring queries share.

        Proposes: an order, since any is valid.
        """
        near, period = float(epsilon.mid()), float(self._period.mid())
        key = round(8 * math.log(repeat)), round(16 * near / period), above
        if key not in self._orders:
            if above:
                order, _ = self._planner.forward.chernoff(near + period, repeat)
            else:
                order, _ = self._planner.below(near - period, repeat)
            self._orders[key] = order
        return self._orders[key]

    def _product(self, b: float, repeat: int, backward: bool) -> arb:
        """``M(b)`` of the composition or of its reverse, repeated."""
        product = arb(1)
        for index, (step, n) in enumerate(self._composition):
            key = index, b, backward
            # proposes: the order, a float that means its exact value here as in the key
            if key not in self._moments:
                side = step.reverse if backward else step
                self._moments[key] = side.moment(b, self.plan.coarse)
            # proposes: likewise
            product *= self._moments[key] ** (n * repeat)
        return product


def _times(one: list[acb], other: list[acb]) -> list[acb]:
    return [a * b for a, b in zip(one, other, strict=True)]


def never_exceeds(
    composition: Composition, level: arb, repeat: int, backward: bool = False
) -> bool:
    """Whether every finite loss of the composition, repeated, is certainly at most ``level``."""
    largest = largest_loss(composition, repeat, backward)
    return largest is not None and bool(largest <= level)


def largest_loss(composition: Composition, repeat: int, backward: bool = False) -> arb | None:
    """The supremum of the finite losses of the composition, repeated; None when unbounded."""
    total = arb(0)
    for step, n in composition:
        largest = (step.reverse if backward else step).largest_loss()
        if largest is None:
            return None
        total += n * repeat * largest
    return total
