r"""Optimal composition of ``k`` mechanisms of equal ``eps``: Kairouz, Oh, Viswanath (2017).

Under ``P`` the finite loss of the composed dominating pair is ``(2X - k) eps`` with
``X ~ Bin(k, q)``, ``q = 1/(1 + e^-eps)``; under ``Q``, ``X ~ Bin(k, 1 - q)``. With ``m`` the
smallest ``X`` whose loss exceeds ``eps'`` (Theorem III.3 in closed form),

.. math:: \delta_0(\varepsilon') = P[X \ge m] - e^{\varepsilon'} Q[X \ge m], \qquad
          \delta' = D + (1 - D)\,\delta_0, \quad D = 1 - \prod_i (1-\delta_i)^{k_i}.

``delta_0(eps')`` is the maximum over ``m`` of that difference, so when rounding leaves two
candidates for ``m`` the union of both values contains the truth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb, fmpq, fmpz

from dpexact import balls, reals
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import PrecisionNotReached
from dpexact.exactness import exact_ratio, exp_fraction
from dpexact.reals import Real

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)


class OptimalComposition(Profile):
    """Profile of ``k >= 1`` mechanisms of the same ``eps > 0``, with any infinite-loss mass."""

    method = "optimal composition"

    def __init__(self, eps: Real, count: int, infinite: InfiniteLoss) -> None:
        self.eps = eps
        self.count = count
        self.infinite = infinite

    # --- delta ----------------------------------------------------------------------------------

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        exact = self.delta_fraction(epsilon)
        if exact is not None:
            return Enclosure.exact(exact, f"{self.method} (exact)")
        return balls.certify(
            lambda: self._delta_ball(epsilon),
            digits,
            lowest=_ZERO,
            highest=_ONE,
            method=self.method,
        )

    def delta_fraction(self, epsilon: Real) -> Fraction | None:
        """The exact ``delta(epsilon)`` when it is rational and of moderate size."""
        lost = self.infinite.fraction
        if lost is None:
            return None
        ratio = exact_ratio(epsilon, self.eps)
        if ratio is not None and ratio >= self.count:
            return lost
        base, level = exp_fraction(self.eps), exp_fraction(epsilon)
        if base is None or level is None:
            return None
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if size * self.count > EXACT_BITS:
            return None
        finite = binomial_divergence(base, self.count, level)
        return lost + (1 - lost) * finite

    def _delta_ball(self, epsilon: Real) -> arb:
        lost = self.infinite.ball()
        return lost + (1 - lost) * self._finite_ball(epsilon)

    def _finite_ball(self, epsilon: Real) -> arb:
        """``delta_0(epsilon)`` as a ball."""
        level = balls.ball(epsilon).exp()
        values = [self._difference(m, level) for m in self._thresholds(epsilon)]
        if not values:
            return arb.nan()
        return values[0] if len(values) == 1 else values[0].union(values[1])

    def _thresholds(self, epsilon: Real) -> list[int]:
        """One or two candidates for the smallest count whose loss exceeds ``epsilon``.

        Empty when the precision leaves more than two.
        """
        ratio = exact_ratio(epsilon, self.eps)
        if ratio is not None:
            return [math.floor((ratio + self.count) / 2) + 1]
        middle = (balls.ball(epsilon) / balls.ball(self.eps) + self.count) / 2
        if not middle.is_finite():
            return []
        bounds = balls.to_enclosure(middle)
        first, last = math.floor(bounds.lower) + 1, math.floor(bounds.upper) + 1
        return list(range(first, last + 1)) if last - first <= 1 else []

    def _difference(self, m: int, level: arb) -> arb:
        """``P[X >= m] - level * Q[X >= m]``."""
        if m > self.count:
            return arb(0)
        p_tail, q_tail = self._tails(m)
        return p_tail - level * q_tail

    def _tails(self, m: int) -> tuple[arb, arb]:
        """``P[X >= m]`` and ``Q[X >= m]`` for ``1 <= m <= count``."""
        growth = balls.ball(self.eps).exp()
        low, high = 1 / (1 + growth), growth / (1 + growth)
        return binomial_tail(self.count, m, high, low), binomial_tail(self.count, m, low, high)

    # --- epsilon --------------------------------------------------------------------------------

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        largest = reals.multiply(self.eps, reals.rational(self.count))
        order = self.infinite.compare(delta, digits)
        if order == 1:
            return Enclosure.exact(math.inf, self.method)
        if order == 0:
            return self._real(largest, digits)
        if order is None:
            raise PrecisionNotReached(
                "delta cannot be told apart from the probability of infinite loss",
                Enclosure(_ZERO, math.inf, self.method),
            )
        lost = self.infinite.fraction
        if lost is not None and delta.fraction is not None:
            share: Fraction | None = (delta.fraction - lost) / (1 - lost)
        else:
            share = None
        start = self.delta_fraction(reals.rational(0))
        if start is not None and delta.fraction is not None and start <= delta.fraction:
            return Enclosure.exact(_ZERO, self.method)
        target = _Share(self.infinite, delta, share)
        candidates = self._pieces(target, digits)
        if candidates == [0]:
            return Enclosure.exact(_ZERO, self.method)

        def invert() -> arb:
            values = []
            for m in candidates:
                p_tail, q_tail = self._tails(m)
                values.append(((p_tail - target.ball()) / q_tail).log())
            return values[0] if len(values) == 1 else values[0].max(values[1])

        return balls.certify(invert, digits, lowest=_ZERO, method=self.method)

    def _real(self, value: Real, digits: int) -> Enclosure:
        if value.fraction is not None:
            return Enclosure.exact(value.fraction, self.method)
        return balls.certify(lambda: balls.ball(value), digits, method=self.method)

    def _pieces(self, target: _Share, digits: int) -> list[int]:
        """The ``m`` whose linear piece crosses ``target``: two if it crosses at a breakpoint.

        ``[0]`` when ``delta_0(0) <= target``. Piece ``m`` spans the losses ``2m-2-k`` to ``2m-k``
        in units of ``eps``, cut at 0.
        """
        low, high = self.count // 2 + 1, self.count  # the piece is in [low, high]
        order = self._compare(None, target, digits)
        if order is None:
            raise PrecisionNotReached(
                "delta cannot be told apart from delta(0)",
                Enclosure(_ZERO, balls.certify(lambda: balls.ball(self.eps), 5).upper, self.method),
            )
        if order <= 0:
            return [0]
        while low < high:
            m = (low + high) // 2
            order = self._compare(m, target, digits)
            if order is None:
                return [m, m + 1]
            if order > 0:
                low = m + 1
            else:
                high = m
        return [low]

    def _compare(self, m: int | None, target: _Share, digits: int) -> int | None:
        """The sign of ``delta_0 - target`` at loss ``(2m - k) eps`` (0 for ``m`` None)."""
        bits = 64 + 2 * self.count.bit_length()
        limit = 4 * balls.bits_for(digits) + bits
        loss = 0 if m is None else 2 * m - self.count
        first = self.count // 2 + 1 if m is None else m + 1
        while bits <= limit:
            with balls.precision(bits):
                level = (loss * balls.ball(self.eps)).exp()
                difference = self._difference(first, level) - target.ball()
                if difference > 0:
                    return 1
                if difference < 0:
                    return -1
            bits *= 2
        return None


class _Share:
    """The part of a target ``delta`` left for finite loss: ``(delta - D)/(1 - D)``."""

    def __init__(self, infinite: InfiniteLoss, delta: Real, exact: Fraction | None) -> None:
        self.infinite = infinite
        self.delta = delta
        self.exact = exact

    def ball(self) -> arb:
        if self.exact is not None:
            return balls.ball(self.exact)
        lost = self.infinite.ball()
        return (balls.ball(self.delta) - lost) / (1 - lost)


def binomial_divergence(base: Fraction, count: int, level: Fraction) -> Fraction:
    r"""The exact ``delta_0`` for ``e^eps = base`` and ``e^{eps'} = level``, both rational.

    .. math:: \sum_{j} \binom{k}{j} \frac{(a^j b^{k-j} - level\, a^{k-j} b^j)_+}{(a+b)^k},
              \quad base = a/b.
    """
    a, b = fmpz(base.numerator), fmpz(base.denominator)
    term_p, term_q = a**count, b**count  # the outcome X = count
    total_p, total_q = fmpz(0), fmpz(0)
    binomial = fmpz(1)
    scale, cut = fmpz(level.denominator), fmpz(level.numerator)
    for j in range(count, -1, -1):
        if term_p * scale <= cut * term_q:
            break
        total_p += binomial * term_p
        total_q += binomial * term_q
        if j:
            binomial = binomial * j // (count - j + 1)
            term_p, term_q = term_p // a * b, term_q // b * a
    result = fmpq(total_p * scale - cut * total_q, scale * (a + b) ** count)
    return Fraction(int(result.p), int(result.q))


def binomial_tail(count: int, m: int, success: arb, failure: arb) -> arb:
    """``Pr[Bin(count, success) >= m]`` by the incomplete beta function; ``failure = 1 - success``.

    The complement is used where it is the more accurate (``success`` close to 1).
    """
    a, b = arb(m), arb(count - m + 1)
    direct = success.beta_lower(a, b, regularized=True)
    if direct.is_finite() and direct.rel_accuracy_bits() > 30:
        return direct
    other = 1 - failure.beta_lower(b, a, regularized=True)
    if not direct.is_finite():
        return other
    return direct if direct.rel_accuracy_bits() >= other.rel_accuracy_bits() else other
