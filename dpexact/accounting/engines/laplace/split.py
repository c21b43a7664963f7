r"""Many Laplace steps of little total loss: few losses inside by a sum, more by a contour.

With ``x = (sum_i lambda_i (2 j_i - k_i) - epsilon)/2`` and ``j`` the sum of the ``j_i``, fewer than
``m`` losses strictly inside contribute

.. math:: e^{(\varepsilon - \Lambda)/2}\,2^{-k} \sum_{x > 0} \prod_i \binom{k_i}{j_i}
          \sum_{r < m} \kappa_r(j)\,H_r(x), \qquad
          H_r(x) = 2 \sum_{p \ge 0} \frac{x^{r+1+2p}}{(r+1+2p)!},

with :math:`\kappa_r(j) = [v^r] (1+v)^j (1-v)^{k-j}`. The moments of the rest fall as ``u^-m``.
Losses of a finite law, or on a lattice, may be beside: what is summed is averaged over them.

Short sums are evaluated as they are, longer ones come last: after this split, and for equal steps,
first, two responses that enclose one: the loss is at most ``lambda`` in
modulus, so the optimal mechanism of ``epsilon = lambda`` is at least as informative (Kairouz, Oh,
Viswanath 2017, Theorem 2.3), and a threshold in the middle leaves a response of
:math:`\varepsilon = \log(2 e^{\lambda/2} - 1)`. Both orders pass to products. The two differ by
about :math:`\lambda^2/4`, so many tiny steps are enclosed tightly. Proofs:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Protocol

from flint import arb, fmpz

from dpexact import balls, reals
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.planning import Plan, Query, planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import COARSE_BITS, ContourProfile
from dpexact.accounting.engines.laplace.product import LaplaceProduct
from dpexact.accounting.engines.laplace.sums import LaplaceParts, Route, coefficients, points_above
from dpexact.accounting.inverted import InvertedProfile
from dpexact.accounting.pairs.many_inside import ManyInside
from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Between, FirstToReach, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real

#: Work allowed to one line, or sum: about a second.
_WORK: Final = 12_000_000
#: Numbers of losses inside that are summed, to choose from; with none a line sees all losses.
_SPLITS: Final = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: Work of one term of the sum, in the units of the contour.
_TERM: Final = 60
#: What is cut from it is so much below what serves, as a power of e.
_SPARE: Final = 3.0
#: Up to so many terms the finite sum is quicker.
_FEW_TERMS: Final = 3_000


class Law(Protocol):
    """Finite losses beside, and their masses under P if none is infinite."""

    def losses(self) -> Iterator[tuple[arb, arb]]:
        """Each and its mass, at the current precision."""

    def dropped(self) -> arb:
        """A ball that holds the mass missing from :meth:`losses`."""


class LaplaceSplit(ContourProfile):
    """Profile of a product of Laplace mechanisms, split by the number of losses inside.

    ``beside`` run masses of infinite loss, and pairs whose losses are those of ``law``. The finite
    sum, ``last``, has the largest loss exactly.
    """

    method = "sum and contour: Laplace"

    def __init__(
        self,
        last: InvertedProfile,
        parts: LaplaceParts,
        beside: Sequence[tuple[Pair, int]],
        law: Law | None = None,
    ) -> None:
        super().__init__((*parts.noises(), *beside), last.infinite, _WORK)
        self._last, self._parts, self._beside, self._law = last, parts, beside, law
        self._rests: dict[int, Product] = {0: self.product}
        self._chosen: dict[Plan, int] = {}

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self._last.only_infinite(epsilon, digits)
        if known is not None or self._is_short(balls.approximate(epsilon), digits):
            return known or self._last.delta(epsilon, digits)
        return super().delta(epsilon, digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if self._is_short(float(self._last.near(delta)), digits):
            return self._last.epsilon(delta, digits)
        return super()._epsilon(delta, digits)

    def _is_short(self, epsilon: float, digits: int) -> bool:
        """Proposes: whether the finite sum is quick, as it is next to the largest loss."""
        if self._law is not None:
            return False
        below = balls.approximate(self._parts.largest) - epsilon
        return Route(self._parts, below).plan(balls.bits_for(digits), _FEW_TERMS) is not None

    def largest_loss(self, digits: int) -> Enclosure:
        return self._last.largest_loss(digits)

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        """Proposes: how many losses inside are summed, and a line for the rest."""
        best: Plan | None = None
        logs = (end.log_delta or self.product.chernoff(end.epsilon, 1)[1] for end in ends)
        level = min(logs) - digits * math.log(10) - _SPARE
        least, refusal = self.max_work, TooExpensive("the finite sum is too long")
        for split in _SPLITS:
            summed = _TERM * self._terms(split, level) * split
            if summed >= least:
                break
            try:
                asked = [(self._rest(split), end) for end in ends]
                plan = planned(asked, digits, least - summed)
            except TooExpensive as cause:
                refusal = cause
                continue
            if plan.work + summed < least:
                best, least = plan, plan.work + summed
                self._chosen[plan] = split
        if best is None:
            raise refusal
        return best

    def line(self, plan: Plan) -> Contour:
        split = self._chosen.get(plan, 0)
        if not split:
            return super().line(plan)
        return _SplitLine(
            self._rest(split), plan, self.product, partial(self._few, split, plan.level - _SPARE)
        )

    def _rest(self, split: int) -> Product:
        if split not in self._rests:
            inside = ManyInside(self._parts.parts, split)
            self._rests[split] = Product([(inside, 1), *self._beside])
        return self._rests[split]

    def _terms(self, split: int, level: float) -> int:
        """Proposes: about the terms of the sum for each number of losses inside."""
        parts = self._parts.parts
        windows = [_window(count, split, self._parts.count, level) for _, count in parts]
        return (math.prod(map(len, windows)) // 2 + 1) * self._losses

    @cached_property
    def _losses(self) -> int:
        """Proposes: of the law."""
        with balls.precision(COARSE_BITS):
            return 1 if self._law is None else len(list(self._law.losses()))

    def _few(self, split: int, level: float, epsilon: arb) -> tuple[arb, arb]:
        """What fewer than ``split`` losses inside contribute to what is finite; about its slope."""
        if self._law is None:
            return few_inside(self._parts, epsilon, split, level)
        total, slope = self._law.dropped() * balls.UNIT, arb(0)
        for loss, mass in self._law.losses():
            value, rise = few_inside(self._parts, epsilon - loss, split, level)
            total, slope = total + mass * value, slope + mass * rise
        return total, slope


class _SplitLine(Contour):
    """A line for what is left of ``whole`` without those ``few`` that are summed."""

    def __init__(
        self, rest: Product, plan: Plan, whole: Product, few: Callable[[arb], tuple[arb, arb]]
    ) -> None:
        super().__init__(rest, plan)
        self._whole, self._few = whole, few

    def _lost(self, repeat: int) -> arb:
        return 1 - self._whole.mass(repeat)

    def _beside(self, epsilons: Sequence[arb]) -> list[tuple[arb, arb]]:
        kept = self._whole.mass(1)
        return [(kept * value, kept * slope) for value, slope in map(self._few, epsilons)]


def few_inside(
    parts: LaplaceParts, epsilon: arb, least: int, level: float = -math.inf
) -> tuple[arb, arb]:
    """What fewer than ``least`` losses inside contribute to ``delta(epsilon)``; about its slope.

    To about ``e^level``, without terms that are rare among signs thrown with a coin.
    """
    steps = parts.count
    guard = math.ceil(least * math.log2(2 * steps)) + 32
    with balls.precision(balls.current() + guard):
        total, rise, span = arb(0), arb(0), balls.ball(parts.largest)
        windows = [_window(count, least, steps, level) for _, count in parts.parts]
        for plus, group in points_above(parts, epsilon, windows).items():
            krawtchouk = coefficients(steps, plus, least)
            for weight, x in group:
                value, slope = _inner(krawtchouk, x)
                total += weight * (value if x > 0 else value.union(arb(0)))
                rise += weight * slope
        # the largest x has all signs plus, and no coefficient is larger than those of `steps` plus
        most, _ = _inner(coefficients(steps, steps, least), ((span - epsilon) / 2).max(arb(0)))
        left = sum(map(_outside, windows), arb(0)) * arb(2) ** steps
        total += most * left * arb(0, 1)
        scale = ((epsilon - span) / 2).exp() * arb(2) ** -steps
        return scale * total, scale * (total - rise) / 2


def _window(count: int, least: int, steps: int, level: float) -> range:
    """Numbers of plus signs that matter where fewer than ``least`` losses are inside.

    Proposes: where signs are cut; `_outside` bounds the others.
    """
    reach = math.sqrt(count * (least * math.log(2 * steps) - level) / 2)
    first = max(0, math.floor(count / 2 - reach)) if reach < count else 0
    return range(first, count - first + 1)


def _outside(window: range) -> arb:
    """Hoeffding's bound on the mass of ``Binomial(count, 1/2)`` outside a window around it."""
    first, count = window.start, window.start + window[-1]
    beyond = arb(count) / 2 - first + 1
    return 2 * (-2 * beyond * beyond / count).exp() if first else arb(0)


