r"""Upper bounds from Rényi divergences at integer orders, for samples of zCDP.

Only there a sample of a zCDP mechanism is bounded by the binomial sum (Steinke 2022, Theorem 34);
at orders between, that of a Gaussian is no bound (``docs/theory/classic.md``). For every integer
``alpha = t + 1`` (Steinke 2022, Proposition 14, which holds at each single order)

.. math:: \log\delta \le t (D_{t+1} - \varepsilon) + t\log t - (t+1)\log(t+1).

At ``epsilon = 0`` that does not go to 0 as losses do. The best bound of order 2 does: with ``c =
e^{D_2} - 1`` and ``a = e^epsilon - 1``, ``delta <= (sqrt(a^2 + c) - a)/2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.pairs.pair import log_chernoff
from dpexact.accounting.profile import InfiniteLoss, Profile, TighterBound
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.accounting.standing import curves
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real
from dpexact.ternary import Order

_LARGEST: Final = 2048
_DIGITS: Final = 8
_PLANNING_BITS: Final = 128
_ZERO: Final = Fraction(0)
_BY_SECOND: Final = "upper bound: Rényi divergence of order 2"
_BY_LARGEST: Final = "upper bound: largest loss"


class IntegerOrders(Profile):
    """Bounds on delta and epsilon by the best integer order; the mechanism may be anywhere below.

    Raises:
        UnsupportedMechanism: no divergence of order 2 is known, or it is infinite.
    """

    method = "upper bound: Rényi at integer orders, Proposition 14"
    #: Orders are ``1 + k/scale``, ``k`` from the first place on.
    scale = 1
    _first = 1

    def __init__(self, mechanism: Mechanism, direction: Direction) -> None:
        self.mechanism = mechanism
        self.direction = direction
        self.infinite = InfiniteLoss()
        self._divergence = lru_cache(maxsize=None)(self._ask)
        self._about = lru_cache(maxsize=None)(self._near)
        if not isinstance(self._divergence(self._first, _DIGITS).upper, Fraction):
            raise UnsupportedMechanism("the Rényi divergences are infinite")

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        def log(t: arb, divergence: arb) -> arb:
            return t * (divergence - balls.ball(epsilon)) + log_chernoff(t)

        def squares(excess: arb) -> arb:
            away = balls.ball(epsilon).expm1()
            root = (away * away + excess).sqrt()
            # without cancellation on either side
            return excess / (root + away) / 2 if away >= 0 else (root - away) / 2

        found = self._at_best(log, lambda t, d: log(t, d).exp().min(arb(1)), digits)
        found = self._least_of(found, squares, digits)
        return found.within(_ZERO, Fraction(1))  # also of an exponential that no ball holds

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def bound(t: arb, divergence: arb) -> arb:
            return divergence + (log_chernoff(t) - balls.ball(delta).log()) / t

        def squares(excess: arb) -> arb:
            level = balls.ball(delta)
            return (excess / level / 4 - level).max(arb(0)).log1p()

        found = self._at_best(bound, lambda t, d: bound(t, d).max(arb(0)), digits)
        return self._least_of(found, squares, digits)

    def _least_of(self, found: Enclosure, squares: Callable[[arb], arb], digits: int) -> Enclosure:
        """Or of what ``e^{D_2} - 1`` bounds, where order 2 is known; it increases with that."""
        if self._second is None:
            return found
        known = self._divergence(self._second, digits + 10)
        if not isinstance(known.upper, Fraction):
            return found
        other = balls.image(known, lambda d: squares(d.expm1()), digits + 2, method=_BY_SECOND)
        return TighterBound.tighter(found, other)

    @property
    def _second(self) -> int | None:
        """The place of order 2."""
        return self.scale

    def _at_best(
        self, height: Callable[[arb, arb], arb], bound: Callable[[arb, arb], arb], digits: int
    ) -> Enclosure:
        """``bound`` at about the order where ``height`` is least; it increases with both ends."""
        place = self._least(height)
        t = self._excess(place)
        spare = 10 + len(str(place))
        known = self._divergence(place, digits + spare)
        return balls.image(known, lambda d: bound(balls.ball(t), d), digits + 2, method=self.method)

    def _least(self, height: Callable[[arb, arb], arb]) -> int:
        """Proposes: a place ``k``; every order gives a bound."""
        heights: dict[int, float] = {}

        def at(place: int) -> float:
            if place not in heights:
                inside = 1 <= place < _LARGEST * self.scale
                heights[place] = self._height(height, place) if inside else math.inf
            return heights[place]

        best: int = min((1 << k for k in range(11 + self.scale.bit_length())), key=at)
        step = max(best // 2, 1)
        while step:
            best = min((best - step, best, best + step), key=at)
            step //= 2
        return best

    def _height(self, height: Callable[[arb, arb], arb], place: int) -> float:
        """Proposes: about the height at a place, infinite where the divergence is."""
        known = self._about(place)
        if known is None:
            return math.inf
        with balls.precision(_PLANNING_BITS):
            return float(height(*known).mid())

    def _near(self, place: int) -> tuple[arb, arb] | None:
        """Proposes: the excess of an order, and about a finite divergence there."""
        known = self._divergence(place, _DIGITS).upper
        if not isinstance(known, Fraction):
            return None
        with balls.precision(_PLANNING_BITS):
            return balls.ball(self._excess(place)), balls.ball(known)

    def _ask(self, place: int | None, digits: int, direction: Direction | None = None) -> Enclosure:
        """The divergence at a place, None being that of the infinite order."""
        order = None if place is None else reals.rational(1 + self._excess(place))
        return enclose_renyi(self.mechanism, order, digits, direction or self.direction)

    def _excess(self, place: int) -> Fraction:
        """The order at a place, less 1."""
        return Fraction(place, self.scale)


class SelectedOrders(IntegerOrders):
    """The same at orders between integers, and where the largest loss is finite, by that.

    Of both directions it is that of randomized response, which is at least as informative.
    No sample of zCDP is beside it: of those only integer orders are known.
    """

    scale = 16
    method = "upper bound: Rényi of what is selected, Proposition 14"

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        most = self.largest_loss(digits + 10)
        if balls.order(epsilon, _above(most)) in (Order.ABOVE, Order.EQUAL):
            return Enclosure.exact(_ZERO, self.method)

        def response(most: arb) -> arb:
            level, top = balls.ball(epsilon).exp(), most.exp()
            return ((top - level) / (top + 1)).max(1 - level)

        found = super().delta(epsilon, digits)
        return TighterBound.tighter(found, self._as_response(response, digits))

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def response(most: arb) -> arb:
            top = most.exp()
            return (top - balls.ball(delta) * (top + 1)).max(arb(1)).log()

        found = super()._epsilon(delta, digits)
        found = TighterBound.tighter(found, self._as_response(response, digits))
        return TighterBound.tighter(found, self.largest_loss(digits))

    def _as_response(self, of: Callable[[arb], arb], digits: int) -> Enclosure:
        """Of randomized response of the largest loss of both directions, which bounds either."""
        most = self._divergence(None, digits + 10, "both")
        return balls.image(most, of, digits + 2, method=_BY_LARGEST)

    def rows(self, level: arb, rest: arb, digits: int) -> list[tuple[Fraction, Fraction]]:
        """Orders for tests of a level, and their divergences rounded up: by Hölder's inequality.

        ``level``, and the ``rest`` to 1, propose orders, each of which gives a bound. The largest
        loss, where it is finite, bounds the divergence of an order next to infinity.
        """

        def power(t: arb, divergence: arb) -> arb:
            return (level.log() + divergence) * t / (1 + t)

        def missed(t: arb, divergence: arb) -> arb:
            return divergence - rest.log() * (1 + 1 / t)

        # proposes: orders, above 1 even where heights are not known
        places = {max(self._first, self._least(height)) for height in (power, missed)}
        spare = digits + 10
        found = [(1 + self._excess(k), self._divergence(k, spare).upper) for k in places]
        found.append((Fraction(10) ** spare, self.largest_loss(spare).upper))
        return [(a, most) for a, most in found if isinstance(most, Fraction)]

    def largest_loss(self, digits: int) -> Enclosure:
        return self._divergence(None, digits).labelled(_BY_LARGEST)


class GivenOrders(IntegerOrders):
    """The same at the orders of the curves among the parts, up to the first that ends.

    Raises:
        UnsupportedMechanism: what is beside the curves has no finite divergences there.
    """

    method = "upper bound: Rényi at given orders, Proposition 14"
    _first = 0

    def __init__(self, mechanism: Mechanism, direction: Direction) -> None:
        rows = [[a.fraction for a, _ in curve.rows if a.fraction] for curve in curves(mechanism)]
        last = min(orders[-1] for orders in rows)
        self.orders = sorted({a for orders in rows for a in orders if a <= last})
        super().__init__(mechanism, direction)

    def rows(self, digits: int) -> list[tuple[Fraction, Fraction]]:
        """Every order, and its divergence rounded up."""
        found = ((a, self._divergence(k, digits).upper) for k, a in enumerate(self.orders))
        return [(a, most) for a, most in found if isinstance(most, Fraction)]

    @property
    def _second(self) -> int | None:
        return self.orders.index(Fraction(2)) if 2 in self.orders else None

    def _excess(self, place: int) -> Fraction:
        return self.orders[place] - 1

    def _least(self, height: Callable[[arb, arb], arb]) -> int:
        # proposes: a row; every one gives a bound
        return min(range(len(self.orders)), key=lambda place: self._height(height, place))


def _above(most: Enclosure) -> Real:
    """``most``, or a number beyond all that are asked for."""
    return reals.rational(most.upper if isinstance(most.upper, Fraction) else Fraction(10) ** 400)
