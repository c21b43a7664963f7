r"""Many Laplace steps of little total loss: few losses inside by a sum, more by a contour.

With ``x = (sum_i lambda_i (2 j_i - k_i) - epsilon)/2`` and ``j`` the sum of the ``j_i``, fewer than
``m`` losses strictly inside contribute

.. math:: e^{(\varepsilon - \Lambda)/2}\,2^{-k} \sum_{x > 0} \prod_i \binom{k_i}{j_i}
          \sum_{r < m} \kappa_r(j)\,H_r(x), \qquad
          H_r(x) = 2 \sum_{p \ge 0} \frac{x^{r+1+2p}}{(r+1+2p)!},

with :math:`\kappa_r(j) = [v^r] (1+v)^j (1-v)^{k-j}`. The moments of the rest fall as ``u^-m``.

Short sums are evaluated as they are. Longer ones come last: after the contour integral, this split,
and for equal steps, first, two responses that enclose one: the loss is at most ``lambda`` in
modulus, so the optimal mechanism of ``epsilon = lambda`` is at least as informative (Kairouz, Oh,
Viswanath 2017, Theorem 2.3), and a threshold in the middle leaves a response of
:math:`\varepsilon = \log(2 e^{\lambda/2} - 1)`. Both orders pass to products. The two differ by
about :math:`\lambda^2/4`, so many tiny steps are enclosed tightly. Proofs:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from typing import Final

from flint import arb, fmpz

from dpexact import balls, reals
from dpexact.accounting.contour.inversion import Contour
from dpexact.accounting.contour.planning import Plan, Query, planned
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.laplace import LaplaceParts, LaplaceProduct, coefficients, points_above
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.pairs.many_inside import ManyInside
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Between, FirstToReach, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.reals import Real
from dpexact.ternary import Order

#: Work allowed to the contour integral where a finite sum may follow: about a second.
CONTOUR_WORK: Final = 12_000_000
#: Numbers of losses inside that are summed, to choose from.
_SPLITS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: Work of one term of the sum, in the units of the contour.
_TERM: Final = 15
_WORK: Final = 40_000_000
_PASSES: Final = 4


class LaplaceSplit(InvertedProfile):
    """Profile of a product of Laplace mechanisms, split by the number of losses inside.

    The plain finite sum answers where it is short, or nothing else does.
    """

    method = "sum and contour: Laplace"

    def __init__(self, parts: LaplaceParts, infinite: InfiniteLoss) -> None:
        self.parts = parts
        self.infinite = infinite
        self.largest: Real = parts.largest
        self._rests: dict[int, Product] = {}
        self._sum = LaplaceProduct(parts, infinite)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        if self._sum.is_short(epsilon, digits):
            return self._sum.delta(epsilon, digits)
        query = Query(balls.approximate(epsilon), 1)
        best, margin = Enclosure(ZERO, ONE, self.method), 2.0
        for _ in range(_PASSES):
            choice = self._plan(query, digits + margin)
            if choice is None:
                break
            with balls.precision(choice[1].bits):
                found = self._evaluate(*choice, balls.ball(epsilon))
                if not found.is_finite():
                    break
                lost = self.infinite.ball()
                pass_found = balls.to_enclosure(lost + (1 - lost) * found, self.method)
            best = best.meet(pass_found)
            if best.digits >= digits:
                return best
            margin = 2 * margin + max(0, digits - best.digits)
        summed = self._sum.delta(epsilon, digits)
        found = best.meet(summed)
        return found.short(found.reason or summed.reason)

    def _plan(self, query: Query, digits: float) -> tuple[int, Plan] | None:
        """Proposes: the number of losses inside to sum, and the contour for the rest."""
        best: tuple[int, Plan] | None = None
        least = float(_WORK)
        for split in _SPLITS:
            summed = _TERM * self.parts.choices * split
            if summed > least:
                break
            if split not in self._rests:
                self._rests[split] = Product([(ManyInside(self.parts.parts, split), 1)])
            try:
                plan = planned(self._rests[split], [query], digits, _WORK)
            except TooExpensive:
                continue
            if plan.work + summed < least:
                best, least = (split, plan), plan.work + summed
        return best

    def _evaluate(self, split: int, plan: Plan, epsilon: arb) -> arb:
        (rest,) = Contour(self._rests[split], plan).terms([epsilon])
        return few_inside(self.parts, epsilon, split) + rest._replace(infinite=arb(0)).enclosure()


def few_inside(parts: LaplaceParts, epsilon: arb, least: int) -> arb:
    """What fewer than ``least`` losses inside contribute to ``delta(epsilon)``."""
    steps = parts.count
    guard = math.ceil(least * math.log2(2 * steps)) + 32
    with balls.precision(balls.current() + guard):
        total, span = arb(0), balls.ball(parts.largest)
        for plus, group in points_above(parts, epsilon).items():
            krawtchouk = coefficients(steps, plus, least)
            for weight, x in group:
                value = _inner(krawtchouk, x)
                total += weight * (value if x > 0 else value.union(arb(0)))
        return ((epsilon - span) / 2).exp() * arb(2) ** -steps * total


def _inner(krawtchouk: list[fmpz], x: arb) -> arb:
    """``sum_r kappa_r H_r(x)``."""
    rise = x.exp()
    even, odd = rise + 1 / rise - 2, rise - 1 / rise  # H_1, H_0
    term, total = x, arb(0)
    for r, kappa in enumerate(krawtchouk):
        current = even if r % 2 else odd
        total += kappa * current
        current -= 2 * term  # from H_r to H_(r+2)
        if r % 2:
            even = current
        else:
            odd = current
        term = term * x / (r + 2)
    return total


def laplace_profile(parts: LaplaceParts, infinite: InfiniteLoss) -> Profile:
    """The profile of a product of Laplace mechanisms, with any mass of infinite loss."""
    if parts.few:
        return LaplaceProduct(parts, infinite)
    masses = [(Response(reals.ZERO, mass), count) for mass, count in infinite.masses]
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
