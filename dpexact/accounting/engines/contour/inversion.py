"""The inversion itself: delta from moments on a vertical line, enclosed with every error term.

With ``x = 2 pi / h`` and ``s_n = c + i n h``

    (h / 2 pi) sum_n e^{-s_n eps} M(s_n) / (s_n (s_n + 1)) = sum_m e^{cxm} delta(eps + xm),

where ``delta`` counts the finite losses only and ``m`` runs over all integers: delta itself and its
aliases. Hypotheses and proofs are in ``docs/theory/contour.md``; the numbers in brackets refer to
its sections.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from flint import acb, arb

from dpexact.accounting.engines.contour.planning import DEAR, Plan
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.pair import TooExpensive, chernoff_constant, product
from dpexact.accounting.pairs.sums.power_sums import Rows, line_product
from dpexact.kept import cached_property

Orders: TypeAlias = dict[tuple[int, int, bool], float]
"""Of aliases, by what shares them, and whether they are those from above."""

#: Bounds are shared by points as far apart as lets ``e^{-c eps}`` fall by this power of e.
_REACH: Final = 2.0
#: How many times an order of an alias that is too much work is halved.
_LOWER_ORDERS: Final = 8
#: By which power of e.
_MUCH_LESS: Final = 2.0
#: A number of repetitions is split into a multiple of this and a rest.
_STRIDE: Final = 128


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def outer_tail(decayed: arb, weight: arb, step: arb, count: int) -> arb:
    """Nodes beyond ``count``: ``e^{-c eps} sup|M| / (pi h N)`` [7]."""
    return weight * decayed / (arb.pi() * step * count)


def alias(constant: arb, order: arb, apart: arb, period: arb, epsilon: arb) -> arb:
    """``sum_m e^{+-cxm} C e^{-p (eps +- xm)} = C e^{-p eps} / (e^{|p - c| x} - 1)`` [8].

    ``apart`` is ``p - c`` for all terms from above (``+``), ``c - p`` for those from below (``-``):
    nothing is bounded unless it is positive.
    """
    # proposes: the order; one on the wrong side bounds nothing
    if not apart > 0:
        return arb("inf")
    return constant * (-order * epsilon).exp() / (apart * period).expm1()


class Terms(NamedTuple):
    """The parts of one evaluation: ``delta = infinite + total - known`` and four errors.

    ``tail`` of either sign bounds the truncation of the sum; ``above``, ``below`` and ``deficit``
    what is unknown of the aliases, each between zero and itself.
    """

    total: arb
    known: arb
    infinite: arb
    tail: arb
    above: arb
    below: arb
    deficit: arb

    def enclosure(self) -> arb:
        """Delta: the tail has either sign, each alias lies between its known part and its bound."""
        centre = self.infinite + self.total - self.known
        lower = centre - self.tail - self.above - self.below
        return lower.union(centre + self.tail + self.deficit)


class Contour:
    """Moments of a product on one line, from which delta follows at any epsilon and repetition.

    Create and use it at the precision of its plan.
    """

    def __init__(self, product: Product, plan: Plan) -> None:
        # proposes: the plan; floats mean their exact values, and no others are allowed
        if not (plan.abscissa > 0 and plan.step > 0 and plan.count > 0):
            raise ValueError(f"the abscissa, step and count of {plan} must be positive")
        self.plan = plan
        self.product = product
        self._c, self._h = arb(plan.abscissa), arb(plan.step)
        self._period = 2 * arb.pi() / self._h
        # proposes: how many nodes; the tail bounds all others
        self._nodes: list[acb] = [acb(self._c, n * self._h) for n in range(plan.count + 1)]
        kernel = [1 / (s * (s + 1)) for s in self._nodes]
        self._kernel: list[acb] = [kernel[0] / 2, *kernel[1:]]
        lines = (
            (pair.moments(plan.abscissa, plan.step, plan.count, plan.accuracy), n)
            for pair, n in product.factors
        )
        self._line: list[acb] = line_product(
            [value**n for value in line] if n > 1 else line for line, n in lines
        )
        self._orders: Orders = {}
        self._starts: dict[int, list[acb]] = {}
        self._bulks: dict[int, list[acb]] = {}
        self._row: tuple[int, list[acb]] = (0, [])
        #: Proposes: what orders above the line are at least.
        self._lowest = plan.abscissa + plan.step / 6

    @property
    def start(self) -> arb:
        """``M(c)``."""
        return self._line[0].real

    @cached_property
    def left_out(self) -> arb:
        """At least ``|M|`` on the line above the height of the plan."""
        place = self.plan.abscissa, self.plan.height, self.plan.coarse
        return product(self.product.factors, lambda pair: pair.decayed(*place))

    def moment(self, order: float) -> arb:
        """``M(order)``, or an upper bound on it: it serves those of errors."""
        return self.product.moment(order, self.plan.coarse)

    def reverse_moment(self, order: float) -> arb:
        """Likewise of the reverse."""
        return self.product.reverse.moment(order, self.plan.coarse)

    def _weighted(self, repeat: int) -> list[acb]:
        """``M(s_n)^repeat / (s_n (s_n + 1))``; neighbouring repetitions share both factors."""
        if self._row[0] != repeat:
            many, few = divmod(repeat, _STRIDE)
            if few not in self._starts:
                self._starts[few] = line_product([[m**few for m in self._line], self._kernel])
            row = self._starts[few]
            if many and many not in self._bulks:
                self._bulks[many] = [m ** (many * _STRIDE) for m in self._line]
            self._row = repeat, line_product([row, self._bulks[many]]) if many else row
        return self._row[1]

    def _inverted(self, rows: list[list[acb]], epsilons: Sequence[arb]) -> list[list[arb]]:
        """``(h / pi) Re sum_n row_n e^{-s_n eps}`` for each epsilon and row."""
        sums = Rows(rows).at([acb(0, -self._h * epsilon).exp() for epsilon in epsilons])
        found = []
        for epsilon, parts in zip(epsilons, sums, strict=True):
            scale = self._h / arb.pi() * (-self._c * epsilon).exp()
            found.append([scale * value.real for value in parts])
        return found

    def _lost(self, repeat: int) -> arb:
        """The mass of infinite loss."""
        return 1 - self.product.mass(repeat)

    def _beside(self, epsilons: Sequence[arb]) -> list[tuple[arb, arb]]:
        """What is known beside the sums over the nodes of the plan, and about its slope."""
        return [(arb(0), arb(0))] * len(epsilons)

    def newton(
        self, epsilons: Sequence[arb], repeat: int, targets: Sequence[arb]
    ) -> list[arb | None]:
        """Better epsilons for ``delta = target``: each a Newton step on ``log delta``.

        Proposes: points, on both sides of which the caller certifies delta.
        None where the errors of the sum drown delta.
        """
        weights = self._weighted(repeat)
        slopes = [-a * b for a, b in zip(weights, self._nodes, strict=True)]
        lost, known = self._lost(repeat), self._known(repeat)
        found: list[arb | None] = []
        sums, beside = self._inverted([weights, slopes], epsilons), self._beside(epsilons)
        for epsilon, target, (total, slope), (more, rise) in zip(
            epsilons, targets, sums, beside, strict=True
        ):
            fixed, growing = known(epsilon, self._order(epsilon, repeat, False))
            value = (lost + total + more - fixed + growing).mid()
            # proposes: a logarithm of what it is defined for
            if value > 0:
                step = (target / value).log() * value / (slope + rise + growing)
                found.append((epsilon + step).mid())
            else:
                found.append(None)
        return found

    def _known(self, repeat: int) -> Callable[[arb, float], tuple[arb, arb]]:
        """The known part of the aliases from below, ``fixed - growing``, at any epsilon [8].

        ``growing`` is proportional to ``e^eps``, and zero for orders above -1.
        """
        fixed = self.product.mass(repeat) / (self._c * self._period).expm1()
        other = self.product.reverse.mass(repeat)
        growth = other / ((self._c + 1) * self._period).expm1()

        def known(epsilon: arb, order: float) -> tuple[arb, arb]:
            # proposes: the order; the known part is right for either kind
            return fixed, arb(0) if order > -1 else growth * epsilon.exp()

        return known

    def terms(self, epsilons: Sequence[arb], repeat: int = 1) -> list[Terms]:
        """Delta at each of the ``epsilons``, of the product repeated, in parts.

        The error bounds are monotone in epsilon, so one set of them serves a whole range, as wide
        as hardly loosens them.
        """
        sums, beside = self._inverted([self._weighted(repeat)], epsilons), self._beside(epsilons)
        totals = [total + more for (total,), (more, _) in zip(sums, beside, strict=True)]
        infinite, known = self._lost(repeat), self._known(repeat)
        found = []
        for start, end in _ranges(epsilons, _REACH / self._c):
            points = epsilons[start:end]
            first, last = reduce(arb.min, points), reduce(arb.max, points)
            order = self._order(last, repeat, False)
            errors = self._errors(first, last, repeat, order)
            for epsilon, total in zip(points, totals[start:end], strict=True):
                fixed, growing = known(epsilon, order)
                found.append(Terms(total, fixed - growing, infinite, *errors))
        return found

    def reversed(self, epsilon: arb, repeat: int) -> arb:
        """Delta of the reversed pairs, ``1 - e^eps + e^eps delta(-eps)`` [9]."""
        (terms,) = self.terms([-epsilon], repeat)
        return epsilon.exp() * terms.enclosure() - epsilon.expm1()

    def _errors(self, first: arb, last: arb, repeat: int, order: float) -> list[arb]:
        """Error bounds for every epsilon from ``first`` to ``last``, as in :class:`Terms`."""
        c, h, period, product = self._c, self._h, self._period, self.product
        tail = outer_tail(self.left_out**repeat, (-c * first).exp(), h, self.plan.count)
        above = below = deficit = arb(0)
        if not product.never_exceeds(first + period, repeat):
            above = self._above(first, repeat)
        # proposes: the order; each kind has a bound of its own, for all orders of the kind
        if order > -1:
            moment = product.moment(order, self.plan.coarse, repeat)
            deficit = alias(moment, arb(order), c - arb(order), period, last)
        elif not product.reverse.never_exceeds(period - last, repeat):
            # proposes: the order, since any is valid
            b, moment = self._afforded(-1 - order, repeat)
            constant = chernoff_constant(arb(b)) * moment
            below = alias(constant, -1 - arb(b), c + 1 + arb(b), period, last)
        return [bound.upper() for bound in (tail, above, below, deficit)]

    def _afforded(self, order: float, repeat: int) -> tuple[float, arb]:
        """A moment of the reverse at ``order``, or at a lower one that costs less.

        Proposes: an order, since any is valid.
        """
        for _ in range(_LOWER_ORDERS):
            with suppress(TooExpensive):
                return order, self.reverse_moment(order) ** repeat
            order /= 2
        return order, self.reverse_moment(order) ** repeat

    def _above(self, epsilon: arb, repeat: int) -> arb:
        """The least of the bounds of some orders above the line, each of which holds."""
        best = arb("inf")
        b = max(self._order(epsilon, repeat, True), self._lowest)
        while True:
            with suppress(TooExpensive):
                moment = self.moment(b)
                constant = chernoff_constant(arb(b)) * moment**repeat
                found = alias(constant, arb(b), arb(b) - self._c, self._period, epsilon)
                best = arb.min(best, found.upper()) if found.is_finite() else best
                # proposes: a lower order, where the moment is hardly known
                if moment.rel_accuracy_bits() > 0:
                    return best
            # proposes: likewise, or where it is dear
            if b == self._lowest:
                return best
            b = max(self._lowest, (b + self.plan.abscissa) / 2)

    def _order(self, epsilon: arb, repeat: int, above: bool) -> float:
        """A good order for an alias, which neighbouring queries, and lines of other steps, share.

        Proposes: an order, since any is valid.
        """
        key = *self._sort(epsilon, repeat), above
        if key not in self._orders:
            near, period = float(epsilon.mid()), float(self._period.mid())
            ask, level = (
                (self.product.chernoff, near + period)
                if above
                else (self.product.below, near - period)
            )
            order = ask(level, repeat)[0]
            size = order if above else -1 - order
            if size > 0:  # else of a few
                side, level = (self.product, level) if above else (self.product.reverse, -level)
                size = self._easier(side, side.shared(size, level, repeat), level, repeat)
                order = size if above else -1 - size
            self._orders[key] = order
        return self._orders[key]

    def _sort(self, epsilon: arb, repeat: int) -> tuple[int, int]:
        """Of what an order is shared. Proposes: likewise."""
        near, period = float(epsilon.mid()), float(self._period.mid())
        return round(8 * math.log(repeat)), round(16 * near / period)

    def _easier(self, side: Product, order: float, level: float, repeat: int) -> float:
        """A lower order, where moments are dear and its bound is less than serves.

        Proposes: likewise.
        """
        if self.plan.work <= DEAR:
            return order
        beyond, above = self.plan.abscissa * float(self._period.mid()), side is self.product
        least, rest = (self._lowest, beyond) if above else (0.0, -level - beyond)
        _, octave = math.frexp(order)
        for lower in range(octave - _LOWER_ORDERS, octave):
            b = math.ldexp(1.0, lower)
            log = repeat * side.cumulant(b).value - b * level + rest
            if b > least and log < self.plan.level - _MUCH_LESS:
                return b
        return order


def _ranges(epsilons: Sequence[arb], reach: arb) -> Iterator[tuple[int, int]]:
    """Where neighbours are cut into ranges about as wide as ``reach``.

    Proposes: which of them share their bounds; those are taken at the ends of all that do.
    """
    start = 0
    for place, epsilon in enumerate(epsilons):
        # a point alone is in its own range, however wide its ball
        if place > start and not abs(epsilon - epsilons[start]) <= reach:
            yield start, place
            start = place
    yield start, len(epsilons)
