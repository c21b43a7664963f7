r"""One Gaussian step on a sample: certified moments of its small, middle and large losses.

With ``A`` and ``v`` of :mod:`~dpexact.accounting.engines.rare.likelihood` the loss of a step is
``k log(1-q) + log A - log v``, and for a window ``W``

.. math:: J_W(\rho) = \int \varphi\,A^\rho\,v^{1-\rho}\,W\,dx,
   \qquad E_P[e^{sZ'}; W] = (1-q)^k J_W(1 + s),\quad Z' = \log A - \log v.

``rho`` is at least 1, or at most 0. The numbers in brackets refer to sections of
``docs/theory/rare.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from flint import acb, arb

from dpexact.accounting.engines.rare.heights import Heights
from dpexact.accounting.engines.rare.likelihood import Likelihood
from dpexact.accounting.engines.rare.rows import Row
from dpexact.accounting.engines.rare.windows import Window
from dpexact.accounting.pairs.sums.power_sums import line_sums
from dpexact.balls import current, normal_tail
from dpexact.reals import Real

#: So many nodes follow from one by products, which round.
_RENEWED = 64


@dataclass(frozen=True)
class Rule:
    """A trapezoidal rule on ``Im x = shift``: nodes ``j spacing``, ``first <= j <= last``.

    ``angle``, over ``sigma``, is the top of the strip, for a rule on the real line its half width.
    """

    shift: float
    angle: float
    spacing: float
    first: int
    last: int


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_oblique(shift: arb, top: arb, spacing: arb, real: arb, high: arb) -> arb:
    """Error of a rule on ``Im x = shift`` [3].

    ``real`` and ``high`` bound the integrals of the modulus on the real line and on the top.
    """
    rate = 2 * arb.pi() / spacing
    return real / (rate * shift).expm1() + high / (rate * (top - shift)).expm1()


def normal_beyond(place: arb, spacing: arb) -> arb:
    """At least ``t sum phi(jt)`` over all ``jt >= place + t`` [4]."""
    return normal_tail(place) if place >= 0 else 1 + spacing


def hats(a: arb, b: arb, mass: arb, tilted: arb) -> tuple[arb, arb]:
    """What the values at ``a`` and ``b`` count for in ``Int phi`` of their chord over a cell [5].

    At least ``Int phi f(lambda)`` for convex ``f``. ``mass`` and ``tilted`` are the integrals of
    ``phi`` and of ``phi lambda`` over the cell.
    """
    right = (tilted - a * mass) / (b - a)
    return mass - right, right


def crossed(low: arb, high: arb, first: arb, last: arb) -> arb:
    """By how much chords of what rises and of what falls exceed the chord of their product [10]."""
    return (high - low) * (first - last) / 4


class SampledLaw(Likelihood):
    """Use it at the precision it was made for."""

    def __init__(self, sigma: Real, q: Real, group: int = 1, replaced: bool = False) -> None:
        super().__init__(sigma, q, group, replaced=replaced)
        self.bits = current()

    def mean(self, order: arb) -> arb:
        """``Int phi lambda^r``."""
        return (order * self.start + (order * self.rate) ** 2 / 2).exp()

    def left(self, window: Window, order: arb, place: arb, angle: arb) -> tuple[arb, arb]:
        """``r`` and ``C``: left of it ``phi |lambda^order W|`` is below ``C phi(x - r rate)`` [9].

        Proposes: how much the window takes of the power, which is best where the density is.
        """
        ratio = self.ratio(place)
        power = window.steepest(angle, ratio, float((place / self.rate - order).mid()))
        return order + power, self.mean(order + power) * window.below(angle, ratio, power)

    def outside(self, window: Window, order: arb, rule: Rule) -> arb:
        """At least the weight of all nodes beyond the first and the last [4]."""
        spacing, shift = arb(rule.spacing), arb(rule.shift)
        angle = self.angle(shift)
        left, right = rule.first * spacing, rule.last * spacing
        # of balls; where a record is replaced nothing is known of other orders
        if self.replaced and not order >= 1:
            raise ValueError("a line of so small an order is not bounded here")
        power, shares = (order - 1, self.shares) if order >= 1 else (arb(0), self.shares[:1])
        masses = [arb(0), arb(0)]
        for j, share in enumerate(shares):
            masses[0] += share * normal_beyond(j * self.rate - left, spacing)
            masses[1] += share * normal_beyond(right - j * self.rate, spacing)
        small = self.ratio(left)
        below = (power * self.more(small).log1p()).exp() * window.below(angle, small, arb(0))
        above = self.ceiling(window, power, angle, self.ratio(right))
        weight = (shift * shift / 2).exp() * self.least ** (1 - order)
        return weight * (masses[0] * below + masses[1] * above)

    def ceiling(self, window: Window, power: arb, angle: arb, start: arb) -> arb:
        """At least ``A(lambda)^power |W(lambda e^{i theta})|`` for ``lambda >= start`` [2].

        As ``A`` is at most ``(1 + lambda/k)^k``.
        """
        k = self.group
        return window.ceiling(k * power, angle, start, k) / arb(k) ** (k * power)

    # --- values -----------------------------------------------------------------------------------

    def line(
        self,
        window: Window,
        order: arb | float,
        step: float,
        count: int,
        rule: Rule,
        cells: Cells,
    ) -> list[acb]:
        """``J_W(rho + i n step)``, ``n = 0 .. count``, all nodes at once."""
        rho = arb(order)
        nodes = self.laid(window, rho, step, rule, lambda _, ratio: self.losses(ratio))
        bounds = cells.bound(window, order), cells.decayed(window, order, 0.0, rule.angle)
        return nodes.sums(count, self.outside(window, rho, rule), bounds)

    def laid(
        self,
        window: Window,
        order: arb,
        step: float,
        rule: Rule,
        exponent: Callable[[acb, acb], tuple[acb, acb]],
    ) -> Nodes:
        """Nodes of a rule for ``phi e^{(rho + i n step) l + m} W``.

        ``l`` and ``m`` are those of ``log lambda, lambda``.
        """
        spacing, shift = arb(rule.spacing), arb(rule.shift)
        top = arb(rule.angle) / self.rate
        # proposes: the rule, whose floats mean their exact values; balls decide the strip
        if not 0 < shift < top:
            raise ValueError("the strip is not admissible")
        i_step, half, angle = acb(0, arb(step)), arb(0.5), shift * self.rate
        growth = (spacing * self.rate).exp()
        found, ratio = Nodes([], [], [], spacing, shift, top), acb(0)
        # proposes: the nodes; `outside` bounds all others
        for j in range(rule.first, rule.last + 1):
            x = j * spacing
            log = acb(self.start + x * self.rate, angle)
            # proposes: which is multiplied from the one before
            ratio = ratio * growth if len(found.ratios) % _RENEWED else log.exp()
            # proposes: the root, a float that means its exact value
            power = ratio if window.root == 1 else (log * window.root).exp()
            (loss, more), z = exponent(log, ratio), acb(x, shift)
            found.ratios.append(log)
            weight = (loss * order + more - z * z * half).exp()
            found.weights.append(weight * window.at(power, self.bits))
            found.turns.append((i_step * loss).exp())
        return found


def laws_of(rows: Iterable[Row]) -> list[SampledLaw]:
    """Those of a step of each row."""
    return [SampledLaw(row.sigma, row.q, row.group, row.replaced) for row in rows]


class Nodes(NamedTuple):
    """Those of a rule above the axis: weights, turns and logarithms of ``lambda``."""

    weights: list[acb]
    turns: list[acb]
    ratios: list[acb]
    spacing: arb
    shift: arb
    top: arb

    def sums(self, count: int, outside: arb, bounds: tuple[arb, arb]) -> list[acb]:
        """At all heights, with the errors: of nodes left out, and of a rule in its strip."""
        error = outside + strip_oblique(self.shift, self.top, self.spacing, *bounds)
        radius, scale = error.abs_upper(), self.spacing / (2 * arb.pi()).sqrt()
        square = acb(arb(0, radius), arb(0, radius))
        return [v * scale + square for v in line_sums(self.weights, self.turns, count)]


#: At least a window over a cell, ends of what is convex, and what these count for.
_Chord: TypeAlias = tuple[arb, tuple[arb, arb], tuple[arb, arb]]


def _check(order: arb) -> None:
    if not (order <= 0 or order >= 1):
        raise ValueError("an order between 0 and 1 is not bounded here")


class Cells:
    """Upper bounds of integrals over cells ``[x_j, x_{j+1}]`` and both rays beyond [5]."""

    def __init__(self, law: SampledLaw, edges: Sequence[float]) -> None:
        self._law = law
        self._edges = [arb(x) for x in edges]
        # proposes: the edges, floats that mean their exact values; none of negative mass is allowed
        if not all(a < b for a, b in pairwise(self._edges)):
            raise ValueError("the edges of the cells must increase")
        #: The masses of ``phi`` and of ``phi lambda`` on the left ray, on each cell, on the right.
        self._masses = _parts(self._edges)
        self._tilted = [law.odds * mass for mass in _parts([x - law.rate for x in self._edges])]
        last = self._edges[-1]
        #: That of ``phi A`` on the right.
        self._last = sum(
            (share * normal_tail(last - j * law.rate) for j, share in enumerate(law.shares)), arb(0)
        )
        self._ratios = [arb(0), *(law.ratio(x) for x in self._edges)]
        self._losses = [law.more(r).log1p() for r in self._ratios]
        self._hats = [
            hats(a, b, mass, tilted)
            for (a, b), mass, tilted in zip(
                pairwise(self._ratios), self._masses, self._tilted, strict=False
            )
        ]
        self._heights = Heights(self._ratios)

    def bound(self, window: Window, order: arb | float) -> arb:
        """At least ``J_W(rho)``."""
        return self.decayed(window, order, 0.0, 0.0)

    def weighed(self, window: Window, order: arb, angle: float) -> arb:
        """At least ``Int phi |lambda^r W|`` on ``Im x = sigma angle`` [9]."""
        law, shift = self._law, arb(angle) / self._law.rate
        heights, first = self._heights.of(window, angle), self._edges[0]
        left, *rest = (a * b for a, b in zip(self._powers(order), heights, strict=True))
        power, tilted = law.left(window, order, first, arb(angle))
        left = arb.min(left, tilted * normal_tail(power * law.rate - first))
        return ((shift * shift / 2).exp() * sum(rest, left)).upper()

    def _powers(self, order: arb) -> list[arb]:
        """``Int phi lambda^r`` on the left ray, each cell and the right ray."""
        law = self._law
        # of balls: those of two orders are known
        if order == 0:
            return self._masses
        if order == 1:
            return self._tilted
        masses = _parts([x - order * law.rate for x in self._edges])
        return [law.mean(order) * mass for mass in masses]

    def decayed(self, window: Window, order: arb | float, height: float, angle: float) -> arb:
        """At least ``|J_W(rho + iu)|`` for all ``u >= height``, from ``Im x = sigma angle``."""
        rho, up, theta = arb(order), arb(height), arb(angle)
        _check(rho)
        law = self._law
        shift = theta / law.rate
        turn = law.angle(shift)
        heights = self._heights.of(window, angle)
        real, turned = theta.cos(), acb(0, theta).exp()
        # proposes: the angle, a float that means its exact value
        if not angle:
            logs = self._losses
        # proposes: the order likewise; what is convex of the modulus of A
        elif rho >= 1:
            more = [law.more(r * turned) for r in self._ratios]
            logs = [(2 * w.real + w.real**2 + w.imag**2).log1p() / 2 for w in more]
        else:
            logs = [law.more(real * r).log1p() for r in self._ratios]
        moduli, falls = [(rho * log).exp() for log in logs], [arb(1)] * len(logs)
        # proposes: the height, a float that means its exact value
        if height:
            falls = [(-up * (1 + law.more(r * turned)).arg()).exp() for r in self._ratios]
        values = [f * g for f, g in zip(moduli, falls, strict=True)]
        total = falls[-1] * self._beyond(window, rho, turn, heights[-1])
        cells = list(zip(heights, pairwise(values), self._hats, strict=False))
        if law.replaced:
            total, cells = self._replaced(rho, total, cells, height, angle)
        for most, (low, high), (left, right) in cells:
            total += most * (low * left + high * right)
        # of balls; one record needs none, and of small orders both fall
        if law.group > 1 and rho >= 1:
            each = zip(heights, pairwise(moduli), pairwise(falls), self._masses, strict=False)
            for most, (low, high), (first, last), mass in each:
                total += most * mass * crossed(low, high, first, last)
        return ((shift * shift / 2).exp() * total).upper()

    def _replaced(
        self, rho: arb, total: arb, cells: list[_Chord], height: float, angle: float
    ) -> tuple[arb, list[_Chord]]:
        """With ``v`` beside, what the ray to the right has, and chords [10]."""
        law, ratios = self._law, self._ratios[1:]
        if rho >= 1:
            beside = [law.beside(rho, r, angle, height) for r in ratios]
            return total * law.least ** (1 - rho), [
                (most * more, ends, hat)
                for (most, ends, hat), more in zip(cells, beside, strict=True)
            ]
        beside = [law.beside(rho, r) for r in ratios]
        (most, _, _), *cells = cells
        return total * beside[-1] + most * law.left_mass(rho, self._edges[0]), [
            (most, (low * left, high * right), hat)
            for (most, (low, high), hat), (left, right) in zip(cells, pairwise(beside), strict=True)
        ]

    def _beyond(self, window: Window, rho: arb, angle: arb, most: arb) -> arb:
        """The ray to the right, where the modulus is at most ``most`` or its ceiling."""
        if rho >= 1:
            mass = self._last
            return mass * self._law.ceiling(window, rho - 1, angle, self._ratios[-1])
        # at most the modulus of A
        least = 1 + self._ratios[-1] * angle.cos().lower()
        return self._masses[-1] * most * least**rho


def _parts(edges: Sequence[arb]) -> list[arb]:
    """Normal masses of the left ray, of each cell, and of the right ray."""
    below = [normal_tail(-x) for x in edges if x < 0]
    above = [normal_tail(x) for x in edges[len(below) :]]
    inner = [b - a for a, b in pairwise(below)]
    # proposes: the side on which a mass is a difference; both are true
    if below and above:
        inner.append(1 - below[-1] - above[0])
    inner += [a - b for a, b in pairwise(above)]
    return [below[0] if below else 1 - above[0], *inner, above[-1] if above else 1 - below[-1]]
