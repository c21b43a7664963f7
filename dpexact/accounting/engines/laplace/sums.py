r"""Laplace mechanisms of any scales: the profile of their product as a finite sum.

With :math:`\lambda = sensitivity/scale` the loss of one step has law
:math:`e^{z/2 - \lambda/2}\,\nu(dz)`, ``nu`` symmetric: half an atom at each of ``-lambda`` and
``lambda``, and density 1/4 between. The Laplace transform of ``nu`` is
:math:`\frac12[e^{\lambda s}(1 + \frac1{2s}) + e^{-\lambda s}(1 - \frac1{2s})]`. Expanding the
product of ``k`` of them and inverting term by term, with :math:`\Lambda = \sum_i k_i\lambda_i`,

.. math:: \delta(\varepsilon) = e^{(\varepsilon - \Lambda)/2}\,2^{1-k}
          \sum_{j_1, j_2, \dots} \prod_i \binom{k_i}{j_i} \sum_{r \ge 0}
          K_r(j)\,\frac{x^{r+1}}{(r+1)!}, \qquad
          x = \tfrac12\Big(\sum_i \lambda_i (2 j_i - k_i) - \varepsilon\Big) > 0,

where :math:`j = \sum_i j_i` and :math:`K_r(j) = [v^r] (1+v)^{j-1} (1-v)^{k-j-1}`: zero for
``r > k - 2`` unless ``j = k``. Proof and remainder: ``docs/theory/laplace.md``.

With :math:`u = (\varepsilon - c)/2` the ``x`` of every term is :math:`x_0 - u`, so that terms whose
``x`` is not negative anywhere on a stretch of epsilon are one polynomial in ``u`` together, and a
multiple of :math:`e^{-u}` where the last series does not end.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate, product
from operator import mul
from typing import Final

from flint import arb, arb_poly, fmpz

from dpexact import balls, reals
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.reals import Real

#: Most terms of the finite sum, counted as values of ``j`` times values of ``r``.
MAX_TERMS: Final = 10_000_000
#: Most bits that are held at once.
_MOST_BITS: Final = 1 << 29
#: Up to this many terms the finite sum is the fastest method.
FEW_TERMS: Final = 30_000


@dataclass(frozen=True, slots=True)
class LaplaceParts:
    """``parts`` are pairs ``(lambda, count)``."""

    parts: tuple[tuple[Real, int], ...]

    @property
    def count(self) -> int:
        """The number of steps."""
        return sum(count for _, count in self.parts)

    @property
    def largest(self) -> Real:
        """The largest loss."""
        return sum((rate * count for rate, count in self.parts), reals.rational(0))

    @property
    def few(self) -> bool:
        """Whether the finite sum is short whatever the digits."""
        return self.choices * self.count <= FEW_TERMS

    @property
    def choices(self) -> int:
        """About how many values ``(j_1, j_2, ...)`` the sum runs over."""
        return math.prod(count + 1 for _, count in self.parts) // 2 + 1

    def noises(self) -> tuple[tuple[Laplace, int], ...]:
        """The same composition as steps with moments."""
        return tuple((Laplace(rate), count) for rate, count in self.parts)


TOO_LONG: Final = "the finite sum is too long"


@lru_cache(maxsize=64)
def moments(parts: LaplaceParts) -> Product:
    """Proposes: the product, for its moments in floats, which it keeps."""
    return Product(parts.noises())


@dataclass(frozen=True, slots=True)
class SumPlan:
    """``terms`` values of ``r``, and ``guard`` bits for the cancellation between them."""

    terms: int
    guard: int


class Route:
    """The finite sum about so far ``below`` the largest loss, cut where the precision allows it."""

    def __init__(self, parts: LaplaceParts, below: float) -> None:
        self.parts = parts
        self.below = below
        self.largest: float = balls.approximate(parts.largest)
        # proposes: how precisely to sum
        self.log_delta: float = min(0.0, moments(parts).chernoff(self.largest - below, 1)[1])
        # proposes: likewise; floats hardly tell epsilon from the largest loss, which has this mass
        if below > 0:
            least = math.log(-math.expm1(-below)) - parts.count * math.log(2)
            self.log_delta = max(self.log_delta, least)

    def reachable(self, bits: int) -> int:
        """Proposes: the largest precision up to ``bits`` for which the sum is short, else 0."""
        return next((fewer for fewer in range(bits, 1, -8) if self.plan(fewer)), 0)

    def delta(self, epsilon: arb) -> arb:
        """``delta(epsilon)`` at the current precision; not finite if the sum is too long."""
        below = balls.ball(self.parts.largest) - epsilon
        if not below > 0:  # a loss is at most the largest, so delta is at most 1 - e^(-below)
            return -(-below).expm1() * balls.UNIT
        plan = self.plan(balls.current())
        return arb.nan() if plan is None else finite_sum(self.parts, epsilon, plan)

    def plan(self, bits: int, limit: int = MAX_TERMS) -> SumPlan | None:
        """Where to cut the sum at a precision; None if more than ``limit`` terms are needed."""
        return self.cut(self.log_delta - bits * math.log(2), limit)

    def cut(self, log_error: float, limit: int) -> SumPlan | None:
        """Likewise, given the logarithm of the error.

        Proposes: a number of terms up to ``steps - 1``, which is exact, and bits of precision.
        """
        steps, choices, below = self.parts.count, self.parts.choices, self.below
        if not math.isfinite(below - log_error):
            return None
        if len(self.parts.parts) == 1 and self.largest > 0:
            above = steps * below / (2 * self.largest)  # may be beyond floats
            choices = min(choices, math.ceil(max(-1, min(above, choices))) + 1)
        if choices > limit:
            return None
        x = max(below, 1e-300) / 2
        scale = -below / 2 + math.log(2)

        def log_term(i: int) -> float:
            r = min(i - 1, (steps - 1) // 2)
            binomial = math.lgamma(steps) - math.lgamma(r + 1) - math.lgamma(steps - r)
            sums = min((steps - 1) * math.log(2), binomial + math.log(i))
            return scale + sums + i * math.log(x) - math.lgamma(i + 1)

        def done(i: int) -> bool:
            falling = max(steps / (i + 1), 1) * x / (i + 2) < 0.9
            return i >= steps - 1 or (falling and log_term(i + 1) < log_error - 3)

        low, high = 0, 1
        while not done(high):
            low, high = high, 2 * high
            if choices * low > limit:
                return None
        terms = min(low + 1 + bisect_left(range(low + 1, high), True, key=done), steps - 1)
        if choices * max(terms, 1) > limit:
            return None
        peak = max((log_term(i) for i in range(1, terms + 2)), default=0.0)
        guard = max(0.0, (peak - log_error) / math.log(2)) + 32
        fits = terms * (guard + steps) <= _MOST_BITS  # coefficients are exact
        return SumPlan(terms, math.ceil(guard)) if fits else None


def finite_sum(parts: LaplaceParts, epsilon: arb, plan: SumPlan) -> arb:
    """``delta(epsilon)`` of the product by the finite sum above, ``epsilon > -Lambda``."""
    with balls.precision(max(balls.current(), plan.guard)):
        return FiniteSum(parts, epsilon, None, plan).at(epsilon)


class FiniteSum:
    """The sum for ``epsilon`` from ``low`` to ``high``, or at ``low`` alone.

    All at the current precision.
    """

    def __init__(self, parts: LaplaceParts, low: arb, high: arb | None, plan: SumPlan) -> None:
        steps, terms = parts.count, plan.terms
        self.steps = steps
        self.span = balls.ball(parts.largest)
        self.centre = low if high is None else ((low + high) / 2).mid()
        self.polynomial = None if high is None else arb_poly([0])
        self.growth = arb(0)
        #: Series, the part that does not end, weight, and ``x`` at the centre.
        self.others: list[tuple[arb_poly, arb_poly | None, arb, arb]] = []
        inverse = [arb(1)]
        # proposes: the number of terms; `remainder` bounds the others
        for i in range(1, terms + 1):
            inverse.append(inverse[-1] / i)
        for j, group in points_above(parts, low).items():
            krawtchouk = coefficients(steps - 2, j - 1, terms)
            series = arb_poly(
                [arb(0), *(c * f for c, f in zip(krawtchouk, inverse[1:], strict=True))]
            )
            # proposes: the number of terms; with all of them the rest is in closed form
            endless = arb_poly(inverse) if j == steps and terms == steps - 1 else None
            for weight, x in group:
                if high is not None and x + (low - high) / 2 >= 0:
                    self._merge(series, endless, weight, x + (low - self.centre) / 2)
                else:
                    at = x if high is None else x + (low - self.centre) / 2
                    self.others.append((series, endless, weight, at))
        self.rest = arb(0)
        # proposes: likewise; with fewer than all the rest is bounded, and grows with x
        if terms < steps - 1:
            self.rest = arb(2) ** steps * remainder(steps, terms, (self.span - low) / 2)

    def _merge(self, series: arb_poly, endless: arb_poly | None, weight: arb, at: arb) -> None:
        assert self.polynomial is not None
        shifted = arb_poly([at, -1])
        self.polynomial += weight * series(shifted)
        if endless is not None:
            whole = weight * arb(2) ** (self.steps - 1)
            self.polynomial -= whole * endless(shifted)
            self.growth += whole * at.exp()

    def at(self, epsilon: arb) -> arb:
        """``delta`` at a point of the stretch."""
        u, total = arb(0), self.rest
        if self.polynomial is not None:  # else x is counted from this very point
            u = (epsilon - self.centre) / 2
            total += self.polynomial(u) + self.growth * (-u).exp()
        for series, endless, weight, at in self.others:
            x = at - u
            # proposes: the place from which x is counted; it is a ball about the true one
            if not x <= 0:
                value = series(x)
                if endless is not None:
                    value += arb(2) ** (self.steps - 1) * (x.exp() - endless(x))
                total += weight * value  # holds 0 if x does
        return ((epsilon - self.span) / 2).exp() * arb(2) ** (1 - self.steps) * total


def points_above(
    parts: LaplaceParts, epsilon: arb, windows: Sequence[range] = ()
) -> dict[int, list[tuple[arb, arb]]]:
    """By ``j``, weight and ``x`` of terms in the windows, if any, whose ``x`` may be positive."""
    points: dict[int, list[tuple[arb, arb]]] = {}
    windows = windows or [range(count + 1) for _, count in parts.parts]
    rows: list[list[tuple[int, arb, arb]]] = []
    for (rate, count), window in zip(parts.parts, windows, strict=True):
        ratios = (arb(count - j) / (j + 1) for j in window[:-1])
        weights = accumulate(ratios, mul, initial=arb(fmpz.bin_uiui(count, window.start)))
        rows.append([(j, w, balls.ball(rate) * j) for j, w in zip(window, weights, strict=True)])
    start = (-balls.ball(parts.largest) - epsilon) / 2
    for choice in product(*rows):
        x = sum((rise for _, _, rise in choice), start)
        if not x <= 0:
            weight = reduce(mul, (weight for _, weight, _ in choice))
            points.setdefault(sum(j for j, _, _ in choice), []).append((weight, x))
    return points


def coefficients(steps: int, j: int, terms: int) -> list[fmpz]:
    """``[v^r] (1+v)^j (1-v)^(steps-j)`` for ``r < terms``; an exponent may be -1.

    From ``(1 - v^2) y' = (2j - steps - steps v) y``.
    """
    found = [fmpz(1)]
    before = fmpz(0)
    # proposes: how many are needed; each is exact
    for r in range(terms - 1):
        following = ((2 * j - steps) * found[r] - (steps - r + 1) * before) // (r + 1)
        before = found[r]
        found.append(following)
    # proposes: likewise
    return found[:terms]


def remainder(steps: int, terms: int, x: arb) -> arb:
    r"""A ball that holds :math:`\sum_{r \ge terms} K_r(j) x^{r+1}/(r+1)!` for any ``j``.

    :math:`|K_r(j)| \le S_r = \sum_{t \le r} \binom{steps-1}{t}`, and for ``i > terms`` the terms
    :math:`S_{i-1} x^i/i!` fall by at least :math:`\max(steps/i, 1)\,x/(i+1)`.
    """
    bound, binomial = fmpz(0), fmpz(1)
    # proposes: how many terms are summed; the bound is right after any number of them
    for t in range(terms + 1):
        bound += binomial
        binomial = binomial * (steps - 1 - t) // (t + 1)
    i = terms + 1
    ratio = x * max(steps, i) / (i * (i + 1))
    # proposes: likewise; a ball decides whether the others fall
    if not ratio < 1:
        return arb.nan()
    first = bound * x**i / arb(fmpz.fac_ui(i))
    return first / (1 - ratio) * arb(-1).union(arb(1))
