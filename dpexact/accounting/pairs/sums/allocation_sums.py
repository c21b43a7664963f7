"""Certified moments of the mean of log-normal variables, by Mellin transforms along rays.

``S`` is the mean of ``t`` independent ``Y = exp(aX - a^2/2)``, ``X`` normal. For ``Re z > 0`` and
``k >= 0``, with ``G_k(u) = E[S^k e^{-uS}]``,

    E S^{k-z} = (1 / Gamma(z)) Int u^{z-1} G_k(u) du

along any ray. Proofs are in ``docs/theory/allocation.md``; the numbers in brackets refer to its
propositions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import TooExpensive, integer
from dpexact.accounting.pairs.sums.allocation_products import Fixed, power, powers, turned_sums
from dpexact.accounting.pairs.sums.allocation_rules import Rule, Strip
from dpexact.balls import approximate, ball
from dpexact.reals import Real

# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_aliases(lift: arb, edge: arb, spacing: arb) -> arb:
    """Trapezoidal error of the inner rule over a bound on ``p_j`` in the strip [5]."""
    above, below = lift - edge, lift + edge
    return ((above * above / 2).exp() + (below * below / 2).exp()) / (
        2 * arb.pi() * edge / spacing
    ).expm1()


def inner_tails(lift: arb, spacing: arb, reach: arb) -> arb:
    """Nodes of the inner rule beyond ``reach`` on both sides, over a bound on ``p_j`` [5]."""
    density = (-reach * reach / 2).exp() / (2 * arb.pi()).sqrt()
    return 2 * (lift * lift / 2).exp() * spacing * density / (-(-reach * spacing).expm1())


def rotation(a: arb, t: int, order: arb, angle: arb, shift: arb) -> arb:
    """``Int |u^{z-1} G_k(u)| |du|`` on a ray is at most this times ``Gamma(order) E S^w`` [4].

    ``e^{t shift^2 / 2} cos(angle - a shift)^{-order}``.
    """
    cosine = (angle - a * shift).cos()
    if not cosine > 0:
        raise TooExpensive("the ray is turned too far")
    return (t * shift * shift / 2 - order * cosine.log()).exp()


def outer_aliases(bound: arb, turn: arb, spacing: arb) -> arb:
    """Aliases of the outer rule, from a ray that is turned by ``turn`` [6]."""
    return bound / (2 * arb.pi() * turn / spacing).expm1()


def left_tail(whole: arb, order: arb, spacing: arb, first: arb) -> arb:
    """Outer nodes to the left of ``first``, ``|G_k| <= E S^k`` [7]."""
    return whole * spacing * (order * (first - spacing)).exp() / (-(-order * spacing).expm1())


def right_tail(value: arb, order: arb, slope: arb, spacing: arb, last: arb) -> arb:
    """Outer nodes from ``last`` on, if ``G_k(e^v)`` falls like ``e^{-slope v}`` there [7]."""
    return value * spacing * (order * last).exp() / (-(-(slope - order) * spacing).expm1())


class Nodes(NamedTuple):
    """``H(v_i) = u^k G_k(u) / k!`` at the nodes of a ray."""

    first: arb
    spacing: arb
    values: list[acb]


class Law:
    """The law of ``S``, with its parameters as balls at the current precision."""

    def __init__(self, a: Real, t: int) -> None:
        self._a, self.t = a, t
        self.a = ball(a)

    # --- exact moments ----------------------------------------------------------------------------

    def whole(self, k: int) -> arb:
        """``E S^k``, a sum over how often each variable occurs [8]."""
        return self.wholes(k)[k]

    def wholes(self, k: int) -> list[arb]:
        """``E S^0 .. E S^k`` [8]."""
        square = self.a * self.a / 2
        moments = [(square * (j * (j - 1))).exp() / arb(j + 1).gamma() for j in range(k + 1)]
        scaled = enumerate(powers(moments, self.t, k))
        return [value * arb(n + 1).gamma() / arb(self.t) ** n for n, value in scaled]

    def between(self, w: arb) -> arb:
        """``E S^w``, ``w >= 1``, from the whole powers next to it: ``log E S^w`` is convex [8]."""
        k = int(integer(w.lower().floor()))
        share = w - k
        # proposes: the power; a ball decides whether it serves
        if not (k >= 1 and share >= 0 and share <= 1):
            return arb.nan()
        *_, below, low, high, above = (value.log() for value in self.wholes(k + 2))
        most = low + share * (high - low)
        least = arb.max(low + share * (low - below), high - (1 - share) * (above - high))
        return least.union(most).exp()

    # --- nodes ------------------------------------------------------------------------------------

    def _error(self, strip: Strip, chi: arb) -> tuple[arb, arb]:
        """The error of the inner rule over a bound on ``p_j``, and the cosine in that bound."""
        lift, edge, spacing = arb(strip.lift), arb(strip.edge), arb(strip.spacing)
        cosine = arb.min((abs(chi) + self.a * edge).cos(), chi.cos())
        # proposes: the strip; balls decide whether it is one
        if not (cosine > 0 and abs(chi) + self.a * edge < arb.pi() / 2):
            raise TooExpensive("the strip of an inner rule is too wide")
        aliases = strip_aliases(lift, edge, spacing)
        return (aliases + inner_tails(lift, spacing, arb(strip.reach))).upper(), cosine

    def _reached(self, strip: Strip, powers: int) -> tuple[int, int]:
        """The first and the last node of the inner rule; beyond are at most its tails.

        Proposes: how many nodes; `inner_tails` bounds those beyond the reach on either side.
        """
        lowest = -int(strip.reach / strip.spacing) - 1
        highest = int((strip.reach + approximate(self._a) * powers) / strip.spacing) + 1
        inner, reach = arb(strip.spacing), arb(strip.reach)
        if not (-lowest * inner >= reach and highest * inner >= reach + self.a * powers):
            raise TooExpensive("the inner rule is too short")
        return lowest, highest

    def nodes(self, rule: Rule) -> Nodes:
        """``H`` at all nodes of a ray: every inner sum by products of polynomials [5]."""
        k, strip, every = rule.power, rule.strip, rule.every
        inner = arb(strip.spacing)
        spacing = inner * self.a / every
        first = arb(rule.first)
        angle = arb(rule.angle)
        lift = arb(strip.lift)
        chi = angle - self.a * lift
        error, cosine = self._error(strip, chi)
        lowest, highest = self._reached(strip, k)
        scale = inner / (2 * arb.pi()).sqrt()
        width = (highest - lowest) * every + 1
        start = first - self.a * self.a / 2 - arb(self.t).log() + lowest * inner * self.a
        turn, depth = acb(0, chi).exp(), arb(rule.depth)
        light = (-depth).exp().upper()
        masses = []
        # proposes: likewise
        for i in range(rule.count + width):
            rate = (start + i * spacing).exp() * turn
            # proposes: which values are given up: they are below `light`
            heavy = bool(rate.real < depth)
            masses.append((-rate).exp() if heavy else acb(arb(0, light), arb(0, light)))
            # proposes: likewise, as the rates increase
            if not heavy and rate.real > depth:
                masses += [masses[-1]] * (rule.count + width - len(masses))
                break
        function = Fixed(masses, rule.bits)
        normal, shares = [], []
        # proposes: likewise
        for j in range(lowest, highest + 1):
            x = acb(j * inner, -lift)
            normal.append(scale * (-x * x / 2).exp())
            shares.append((self.a * (x - self.a / 2)).exp())
        z = [first.exp() / self.t * acb(0, angle).exp()]
        ratio = spacing.exp()
        # proposes: likewise
        for _ in range(rule.count):
            z.append(z[-1] * ratio)
        scales = [acb(1)] * len(z)
        columns: list[list[acb]] = []
        bounds = self._bounds([abs(x) for x in z], k, cosine)
        # proposes: the power; the transform holds for any
        for j in range(k + 1):
            if j:
                normal = [n * y for n, y in zip(normal, shares, strict=True)]
                scales = [s * x / j for s, x in zip(scales, z, strict=True)]
            weights = [acb(0)] * width
            weights[::every] = reversed(normal)
            # proposes: likewise
            found = function.times(weights)[width - 1 : width + rule.count]
            radii = [arb(0, (error * b).upper()) for b in bounds[j]]
            columns.append(
                [s * f + acb(r, r) for s, f, r in zip(scales, found, radii, strict=True)]
            )
        rows = zip(*columns, strict=True)
        return Nodes(first, spacing, [power(row, self.t, k) for row in rows])

    def _bounds(self, z: list[arb], k: int, cosine: arb) -> list[list[arb]]:
        """Bounds on ``E p_j(zY)`` in the strip, for ``j = 0 .. k`` and each ``z = |u| / t`` [5].

        ``r^j e^{-r cosine} / j! <= r^b ((j - b) / (e cosine))^{j - b} / j!`` for ``0 <= b <= j``.
        """
        square, size = self.a * self.a, approximate(self._a) ** 2
        # proposes: powers, since any gives a bound
        logs = np.array([float(x.mid().log().mid()) for x in z]) + math.log(float(cosine.mid()))
        powers = [[arb(1)] * len(z)]
        # proposes: how many are needed
        for _ in range(k):
            powers.append([p * x for p, x in zip(powers[-1], z, strict=True)])
        found = []
        # proposes: likewise
        for j in range(k + 1):
            factors = []
            for b in range(j + 1):
                rest = (arb(j - b) / (arb.const_e() * cosine)) ** (j - b)
                factors.append((square * (b * (b - 1)) / 2).exp() * rest / arb(j + 1).gamma())
            # proposes: likewise
            found.append([factors[b] * powers[b][i] for i, b in enumerate(_least(logs, size, j))])
        return found

    def at(self, u: arb, k: int, strip: Strip) -> tuple[arb, arb]:
        """``G_k(u)`` at a positive ``u``, and minus the slope of ``log E e^{-uS}`` in ``log u``."""
        error, cosine = self._error(strip, arb(0))
        inner = arb(strip.spacing)
        lowest, highest = self._reached(strip, max(k, 1))
        scale, z = inner / (2 * arb.pi()).sqrt(), u / self.t
        totals = [arb(0)] * (max(k, 1) + 1)
        # proposes: likewise
        for j in range(lowest, highest + 1):
            x = j * inner
            r = z * (self.a * x - self.a * self.a / 2).exp()
            mass = scale * (-x * x / 2 - r).exp()
            for n in range(len(totals)):
                totals[n] += mass
                mass = mass * r / (n + 1)
        for n, (bound,) in enumerate(self._bounds([z], len(totals) - 1, cosine)):
            totals[n] += arb(0, (error * bound).upper())
        value = power(totals[: k + 1], self.t, k) * arb(k + 1).gamma() / u**k
        return value, self.t * totals[1] / totals[0]


def _least(logs: Floats, size: float, j: int) -> list[int]:
    """Where ``(z cosine)^b e^{size b (b - 1) / 2} ((j - b) / e)^{j - b}`` is least.

    Proposes: ``b``, since any gives a bound.
    """
    low, high = np.zeros(len(logs)), np.full(len(logs), float(j))
    for _ in range(2 + j.bit_length()):
        middle = (low + high) / 2
        rises = logs + size * (middle - 0.5) > np.log(np.maximum(j - middle, 1e-9))
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    found: list[int] = np.rint((low + high) / 2).astype(int).tolist()
    return found


def raised(total: acb, t: int) -> acb:
    """A power, by a logarithm: squares would turn boxes that widen. Proposes: which branch."""
    # where an error drowns a value, so it does its power
    return total**t if total.contains(0) else (t * total.log()).exp()


# --- moments --------------------------------------------------------------------------------------


class Mellin:
    """``E S^w`` for the real part ``w`` and any imaginary part, by rules from the planner."""

    def __init__(self, law: Law, w: arb, power: int) -> None:
        self.law, self.k = law, power
        self.w, self.order = w, power - w
        if not self.order >= 1:  # [4] has decreasing bounds there
            raise TooExpensive("the order of a Mellin transform must be 1 or more")
        self._factorial = arb(power + 1).gamma()

    def _tails(self, rule: Rule, nodes: Nodes) -> arb:
        """What the nodes outside a ray weigh, without ``e^{-angle Im z}``, [7]."""
        law, order, spacing = self.law, self.order, nodes.spacing
        left = left_tail(law.whole(self.k), order, spacing, nodes.first)
        last = nodes.first + len(nodes.values) * spacing
        angle = arb(rule.angle)
        shift, chi = arb(rule.turn), angle - law.a * arb(rule.turn)
        # proposes: the ray; balls decide whether it is admissible
        if not chi.cos() > 0:
            raise TooExpensive("the ray is turned too far")
        value, slope = law.at(last.exp() * chi.cos(), self.k, rule.far)
        if not slope > order:
            raise TooExpensive("the ray ends inside the bulk of the integrand")
        grown = (law.t * shift * shift / 2).exp()
        return left + grown * right_tail(value, order, slope, spacing, last)

    def real(self, rule: Rule) -> arb:
        """``E S^w``, enclosed on both sides [6]."""
        nodes = self.law.nodes(rule)
        total = arb(0)
        for i, value in enumerate(nodes.values):
            total += (-self.w * (nodes.first + i * nodes.spacing)).exp() * value.real
        gamma = self.order.gamma()
        total = total * nodes.spacing * self._factorial / gamma
        tails = self._tails(rule, nodes) / gamma
        share = 2 * self._aliases(rule.aside, nodes.spacing)
        if not share < 1:
            raise TooExpensive("the outer rule is too coarse")
        return (total / (1 + share)).union((total + tails) / (1 - share))

    def _aliases(self, aside: tuple[float, float], spacing: arb) -> arb:
        turn, shift = arb(aside[0]), arb(aside[1])
        bound = rotation(self.law.a, self.law.t, self.order, turn, shift)
        return outer_aliases(bound, turn, spacing)

    def line(self, rule: Rule, moment: arb, step: float, count: int) -> list[acb]:
        """``E S^{w - i n step}`` for ``n = 0 .. count`` [6]."""
        law, nodes, order = self.law, self.law.nodes(rule), self.order
        angle, upper = arb(rule.angle), arb.pi() / 2 + arb(rule.aside[0])
        lower, shift = arb(rule.lower), arb(rule.aside[1])
        whole = order.gamma() * moment
        above = whole * outer_aliases(
            rotation(law.a, law.t, order, upper, shift), upper - angle, nodes.spacing
        )
        below = whole * outer_aliases(
            rotation(law.a, law.t, order, lower, arb(0)), angle - lower, nodes.spacing
        )
        tails = self._tails(rule, nodes)
        weights = [
            (-self.w * (nodes.first + i * nodes.spacing)).exp() * value
            for i, value in enumerate(nodes.values)
        ]
        found = []
        sums = turned_sums(weights, arb(step) * nodes.spacing, count)
        for n, total in enumerate(sums):
            y = n * arb(step)
            z = acb(order, y)
            phase = acb(0, 1) * (angle * (z - self.k) + y * nodes.first)
            gamma = z.rgamma()
            radius = gamma.abs_upper() * (
                above * (-upper * y).exp() + below * (-lower * y).exp() + tails * (-angle * y).exp()
            )
            error = arb(0, radius.upper())
            value = total * phase.exp() * gamma * nodes.spacing * self._factorial
            found.append(value + acb(error, error))
        return found

    def decayed(self, moment: arb, u: arb, beyond: float, shift: float) -> arb:
        """A bound on ``|E S^{w + iy}|`` for every ``|y| >= u`` [4]."""
        angle = arb.pi() / 2 + arb(beyond)
        grown = rotation(self.law.a, self.law.t, self.order, angle, arb(shift))
        share = self.order.gamma() * acb(self.order, u).rgamma().abs_upper()
        return arb.min((moment * share * grown * (-angle * u).exp()).upper(), moment.upper())
