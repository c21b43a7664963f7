r"""A law of finitely many losses composed with a continuous mechanism of known profile.

The two losses are independent, so with ``p_l`` the mass of loss ``l`` and ``D`` the profile of the
continuous part at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\, D(\varepsilon - l).
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import Real


class MixedProfile(BallProfile):
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

    def finite_ball(self, epsilon: arb) -> arb:
        total = arb(0)
        for loss, mass in self.lattice.losses():
            total += mass * self.divergence(epsilon - loss)
        return total + self.lattice.dropped() * arb(0).union(arb(1))
