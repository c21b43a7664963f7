r"""Delta of rare samples, enclosed with every error term.

Every step is marked near, middle or far with the heights of its windows as probabilities. The
outcomes with a far step and those with near steps only are known but for small bounds; those of the
rest are inverted on a vertical line. Hypotheses and proofs are in ``docs/theory/rare.md``; the
numbers in brackets refer to its sections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from flint import acb, arb

from dpexact.accounting.engines.contour.inversion import alias, outer_tail
from dpexact.accounting.engines.rare.law import Cells, SampledLaw, laws_of
from dpexact.accounting.engines.rare.plan import Plan
from dpexact.accounting.engines.rare.powers import fallen, large_line, real_powers, tiny_line
from dpexact.accounting.engines.rare.rows import Row, largest_added, lost, product, with_some
from dpexact.accounting.engines.rare.windows import Window
from dpexact.accounting.pairs.pair import chernoff_constant
from dpexact.accounting.pairs.sums.power_sums import Rows, line_product
from dpexact.balls import precision

#: Bounds need few digits.
_BOUND_BITS = 64

# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def far_small(order: arb, far: arb, gap: arb) -> arb:
    """``K(b) M_(i)(-1-b) e^{(1+b) gap}``: a far loss, and yet a small sum [7]."""
    return chernoff_constant(order) * far * ((1 + order) * gap).exp()


def near_large(order: arb, near: arb, gap: arb) -> arb:
    """``K(b) M_(iii)(b) e^{-b gap}``: near losses only, and yet a large sum [7]."""
    return chernoff_constant(order) * near * (-order * gap).exp()


class Masses(NamedTuple):
    """``P(event)`` and ``E_P[e^{-Z'}; event]``."""

    p: arb
    q: arb

    def known(self, gap: arb) -> arb:
        """``E_P[1 - e^{gap - Z'}; event]``."""
        return self.p - gap.exp() * self.q


class Inversion:
    """Moments on one line, from which delta follows at any gap. Use it at the plan's precision."""

    def __init__(self, rows: Sequence[Row], plan: Plan) -> None:
        self.plan = plan
        self._counts = [row.times for row in rows]
        self._laws = laws_of(rows)
        self._largest = largest_added(rows)
        #: Whether losses are below 0, too.
        self._falls = any(row.replaced for row in rows)
        self._c, self._h = arb(plan.abscissa), arb(plan.step)
        self.period = 2 * arb.pi() / self._h
        # proposes: the side; both are proved
        if not (plan.abscissa > 0 or plan.abscissa < -1):
            raise ValueError("the line runs between the poles")
        # proposes: whether powers are summed; those of section 9 are of one record
        if plan.tiny is not None and not all(row.is_plain for row in rows):
            raise ValueError("powers of lambda are those of one record removed or added")
        # proposes: how many nodes; the tail bounds all others
        self._nodes = [acb(self._c, n * self._h) for n in range(plan.count + 1)]
        with precision(_BOUND_BITS):
            # proposes: the cells; any bound
            self._cells = [
                Cells(law, own.edges) for law, own in zip(self._laws, plan.rows, strict=True)
            ]
            self._constants = self._bounds()
        self._row = Rows([self._weighted()])
        with precision(plan.far_bits):
            beyond = self._real(laws_of(rows), plan.far, 0)
        self._far, self._middle, self._near = self._masses(beyond)
        # proposes: whether the masses of what is far were summed
        self._knows_far = None not in [own.real_rules[0] for own in plan.rows]

    # --- moments ----------------------------------------------------------------------------------

    def _line(self, window: Window, near: bool) -> list[list[acb]]:
        """The moments of a step of each row."""
        plan, lines, tiny = self.plan, [], self.plan.tiny
        orders = [1 + s for s in self._nodes]
        for law, own, cells in zip(self._laws, plan.rows, self._cells, strict=True):
            rule = own.near_rule if near else own.rule
            assert rule is not None
            if tiny is None or near:
                apart = window if tiny is None else replace(window, low=tiny.high)
                line = law.line(apart, 1 + self._c, plan.step, plan.count, rule, cells)
            else:
                line = large_line(law, window, orders, own.terms[1], plan.step, rule, cells)
            if tiny is not None and near:
                assert own.tiny_rule is not None
                powers = real_powers(law, tiny, range(own.terms[0] + 1), own.tiny_rule, cells)
                rest = tiny_line(powers, orders)
                line = [a + b for a, b in zip(line, rest, strict=True)]
            lines.append([value * law.stay for value in line])
        return lines

    def _weighted(self) -> list[acb]:
        """``M_2(s_n)/(s_n (s_n + 1))``, half of it at ``n = 0``."""
        plan, counts = self.plan, self._counts
        middle = self._line(plan.middle, near=False)
        near = middle if plan.near is None else self._line(plan.near, near=True)
        row = line_product(
            [value**count for value in line] for line, count in zip(near, counts, strict=True)
        )
        if plan.near is not None:
            logs = [
                [count * (m / n).log1p() for m, n in zip(*lines, strict=True)]
                for *lines, count in zip(middle, near, counts, strict=True)
            ]
            ratios = (sum(at, acb(0)).expm1() for at in zip(*logs, strict=True))
            row = [value * ratio for value, ratio in zip(row, ratios, strict=True)]
        row = [value / (s * (s + 1)) for value, s in zip(row, self._nodes, strict=True)]
        return [row[0] / 2, *row[1:]]

    def _real(self, laws: Sequence[SampledLaw], window: Window, which: int) -> list[list[arb]]:
        """Masses of a step of each row under ``P`` and ``Q`` over ``1 - q``, by a rule of each."""
        found = []
        for law, own, cells in zip(laws, self.plan.rows, self._cells, strict=True):
            rule = own.real_rules[which]
            # proposes: whether they are summed; what is not is between 0 and a bound
            if rule is None:
                found.append([arb(0).union(cells.bound(window, rho)) for rho in (1.0, 0.0)])
                continue
            found.append(law.masses(real_powers(law, window, law.orders, rule, cells)))
        return found

    def _masses(self, beyond: list[list[arb]]) -> tuple[Masses, Masses, Masses]:
        """Of the outcomes with a far step, of the rest, and of those with near steps only."""
        plan, counts, stays = self.plan, self._counts, [law.stay for law in self._laws]
        between = [[arb(0), arb(0)]] * len(stays)
        if plan.near is not None:
            between = self._real(self._laws, plan.middle, 1)
        found = []
        for whole, outer, inner in zip(
            ([arb(1)] * len(stays), stays),
            zip(*beyond, strict=True),
            zip(*between, strict=True),
            strict=True,
        ):
            outside = [stay * mass for stay, mass in zip(stays, outer, strict=True)]
            inside = [a - b for a, b in zip(whole, outside, strict=True)]
            near = arb(0)
            if plan.near is not None:
                alone = (a - s * b for a, s, b in zip(inside, stays, inner, strict=True))
                near = product([*alone], counts)
            found.append((lost(outside, whole, counts), product(inside, counts) - near, near))
        (a, b, c), (d, e, f) = found
        return Masses(a, d), Masses(b, e), Masses(c, f)

    def _bounds(self) -> tuple[arb, arb, arb, arb, list[tuple[arb, int]]]:
        """Upper bounds on what does not depend on the gap, as :meth:`delta` takes them."""
        plan, counts = self.plan, self._counts
        far_order, near_order, upper, lower = plan.orders
        inside, whole = replace(plan.middle, low=None), replace(plan.far, low=None)

        def each(window: Window, rho: arb) -> list[arb]:
            """Of the moments of a step of each row; of a float 1 more is mostly no float."""
            return [
                law.stay * cells.bound(window, rho)
                for law, cells in zip(self._laws, self._cells, strict=True)
            ]

        def rest(rho: arb) -> arb:
            """Of the moments of the outcomes without a far step, not all near."""
            every = each(inside, rho)
            if plan.near is None:
                return product(every, counts)
            return with_some(each(plan.middle, rho), every, counts)

        back, line = -arb(far_order), 1 + self._c
        far = with_some(each(plan.far, back), each(whole, back), counts)
        most = plan.count if plan.tiny is None else plan.most
        # at or just below the first node that is left out
        height = math.nextafter((most + 1) * plan.step, 0.0)
        decayed = [
            law.stay * cells.decayed(plan.middle, line, height, own.angle)
            for law, cells, own in zip(self._laws, self._cells, plan.rows, strict=True)
        ]
        near, tails = arb(0), []
        if plan.near is None:
            tails = [(product(decayed, counts), most)]
        else:
            near = product(each(plan.near, 1 + arb(near_order)), counts)
            small = each(plan.near, line)
            ends = [(decayed, most)]
            # proposes: how far powers bound; of the nodes up to there and of those beyond
            if plan.tiny is not None:
                ends.append((self._decayed(line), plan.count))
            for parts, count in ends:
                moduli = [a + b for a, b in zip(small, parts, strict=True)]
                tails.append((with_some(parts, moduli, counts), count))
        # proposes: the order; where there is none nothing may be below
        under = rest(-arb(lower)) if lower else arb(0)
        return far, near, rest(1 + arb(upper)), under, tails

    def _decayed(self, line: arb) -> list[arb]:
        """Bounds on the middle at all nodes beyond the line that :attr:`Plan.most` does not."""
        plan = self.plan
        orders = acb(line, (plan.count + 1) * self._h), acb(line, plan.most * self._h)
        return [
            law.stay * fallen(cells, plan.middle, orders, own.terms[1], own.power_angle)
            for law, cells, own in zip(self._laws, self._cells, plan.rows, strict=True)
        ]

    # --- delta ------------------------------------------------------------------------------------

    def delta(self, epsilon: arb) -> arb:
        """An enclosure of delta at ``epsilon``, of the direction of the plan."""
        plan = self.plan
        gap = self._largest + (-epsilon if plan.add else epsilon)
        far, near, beyond, under, tails = self._constants
        far_order, near_order, upper, lower = (arb(b) for b in plan.orders)
        weight = (-self._c * gap).exp()
        ((turned,),) = self._row.at([acb(0, -self._h * gap).exp()])
        total = self._h / arb.pi() * weight * turned.real
        parts = (outer_tail(bound, weight, self._h, count) for bound, count in tails)
        tail = sum(parts, arb(0))
        constant = chernoff_constant(upper) * beyond
        above = alias(constant, upper, upper - self._c, self.period, gap)
        below = arb(0)
        # of balls; an order bounds what is below, and none is refused where it is needed
        # proposes: the order and the period; floats mean their exact values
        if self._falls or not gap < self.period:
            # proposes: likewise
            if not lower > 0:
                raise ValueError("nothing bounds what is below the gap")
            constant = chernoff_constant(lower) * under
            below = alias(constant, -1 - lower, self._c + 1 + lower, self.period, gap)
        centre = total - self._known(gap)
        # the outcomes with a far loss are known but for a bound, or add their mass at most
        # proposes: which; both hold
        if plan.add or self._knows_far:
            centre += -self._near.known(gap) if plan.add else self._far.known(gap)
            slack = far_small(far_order, far, gap)
        else:
            slack = arb.max(self._far.p, arb(0))
        if plan.near is not None:
            slack += near_large(near_order, near, gap)
        found = (centre - tail - above - below).lower().union((centre + tail + slack).upper())
        return found * epsilon.exp() if plan.add else found

    def reversed(self, at: arb) -> arb:
        """Delta of adding, ``1 - e^eps + e^eps D(-eps)``, by a line of removing [7]."""
        return at.exp() * self.delta(-at) - at.expm1()

    def _known(self, gap: arb) -> arb:
        """The known part of the aliases [6]."""
        c, x, masses = self._c, self.period, self._middle
        grown = gap.exp() * masses.q
        if self.plan.add:
            return grown / (-(c + 1) * x).expm1() - masses.p / (-c * x).expm1()
        return masses.p / (c * x).expm1() - grown / ((c + 1) * x).expm1()
