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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Final

from flint import arb, arb_poly, fmpz

from dpexact import balls, reals
from dpexact.accounting.contour.product import Product
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Most terms of the finite sum, counted as values of ``j`` times values of ``r``.
MAX_TERMS: Final = 10_000_000
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
        total = reals.rational(0)
        for rate, count in self.parts:
            total += rate * count
        return total

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
def _moments(parts: LaplaceParts) -> Product:
    """Proposes: the product, for its moments in floats, which it keeps."""
    return Product(parts.noises())


class LaplaceProduct(InvertedProfile):
    """Profile of a product of Laplace mechanisms by the finite sum, with any infinite loss."""

    def __init__(self, parts: LaplaceParts, infinite: InfiniteLoss) -> None:
        self.parts = parts
        self.infinite = infinite
        self.largest: Real = parts.largest
        self.method = "closed form: Laplace"

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        route = Route(self.parts, balls.approximate(epsilon))
        bits = route.reachable(balls.bits_for(digits))
        if bits == 0:
            return Enclosure(ZERO, ONE, self.method, TOO_LONG)
        # proposes: the precision; the sum encloses at any
        if bits < balls.bits_for(digits):
            with balls.precision(bits):
                best = balls.to_enclosure(self._with_infinite(route, epsilon), self.method)
            return best.within(ZERO, ONE).short(TOO_LONG)
        return balls.certify(
            lambda: self._with_infinite(route, epsilon),
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
        )

    @property
    def is_smooth(self) -> bool:
        return self.parts.count > 1

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        r"""Of one step in closed form: ``delta_0`` is :math:`1 - e^{(\varepsilon - \lambda)/2}`."""
        if self.parts.count > 1:
            return super()._epsilon(delta, digits)
        found = balls.certify(lambda: self._once(delta), digits, lowest=ZERO, method=self.method)
        return found if found.digits else super()._epsilon(delta, digits)

    def _once(self, delta: Real) -> arb:
        lost = self.infinite.ball()
        share = (balls.ball(delta) - lost) / (1 - lost)
        return (balls.ball(self.largest) + 2 * (-share).log1p()).max(arb(0))

    def near(self, delta: Real) -> Fraction:
        found = 0.0
        with suppress(ArithmeticError, ValueError):  # of rates that floats do not tell apart
            found = _moments(self.parts).epsilon(balls.approximate_log(delta), 1)
        # proposes: where the search starts
        return Fraction(found) if 0 < found < math.inf else ONE

    def is_short(self, epsilon: Real, digits: int) -> bool:
        """Whether few terms of the sum give ``digits`` digits at ``epsilon``."""
        route = Route(self.parts, balls.approximate(epsilon))
        return route.plan(balls.bits_for(digits), FEW_TERMS) is not None

    def _with_infinite(self, route: Route, epsilon: Real) -> arb:
        lost = self.infinite.ball()
        return lost + (1 - lost) * route.delta(balls.ball(epsilon))


def laplace_divergence(parts: LaplaceParts) -> Callable[[arb], arb]:
    """The profile of the product as a function of any real ball.

    Raises:
        UnsupportedMechanism: the finite sum is too long.
    """
    if not Route(parts, 0.0).reachable(balls.bits_for(1)):
        raise UnsupportedMechanism(f"no certified accounting for laplace: {TOO_LONG}")
    largest = parts.largest

    def divergence(epsilon: arb) -> arb:
        span = balls.ball(largest)
        if epsilon >= span:
            return arb(0)
        if epsilon <= -span:
            return -epsilon.expm1()
        if epsilon < 0:  # the pair is symmetric
            return -epsilon.expm1() + epsilon.exp() * divergence(-epsilon)
        return Route(parts, float(epsilon.mid())).delta(epsilon)

    return divergence


