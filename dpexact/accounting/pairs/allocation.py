"""Random allocation (balls in bins): Gaussian noise in ``t`` steps, a record in one of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive
from dpexact.accounting.pairs.sums import allocation_left as left
from dpexact.accounting.pairs.sums import allocation_loud as loud
from dpexact.accounting.pairs.sums.allocation_rules import Shape, log_gamma, power_of, turned
from dpexact.accounting.pairs.sums.allocation_sums import Law, Mellin
from dpexact.balls import approximate, ball, current, precision
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real

_LARGE: Final = 1e100
#: Larger powers are had from whole ones where a bound serves.
_FEW_POWERS: Final = 6.0
#: What a node of a ray takes for each power, over what one left of the axis takes.
_QUICKER: Final = 1 / 6


@dataclass(frozen=True)
class Allocation(Pair):
    """``P = (1/t) sum_i N(e_i, sigma^2 I)`` and ``Q = N(0, sigma^2 I)`` in ``t >= 2`` dimensions.

    ``dP/dQ = S``, under ``Q`` the mean of ``t`` independent ``exp(X/sigma - 1/(2 sigma^2))``, so
    that ``M(c) = E S^{1+c}``. Adding the record is the pair ``(Q, P)``, ``M(c) = E S^{-c}``.
    """

    sigma: Real
    t: int
    add: bool = False

    @cached_property
    def reverse(self) -> Allocation:
        return Allocation(self.sigma, self.t, not self.add)

    @cached_property
    def _shape(self) -> Shape:
        return Shape(1 / min(max(approximate(self.sigma), 1 / _LARGE), _LARGE), self.t)

    decays = True

    def overlap(self) -> arb:
        """``2 Phi(-1/(2 sigma))`` of the parts, and ``1 - sqrt(Var S) / 2``, whichever is more."""
        a = 1 / ball(self.sigma)
        spread = ((a * a).expm1() / self.t).sqrt() / 2
        return arb.max((a / arb(8).sqrt()).erfc(), 1 - spread)

    def largest_loss(self) -> arb | None:
        return None

    def _power(self, c: float | Real) -> tuple[float, arb]:
        """The power of ``S`` in ``M(c)``, for a plan and as it is."""
        if self.add:
            return -approximate(c), -ball(c)
        return 1 + approximate(c), 1 + ball(c)

    def _mellin(self, w: float, exact: arb) -> Mellin:
        return Mellin(Law(1 / self.sigma, self.t), exact, power_of(w))

    @property
    def _little(self) -> float:
        """One over the noise, where that is little; else 0. Proposes: which way; both enclose."""
        return self._shape.a if self._shape.a >= loud.LEAST_RATE else 0.0

    def _is_loud(self, c: float, height: float, accuracy: float) -> bool:
        """Whether one step alone gives moments of a record removed that are as close as asked.

        Proposes: which way; both enclose.
        """
        a = self._little
        return a > 0 and not self.add and loud.reached(a, self.t, c, height) > accuracy

    @property
    def _square(self) -> arb:
        sigma = ball(self.sigma)
        return 1 / (sigma * sigma)

    def integer_moments(self, count: int) -> list[arb]:
        """Sums over how often each variable occurs; of a record added by the transform."""
        if self.add:
            return [self.moment(float(k), current() * math.log(2)) for k in range(1, count + 1)]
        return Law(1 / self.sigma, self.t).wholes(count + 1)[2:]

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """A Mellin transform along the positive axis; of little noise bounds by one step alone."""
        least = loud.LOUDEST if self.add else loud.LEAST_RATE
        # proposes: which way; both enclose
        near, coarse = approximate(c), accuracy <= loud.COARSE
        # proposes: likewise
        bounded = coarse and self._little >= least
        # proposes: likewise; the bound of what is added is close where there is much noise
        near_one = 0 <= near * self._shape.a * self._shape.a / 2 < math.exp(3 - accuracy)
        bounded |= self.add and coarse and near_one
        # proposes: likewise
        if not (bounded or self._is_loud(near, 0.0, accuracy)):
            try:
                return self._between(c, accuracy) if coarse else self._transformed(c, accuracy)
            except TooExpensive:
                # proposes: likewise
                if self._little < loud.LOUDEST:
                    raise
        exact = ball(c)
        if self.add:
            return arb(1 if exact >= 0 else 0).union(loud.added(exact, self._square, self.t))
        return loud.moment(exact, self._square, self.t)

    def _between(self, c: float | Real, accuracy: float) -> arb:
        """Of large powers from whole ones, where that is close enough."""
        w, exact = self._power(c)
        # proposes: which way; both enclose
        if w >= _FEW_POWERS and power_of(w):
            found = Law(1 / self.sigma, self.t).between(exact)
            # proposes: likewise
            if found.rad() * math.exp(accuracy) < found.mid():
                return found
        return self._transformed(c, accuracy)

    def _transformed(self, c: float | Real, accuracy: float) -> arb:
        w, exact = self._power(c)
        if beside := self._rule(approximate(c), 0.0, accuracy):
            return self._left(beside, exact, 0.0, 0)[0].real
        rule = self._shape.real(w, accuracy)
        with precision(max(rule.bits, current())):
            return self._mellin(*self._power(c)).real(rule)

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Mellin transforms along a ray, all nodes at once, or one step alone."""
        if self._is_loud(c, count * step, accuracy):
            return loud.on_line(arb(c), arb(step), count, self._square, self.t)
        w, _ = self._power(c)
        if beside := self._rule(c, count * step, accuracy):
            return self._left(beside, 1 + arb(c), step, count)
        moment = self._transformed(c, 8.0).upper()
        rule = self._shape.oblique(w, count * step, accuracy)
        with precision(max(rule.bits, current())):
            line = self._mellin(*self._power(c)).line(rule, moment, step, count)
        # the transform is of E S^{w - iy}: a record removed takes the conjugates
        return line if self.add else [value.conjugate() for value in line]

    def _rule(self, c: float, height: float, accuracy: float) -> left.Rule | None:
        """One left of the axis, if there is one that is less work. Proposes: which way."""
        if self.add or not c > -1:
            return None
        with suppress(TooExpensive):
            most = self._on_ray(c, accuracy) * (1 + power_of(1 + c)) * _QUICKER
            return left.planned(self._shape, 1 + c, height, accuracy, most)
        return None

    def _left(self, rule: left.Rule, w: arb, step: float, count: int) -> list[acb]:
        """``E S^{w + i n step}``."""
        with precision(max(rule.bits, current())):
            return left.Left(Law(1 / self.sigma, self.t), rule).line(w, arb(step), count)

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """By a ray beyond the imaginary axis, the one that bounds best."""
        moment = self.moment(c, accuracy).upper()
        w, exact = self._power(c)
        beyond, shift, _ = turned(self._shape.a, self.t, power_of(w) - w, u)
        return self._mellin(w, exact).decayed(moment, arb(u), beyond, shift)

    def cumulant(self, c: float) -> Jet:
        """The same in floats."""
        a = self._little
        # proposes: which picture
        if a >= (loud.LOUDEST if self.add else loud.LEAST_RATE):
            return (loud.cumulant_added if self.add else loud.cumulant)(a, self.t, c)
        value, slope, bend = self._shape.moment(-c if self.add else 1 + c)
        return Jet(value, -slope if self.add else slope, bend)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        w = -c if self.add else 1 + c
        order, shape = power_of(w) - w, self._shape
        value = self.cumulant(c).value

        def log_bound(u: float) -> float:
            log = turned(shape.a, shape.t, order, u)[2]
            share = math.lgamma(order) - log_gamma(order, u) - math.pi / 2 * u
            return value + min(0.0, log + share)

        return log_bound

    def _height(self, accuracy: float) -> float:
        """About where lines end."""
        return math.sqrt(2 * accuracy * self.t) / self._shape.a + accuracy

    def _on_ray(self, c: float, accuracy: float) -> float:
        """About how many nodes a ray has."""
        k = power_of(-c if self.add else 1 + c)
        return self._height(accuracy) * (accuracy / 2.5 + 8 + k * self._shape.a**2) / 6

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Powers of a series: the nodes of a ray are many, but not so for each of the line's.

        Left of the axis there are two for each.
        """
        if self._is_loud(c, accuracy, accuracy):
            return 1, 0.0
        k = power_of(-c if self.add else 1 + c)
        # proposes: the price; of so little noise powers take thousands of bits
        dear = loud.DEAR if self._little >= loud.LOUDEST else 1.0
        cost = dear * self._on_ray(c, accuracy) * (40 + k * k) / 400
        rule = self._rule(c, self._height(accuracy), accuracy)
        return int(cost if rule is None else min(cost, 2 * rule.nodes)), 0.0

    # --- what is not known here -------------------------------------------------------------------

    def loss_moments(self) -> NoReturn:
        raise UnsupportedMechanism("no cumulants of the loss of an allocation are known here")

    has_tails = False

    def atoms(self, tail: float) -> NoReturn:
        """Not known, and neither are tails."""
        raise UnsupportedMechanism("only the contour engine accounts for allocation")
