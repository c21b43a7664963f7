"""A product of pairs as the engine sees it: on the real axis, and where its moments are least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property

from flint import arb

from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive, weighted

#: Orders tried are powers of this ratio, refined by a parabola.
RATIO = 2.0**0.125
#: The exponents tried.
ORDERS = range(-160, 161)
_TRUST = 10.0
_PARTIAL_ORDERS = (1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)


class Product:
    """Pairs with the number of times each is run; all of it may be run ``repeat`` times.

    ``mass``, ``moment`` and ``largest_loss`` are certified at the current precision; what follows
    them are floats, which place the contour and its error bounds.
    """

    def __init__(self, factors: Iterable[tuple[Pair, int]]) -> None:
        self.factors: tuple[tuple[Pair, int], ...] = tuple(factors)
        self._cumulants: dict[float, Jet] = {}

    @cached_property
    def reverse(self) -> Product:
        """The product of the reversed pairs."""
        return Product((pair.reverse, n) for pair, n in self.factors)

    def mass(self, repeat: int) -> arb:
        """``P(Z finite)``."""
        finite = arb(1)
        for pair, n in self.factors:
            finite *= pair.mass() ** (n * repeat)
        return finite

    def moment(self, order: float, accuracy: float, repeat: int = 1) -> arb:
        """``M(order)`` for ``order > -1``, to about ``e^-accuracy`` a pair."""
        product = arb(1)
        for pair, n in self.factors:
            product *= pair.moment(order, accuracy) ** (n * repeat)
        return product

    def largest_loss(self, repeat: int) -> arb | None:
        """The supremum of the finite losses, None when unbounded."""
        total = arb(0)
        for pair, n in self.factors:
            largest = pair.largest_loss()
            if largest is None:
                return None
            total += n * repeat * largest
        return total

    def never_exceeds(self, level: arb, repeat: int) -> bool:
        """Whether every finite loss is certainly at most ``level``."""
        largest = self.largest_loss(repeat)
        return largest is not None and bool(largest <= level)

    # --- proposals --------------------------------------------------------------------------------

    def cumulant(self, order: float) -> Jet:
        """About ``log M`` and two derivatives; infinite where floats do not reach.

        Proposes: what is kept by order is looked up by it.
        """
        if order not in self._cumulants:
            try:
                jet = weighted((n, pair.cumulant(order)) for pair, n in self.factors)
            except (TooExpensive, OverflowError):
                jet = Jet(math.inf, 0.0, 0.0)
            self._cumulants[order] = jet
        return self._cumulants[order]

    def _least(
        self, epsilon: float, repeat: int, kernel: Callable[[float], Jet]
    ) -> tuple[float, Jet]:
        """About where ``repeat log M(c) - c epsilon + kernel(c)`` is least, and it there.

        Proposes: an order, since any is valid.
        """

        def at(index: int) -> Jet:
            c = RATIO**index
            m, k = self.cumulant(c), kernel(c)
            return Jet(
                repeat * m.value - c * epsilon + k.value,
                repeat * m.slope - epsilon + k.slope,
                repeat * m.bend + k.bend,
            )

        index = 8
        found = at(index)
        for stride in (8, -8, 2, -2, 1, -1):
            while index + stride in ORDERS:
                following = at(index + stride)
                if not following.value < found.value:
                    break
                index, found = index + stride, following
        c = RATIO**index
        if not (math.isfinite(found.value) and found.bend > 0):
            return c, found
        reach = c * (RATIO - 1) / 2
        move = max(-reach, min(reach, -found.slope / found.bend))
        beyond = at(index + (1 if move > 0 else -1)).value
        if not abs(beyond - found.along(math.copysign(2 * reach, move))) < _TRUST:
            return c, found
        return c + move, Jet(found.along(move), 0.0, found.bend)

    def chernoff(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(b, log K(b) M(b) e^{-b eps})`` at about its least."""
        b, least = self._least(epsilon, repeat, _log_chernoff_constant)
        return b, least.value

    def saddle(self, epsilon: float, repeat: int) -> tuple[float, float]:
        """``(c, log delta)``: the saddle point of the integrand and its estimate of delta."""
        c, least = self._least(epsilon, repeat, _log_kernel)
        return c, least.value - math.log(2 * math.pi * least.bend) / 2

    def below(self, level: float, repeat: int) -> tuple[float, float]:
        """``(p, log bound)`` for what is unknown of delta far to the left, at ``level``.

        ``p < -1`` if ``m_P - e^level m_Q`` is known, else only ``m_P``: whichever is better.
        Proposes: an order, since any is valid.
        """
        b, log = self.reverse.chernoff(-level, repeat)
        partial = [(repeat * self.cumulant(-a).value + a * level, -a) for a in _PARTIAL_ORDERS]
        log, order = min([(log + level, -1 - b), *partial])
        return order, log

    def epsilon(self, log_delta: float, repeat: int) -> float:
        """About the epsilon at which delta is ``e^log_delta``; zero if it is always below.

        Proposes: where the search begins.
        """
        if self.saddle(0.0, repeat)[1] <= log_delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.saddle(high, repeat)[1] > log_delta:
            low, high = high, 2 * high
        for _ in range(50):
            middle = (low + high) / 2
            value = self.saddle(middle, repeat)[1]
            if abs(value - log_delta) < 0.02:
                return middle
            low, high = (middle, high) if value > log_delta else (low, middle)
        return (low + high) / 2


def _log_chernoff_constant(b: float) -> Jet:
    """``log K(b)`` and two derivatives."""
    value = b * math.log(b) - (1 + b) * math.log1p(b)
    return Jet(value, -math.log1p(1 / b), 1 / (b * (1 + b)))


def _log_kernel(c: float) -> Jet:
    """``-log(c (c + 1))`` and two derivatives."""
    one, other = 1 / c, 1 / (c + 1)
    return Jet(-math.log(c * (c + 1)), -one - other, one * one + other * other)
