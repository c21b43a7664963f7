r"""Two Gaussian steps on Poisson samples, by one integral over the difference of the outcomes.

With :math:`\lambda(x) = \frac{q}{1-q} e^{x/\sigma - 1/(2\sigma^2)}` and
:math:`G = (1-q)^{-2} e^{\pm\varepsilon}` (``+`` where the record is removed),

.. math:: \delta(\varepsilon) = (1-q)^2 \int\!\!\int \varphi(x)\,\varphi(y)\,
          [(1 + \lambda(x))(1 + \lambda(y)) - G]_+\,dx\,dy

and of adding :math:`e^\varepsilon` times the same with the negative part. In the coordinates
:math:`(x \pm y)/\sqrt 2` the inner integral is one of exponentials over a ray, and the outer one is
a trapezoidal sum (``docs/theory/sampling.md``).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from flint import arb

from dpexact import balls, reals
from dpexact.accounting.arrays import Floats
from dpexact.accounting.inverted import BallProfile, InvertedProfile
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import ball, normal_tail
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_LN2: Final = math.log(2)
#: More nodes than this are no quicker than windows.
_MOST_NODES: Final = 40_000
#: Rates that floats plan with.
_LEAST_RATE, _LARGEST_RATE = 1e-100, 1e3
_MOST_BITS: Final = 2_000
_ROUNDED: Final = 24
_COARSE_BITS: Final = 24
_STEPS: Final = 24
_CLOSE: Final = 1e-3
_EDGE: Final = 0.98
#: Of floats: bits that place nodes, what they resolve of the odds, the last step, rates.
_FLOAT_BITS, _RESOLVED, _FLOAT_CLOSE, _STEEP, _LEAST_SIZE = 74, 1e-13, 1e-5, 5.0, 1e-100
_FLOAT_DIGITS: Final = 14.6
_FARTHEST: Final = 700.0
#: Of floats: nodes that are looked at, and the logarithm of a delta that is far in the tail.
_FARTHEST_NODE, _LOOKS, _TAIL = 60.0, 301, 15.0
_LN10: Final = math.log(10)
_PAIRED: Final = 2 / math.sqrt(2 * math.pi)


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip(most: arb, height: arb, spacing: arb) -> arb:
    """Error of the trapezoidal rule: ``4 M e^{y^2} / (e^{2 pi y/h} - 1)``."""
    return 4 * most * (height * height).exp() / (2 * arb.pi() * height / spacing).expm1()


def beyond(most: arb, end: arb, rate: arb) -> arb:
    """Nodes beyond ``end >= rate``: ``2 M P(N(rate, 1) > end)``."""
    return 2 * most * normal_tail(end - rate)


def _tails(x: Floats) -> Floats:
    """Those of the normal law, in floats."""
    return np.array([math.erfc(v) for v in (x / math.sqrt(2)).tolist()]) / 2


@np.errstate(over="ignore")
def _reach(excess: float, start: float, rate: float) -> float:
    """Proposes: how far out most of what delta is lies, of the difference of the outcomes.

    Of logarithms, as floats may not hold the numbers.
    """
    v = np.linspace(0.0, _FARTHEST_NODE, _LOOKS)
    cosh = np.logaddexp(rate * v, -rate * v) - _LN2
    place = (excess - start - np.logaddexp(cosh, np.logaddexp(2 * cosh, excess) / 2)) / rate
    least = float(np.min(v * v + np.maximum(place, 0.0) ** 2))
    return math.sqrt(least) if _TAIL < least / 2 < _MOST_BITS * _LN2 else 0.0


def planned(rate: float, bits: int) -> tuple[float, float, int]:
    """Proposes: height of the strip, spacing and number of nodes; the bounds hold for any."""
    accuracy = max(bits - _ROUNDED, 0) * _LN2 + 2
    height = min(math.sqrt(accuracy), _EDGE * math.pi / (2 * rate))
    spacing = 2 * math.pi * height / (accuracy + height * height)
    return height, spacing, math.ceil((rate + math.sqrt(2 * accuracy)) / spacing)


class GaussianTwice(BallProfile):
    """The profile of two sampled steps of noise ``sigma`` at rate ``0 < q < 1``."""

    method = "two steps on samples"
    infinite = InfiniteLoss()
    lost_bits = _ROUNDED
    cap = _MOST_BITS
    fewest_shared = 250

    def __init__(self, sigma: Real, q: Real, add: bool) -> None:
        self.sigma, self.q, self.add = sigma, q, add
        self.largest = -2 * reals.logarithm(1 - q) if add else None

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._bracket(delta, digits) or InvertedProfile._epsilon(self, delta, digits)

    def _bracket(self, delta: Real, digits: int) -> Enclosure | None:
        """Delta is certainly above the target at the left end, below at the right."""
        # proposes: bits; what the errors are compared with exceeds delta by so much, about
        odds = balls.approximate_log(self.q) - balls.approximate_log(1 - self.q)
        lost = odds + max(odds, 1.0) - balls.approximate_log(delta)
        # proposes: likewise
        if not lost < _MOST_BITS * _LN2:
            return None
        # proposes: likewise; of removing they are compared with delta itself
        lost = lost if self.add else min(lost, _TAIL)
        bits, log = _ROUNDED + max(0, math.ceil(lost / _LN2)), balls.approximate_log(delta)
        start = self._in_floats(math.exp(log))
        with balls.precision(bits + _COARSE_BITS):
            # proposes: where the last steps begin
            at = arb(start) if start else self._newton(arb(0), ball(delta), _CLOSE)
        with balls.precision(bits + 4 * digits + 8):
            target, width = ball(delta), arb(10) ** -digits
            share = width * 2 / 5
            # proposes: whether floats met it already; they lose what balls do
            if start and lost < (_FLOAT_DIGITS - digits) * _LN10:
                found = self._beside(arb(start), target, share)
                # proposes: whether to look closer
                if found is not None:
                    return found
            # proposes: likewise
            at = at and self._newton(at, target, width.sqrt() / 10)
            # proposes: likewise
            return at and self._beside(at, target, share)

    def _beside(self, at: arb, target: arb, share: arb) -> Enclosure | None:
        """Convex in ``e^eps``, delta lies above its tangent at the right point."""
        left, right = ((at * (1 + side * share)).mid() for side in (-1, 1))
        value, steep = self._integrals(right)
        # proposes: both ends, which are exact; balls decide
        if value - steep * (left - right).expm1() > target > value:
            return balls.to_enclosure(left.union(right), self.method)
        return None

    def _in_floats(self, target: float) -> float:
        """About epsilon by the same sum and the same steps; 0 where floats do not reach.

        Proposes: where balls begin.
        """
        q, rate = balls.approximate(self.q), balls.approximate(1 / self.sigma) / math.sqrt(2)
        if not (_LEAST_SIZE < q < 1 and _LEAST_SIZE < rate < _STEEP and target > _LEAST_SIZE):
            return 0.0
        odds, largest, side = q / (1 - q), -2 * math.log1p(-q), -1 if self.add else 1
        _, spacing, count = planned(rate, _FLOAT_BITS)
        x = spacing * np.arange(count + 1)
        weights, cosh = np.exp(-x * x / 2), np.cosh(rate * x)
        weights[0] = 0.5
        at = known = 0.0
        for _ in range(_STEPS):
            if side * at + largest > _FARTHEST:  # a step beyond floats
                at = (at + known) / 2
                continue
            excess = math.expm1(side * at + largest)
            least = excess / (cosh + np.sqrt(cosh * cosh + excess))
            place = side * (np.log(least / odds) / rate + rate)
            lost, once, twice = (_tails(place - side * rate * n) for n in range(3))
            gain = 2 * odds * math.exp(-rate * rate / 2) * cosh * once + odds * odds * twice
            scale = math.exp(at if self.add else 0.0) * (1 - q) ** 2 * spacing * _PAIRED
            value = side * scale * float(weights @ (gain - excess * lost))
            if not value > odds * _RESOLVED:
                at = (at + known) / 2
                continue
            slope = (value if self.add else 0.0) - scale * (1 + excess) * float(weights @ lost)
            known, at = at, at - math.log(value / target) * value / slope
            if self.add:
                at = min(at, (known + largest) / 2)
            if not at > 0:
                return 0.0
            if abs(at - known) < _FLOAT_CLOSE * at:
                return at
        return 0.0

    def _newton(self, at: arb, target: arb, close: float | arb) -> arb | None:
        """Newton's method on ``log delta``, which is about concave. Proposes: a point."""
        known = at
        for _ in range(_STEPS):
            value, steep = self._integrals(at)
            # proposes: where to go on, and when to stop; back where delta drowns in errors
            if not value > 0:
                at = ((at + known) / 2).mid()
                continue
            known, at = at, (at - (target / value).log() * value / steep).mid()
            # proposes: likewise
            if self.largest is not None:
                at = arb.min(at, (known + ball(self.largest)) / 2).mid()
            # proposes: likewise
            if not at > 0:
                return None
            # proposes: likewise
            if abs(at - known) < close * at:
                return at
        return None

    def finite_ball(self, epsilon: arb) -> arb:
        return self._integrals(epsilon)[0]

    def _integrals(self, epsilon: arb) -> tuple[arb, arb]:
        """Delta, and at most what it falls by: the negative of its derivative."""
        stay = 1 - ball(self.q)
        odds, rate = ball(self.q) / stay, 1 / (arb(2).sqrt() * ball(self.sigma))
        most = odds * (2 + odds)
        signed = -epsilon if self.add else epsilon
        excess = (signed - 2 * (-ball(self.q)).log1p()).expm1()
        # proposes: when to leave it to others; what follows needs a positive excess, of balls
        if not (excess > 0 and _LEAST_RATE < rate < _LARGEST_RATE):
            return arb.nan(), arb.nan()
        height, spacing, count = planned(float(rate.mid()), balls.current())
        # proposes: whether it is too much work; that the strip is admissible is decided by balls
        if not (2 * rate * height < arb.pi() and count < _MOST_NODES):
            return arb.nan(), arb.nan()
        start = odds * (-rate * rate).exp()
        # proposes: how many nodes more lie where delta is, far in the tail
        count += (
            0
            if self.add
            else math.ceil(_reach(*map(float, (excess.log(), start.log(), rate))) / spacing)
        )
        side = -1 if self.add else 1
        step = arb(spacing)
        total = slope = moduli = arb(0)
        before = arb(0)
        alone, both = 2 * start * (rate * rate / 2).exp(), odds * odds
        # proposes: the nodes; `beyond` bounds all others
        for j in range(count + 1):
            at = j * step
            cosh = (rate * at).cosh()
            least = excess / (cosh + (cosh * cosh + excess).sqrt())
            place = side * (least / start).log() / rate
            lost = normal_tail(place)
            gain = alone * cosh * normal_tail(place - side * rate)
            gain += both * normal_tail(place - 2 * side * rate)
            weight = (-at * at / 2).exp() if j else arb(0.5)
            total += weight * (gain - excess * lost)
            slope += weight * lost
            moduli += before * (gain + excess * lost)
            before = weight if j else arb(1)
        scale = 2 * step / (2 * arb.pi()).sqrt()
        end = count * step
        # proposes: the number of nodes; where it is too small nothing bounds the rest
        tail = beyond(most, end, rate) if end > rate else arb("inf")
        # of removing the moduli rise with the node while its weight falls
        inside = most if self.add else arb.min(most, scale * moduli / 2 + tail)
        error = strip(inside, arb(height), step)
        fall = (1 + excess) * (scale * slope - error / excess)
        fall += scale * total if self.add else 0
        found = side * scale * total
        found = (found - error).lower().union((found + tail + error).upper())
        factor = stay * stay * (epsilon.exp() if self.add else 1)
        return factor * found, factor * fall
