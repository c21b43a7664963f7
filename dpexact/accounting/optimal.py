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
from dpexact.accounting.binomial import binomial_tail
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.exactness import exact_ratio, exp_fraction
from dpexact.reals import Real
from dpexact.ternary import Order

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)


class OptimalComposition(Profile):
    """Profile of ``k >= 1`` mechanisms of the same ``eps > 0``, with any infinite-loss mass."""

    method = "optimal composition"

    def __init__(self, eps: Real, count: int, infinite: InfiniteLoss) -> None:
        self.eps = eps
        self.count = count
        self.infinite = infinite
        self._lost_bits = count.bit_length()

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
            lost_bits=self._lost_bits,
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
        if middle >= self.count:
            return [self.count + 1]
        if not balls.in_range(middle):
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
        decay = (-balls.ball(self.eps)).exp()
        low, high = decay / (1 + decay), 1 / (1 + decay)
        return binomial_tail(self.count, m, high, low), binomial_tail(self.count, m, low, high)

    # --- epsilon --------------------------------------------------------------------------------

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        lost = self.infinite.fraction
        if lost is not None and delta.fraction is not None:
            share: Fraction | None = (delta.fraction - lost) / (1 - lost)
        else:
            share = None
        start = self.delta_fraction(reals.rational(0))
        if start is not None and delta.fraction is not None and start <= delta.fraction:
            return Enclosure.exact(_ZERO, self.method)
        target = _Share(self.infinite, delta, share)
        if start is None or delta.fraction is None:
            match self._order(None, target, digits):
                case Order.BELOW:
                    return Enclosure.exact(_ZERO, self.method)
                case Order.UNDECIDED:
                    return self._near_zero(target, digits)
        candidates = self._pieces(target, digits)
        if candidates is None:
            reason = "delta cannot be told apart from delta at several breakpoints"
            return Enclosure(_ZERO, self.largest_loss(5).upper, self.method, reason)

        def invert() -> arb:
            values = [self._crossing(m, target) for m in candidates]
            return values[0] if len(values) == 1 else values[0].max(values[1])

        return balls.certify(
            invert,
            digits,
            lowest=_ZERO,
            method=self.method,
            lost_bits=self._lost_bits,
        )

    def largest_loss(self, digits: int) -> Enclosure:
        value = self.eps * self.count
        if value.fraction is not None:
            return Enclosure.exact(value.fraction, self.method)
        return balls.certify(lambda: balls.ball(value), digits, lowest=_ZERO, method=self.method)

    def _pieces(self, target: _Share, digits: int) -> list[int] | None:
        """The ``m`` whose linear piece crosses ``target``: two if it crosses at a breakpoint.

        Piece ``m`` spans the losses ``2m-2-k`` to ``2m-k`` in units of ``eps``, cut at 0. None
        where more than two may cross ``target``, which is certainly below ``delta_0(0)``.
        """
        low, high = self.count // 2 + 1, self.count  # the piece is in [low, high]
        while low < high:
            m = (low + high) // 2
            match self._order(m, target, digits):
                case Order.UNDECIDED:
                    return [m, m + 1] if self._is_beside(m, target, digits) else None
                case Order.ABOVE:
                    low = m + 1
                case _:
                    high = m
        return [low]

    def _is_beside(self, m: int, target: _Share, digits: int) -> bool:
        """Whether the crossing certainly lies on one of the two pieces that meet at ``m``."""
        above = None if m == self.count // 2 + 1 else m - 1
        if self._order(above, target, digits) is not Order.ABOVE:
            return False
        return m + 1 >= self.count or self._order(m + 1, target, digits) is Order.BELOW

    def _crossing(self, m: int, target: _Share) -> arb:
        """Where the linear piece ``m``, extended, meets ``target``."""
        p_tail, q_tail = self._tails(m)
        return ((p_tail - target.ball()) / q_tail).log()

    def _near_zero(self, target: _Share, digits: int) -> Enclosure:
        """From 0 to where the first piece meets ``target``, if that is on the piece itself."""
        with balls.precision(4 * balls.bits_for(digits)):
            place = self._crossing(self.count // 2 + 1, target)
            on_first = self._order(self.count // 2 + 1, target, digits) is Order.BELOW
            upper = balls.to_enclosure(place).upper if on_first and place.is_finite() else None
        high = self.largest_loss(5).upper if upper is None else max(upper, _ZERO)
        reason = "delta cannot be told apart from delta(0)"
        return Enclosure(_ZERO, high, self.method, reason)

    def _order(self, m: int | None, target: _Share, digits: int) -> Order:
        """How ``delta_0`` at loss ``(2m - k) eps`` (0 for ``m`` None) stands to ``target``."""
        bits = 64 + 2 * self.count.bit_length()
        limit = 4 * balls.bits_for(digits) + bits
        loss = 0 if m is None else 2 * m - self.count
        first = self.count // 2 + 1 if m is None else m + 1
        # proposes: how long to try; balls decide, or it stays undecided
        while bits <= limit:
            with balls.precision(bits):
                level = (loss * balls.ball(self.eps)).exp()
                difference = self._difference(first, level) - target.ball()
                if difference > 0:
                    return Order.ABOVE
                if difference < 0:
                    return Order.BELOW
            bits *= 2
        return Order.UNDECIDED


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
