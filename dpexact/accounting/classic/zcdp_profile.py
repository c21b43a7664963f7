"""The profile that zCDP allows at most: upper bounds, and labelled so."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.zcdp import delta_ball, epsilon_ball, total_rho
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)


class ZCDPProfile(Profile):
    """Upper bounds for a ``rho``-zCDP mechanism, ``rho > 0``, beside a mass of infinite loss.

    The answers enclose the value of the bound of Steinke (2022), Proposition 14, with its best
    ``t``; the mechanism itself may be anywhere below.
    """

    method = "upper bound: zCDP, Proposition 14"

    def __init__(self, rho: Real, infinite: InfiniteLoss) -> None:
        self.rho = rho
        self.infinite = infinite

    @classmethod
    def of(cls, mechanism: Mechanism) -> ZCDPProfile:
        """Of a composition of which each part has a known zCDP constant.

        Raises:
            UnsupportedMechanism: naming a part that has none.
        """
        return cls(*total_rho(mechanism))

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        def compute() -> arb:
            lost = self.infinite.ball()
            return lost + (1 - lost) * delta_ball(balls.ball(self.rho), balls.ball(epsilon))

        return balls.certify(compute, digits, lowest=_ZERO, highest=_ONE, method=self.method)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if delta.fraction == 1:
            return Enclosure.exact(_ZERO, self.method)

        def compute() -> arb:
            lost = self.infinite.ball()
            share = (balls.ball(delta) - lost) / (1 - lost)
            return epsilon_ball(balls.ball(self.rho), -share.log())

        return balls.certify(compute, digits, lowest=_ZERO, method=self.method)
