r"""A density between two ends as few exponentials, for all heights of a line at once.

With ``z = z_- + w s/(1 + s)``, ``w = z_+ - z_-`` and ``s = e^{x + i theta}`` the integral

.. math:: \int_{z_-}^{z_+} G(z)\,e^{iuz}\,dz

is one over ``x``, on an arc of a circle above the axis through both ends, where ``|e^{iuz}|`` is at
most 1 for every ``u >= 0``. So one trapezoidal rule serves all of these
(``docs/theory/atoms.md``, section 7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import TooExpensive, Turns
from dpexact.balls import AROUND, precision

#: Angles of the widest arc, and how near its top may come to ``pi``.
_ANGLES: Final = (0.75 * math.pi, 0.6 * math.pi, 0.5 * math.pi)
_HIGHEST: Final = 0.95 * math.pi
#: By how much, as a power of e, the integrand may grow up to the first of them.
_GROWS: Final = 8.0
#: Widths of the cells by which it is bounded there, their number, and the precision of that.
_CELL: Final = 0.125
_LEAST: Final = 2.0**-8
_MOST_CELLS: Final = 4_000
#: Most exponentials.
_MOST_TERMS: Final = 4_000
_BOUND_BITS: Final = 96
#: Accuracy beyond what is asked, for what is not planned.
_SPARE: Final = 2.0
#: How often, and by how much at once, a rule is made longer.
_TRIALS: Final = 12
_FARTHER: Final = 10.0


class Arc:
    """The density ``G`` between the ends, whose integral is about ``e^log_mass``.

    It is analytic where ``0 < Im z < pi`` and next to the real segment, and positive there.
    """

    def __init__(
        self, low: arb, high: arb, density: Callable[[acb], acb], log_mass: float, accuracy: float
    ) -> None:
        self._low, self._high, self._density = low, high, density
        self._width = high - low
        self._wanted = accuracy + _SPARE
        # proposes: what is too much work
        if arc_size(float(self._width.mid()), accuracy) > _MOST_TERMS:
            raise TooExpensive("an arc of too many terms")
        with precision(_BOUND_BITS):
            # proposes: where the rule ends; what lies beyond is bounded
            self._reach = self._wanted
            for _ in range(_TRIALS):
                over = _log(self.beyond(self._reach)) - log_mass + self._wanted
                # proposes: likewise
                if over <= 0:
                    break
                self._reach += min(over, _FARTHER)
            # proposes: the angle; either is an arc on which the integrand is bounded
            for angle in _ANGLES:
                self._outer = _widest(angle, float(self._width.mid()))
                self.most = self.bound(self._outer)
                growth = max(_log(self.most) - log_mass, 0.0)
                # proposes: likewise
                if growth < _GROWS:
                    break
            self._growth = growth
            if not self.most.is_finite():
                raise TooExpensive("no arc on which a density is bounded")

    def turns(self) -> tuple[Turns, arb]:
        """Weights and losses for every height, and a ball around 0 with the error."""
        # proposes: spacing and angle, at which both strips lose as much
        spacing = 2 * math.pi * self._outer / (2 * self._wanted + self._growth)
        return self.leaning(spacing, self._wanted * spacing / (2 * math.pi))

    def leaning(self, spacing: float, angle: float) -> tuple[Turns, arb]:
        """The same, on the arc of an angle."""
        # proposes: the arc, at an angle that means its exact value
        if not arb(0) < arb(angle) < arb(self._outer):
            raise ValueError("the arc lies outside of the strip")
        rate = 2 * arb.pi() / arb(spacing)
        lost = strip(self.total(), rate * arb(angle))
        lost += strip(self.most, rate * (arb(self._outer) - arb(angle)))
        return self._summed(spacing, angle, lost)

    def total(self, spacing: float | None = None) -> arb:
        """The integral at height 0, along the axis, where both sides are alike."""
        # proposes: the spacing
        spacing = spacing or 2 * math.pi * self._outer / (self._wanted + self._growth)
        lost = 2 * strip(self.most, 2 * arb.pi() / arb(spacing) * arb(self._outer))
        found, error = self._summed(spacing, 0.0, lost)
        return sum((weight.real for weight, _ in found), error)

    def _summed(self, spacing: float, angle: float, lost: arb) -> tuple[Turns, arb]:
        step, turn, found = arb(spacing), acb(0, angle).exp(), []
        # proposes: what is too much work
        if not self._reach / spacing < _MOST_TERMS:
            raise TooExpensive("an arc of too many terms")
        many = math.ceil(self._reach / spacing)
        lost += self.beyond(many * step) * step / step.expm1()
        # proposes: how many terms; those beyond are bounded
        for j in range(-many, many + 1):
            s = (j * step).exp() * turn
            found.append((step * self._along(s) * self._density(self._at(s)), self._at(s)))
        return found, lost.upper() * AROUND

    def _at(self, s: acb) -> acb:
        return self._low + self._width / (1 + 1 / s)

    def _along(self, s: acb) -> acb:
        """``dz/dx``."""
        return self._width / ((1 + 1 / s) * (1 + s))

    def bound(self, angle: float) -> arb:
        """On the integral of the modulus along the arc of an angle: by cells, and beyond them."""
        # proposes: the arc, at an angle that means its exact value
        if not self._width / 2 * (arb(angle) / 2).tan() < arb.pi():
            raise TooExpensive("no arc between ends so far apart")
        count = math.ceil(self._reach / _CELL)
        # proposes: what is too much work
        if count > _MOST_CELLS:
            raise TooExpensive("an arc of too many cells")
        total = self.beyond(count * _CELL)
        # proposes: how many cells; what lies beyond is bounded
        waiting = [(j * _CELL, _CELL / 2) for j in range(-count, count + 1)]
        while waiting:
            middle, half = waiting.pop()
            s = acb(arb(middle, half), angle).exp()
            most = self._along(s).abs_upper() * self._density(self._at(s)).abs_upper()
            if most.is_finite():
                total += 2 * half * most
            elif half < _LEAST:
                return arb("inf")
            else:
                half /= 2
                waiting += [(middle - half, half), (middle + half, half)]
        return total.upper()

    def beyond(self, reach: float | arb) -> arb:
        """Likewise for ``|x| >= reach``, at any angle."""
        small = (-arb(reach)).exp()
        if not small < arb(0.5):
            raise TooExpensive("an arc that is cut inside the bulk")
        length = (self._width * small / (1 - small)).upper()
        beside = acb(arb(0, length), arb(0, length))
        heights = (self._density(end + beside).abs_upper() for end in (self._low, self._high))
        return (length / (1 - small) * sum(heights, arb(0))).upper()


def strip(bound: arb, turns: arb) -> arb:
    """What a strip leaves of the rule: ``bound / (e^turns - 1)``."""
    return bound / turns.expm1()


def _widest(angle: float, width: float) -> float:
    """Proposes: so wide an arc, or the one that stays below ``pi``."""
    return min(angle, 2 * math.atan(2 * _HIGHEST / width))


def arc_size(width: float, accuracy: float) -> int:
    """Proposes: about how many exponentials there are."""
    angle = _widest(_ANGLES[0], width)
    return math.ceil(2 * (accuracy + _SPARE) ** 2 / (math.pi * angle)) + 1


def _log(bound: arb) -> float:
    """Proposes: about its logarithm, by which a rule is planned."""
    return float(bound.log().mid()) if bound > 0 and bound.is_finite() else math.inf
