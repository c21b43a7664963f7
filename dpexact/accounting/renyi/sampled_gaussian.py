r"""The Poisson-sampled Gaussian: choice of method and of precision.

Relative to ``N(0, 1)`` the mixture has the density ``w(z) = 1 - q + q exp(mu z - mu^2/2)``, so with
``A_a = E[w(z)^a]``, ``z ~ N(0, 1)``,

.. math:: D_\alpha(\text{remove}) = \frac{\log A_\alpha}{\alpha-1}, \qquad
          D_\alpha(\text{add}) = \frac{\log A_{1-\alpha}}{\alpha-1}.

``D_alpha`` does not decrease with ``alpha`` on ``(0, inf)`` (van Erven and Harremoes 2014, Theorem
3), hence at order 1 it lies between its values at ``1 - h`` and ``1 + h``.

Two-sided bounds in closed form are sharp where the noise is small. With ``s = alpha - 1`` and
``D = alpha mu^2/2`` (Steinke 2022, Proposition 42 and the remark before it), removing,

.. math:: \Big(D - \tfrac{\alpha}{s}\log\tfrac1q\Big)_+ \le D_\alpha \le
          \min\Big\{D,\ \tfrac{\alpha}{s}\log\big(1 - q + q\,e^{sD/\alpha}\big)\Big\},

and adding, since ``1 - q <= w(z) <= w(z')`` for ``z <= z'``, for every ``z'``, such as ``mu/4``,

.. math:: \Big(\tfrac1s\log\Phi(z') - \log w(z')\Big)_+ \le D_\alpha \le \min\{D, -\log(1-q)\}.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.pairs import mixture
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.renyi import series
from dpexact.accounting.renyi.series import mixture_moment
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real


def bounds_removing(alpha: arb, excess: arb, square: arb, q: arb) -> tuple[arb, arb]:
    """Lower and upper bound, removing; ``excess = alpha - 1 > 0``, ``square = mu^2``."""
    plain = alpha * square / 2
    shrink = alpha / excess * q.log()
    # D - (alpha/s) log(1/q) + (alpha/s) log(1 + ((1-q)/q) e^(-sD/alpha)), without overflow
    gap = ((1 - q) / q * (-excess * square / 2).exp()).log1p() * alpha / excess
    return plain + shrink, (plain + shrink + gap).min(plain)


def bounds_adding(alpha: arb, excess: arb, square: arb, q: arb) -> tuple[arb, arb]:
    """Lower and upper bound, adding."""
    root = square.sqrt() / 4
    below = 1 - (root / arb(2).sqrt()).erfc() / 2
    ratio = q / (1 - q) * (-square / 4).exp()
    top = -(-q).log1p()
    return below.log() / excess + top - ratio.log1p(), top.min(alpha * square / 2)


Method: TypeAlias = Literal["auto", "binomial", "series", "trapezoid", "sandwich"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)

LABELS: Final[dict[Method, str]] = {
    "binomial": "binomial sum",
    "series": "double series",
    "trapezoid": "trapezoidal rule",
    "sandwich": "two-sided closed-form bounds",
}
#: Most terms of the two sums.
MAX_TERMS: Final = 200_000
#: Evaluations with rising precision, and the largest precision of one, in bits.
ATTEMPTS: Final = 6
MAX_BITS: Final = 50_000
#: Microseconds per term, term and node: they choose the fastest method, nothing else.
COSTS: Final[dict[Method, float]] = {"binomial": 1.0, "series": 8.0, "trapezoid": 2.0}
#: Most microseconds, estimated in the same way, that one evaluation may take.
MAX_COST: Final = 30e6


def divergence(
    sigma: Real, q: Real, order: Real, add: bool, digits: int, method: Method = "auto"
) -> Enclosure:
    """The divergence at a finite order, for noise ``sigma``, a rate ``0 < q < 1``, one direction.

    Raises:
        InvalidInput: the forced ``method`` does not apply.
    """
    if order.fraction != 1:
        return SampledGaussian(sigma, q, order, add).divergence(digits, method)
    best = Enclosure(Fraction(0), math.inf)
    decades = digits + 3
    for _ in range(3):  # order 1, between its neighbours
        low, high = (
            SampledGaussian(sigma, q, reals.rational(1 + h), add).divergence(digits + 2, method)
            for h in (Fraction(-1, 10**decades), Fraction(1, 10**decades))
        )
        best = best.meet(low.between(high, high.method))
        if best.digits >= digits:
            return best
        decades += digits - best.digits
    return best.short(best.reason or "the values at orders next to 1 differ by more")


class SampledGaussian:
    """One pair at one order ``> 0`` other than 1: ``log M(excess) / excess``, ``excess = order-1``.

    ``M(excess) = E[w^a]``, where ``a`` is the order in the remove direction and ``-excess`` in the
    add direction.
    """

    def __init__(self, sigma: Real, q: Real, order: Real, add: bool) -> None:
        self.pair: mixture.GaussianMixtures = (mixture.add if add else mixture.remove)(sigma, q)
        self.sigma = sigma
        self.q = q
        self.order = order
        self.add = add
        self.excess: Real = order - 1
        self.above_one: bool = balls.sign(self.excess, "order") > 0
        self.power: Real = -self.excess if add else order

    @property
    def _square(self) -> arb:
        """``mu^2 = 1 / sigma^2``."""
        mu = 1 / balls.ball(self.sigma)
        return mu * mu

    def divergence(self, digits: int, method: Method) -> Enclosure:
        """Enclose to ``digits`` digits by ``method``, or by the fastest for ``auto``."""
        self._check(method)
        best, size = self._bounds(digits)  # size proposes: every answer is proved
        reason = "the closed-form bounds differ by more"
        if method == "sandwich" or (method == "auto" and best.digits >= digits):
            return best if best.digits >= digits else best.short(reason)
        bits = balls.bits_for(digits) - balls.GUARD_BITS + 7
        tried = False
        for _ in range(ATTEMPTS):
            accuracy = max(8.0, bits * math.log(2) - size)
            working = bits + max(0, math.ceil(-size / math.log(2))) + balls.GUARD_BITS
            chosen = self._fastest(accuracy, working, method)
            if chosen is None and tried:
                break
            if chosen is None:
                bits //= 4  # too much was asked for: what is certified will be less
                continue
            tried = True
            # the binomial sum cancels nothing
            with balls.precision(bits + balls.GUARD_BITS if chosen == "binomial" else working):
                log_moment = self._log_moment(chosen, accuracy)
                ratio = log_moment / balls.ball(self.excess)
                if ratio.is_finite():
                    found = balls.to_enclosure(ratio, LABELS[chosen])
                    best = best.meet(found).labelled(LABELS[chosen])
                    measured = log_moment.abs_lower().log()
                    known = measured.is_finite()
                    # proposes: the precision of the next attempt
                    size = float(balls.midpoint(measured)) if known else 2 * min(size, 0.0) - 40
            if best.digits >= digits:
                return best
            bits += bits // 2
            reason = "the precision and the number of terms allowed did not suffice"
        return best.short(reason)

    def _bounds(self, digits: int) -> tuple[Enclosure, float]:
        """The closed-form bounds, and about ``log |log M|``."""
        label = LABELS["sandwich"]
        with balls.precision(balls.bits_for(digits) + 2 * balls.GUARD_BITS):
            alpha, excess = balls.ball(self.order), balls.ball(self.excess)
            square, q = self._square, balls.ball(self.q)
            plain = balls.to_enclosure(alpha * square / 2).upper
            known = Enclosure(Fraction(0), plain, label)
            low, high = (bounds_adding if self.add else bounds_removing)(alpha, excess, square, q)
            if self.above_one and low.is_finite() and high.is_finite():
                both = balls.to_enclosure(low).between(balls.to_enclosure(high), label)
                known = known.meet(both)
            # proposes: second order in q, and not more than what bounds it for orders above 1
            small = (alpha * abs(excess) / 2 * q * q).log()
            small += square.expm1().log() if square < 1 else square
            top = excess * (-q).log1p() if self.add else (excess * square / 2).expm1()
            top = abs(top if self.add else alpha * (q * top).log1p()).log()
            return known, float(min((x.mid() for x in (small, top) if x.is_finite()), default=0))

    # --- choice of method -------------------------------------------------------------------------

    @property
    def _positive(self) -> bool:
        """Whether the power is."""
        return not (self.add and self.above_one)

    @property
    def _integer(self) -> int | None:
        """The order when ``binomial`` applies to it."""
        n = self.order.fraction
        fits = n is not None and n.denominator == 1 and 2 <= n <= MAX_TERMS and not self.add
        return int(n) if fits and n is not None else None

    def _check(self, method: Method) -> None:
        """Raises unless ``method`` applies to the direction and the order."""
        if method == "binomial" and self._integer is None:
            raise InvalidInput(
                f"method: 'binomial' needs the direction remove and an integer order from 2 to "
                f"{MAX_TERMS}"
            )
        if method == "series" and (
            not self._positive or balls.compare(self.power, reals.rational(MAX_TERMS)) > 0
        ):
            raise InvalidInput(
                f"method: 'series' needs the direction remove and an order up to {MAX_TERMS}"
            )

    def _fastest(self, accuracy: float, bits: int, method: Method) -> Method | None:
        """The cheapest method by estimate, or the forced one; None when all cost too much.

        Proposes: a method, of which each encloses the moment wherever it is finite.
        """
        work: dict[Method, float] = {}
        if self._integer is not None:
            work["binomial"] = self._integer
        if self._positive:
            terms = series.terms(balls.approximate(self.power), accuracy)
            if terms <= MAX_TERMS:
                work["series"] = 2 * terms
        with suppress(ArithmeticError):  # too many nodes, or beyond floats
            work["trapezoid"] = self.pair.extreme_cost(self.excess, accuracy)
        slower = max(1.0, bits / 100) ** 1.25
        costs = {name: work[name] * COSTS[name] * slower for name in work}
        affordable = [name for name in costs if costs[name] <= MAX_COST and bits <= MAX_BITS]
        if method != "auto":
            affordable = [name for name in affordable if name == method]
        return min(affordable, key=lambda name: costs[name], default=None)

    # --- evaluation -------------------------------------------------------------------------------

    def _log_moment(self, method: Method, accuracy: float) -> arb:
        """``log M(excess)`` at the current precision; not finite where the work is too much."""
        square, q = self._square, balls.ball(self.q)
        if method == "binomial":
            n = self._integer
            assert n is not None
            half = square / 2
            return mixture_moment([k * (k - 1) * half for k in range(2, n + 1)], n, q).log1p()
        if method == "series":
            a = balls.ball(self.power)
            whole = math.floor(balls.to_enclosure(a).upper)
            return series.moment(a, whole, square.sqrt(), q, accuracy).log()
        try:
            return self.pair.extreme_moment(self.excess, accuracy).log()
        except TooExpensive:
            return arb.nan()