class Route:
    """The finite sum near one ``epsilon``, cut where the precision allows it."""

    def __init__(self, parts: LaplaceParts, epsilon: float) -> None:
        self.parts = parts
        self.rates: list[tuple[float, int]] = [
            (balls.approximate(rate), count) for rate, count in parts.parts
        ]
        self.epsilon = epsilon
        self.log_delta: float = min(0.0, _moments(parts).chernoff(epsilon, 1)[1])

    def reachable(self, bits: int) -> int:
        """Proposes: the largest precision up to ``bits`` for which the sum is short, else 0."""
        return next((fewer for fewer in range(bits, 0, -8) if self.plan(fewer)), 0)

    def delta(self, epsilon: arb) -> arb:
        """``delta(epsilon)`` at the current precision; not finite if the sum is too long."""
        below = balls.ball(self.parts.largest) - epsilon
        if not below > 0:  # a loss is at most the largest, so delta is at most 1 - e^(-below)
            return -(-below).expm1() * arb(0).union(arb(1))
        plan = self.plan(balls.current())
        return arb.nan() if plan is None else finite_sum(self.parts, epsilon, plan)

    def plan(self, bits: int, limit: int = MAX_TERMS) -> SumPlan | None:
        """Where to cut the sum at a precision; None if more than ``limit`` terms are needed."""
        return plan_sum(self.rates, self.epsilon, self.log_delta - bits * math.log(2), limit)


@dataclass(frozen=True, slots=True)
class SumPlan:
    """``terms`` values of ``r``, and ``guard`` bits for the cancellation between them."""

    terms: int
    guard: int


def plan_sum(
    rates: list[tuple[float, int]], epsilon: float, log_error: float, limit: int
) -> SumPlan | None:
    """Where to cut the sum over ``r``; ``None`` if more than ``limit`` terms would be needed.

    Proposes: a number of terms up to ``steps - 1``, which is exact, and bits of precision.
    """
    steps = sum(count for _, count in rates)
    span = sum(rate * count for rate, count in rates)
    if not math.isfinite(span - epsilon):
        return None
    choices = math.prod(count + 1 for _, count in rates) // 2 + 1
    if len(rates) == 1 and rates[0][0] > 0:
        choices = min(choices, math.ceil((steps * rates[0][0] - epsilon) / (2 * rates[0][0])) + 1)
    if choices > limit:
        return None
    x = max(span - epsilon, 1e-300) / 2
    scale = (epsilon - span) / 2 + math.log(2)

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
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if done(middle) else (middle, high)
    terms = min(high, steps - 1)
    if choices * max(terms, 1) > limit:
        return None
    peak = max((log_term(i) for i in range(1, terms + 2)), default=0.0)
    return SumPlan(terms, max(0, math.ceil((peak - log_error) / math.log(2))) + 32)


def finite_sum(parts: LaplaceParts, epsilon: arb, plan: SumPlan) -> arb:
    """``delta(epsilon)`` of the product by the finite sum above, ``epsilon > -Lambda``."""
    steps, terms = parts.count, plan.terms
    with balls.precision(max(balls.current(), plan.guard)):
        span, inverse = balls.ball(parts.largest), [arb(1)]
        # proposes: the number of terms; `remainder` bounds the others
        for i in range(1, terms + 1):
            inverse.append(inverse[-1] / i)
        total = arb(0)
        for j, group in points_above(parts, epsilon).items():
            krawtchouk = coefficients(steps - 2, j - 1, terms)
            series = arb_poly(
                [arb(0), *(c * f for c, f in zip(krawtchouk, inverse[1:], strict=True))]
            )
            for weight, x in group:
                value = series(x)
                # proposes: the number of terms; with all of them the rest is in closed form
                if j == steps and terms == steps - 1:
                    value += arb(2) ** (steps - 1) * (x.exp() - arb_poly(inverse)(x))
                total += weight * value  # holds 0 if x does
        # proposes: the number of terms; with fewer than all the rest is bounded
        if terms < steps - 1:
            total += arb(2) ** steps * remainder(steps, terms, (span - epsilon) / 2)
        return ((epsilon - span) / 2).exp() * arb(2) ** (1 - steps) * total


def points_above(parts: LaplaceParts, epsilon: arb) -> dict[int, list[tuple[fmpz, arb]]]:
    """By ``j``, the weight and ``x`` of each term whose ``x`` may be positive."""
    rates = [(balls.ball(rate), count) for rate, count in parts.parts]
    span = sum((rate * count for rate, count in rates), arb(0))
    points: dict[int, list[tuple[fmpz, arb]]] = {}
    for choice in product(*(range(count + 1) for _, count in rates)):
        x = (-span - epsilon) / 2
        weight = fmpz(1)
        for (rate, count), j in zip(rates, choice, strict=True):
            x += rate * j
            weight *= fmpz.bin_uiui(count, j)
        if not x <= 0:
            points.setdefault(sum(choice), []).append((weight, x))
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
