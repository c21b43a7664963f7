r"""The choice of method for a product of Laplace mechanisms.

Short finite sums are evaluated. Longer ones come last: after the contour integral, its split by
losses strictly inside, and for equal steps two responses that enclose one of them: the loss is at
most ``lambda`` in modulus, so the optimal mechanism of ``epsilon = lambda`` is at least as
informative (Kairouz, Oh, Viswanath 2017, Theorem 2.3), and a threshold in the middle leaves a
response of :math:`\varepsilon = \log(2 e^{\lambda/2} - 1)`. Both orders pass to products. The two
differ by about :math:`\lambda^2/4`, so many tiny steps are enclosed tightly. Proofs:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dpexact import reals
from dpexact.accounting.contour import ContourProfile
from dpexact.accounting.contour.steps import Atoms
from dpexact.accounting.first_to_reach import FirstToReach
from dpexact.accounting.laplace import LaplaceParts, LaplaceProduct
from dpexact.accounting.laplace_split import LaplaceSplit
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.reals import Real

#: Work allowed to the contour integral where a finite sum may follow: about a second.
CONTOUR_WORK: Final = 12_000_000
_NOTHING: Final = reals.rational(0)


def laplace_profile(parts: LaplaceParts, infinite: InfiniteLoss) -> Profile:
    """The profile of a product of Laplace mechanisms, with any mass of infinite loss."""
    if parts.few:
        return LaplaceProduct(parts, infinite)
    masses = [(Atoms(_NOTHING, mass), count) for mass, count in infinite.masses]
    contour = ContourProfile((*parts.noises(), *masses), infinite, CONTOUR_WORK)
    split = LaplaceSplit(parts, infinite)
    if len(parts.parts) > 1:
        return LongProduct(contour, split)
    return LongProduct(contour, BetweenResponses(*parts.parts[0], infinite), split)


class LongProduct(FirstToReach):
    """At the largest loss only the last method is exact."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        last = self.routes[-1]
        assert isinstance(last, LaplaceSplit)
        return last.only_infinite(epsilon, digits) or super().delta(epsilon, digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        if self.infinite.compare(delta, digits) == 0:
            return self.routes[-1].epsilon(delta, digits)
        return super().epsilon(delta, digits)


class BetweenResponses(Profile):
    """``count`` Laplace steps of one rate, between the responses below and above one step."""

    method = "between two responses"

    def __init__(self, rate: Real, count: int, infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        growth = reals.exponential(reals.divide(rate, reals.rational(2)))
        odds = reals.add(reals.multiply(reals.rational(2), growth), reals.rational(-1))
        self.below: OptimalComposition = OptimalComposition(reals.logarithm(odds), count, infinite)
        self.above: OptimalComposition = OptimalComposition(rate, count, infinite)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self._between(lambda profile: profile.delta(epsilon, digits + 1), digits)

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._between(lambda profile: profile.epsilon(delta, digits + 1), digits)

    def _between(self, ask: Callable[[Profile], Enclosure], digits: int) -> Enclosure:
        low, high = _certified(ask, self.below), _certified(ask, self.above)
        found = Enclosure(low.lower, high.upper, self.method)
        if found.digits < digits:
            raise PrecisionNotReached("the responses on both sides of a step differ", found)
        return found


def _certified(ask: Callable[[Profile], Enclosure], profile: Profile) -> Enclosure:
    try:
        return ask(profile)
    except PrecisionNotReached as error:
        return error.best
