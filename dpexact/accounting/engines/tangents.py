r"""Profiles of laws given by their outcomes: every test is a tangent of the profile.

For any test ``S`` and any ``epsilon``, with equality for the outcomes whose loss exceeds it,

.. math:: \delta_0(\varepsilon) \ge P(S) - e^\varepsilon Q(S),

so that where the right side, for one ``S``, crosses the target is a lower bound of the ``epsilon``
sought. A point where ``delta`` is certainly at most the target is an upper bound. The profile is
convex in ``e^epsilon``, so a tangent near the answer is better than its point by far.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb, fmpz, fmpz_poly

from dpexact import balls, reals
from dpexact.accounting.inverted import ZERO, BallProfile, undecided
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.exactness import exp_fraction
from dpexact.reals import Real
from dpexact.ternary import Order

_ROUNDS: Final = 128
#: Tangents take over where ``log delta`` is left to fall by less.
_NEAR: Final = 1 / 16


class Tangent(NamedTuple):
    r"""``P(S)`` and ``Q(S)`` of a test that is almost the best at ``epsilon``.

    :math:`\delta_0(\varepsilon)` exceeds :math:`P(S) - e^\varepsilon Q(S)` by at most ``doubt``.
    """

    p: arb
    q: arb
    doubt: arb

    def value(self, level: arb) -> arb:
        """``delta_0`` at ``level = e^epsilon``."""
        return self.p - level * self.q + arb(0).union(self.doubt)


def threshold(
    crossing: arb, apart: arb, count: int | None, lowest: int | None = 0
) -> tuple[int, arb]:
    """The test of the numbers beyond ``crossing`` from ``lowest`` to ``count``, from the least on.

    Their losses are ``apart`` from each other. The ``doubt`` of the test, relative to its ``P``, is
    that about the numbers too close to ``crossing`` to be told from it, which are in the test.
    """
    if not balls.in_range(crossing):
        return 0, arb.nan()
    mantissa, exponent = (int(x) for x in crossing.lower().man_exp())
    # shifts to the right round down
    least = (mantissa << exponent if exponent > 0 else mantissa >> -exponent) + 1
    # proposes: nothing; both are whole numbers
    if count is not None and least > count:
        return count + 1, arb(0)
    if lowest is not None:
        least = max(least, lowest)
    if crossing <= least:
        return least, arb(0)
    return least, ((crossing - least) * apart).expm1().max(arb(0)).upper()


class TangentProfile(BallProfile):
    """A profile by the tests of its finite outcomes, with any mass of infinite loss.

    ``beside`` is the part of that mass that ``P`` of the tests does not count.
    """

    beside: InfiniteLoss

    @abstractmethod
    def tangent(self, epsilon: arb) -> Tangent:
        """A test near the best at ``epsilon``, at the current precision."""

    def test(self, epsilon: arb) -> Tangent:
        """The same of all of ``delta``: infinite losses are in every test."""
        finite = self.tangent(epsilon)
        kept = 1 - self.beside.ball()
        return Tangent(
            self.infinite.ball() + kept * finite.p,
            kept * finite.q,
            (kept * finite.doubt).upper(),
        )

    @abstractmethod
    def finite_fraction(self, level: Fraction) -> Fraction | None:
        """The exact finite part of ``delta`` at ``e^epsilon = level``, if not too long."""

    def known(self, epsilon: Real, digits: int) -> Enclosure | None:
        exact = None
        if (found := super().known(epsilon, digits)) is None:
            exact = self.delta_fraction(epsilon)
        return found if exact is None else Enclosure.exact(exact, f"{self.method} (exact)")

    def delta_fraction(self, epsilon: Real) -> Fraction | None:
        """The exact ``delta(epsilon)`` when everything is rational and of moderate size."""
        level = exp_fraction(epsilon)
        if level is None:
            return None
        lost, beside = self.infinite.fraction, self.beside.fraction
        if lost is None or beside is None:
            return None
        finite = self.finite_fraction(level)
        return None if finite is None else lost + (1 - beside) * finite

    def delta_ball(self, epsilon: arb) -> arb:
        return self.infinite.ball() + (1 - self.beside.ball()) * self.finite_ball(epsilon)

    def finite_ball(self, epsilon: arb) -> arb:
        return self.tangent(epsilon).value(epsilon.exp())

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """The smaller a target, the larger its epsilon: a search begins where the last one ended.

        Proposes: where to begin; a tangent anywhere is one.
        """
        found: dict[Real, Enclosure] = {}
        reached = ZERO
        for delta in sorted(set(deltas), key=balls.approximate_log, reverse=True):
            if self.infinite.order(delta, digits) is not Order.BELOW:
                found[delta] = self.epsilon(delta, digits)
                continue
            found[delta] = self._epsilon(delta, digits, reached)
            reached = Fraction(found[delta].lower)
        return [found[delta] for delta in deltas]

    def _epsilon(self, delta: Real, digits: int, begin: Fraction = ZERO) -> Enclosure:
        bits, low, high = balls.bits_for(digits + 6) + self.lost_bits, arb(0), arb("inf")
        if self.largest is not None:
            with balls.precision(bits):
                high = balls.ball(self.largest).max(arb(0)).upper()
        last = balls.CAP_FACTOR * bits + balls.CAP_EXTRA
        last = last if self.cap is None else max(bits, min(last, self.cap))
        with balls.precision(bits):
            point, starts, clear = balls.ball(begin).mid(), begin == 0, False
        for _ in range(_ROUNDS):
            with balls.precision(bits):
                share, test, level = self._share(delta), self.tangent(point), point.exp()
                value, narrow = test.value(level), 1 + arb(10) ** -(digits + 1)
                crossing = ((test.p - share) / test.q).log().lower()
                moved = bool(crossing > low * (9 + narrow) / 10)
                low = crossing if crossing > low else low
                if value <= share:
                    moved, high = True, point
                if starts and (value <= share or (not moved and self._starts_below(delta))):
                    return Enclosure.exact(ZERO, self.method)
                # proposes: when to stop; both ends are certified
                clear = bool(high <= low * narrow)
                # proposes: the next point and precision; balls certify both ends at any
                if clear or not (moved or 2 * bits <= last):
                    break
                if moved:
                    point = _next(low, high, point, value, share, level * test.q)
                    point = (low * (1 + narrow) / 2).mid() if point is None else point
                    starts = False
                else:
                    bits *= 2
        with balls.precision(bits):
            lower, upper = balls.to_enclosure(low).lower, _end(high)
        reason = "" if clear else undecided(balls.midpoint(point))
        return Enclosure.bracket(lower, upper, self.method, reason)

    def _starts_below(self, target: Real) -> bool:
        """Whether the exact ``delta(0)`` is known, and at most the target."""
        start = self.delta_fraction(reals.rational(0))
        return start is not None and target.fraction is not None and start <= target.fraction

    def _share(self, delta: Real) -> arb:
        """What is left of ``delta`` for the tests."""
        return (balls.ball(delta) - self.infinite.ball()) / (1 - self.beside.ball())


def _next(low: arb, high: arb, point: arb, value: arb, share: arb, slope: arb) -> arb | None:
    """Where ``sqrt(-log delta_0)``, almost linear for a normal loss, should reach the target.

    None near it, where the tangents are as quick: within 1, as they are straight in ``e^epsilon``.
    Proposes: a point, on both sides of which balls decide.
    """
    value, share, slope = value.mid(), share.mid(), slope.mid()
    middle = ((low + high) / 2 if high.is_finite() else 2 * low.max(point) + 1).mid()
    # proposes: a point
    if not (0 < value < 1 and 0 < share < 1 and slope > 0):
        return middle
    root, goal = (-value.log()).sqrt(), (-share.log()).sqrt()
    guess = (point + 2 * root * (goal - root) * value / slope).mid()
    # proposes: likewise; where nearly all is lost the root is steep, and says nothing of far away
    if not guess < (high if 2 * value < 1 else middle):
        return middle
    # proposes: likewise
    return guess if guess - low > 1 or (guess - low) * slope > value * _NEAR else None


def _end(high: arb) -> Bound:
    """The same number; any is a bound, and infinity always is."""
    return balls.to_enclosure(high).upper if high.is_finite() else math.inf


#: An exact answer is written out while coefficients times bits stay below this.
_EXACT_WORK: Final = 1 << 26


class Masses(NamedTuple):
    """``times`` steps whose outcome ``i`` has masses ``p[i]`` and ``q[i]`` at ``places[i]``.

    Sums of places need only be equal where those of the losses are.
    """

    places: Sequence[int]
    p: Sequence[Fraction]
    q: Sequence[Fraction]
    times: int


def listed(atoms: Sequence[Atom], places: Sequence[int], times: int) -> Masses | None:
    """``times`` steps of these outcomes; None where a mass is not rational."""
    p = [a.p.fraction for a in atoms if a.p.fraction is not None]
    q = [a.q.fraction for a in atoms if a.q.fraction is not None]
    return Masses(places, p, q, times) if len(p) + len(q) == 2 * len(atoms) else None


def exact_divergence(steps: Sequence[Masses | None], level: Fraction) -> Fraction | None:
    """The sum of ``(P - level Q)_+`` over all sums of places; None if it is too long."""
    laws = [law for law in steps if law is not None]
    if len(laws) < len(steps):
        return None
    scales = [math.lcm(*(x.denominator for x in (*law.p, *law.q))) for law in laws]
    bits = sum(scale.bit_length() * law.times for scale, law in zip(scales, laws, strict=True))
    length = sum(max(law.places) * law.times for law in laws) + 1
    if bits > EXACT_BITS or length * bits > _EXACT_WORK:
        return None
    p, q, whole = fmpz_poly([1]), fmpz_poly([1]), fmpz(1)
    for scale, law in zip(scales, laws, strict=True):
        p *= _polynomial(law.places, law.p, scale) ** law.times
        q *= _polynomial(law.places, law.q, scale) ** law.times
        whole *= fmpz(scale) ** law.times
    gains = level.denominator * p - level.numerator * q
    total = sum((gain for gain in gains.coeffs() if gain > 0), fmpz(0))
    return Fraction(int(total), int(whole) * level.denominator)


def exact_responses(
    responses: Sequence[tuple[Real, int]], level: Fraction, strides: Sequence[int] = ()
) -> Fraction | None:
    """The same of randomised responses ``(eps, count)``; ``strides`` if they share a lattice."""
    laws, stride = [], 1
    for i, (eps, count) in enumerate(responses):
        growth = exp_fraction(eps)
        if growth is None:
            return None
        high = growth / (1 + growth)
        place = strides[i] if strides else stride
        laws.append(Masses((0, place), (1 - high, high), (high, 1 - high), count))
        stride *= count + 1
    return exact_divergence(laws, level)


def _polynomial(places: Sequence[int], masses: Sequence[Fraction], scale: int) -> fmpz_poly:
    coefficients = [0] * (max(places) + 1)
    for place, mass in zip(places, masses, strict=True):
        coefficients[place] += mass.numerator * (scale // mass.denominator)
    return fmpz_poly(coefficients)
