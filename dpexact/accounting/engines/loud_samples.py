r"""Gaussian steps of little noise on Poisson samples: each step tells whether the record took part.

With :math:`a = 1/\sigma`, :math:`m = -\log(1-q)` and ``T`` steps, of which ``k`` have the record in
their sample, the loss is at least, and mostly hardly more than

.. math:: k (a^2/2 + \log q) + a (z_1 + \dots + z_k) - (T - k) m,

so that delta is a binomial average of those of Gaussians, and of a record added about
:math:`(1 - e^{\varepsilon - T m})_+`. Proofs are in ``docs/theory/sampling.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import ball, normal_tail
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Steps of more noise than one over this do not tell enough.
LEAST_RATE: Final = 13.0
#: Of a record added, and the places that are tried.
_LEAST_ADDED: Final = 6.0
_PLACES: Final = 100
_STEEPEST: Final = 600.0
#: Participations expected, above which the sums are long.
_MOST_EXPECTED: Final = 1_000.0
_FLOATS: Final = 1e100
_MOST_BITS: Final = 2_000
_ROUNDED: Final = 32
_HALVINGS: Final = 26
_DOUBLINGS: Final = 64
_BITS: Final = 64
_MORE: Final = (0, 512, 2_000)
_EXTRA: Final = 16


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def unsure(a: arb, q: arb) -> arb:
    """``2 q P(N > a/2 - l/a) + 2 (1-q) P(N > a/2 + l/a)``, ``l = log((1-q)/q)``.

    ``E min(1, R)`` of one step, where its loss is ``log(1 + R)`` more than what is counted.
    """
    shift = ((1 - q) / q).log() / a
    return 2 * q * normal_tail(a / 2 - shift) + 2 * (1 - q) * normal_tail(a / 2 + shift)


class LoudSamples(BallProfile):
    """The profile of ``count`` sampled steps of noise ``sigma`` at rate ``0 < q < 1``."""

    method = "number of participations"
    infinite = InfiniteLoss()
    lost_bits = _ROUNDED
    cap = _MOST_BITS

    def __init__(self, sigma: Real, q: Real, count: int, add: bool) -> None:
        self.sigma, self.q, self.count, self.add = sigma, q, count, add
        self.largest = -count * reals.logarithm(1 - q) if add else None

    @staticmethod
    def takes(sigma: Real, q: Real, count: int, add: bool) -> bool:
        """Proposes: whether it is asked first; what it says holds for all."""
        noise, expected = balls.approximate(sigma), count * balls.approximate(q)
        least = _LEAST_ADDED if add else LEAST_RATE
        return 1 / _FLOATS < noise < 1 / least and (add or expected < _MOST_EXPECTED)

    def lost_at(self, delta: Real) -> int:
        return self.lost_bits - math.floor(min(balls.approximate_log(delta), 0.0) / math.log(2))

    def finite_ball(self, epsilon: arb) -> arb:
        a, q = 1 / ball(self.sigma), ball(self.q)
        if self.add:
            most = -(epsilon + self.count * (1 - q).log()).expm1()
            without, beside = self._quiet(float(most.mid()))
            least = without - epsilon.exp() * beside
            return arb.max(least, arb(0)).union(arb.max(most, arb(0)))
        known, left = self._average(epsilon, a, q)
        return known.union(known + left + self.count * unsure(a, q))

    def _quiet(self, level: float) -> tuple[arb, arb]:
        """Masses without and with the record of the event that no output is above a place.

        Proposes: the place, since any event is valid: where least is missed of the level.
        """
        rate, q = 1 / balls.approximate(self.sigma), balls.approximate(self.q)

        def missed(x: float) -> float:
            beyond, beside = (math.erfc(v / math.sqrt(2)) / 2 for v in (x, rate - x))
            rise = math.expm1(min(-self.count * math.log1p(-beyond), _STEEPEST))
            return level * rise + self.count * q / (1 - q) * beside

        x = arb(min((rate * i / _PLACES for i in range(_PLACES)), key=missed))
        without, share = 1 - normal_tail(x), ball(self.q)
        beside = (1 - share) * without + share * normal_tail(1 / ball(self.sigma) - x)
        return without**self.count, beside**self.count

    def _average(self, epsilon: arb, a: arb, q: arb) -> tuple[arb, arb]:
        """A binomial average over how often the record takes part; and what is left out of it."""
        loss, chances = a * a / 2 + q.log(), q / (1 - q)
        passed = self.count * (1 - q).log()
        chance = passed.exp()
        total = chance * arb.max(-(epsilon - passed).expm1(), arb(0))
        seen, tiny = chance, arb(2) ** (-balls.current() - _ROUNDED)
        # proposes: how many terms; what is left out is what the others miss of 1
        for k in range(1, self.count + 1):
            chance = chance * chances * (self.count - k + 1) / k
            seen += chance
            mean, deviation = k * loss + passed - k * (1 - q).log(), a * arb(k).sqrt()
            place = (epsilon - mean) / deviation
            beside = (epsilon - mean + deviation * deviation / 2).exp()
            total += chance * (normal_tail(place) - beside * normal_tail(place + deviation))
            # proposes: likewise
            if chance < tiny and 2 * chances * (self.count - k) < k + 1:
                break
        else:
            return total, arb(0)
        return total, (1 - seen).upper().max(arb(0))

    def near(self, delta: Real) -> Fraction:
        """Proposes: where the search begins, by halving: delta falls in steps."""
        with balls.precision(min(_BITS + self.lost_at(delta), _MOST_BITS)):
            low, high = self._halved(ball(delta), _HALVINGS)
            return balls.midpoint(high if high.is_finite() else 1 + low)

    def _halved(self, target: arb, halvings: int) -> tuple[arb, arb]:
        """Points at which delta is certainly at least the target, and certainly at most.

        The latter is infinite where no point is certain.
        """
        left, high = arb(0), (1 / ball(self.sigma) ** 2).mid()
        # proposes: where to look
        for _ in range(_DOUBLINGS):
            if self.finite_ball(high) <= target:
                break
            high = (2 * high).mid()
        else:
            return left, arb("inf")
        found = []
        # proposes: likewise; each point is decided
        for first in (True, False):
            right = high
            # proposes: likewise
            for _ in range(halvings):
                middle = ((left + right) / 2).mid()
                value = self.finite_ball(middle)
                # proposes: likewise, on which side what is undecided is left
                onward = value >= target if first else not value <= target
                left, right = (middle, right) if onward else (left, middle)
            found.append(left if first else right)
        return found[0], found[1]

    def _between(self, delta: Real, halvings: int) -> Enclosure:
        low, high = self._halved(ball(delta), halvings)
        upper = balls.to_enclosure(high).upper if high.is_finite() else math.inf
        return Enclosure(balls.to_enclosure(low).lower, upper, self.method)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if self.add:
            return self._added(delta, digits)
        with balls.precision(_BITS + self.lost_at(delta)):
            if self.finite_ball(arb(0)) <= ball(delta):
                return Enclosure.exact(Fraction(0), self.method)
            error = self.count * unsure(1 / ball(self.sigma), ball(self.q))
            # proposes: whether to look closer
            if not error < ball(delta) * arb(10) ** -digits:
                return self._between(delta, _HALVINGS).short("single steps do not tell enough")
        if (found := self._bracket(delta, digits)) is not None:
            return found
        best = Enclosure(Fraction(0), math.inf, self.method)
        # between steps delta is as good as constant: proposes: bits that tell it from the target
        for more in _MORE:
            bits = balls.bits_for(digits) + self.lost_at(delta) + more
            with balls.precision(min(bits, _MOST_BITS)):
                best = best.meet(self._between(delta, balls.bits_for(digits) + _EXTRA))
            if best.digits >= digits:
                return best
        return best.short("delta hardly changes there")

    def _added(self, delta: Real, digits: int) -> Enclosure:
        def root() -> arb:
            """Where ``1 - e^{eps - T m}`` is the target, or what the event shows is."""
            target = ball(delta)
            most = (-target).log1p() - self.count * (1 - ball(self.q)).log()
            without, beside = self._quiet(balls.approximate(delta))
            # proposes: whether there is a lower bound; balls decide
            least = ((without - target) / beside).log() if without > target else arb(0)
            return arb.max(arb.min(least, most), arb(0)).union(arb.max(most, arb(0)))

        zero = Fraction(0)
        return balls.certify(root, digits, lowest=zero, method=self.method, cap=self.cap)