def _inner(krawtchouk: list[fmpz], x: arb) -> tuple[arb, arb]:
    """``sum_r kappa_r H_r(x)``, and its derivative: that of ``H_r`` is ``H_(r-1)``."""
    grown = x.exp()
    both = grown + 1 / grown
    even, odd, below = both - 2, grown - 1 / grown, both  # H_1, H_0, H_(-1)
    term, total, slope = x, arb(0), arb(0)
    for r, kappa in enumerate(krawtchouk):
        current = even if r % 2 else odd
        total += kappa * current
        slope += kappa * below
        below = current
        current -= 2 * term  # from H_r to H_(r+2)
        if r % 2:
            even = current
        else:
            odd = current
        term = term * x / (r + 2)
    return total, slope


def laplace_profile(parts: LaplaceParts, infinite: InfiniteLoss) -> Profile:
    """The profile of a product of Laplace mechanisms, with any mass of infinite loss."""
    summed = LaplaceProduct(parts, infinite)
    if parts.few:
        return summed
    masses = [(Response(reals.ZERO, mass), count) for mass, count in infinite.masses]
    split = LaplaceSplit(summed, parts, masses)
    if len(parts.parts) > 1:
        return FirstToReach(split, summed)
    return FirstToReach(between_responses(*parts.parts[0], infinite), split, summed)


def between_responses(rate: Real, count: int, infinite: InfiniteLoss) -> Between:
    """``count`` Laplace steps of one rate, between the responses below and above one step."""
    growth = reals.exponential(rate / 2)
    odds = 2 * growth - 1
    below = OptimalComposition(reals.logarithm(odds), count, infinite)
    return Between(below, OptimalComposition(rate, count, infinite), "between two responses")
