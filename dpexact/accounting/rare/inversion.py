r"""Delta of rare samples, enclosed with every error term.

Every step is marked near, middle or far with the heights of its windows as probabilities. The
outcomes with a far step and those with near steps only are known but for small bounds; those of the
rest are inverted on a vertical line. Hypotheses and proofs are in ``docs/theory/rare.md``; the
numbers in brackets refer to its sections.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import acb, arb

from dpexact.accounting.contour.inversion import alias, outer_tail
from dpexact.accounting.pairs.pair import chernoff_constant
from dpexact.accounting.pairs.power_sums import Rows
from dpexact.accounting.rare.law import Cells, SampledLaw
from dpexact.accounting.rare.planning import Plan
from dpexact.accounting.rare.windows import Window
from dpexact.balls import ball, precision
from dpexact.reals import Real

#: Bounds need few digits.
_BOUND_BITS = 64
#: Those of the masses under P and under Q.
_ORDERS = (1.0, 0.0)

# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def far_small(order: arb, far: arb, whole: arb, count: int, gap: arb) -> arb:
    """``K(b) T F M^{T-1} e^{(1+b) gap}``: a far loss, and yet a small sum [7]."""
    moment = count * far * whole ** (count - 1)
    return chernoff_constant(order) * moment * ((1 + order) * gap).exp()


def near_large(order: arb, near: arb, count: int, gap: arb) -> arb:
    """``K(b) N^T e^{-b gap}``: near losses only, and yet a large sum [7]."""
    return chernoff_constant(order) * near**count * (-order * gap).exp()


class Masses(NamedTuple):
    """``P(event)`` and ``E_P[e^{-Z'}; event]``."""

    p: arb
    q: arb

    def known(self, gap: arb) -> arb:
        """``E_P[1 - e^{gap - Z'}; event]``."""
        return self.p - gap.exp() * self.q


class Inversion:
    """Moments on one line, from which delta follows at any gap. Use it at the plan's precision."""

    def __init__(self, sigma: Real, q: Real, count: int, plan: Plan) -> None:
        self.plan, self._times = plan, count
        self._law = SampledLaw(sigma, q)
        self._stay = self._law.stay
        self._q = ball(q)
        self._c, self._h = arb(plan.abscissa), arb(plan.step)
        self.period = 2 * arb.pi() / self._h
        # proposes: the side; both are proved
        if not (plan.abscissa > 0 or plan.abscissa < -1):
            raise ValueError("the line runs between the poles")
        # proposes: how many nodes; the tail bounds all others
        self._nodes = [acb(self._c, n * self._h) for n in range(plan.count + 1)]
        with precision(_BOUND_BITS):
            # proposes: the cells; any bound
            self._cells = Cells(self._law, plan.edges)
            self._constants = self._bounds()
        self._row = Rows([self._weighted()])
        with precision(plan.far_bits):
            law = SampledLaw(sigma, q)
            beyond = law.real(plan.far, _ORDERS, plan.real_rules[0], self._cells)
        self._far, self._middle, self._near = self._masses(beyond)

    # --- moments ----------------------------------------------------------------------------------

    def _line(self, window: Window, near: bool) -> list[acb]:
        plan = self.plan
        rule = plan.near_rule if near else plan.rule
        assert rule is not None
        order = 1 + plan.abscissa
        line = self._law.line(window, order, plan.step, plan.count, rule, self._cells)
        return [value * self._stay for value in line]

    def _weighted(self) -> list[acb]:
        """``M_2(s_n)/(s_n (s_n + 1))``, half of it at ``n = 0``."""
        plan, times = self.plan, self._times
        middle = self._line(plan.middle, near=False)
        if plan.near is None:
            row = [value**times for value in middle]
        else:
            near = self._line(plan.near, near=True)
            row = [
                (times * (m / n).log1p()).expm1() * n**times
                for m, n in zip(middle, near, strict=True)
            ]
        row = [value / (s * (s + 1)) for value, s in zip(row, self._nodes, strict=True)]
        return [row[0] / 2, *row[1:]]

    def _masses(self, beyond: list[arb]) -> tuple[Masses, Masses, Masses]:
        """Of the outcomes with a far step, of the rest, and of those with near steps only."""
        plan, times = self.plan, self._times
        wholes, between = (arb(1), self._stay), [arb(0), arb(0)]
        if plan.near is not None:
            between = self._law.real(plan.middle, _ORDERS, plan.real_rules[1], self._cells)
        found = []
        for whole, outer, inner in zip(wholes, beyond, between, strict=True):
            outside = self._stay * outer
            inside = whole - outside
            all_inside = inside**times
            far = -(whole**times) * (times * (-outside / whole).log1p()).expm1()
            near = arb(0) if plan.near is None else (inside - self._stay * inner) ** times
            found.append((far, all_inside - near, near))
        (a, b, c), (d, e, f) = found
        return Masses(a, d), Masses(b, e), Masses(c, f)

    def _bounds(self) -> tuple[arb, arb, arb, arb, arb, arb]:
        """Upper bounds on what does not depend on the gap, as :meth:`delta` takes them."""
        plan, times, cells, stay = self.plan, self._times, self._cells, self._stay
        far_order, near_order, upper, lower = plan.orders
        inside = Window(plan.far.shape, high=plan.middle.high)

        def rest(order: float) -> arb:
            """Of the moments of the outcomes without a far step, not all near."""
            every = stay * cells.bound(inside, 1 + order)
            if plan.near is None:
                return every**times
            return times * stay * cells.bound(plan.middle, 1 + order) * every ** (times - 1)

        far = stay * cells.bound(plan.far, -far_order)
        whole = stay * cells.bound(Window(plan.far.shape), -far_order)
        # at or just below the first node that is left out
        height = math.nextafter((plan.count + 1) * plan.step, 0.0)
        line = 1 + plan.abscissa
        decayed = stay * cells.decayed(plan.middle, line, height, plan.angle)
        near = arb(0)
        if plan.near is None:
            tail = decayed**times
        else:
            near = stay * cells.bound(plan.near, 1 + near_order)
            modulus = stay * cells.bound(plan.near, line) + decayed
            tail = times * decayed * modulus ** (times - 1)
        # proposes: the order; where there is none nothing may be below
        under = rest(-1 - lower) if lower else arb(0)
        return far, whole, near, rest(upper), under, tail

    # --- delta ------------------------------------------------------------------------------------

    def delta(self, epsilon: arb) -> arb:
        """An enclosure of delta at ``epsilon``, of the direction of the plan."""
        plan, times = self.plan, self._times
        signed = -epsilon if plan.add else epsilon
        gap = signed - times * (-self._q).log1p()
        far, whole, near, beyond, under, decayed = self._constants
        far_order, near_order, upper, lower = (arb(b) for b in plan.orders)
        weight = (-self._c * gap).exp()
        ((turned,),) = self._row.at([acb(0, -self._h * gap).exp()])
        total = self._h / arb.pi() * weight * turned.real
        tail = outer_tail(decayed, weight, self._h, plan.count)
        constant = chernoff_constant(upper) * beyond
        above = alias(constant, upper, upper - self._c, self.period, gap)
        below = arb(0)
        # of balls; an order bounds what is below, and none is refused where it is needed
        # proposes: the order and the period; floats mean their exact values
        if not gap < self.period:
            # proposes: likewise
            if not lower > 0:
                raise ValueError("the period is shorter than the gap")
            constant = chernoff_constant(lower) * under
            below = alias(constant, -1 - lower, self._c + 1 + lower, self.period, gap)
        slack = far_small(far_order, far, whole, times, gap)
        if plan.near is not None:
            slack += near_large(near_order, near, times, gap)
        centre = total - self._known(gap)
        centre += -self._near.known(gap) if plan.add else self._far.known(gap)
        found = (centre - tail - above - below).lower().union((centre + tail + slack).upper())
        return found * epsilon.exp() if plan.add else found

    def _known(self, gap: arb) -> arb:
        """The known part of the aliases [6]."""
        c, x, masses = self._c, self.period, self._middle
        grown = gap.exp() * masses.q
        if self.plan.add:
            return grown / (-(c + 1) * x).expm1() - masses.p / (-c * x).expm1()
        return masses.p / (c * x).expm1() - grown / ((c + 1) * x).expm1()
