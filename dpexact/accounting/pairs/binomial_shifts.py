r"""A binomial number of equal shifts, cut where the rest of it does not matter.

Of ``k`` records each takes part with probability ``q``, and ``j`` of them shift the law by ``j``
rates: :math:`A(z) = \sum_j w_j e^{j r z - (jr)^2/2}`, a polynomial in :math:`e^{rz}`. Kept are
``first <= j <= last``, with the weights of ``Binomial(k, q)`` under that condition.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, acb_poly, arb, arb_poly

from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.shifts import REACHED, Outline, quarter
from dpexact.balls import approximate, approximate_log, ball
from dpexact.kept import cached_property
from dpexact.reals import Real


@dataclass(frozen=True)
class BinomialShifts:
    """``Binomial(k, q)`` shifts of ``rate`` each, given that they are ``first`` to ``last``.

    ``0 < q < 1`` and ``0 <= first <= last <= k``, with ``last`` positive.
    """

    rate: Real
    q: Real
    k: int
    first: int
    last: int

    @property
    def moves(self) -> bool:
        """Some number of records shifts."""
        return True

    def log_weight(self, j: int) -> float:
        """Proposes: about the logarithm of that of ``j`` shifts."""
        ways = math.lgamma(self.k + 1) - math.lgamma(j + 1) - math.lgamma(self.k - j + 1)
        taken, left = self.log_rates
        return ways + j * taken + (self.k - j) * left

    @cached_property
    def log_rates(self) -> tuple[float, float]:
        """Proposes: about ``log q`` and ``log(1 - q)``."""
        return approximate_log(self.q), approximate_log(1 - self.q)

    @cached_property
    def outline(self) -> Outline:
        """Proposes: about the same law, where floats do not hold it another."""
        rate = min(max(approximate(self.rate), 1e-100), 1e100)
        kept = range(self.first, self.last + 1)
        return Outline(
            tuple(j * rate for j in kept),
            tuple(max(self.log_weight(j), -690.0) for j in kept),
            rate,
        )

    def weights(self) -> list[arb]:
        """Those of ``Binomial(k, q)`` at ``first .. last``, without the condition."""
        q, k = ball(self.q), self.k
        odds, j = q / (1 - q), self.first
        ways = (arb(k + 1).lgamma() - arb(j + 1).lgamma() - arb(k - j + 1).lgamma()).exp()
        found = [ways * q**j * (1 - q) ** (k - j)]
        for j in range(self.first, self.last):
            found.append(found[-1] * odds * (k - j) / (j + 1))
        return found

    def neglected(self) -> arb:
        """An upper bound on the probability of fewer than ``first`` or more than ``last`` shifts.

        It may be infinite.
        """
        below, above = self._left_out(arb(0), arb(0))
        return (below + above).upper()

    def excess(self, reach: arb) -> arb:
        """A bound on the waves left out over those kept, at every ``x`` with ``|x| <= reach``.

        Those above the kept ones are largest against them at ``reach``, those below at ``-reach``:
        the logarithm of a sum of waves has the mean of its rates for a derivative.
        """
        rate = ball(self.rate)
        below, above = self._left_out(rate, reach)
        kept = EqualWaves(rate, self.first, self.weights())
        return (below / kept.at(-reach) + above / kept.at(reach)).upper()

    def _left_out(self, rate: arb, reach: arb) -> tuple[arb, arb]:
        """Bounds on the waves left out: at ``-reach`` those below, at ``reach`` those above.

        At ``z`` a wave is ``(q/(1-q)) (k-j)/(j+1) e^{rate z - (j + 1/2) rate^2}`` times the one
        before. That ratio decreases, so each sum lies below a geometric series; where that does
        not converge the bound is infinite.
        """
        q, weights = ball(self.q), self.weights()

        def tail(j: int, weight: arb, z: arb, before: int, up: bool) -> arb:
            exponent = rate * z - (2 * before + 1) * rate * rate / 2
            ratio = q / (1 - q) * (self.k - before) / (before + 1) * exponent.exp()
            ratio = ratio if up else 1 / ratio
            edge = weight * (j * rate * z - (j * rate) ** 2 / 2).exp()
            return edge * ratio / (1 - ratio) if ratio < 1 else arb("inf")

        below = above = arb(0)
        if self.first > 0:
            below = tail(self.first, weights[0], -reach, self.first - 1, False)
        if self.last < self.k:
            above = tail(self.last, weights[-1], reach, self.last, True)
        return below, above

    def masses(self) -> list[tuple[arb, arb]]:
        """Rates and weights as balls."""
        rate, weights = ball(self.rate), self.weights()
        total = sum(weights, arb(0))
        return [(j * rate, w / total) for j, w in enumerate(weights, self.first)]

    def waves(self) -> EqualWaves:
        """The sum of their waves."""
        weights = [weight for _, weight in self.masses()]
        return EqualWaves(ball(self.rate), self.first, weights, self.outline.is_few)


class EqualWaves:
    r"""``W(z) = sum w_j exp(j rate z - (j rate)^2 / 2)`` from ``first`` on, in balls.

    The weights are those of a binomial law, or of any that is log-concave. Where
    :math:`u = |\Im z| \sqrt{1 + r^2/2} < 1`, ``W`` is not 0, its modulus is at least
    :math:`\sqrt{1 - u^2}` times that at the real part, and its argument increases with the height
    and is within :math:`(\operatorname{artanh} u - u)/\sqrt 2` of the height times ``W'/W`` at
    the real part (``docs/theory/contour.md``, 13). Of ``few`` the strip is that of any shifts,
    where no two terms are half a turn apart; either holds.
    """

    def __init__(self, rate: arb, first: int, weights: list[arb], few: bool = False) -> None:
        last = first + len(weights) - 1
        self.rate, self.first = rate, first
        self.still: arb = weights[0] if first == 0 else arb(0)
        self.largest: arb = last * rate
        self._few, self.spread = few, (last - first) * rate
        self._steep: arb = (1 + rate * rate / 2).sqrt()
        self.strip: arb = 2 * quarter(self.largest) if few else REACHED / self._steep
        self.rising: arb = quarter(self.spread) if few else self.strip
        half = rate * rate / 2
        self._terms = arb_poly([w * (-j * j * half).exp() for j, w in enumerate(weights, first)])
        self._slopes = self._terms.derivative()

    def at(self, x: arb) -> arb:
        """``W(x)`` at a real point."""
        base = (x * self.rate).exp()
        return self._terms(base) * base**self.first

    def slope(self, x: arb) -> arb:
        """``W'/W`` at a real point, a mean of the rates that increases with ``x``."""
        base = (x * self.rate).exp()
        return self.rate * (self.first + base * self._slopes(base) / self._terms(base))

    def cosine(self, height: arb) -> arb:
        """``sqrt(1 - u^2)`` with ``u = height sqrt(1 + rate^2 / 2)``, or as of any shifts."""
        if self._few:
            return (self.spread * height / 2).cos()
        return (1 - (height * self._steep) ** 2).sqrt()

    def turned(self, height: arb) -> Callable[[arb], acb]:
        """``x -> log W(x + i height)``, whose argument is within 1.2 of ``height slope(x)``.

        Of few shifts it is within half a turn of 0.
        """
        turn, terms = acb(0, height * self.rate).exp(), acb_poly(self._terms)

        def logarithm(x: arb) -> acb:
            base = (x * self.rate).exp() * turn
            angle = arb(0) if self._few else height * self.slope(x)
            # proposes: the angle; that it is near is decided by a ball
            about = angle.mid()
            # proposes: likewise
            if not abs(angle - about) < 1:
                raise TooExpensive("too few bits for an argument")
            turned = terms(base) * base**self.first * acb(0, -about).exp()
            return turned.log() + acb(0, about)

        return logarithm


