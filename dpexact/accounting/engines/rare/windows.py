r"""Windows that sort the losses of a step: differences of gamma tails.

With :math:`G(v) = e^{-v} \sum_{j<k} v^j/j! = P(\Gamma_k > v)` a window is
:math:`W(\lambda) = G((\lambda/h)^p) - G((\lambda/l)^p)`, ``0 < p <= 1``: about 1 between
``k^{1/p}`` times ``l`` and ``h``, and about 0 elsewhere. It is an entire function of the outcome,
and small, middle and large losses are windows that add up to 1. The numbers in brackets refer to
sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

from flint import acb, arb, arb_poly

#: How near to the ends of its range a free number may lie.
_LEAST = 1e-6
#: Of the steepest power that a window beats.
_MOST = 0.9


_Ball = TypeVar("_Ball", arb, acb)


@cache
def _exponential_sum(shape: int, bits: int) -> arb_poly:
    """``sum_{j < shape} v^j / j!``, kept for the precision it was made at."""
    terms = [arb(1)]
    for j in range(1, shape):
        terms.append(terms[-1] / j)
    return arb_poly(terms)


@lru_cache(maxsize=64)
def _inverse(scale: float, root: float, bits: int) -> arb:
    """``scale^-root``, kept likewise; there are many scales."""
    return arb(scale) ** -arb(root)


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def upper_tail(v: arb, kappa: arb, shape: int) -> arb:
    """``P(Gamma_k > v) <= e^{-kappa v} (1 - kappa)^{-k}``, ``0 < kappa < 1`` [1]."""
    return (-kappa * v).exp() / (1 - kappa) ** shape


def lower_tail(v: arb, shape: int) -> arb:
    """``P(Gamma_k <= v) <= (v/k)^k e^{k - v}`` for ``v < k`` [1]."""
    if not v < shape:
        return arb(1)
    if v == 0:
        return arb(0)
    return (shape * (v / shape).log() + shape - v).exp()


def flat(size: arb, shape: int) -> arb:
    """``|1 - G(v)| <= |v|^k / k!`` where ``Re v >= 0`` [1]."""
    return size**shape / arb(shape + 1).gamma()


@cache
def _plateau(shape: int, bits: int) -> tuple[arb, arb, acb]:
    """Where ``G`` differs from 1 by less than its rounding, and what it is there at most."""
    # proposes: where; the bound is taken there
    size = arb(math.exp((math.lgamma(shape + 1) - bits * math.log(2)) / shape))
    slack = arb(0, 1) * flat(size, shape).upper()
    return size, 1 + slack, acb(1 + slack, slack)


@dataclass(frozen=True)
class Window:
    """``G((lambda/high)^root) - G((lambda/low)^root)``, with ``shape`` for ``k``.

    Without ``high`` no large, without ``low`` no small value of ``lambda`` is left out.
    """

    shape: int
    high: float | None = None
    low: float | None = None
    root: float = 1.0

    @property
    def is_whole(self) -> bool:
        """Whether it is 1 everywhere."""
        return self.high is None and self.low is None

    def tail(self, v: _Ball, bits: int) -> _Ball:
        """``G(v)`` for ``Re v >= 0``."""
        size, real, whole = _plateau(self.shape, bits)
        # of balls; the series is true anywhere
        if v.abs_upper() < size:
            return real if isinstance(v, arb) else whole
        return (-v).exp() * _exponential_sum(self.shape, bits)(v)

    def at(self, power: _Ball, bits: int) -> _Ball:
        """``W`` where ``lambda^p`` is that, turned by less than ``pi/2``."""
        above = type(power)(1)
        if self.high is not None:
            above = self.tail(power * _inverse(self.high, self.root, bits), bits)
        # proposes: the window; its floats mean their exact values
        if self.low is None:
            return above
        return above - self.tail(power * _inverse(self.low, self.root, bits), bits)

    def cosine(self, angle: arb) -> arb:
        """``cos(p theta)``, as the root of ``lambda e^{i theta}`` is turned less.

        Raises:
            ValueError: it is not turned by less than a right angle.
        """
        turn = self.root * angle
        # proposes: the angle, whose float means its exact value; balls decide the strip
        if not 2 * turn < arb.pi():
            raise ValueError("the strip is not admissible")
        return turn.cos().lower()

    def turned(self, angle: arb) -> arb:
        """``cos(p theta)^{-k}``: what a window grows by on a ray [1]."""
        return arb(1) if self.is_whole else 1 / self.cosine(angle) ** self.shape

    def ceiling(self, power: arb, angle: arb, start: arb, one: int = 1) -> arb:
        """At least ``(one + lambda)^power |W(lambda e^{i theta})|`` for ``lambda >= start`` [2].

        Raises:
            ValueError: nothing bounds it.
        """
        if self.high is None:
            # proposes: the power; it is bounded or refused
            if not power == 0:
                raise ValueError("large losses need a window where the order is positive")
            return self.turned(angle)
        # (1 + lambda)^p <= 1 + lambda^p
        power, start = power / self.root, start**self.root
        rate = self.cosine(angle) / arb(self.high) ** self.root
        # proposes: kappa; any in (0, 1) gives a bound
        unit = one or 1
        scales = (float(x.mid()) for x in (power, unit * rate, start / unit))
        kappa = arb(best_kappa(self.shape, *scales))
        fall = kappa * rate
        at = arb.max(start, power / fall - one)
        tail = upper_tail(at * rate, kappa, self.shape)
        return self.turned(angle) * (at + one) ** power * tail

    def below(self, angle: arb, end: arb, power: arb) -> arb:
        """At least ``lambda^-m |W(lambda e^{i theta})|`` for all ``lambda <= end``, ``m >= 0`` [2].

        Infinite where nothing bounds it.
        """
        least, room = arb(1), arb(0)
        if self.low is not None:
            v = self.cosine(angle) * (end / self.low) ** self.root
            least, room = lower_tail(v, self.shape), self.root * (self.shape - v)
        # proposes: the power; balls decide whether it rises up to there, as without one it need not
        if not (power == 0 or 0 < power < room):
            return arb("inf")
        return self.turned(angle) * least * end**-power

    def steepest(self, angle: arb, end: arb, power: float) -> arb:
        """Proposes: the power of :meth:`below` that is nearest to another; any is valid."""
        if self.low is None:
            return arb(0)
        v = float((self.cosine(angle) * (end / self.low) ** self.root).mid())
        return arb(max(0.0, min(power, _MOST * self.root * (self.shape - v))))


def best_kappa(shape: int, power: float, rate: float, start: float) -> float:
    """Proposes: about the best ``kappa`` of :meth:`Window.ceiling`: where the slope is 0.

    That is ``k/(1 - kappa)`` less the larger of ``power/kappa - rate`` and ``rate start``.
    """
    total = shape + power + rate
    inner = 2 * power / (total + math.sqrt(max(0.0, total * total - 4 * rate * power)))
    outer = 1 - shape / (rate * start) if rate * start > shape else 0.0
    return min(max(inner, outer, _LEAST), 1 - _LEAST)
