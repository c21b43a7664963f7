r"""One Gaussian step on a sample: certified moments of its small, middle and large losses.

With ``lambda(x) = q/(1-q) e^{x/sigma - 1/(2 sigma^2)}`` the loss of removing a record is
``log(1-q) + log(1 + lambda)``, and for a window ``W``

.. math:: J_W(\rho) = \int \varphi(x)\,(1 + \lambda(x))^\rho\,W(\lambda(x))\,dx,
   \qquad E_P[e^{sZ'}; W] = (1-q) J_W(1 + s),\quad Z' = \log(1 + \lambda).

``rho`` is at least 1, or at most 0. The numbers in brackets refer to sections of
``docs/theory/rare.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from flint import acb, arb

from dpexact.accounting.engines.rare.windows import Window, lower_tail, upper_tail
from dpexact.accounting.pairs.sums.power_sums import line_sums
from dpexact.balls import ball, current, normal_tail
from dpexact.reals import Real

#: Windows that differ from 1 by less are not summed.
_NEGLIGIBLE = 1e-20
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


class SampledLaw:
    """Use it at the precision it was made for."""

    def __init__(self, sigma: Real, q: Real) -> None:
        self.rate = 1 / ball(sigma)
        self.stay = 1 - ball(q)
        self.odds = ball(q) / self.stay
        #: ``log lambda(0)``.
        self.start = self.odds.log() - self.rate * self.rate / 2
        self.bits = current()

    def ratio(self, x: arb) -> arb:
        """``lambda(x)``."""
        return (self.start + x * self.rate).exp()

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

    def angle(self, height: arb) -> arb:
        """By how much ``lambda`` is turned there."""
        angle = height * self.rate
        # of balls: what follows needs an angle below pi/2
        if not 2 * angle < arb.pi():
            raise ValueError("the strip is not admissible")
        return angle

    def outside(self, window: Window, order: arb, rule: Rule) -> arb:
        """At least the weight of all nodes beyond the first and the last [4]."""
        spacing, shift = arb(rule.spacing), arb(rule.shift)
        angle = self.angle(shift)
        left, right = rule.first * spacing, rule.last * spacing
        power = order - 1 if order >= 1 else arb(0)
        masses = [normal_beyond(-left, spacing), normal_beyond(right, spacing)]
        if order >= 1:
            masses[0] += self.odds * normal_beyond(self.rate - left, spacing)
            masses[1] += self.odds * normal_beyond(right - self.rate, spacing)
        small = self.ratio(left)
        below = masses[0] * (1 + small) ** power * window.below(angle, small, arb(0))
        above = masses[1] * window.ceiling(power, angle, self.ratio(right))
        return (shift * shift / 2).exp() * (below + above)

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
        nodes = self.laid(window, rho, step, rule, lambda _, ratio: (1 + ratio).log())
        bounds = cells.bound(window, order), cells.decayed(window, order, 0.0, rule.angle)
        return nodes.sums(count, self.outside(window, rho, rule), bounds)

    def laid(
        self,
        window: Window,
        order: arb,
        step: float,
        rule: Rule,
        exponent: Callable[[acb, acb], acb],
    ) -> Nodes:
        """Nodes of a rule for ``phi e^{(rho + i n step) l} W``, ``l`` of ``log lambda, lambda``."""
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
            loss, z = exponent(log, ratio), acb(x, shift)
            found.ratios.append(log)
            weight = (loss * order - z * z * half).exp()
            found.weights.append(weight * window.at(power, self.bits))
            found.turns.append((i_step * loss).exp())
        return found


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
        self._ratios = [arb(0), *(law.ratio(x) for x in self._edges)]
        self._losses = [r.log1p() for r in self._ratios]
        self._hats = [
            hats(a, b, mass, tilted)
            for (a, b), mass, tilted in zip(
                pairwise(self._ratios), self._masses, self._tilted, strict=False
            )
        ]
        self._windows: dict[tuple[Window, float], list[arb]] = {}
        self._tails: dict[tuple[float, int, float, float], tuple[list[arb], list[arb]]] = {}

    def bound(self, window: Window, order: arb | float) -> arb:
        """At least ``J_W(rho)``."""
        return self.decayed(window, order, 0.0, 0.0)

    def weighed(self, window: Window, order: arb, angle: float) -> arb:
        """At least ``Int phi |lambda^r W|`` on ``Im x = sigma angle`` [9]."""
        law, shift = self._law, arb(angle) / self._law.rate
        heights, first = self._heights(window, angle), self._edges[0]
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
        heights = self._heights(window, angle)
        real, fall = theta.cos(), arb(1)
        # proposes: the angle, a float that means its exact value
        if not angle:
            logs = self._losses
        # proposes: the order likewise; what is convex of the modulus of 1 + lambda e^{i theta}
        elif rho >= 1:
            logs = [((2 * real + r) * r).log1p() / 2 for r in self._ratios]
        else:
            logs = [(real * r).log1p() for r in self._ratios]
        values = [(rho * log).exp() for log in logs]
        # proposes: the height, a float that means its exact value
        if height:
            turned = (acb(1 + r * real, r * theta.sin()).arg() for r in self._ratios)
            falls = [(-up * angle).exp() for angle in turned]
            fall = falls[-1]
            values = [f * g for f, g in zip(values, falls, strict=True)]
        total = fall * self._beyond(window, rho, turn, heights[-1])
        for most, (low, high), (left, right) in zip(
            heights, pairwise(values), self._hats, strict=False
        ):
            total += most * (low * left + high * right)
        return ((shift * shift / 2).exp() * total).upper()

    def _beyond(self, window: Window, rho: arb, angle: arb, most: arb) -> arb:
        """The ray to the right, where the modulus is at most ``most`` or its ceiling."""
        if rho >= 1:
            mass = self._masses[-1] + self._tilted[-1]
            return mass * window.ceiling(rho - 1, angle, self._ratios[-1])
        # at most the modulus of 1 + lambda e^{i theta}
        least = 1 + self._ratios[-1] * angle.cos().lower()
        return self._masses[-1] * most * least**rho

    def _heights(self, window: Window, angle: float) -> list[arb]:
        """At least ``|W(lambda e^{i theta})|`` on the left ray, each cell and the right ray."""
        key = window, angle
        # proposes: the angle and the scales, floats that mean their exact values here as in the key
        found = self._windows.get(key)
        if found is None:
            found = self._windows[key] = self._found_heights(window, angle)
        return found

    def _small(
        self, scale: float | None, window: Window, angle: float
    ) -> tuple[list[arb], list[arb]]:
        """``P(Gamma_k > v)`` and at least ``P(Gamma_k <= v)``, at all places, for all windows."""
        count = len(self._ratios)
        if scale is None:
            return [arb(1)] * count, [arb(0)] * count
        shape, root = window.shape, window.root
        key = scale, shape, root, angle
        # proposes: the angle and the scale, floats that mean their exact values here as in the key
        if key not in self._tails:
            bits, cosine, plain = current(), window.cosine(arb(angle)), Window(shape, high=1.0)
            half, little, factor = arb("0.5 +/- 0.5"), arb(_NEGLIGIBLE), cosine / arb(scale) ** root
            tails, rest = [], []
            # proposes: the root, a float that means its exact value
            powers = self._ratios if root == 1 else [r**root for r in self._ratios]
            for v in [factor * power for power in powers]:
                low = lower_tail(v, shape).upper()
                # proposes: which bound may be enough; all are proved
                high = upper_tail(v, 1 - shape / v, shape).upper() if v > shape else arb(1)
                # proposes: likewise
                if low < little:
                    tail = 1 - low * half
                # proposes: likewise
                elif high < little:
                    tail = high * half
                else:
                    tail = plain.tail(v, bits)
                tails.append(tail)
                rest.append(_least(1 - tail, low))
            self._tails[key] = tails, rest
        # proposes: likewise
        return self._tails[key]

    def _found_heights(self, window: Window, angle: float) -> list[arb]:
        grown = window.turned(arb(angle))
        above, rest = self._small(window.high, window, angle)
        found = []
        if window.low is None:
            # |G| <= 1 + |1 - G|
            found = [
                arb.min(grown * high, 1 + grown * low)
                for high, low in zip(above, rest[1:], strict=False)
            ]
            return [*found, grown * above[-1]]
        below, least = self._small(window.low, window, angle)
        found = [
            grown * _least(high - low, low_rest)
            for high, low, low_rest in zip(above, below[1:], least[1:], strict=False)
        ]
        return [*found, grown * above[-1]]


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


def _least(one: arb, other: arb) -> arb:
    """The smaller upper end: a ball from below zero to a tiny end would be wide."""
    return arb.min(one.upper(), other.upper()).upper()
