r"""A law of finitely many losses composed with a continuous mechanism of known profile.

The two losses are independent, so with ``p_l`` the mass of loss ``l`` and ``D`` the profile of the
continuous part at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\, D(\varepsilon - l).
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from dpexact import balls
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real


class MixedProfile(InvertedProfile):
    """``lattice`` composed with the mechanism whose profile is ``divergence``, a ball function."""

    def __init__(
        self,
        lattice: LatticeComposition,
        divergence: Callable[[arb], arb],
        largest: Real | None,
        infinite: InfiniteLoss,
        method: str,
    ) -> None:
        self.lattice = lattice
        self.divergence = divergence
        self.largest = largest
        self.infinite = infinite
        self.method: str = f"lattice law with {method}"

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        return balls.certify(
            lambda: self._delta_ball(balls.ball(epsilon)),
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
        )

    def _delta_ball(self, epsilon: arb) -> arb:
        total = arb(0)
        for loss, mass in self.lattice.losses():
            total += mass * self.divergence(epsilon - loss)
        total += self.lattice.dropped() * arb(0).union(arb(1))
        lost = self.infinite.ball()
        return lost + (1 - lost) * total