def cut(rate: Real, q: Real, k: int, log_tail: float, reach: float = 0.0) -> BinomialShifts:
    """All shifts but those that neglect about ``e^log_tail``, also at ``-reach`` and ``reach``.

    Proposes: where to cut; :class:`BinomialShifts` bounds what is left out.
    """
    whole = BinomialShifts(rate, q, k, 0, k)
    speed = min(max(approximate(rate), 1e-100), 1e100)
    first, last = k, 1
    for z in {0.0, -reach, reach}:
        low, high = _matter(whole, log_tail, speed if z else 0.0, z)
        first, last = min(first, low), max(last, high)
    return BinomialShifts(rate, q, k, first, last)


def _matter(whole: BinomialShifts, log_tail: float, rate: float, z: float) -> tuple[int, int]:
    """Proposes: the shifts whose waves at ``z`` are within ``e^log_tail`` of the largest."""
    taken, left = whole.log_rates

    def height(j: int) -> float:
        return whole.log_weight(j) + j * rate * (z - j * rate / 2)

    def rises(j: int) -> bool:
        step = taken - left + math.log((whole.k - j) / (j + 1))
        return step + rate * (z - (j + 0.5) * rate) > 0

    k = whole.k
    top = _last(rises, 0, k - 1) + 1 if rises(0) else 0
    least = height(top) + log_tail
    low = 0 if height(0) > least else _last(lambda j: height(j) <= least, 0, top)
    return low, k if height(k) > least else _last(lambda j: height(j) > least, top, k) + 1


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Proposes: the last of ``low .. high`` where what holds at first still does."""
    return low + bisect_left(range(low + 1, high + 1), True, key=lambda j: not holds(j))
