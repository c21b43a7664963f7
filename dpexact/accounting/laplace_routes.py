r"""The choice of method for a product of Laplace mechanisms.

Short finite sums are evaluated. Longer ones come last: after the contour integral, its split by
losses strictly inside, and for equal steps, first, two responses that enclose one: the loss is at
most ``lambda`` in modulus, so the optimal mechanism of ``epsilon = lambda`` is at least as
informative (Kairouz, Oh, Viswanath 2017, Theorem 2.3), and a threshold in the middle leaves a
response of :math:`\varepsilon = \log(2 e^{\lambda/2} - 1)`. Both orders pass to products. The two
differ by about :math:`\lambda^2/4`, so many tiny steps are enclosed tightly. Proofs:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

from typing import Final

from dpexact import reals
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.laplace import LaplaceParts
from dpexact.accounting.laplace_split import LaplaceSplit
from dpexact.accounting.laplace_stretch import LaplaceOnStretches
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Between, FirstToReach, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.reals import Real
from dpexact.ternary import Order

#: Work allowed to the contour integral where a finite sum may follow: about a second.
CONTOUR_WORK: Final = 12_000_000
_NOTHING: Final = reals.rational(0)


def laplace_profile(parts: LaplaceParts, infinite: InfiniteLoss) -> Profile:
    """The profile of a product of Laplace mechanisms, with any mass of infinite loss."""
    if parts.few:
        return LaplaceOnStretches(parts, infinite)
    masses = [(Response(_NOTHING, mass), count) for mass, count in infinite.masses]
    contour = ContourProfile((*parts.noises(), *masses), infinite, CONTOUR_WORK)
    split = LaplaceSplit(parts, infinite)
    if len(parts.parts) > 1:
        return LongProduct(contour, split)
    return LongProduct(between_responses(*parts.parts[0], infinite), contour, split)


class LongProduct(FirstToReach):
    """At the largest loss only the last method is exact."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        last = self.routes[-1]
        assert isinstance(last, LaplaceSplit)
        return last.only_infinite(epsilon, digits) or super().delta(epsilon, digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        if self.infinite.order(delta, digits) is Order.EQUAL:
            return self.routes[-1].epsilon(delta, digits)
        return super().epsilon(delta, digits)


def between_responses(rate: Real, count: int, infinite: InfiniteLoss) -> Between:
    """``count`` Laplace steps of one rate, between the responses below and above one step."""
    growth = reals.exponential(rate / 2)
    odds = 2 * growth - 1
    below = OptimalComposition(reals.logarithm(odds), count, infinite)
    return Between(below, OptimalComposition(rate, count, infinite), "between two responses")
