"""Profiles whose ``epsilon`` comes from certified inversion of ``delta``."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.inverse import invert
from dpexact.accounting.profile import Profile
from dpexact.enclosure import Enclosure
from dpexact.exactness import exact_ratio
from dpexact.reals import Real, rational
from dpexact.ternary import Order

ZERO: Final = Fraction(0)
ONE: Final = Fraction(1)
#: Secant steps in balls, and how close to the root the last one is, as a share of the width asked.
_STEPS: Final = 48
_CLOSE: Final = 64


class InvertedProfile(Profile):
    """A profile that decreases strictly from ``eps = 0`` to the largest finite loss.

    ``largest`` is that loss, or ``None`` when the loss is unbounded.
    """

    largest: Real | None

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return invert(
            lambda epsilon, d: self.delta(rational(epsilon), d),
            delta,
            digits,
            self.method,
            self.near(delta),
            self.infinite.near(delta),
        )

    def near(self, delta: Real) -> Fraction:
        """About ``epsilon(delta)``, positive: where the search starts."""
        return ONE

    def largest_loss(self, digits: int) -> Enclosure:
        largest = self.largest
        if largest is None:
            return super().largest_loss(digits)
        if largest.fraction is not None:
            return Enclosure.exact(max(largest.fraction, ZERO), self.method)
        # it is negative where all that stays finite is less likely under P
        return balls.certify(lambda: balls.ball(largest).max(arb(0)), digits, method=self.method)

    def only_infinite(self, epsilon: Real, digits: int) -> Enclosure | None:
        """``delta(epsilon)`` when no finite loss exceeds ``epsilon``, else ``None``."""
        if self.largest is None or not _at_least(epsilon, self.largest):
            return None
        return self.infinite.enclose(digits, self.method)


class BallProfile(InvertedProfile):
    """A profile whose finite part is a ball at every real ``epsilon``.

    ``lost_bits`` are those that its evaluation loses, ``slope_bits`` those more of epsilon;
    ``cap`` may limit the precision.
    """

    lost_bits: int = 0
    slope_bits: int = 16
    cap: int | None = None

    @abstractmethod
    def finite_ball(self, epsilon: arb) -> arb:
        """``delta`` of what has finite loss, at the current precision."""

    def lost_at(self, delta: Real) -> int:
        """The bits that are lost where its value is about ``delta``."""
        return self.lost_bits

    def delta_ball(self, epsilon: arb) -> arb:
        """``delta(epsilon)`` at the current precision."""
        lost = self.infinite.ball()
        return lost + (1 - lost) * self.finite_ball(epsilon)

    def lower_ball(self, epsilon: arb) -> arb:
        """About :meth:`delta_ball` and at most that, where less work gives it."""
        return self.delta_ball(epsilon)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        return balls.certify(
            lambda: self.delta_ball(balls.ball(epsilon)),
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
            lost_bits=self.lost_bits,
            cap=self.cap,
        )

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        found = self._bracket(delta, digits) if self.largest is None else None
        return found or super()._epsilon(delta, digits)

    def _bracket(self, delta: Real, digits: int) -> Enclosure | None:
        """Between points on both sides of where secant steps on ``log delta`` lead, if they do.

        Delta does not increase, so it is enough that it is above the target at the left one.
        """
        finer = digits + 1  # secants converge so fast that one digit more costs nothing
        with balls.precision(balls.bits_for(finer) + self.lost_at(delta) + self.slope_bits):
            target, width = balls.ball(delta), arb(10) ** -finer
            share = target - self.infinite.ball()

            def gap(at: arb) -> arb:
                return ((self.lower_ball(at) - target) / share).log1p().mid()

            # proposes: a point, on both sides of which balls decide
            low, high = arb(0), arb("inf")
            before, at = low, balls.ball(self.near(delta)).mid()
            last = gap(before)
            # proposes: when to leave it to another search
            if not last > 0:
                return None
            for _ in range(_STEPS):
                value = gap(at)
                low, high = (at, high) if value > 0 else (low, at)
                step = value * (at - before) / (last - value)
                following = (at + step).mid()
                # proposes: likewise
                if not low < following < high:
                    following = (low + high) / 2 if high.is_finite() else 2 * at
                before, last, step, at = at, value, following - at, following.mid()
                # proposes: when to stop
                if abs(step) <= width * at / _CLOSE:
                    break
            left, right = (at * (1 + side * width / 8) for side in (-1, 1))
            left, right = left.mid(), right.mid()
            if not (self.lower_ball(left) > target > self.delta_ball(right)):
                return None
            return balls.to_enclosure(left.union(right), self.method)


def _at_least(a: Real, b: Real) -> bool:
    """Whether ``a >= b`` is certain."""
    if a == b:
        return True
    ratio = exact_ratio(a, b)
    if ratio is not None and balls.sign(b) > 0:
        return ratio >= 1
    return balls.order(a, b) in (Order.ABOVE, Order.EQUAL)
