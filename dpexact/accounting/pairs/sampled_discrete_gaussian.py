r"""Discrete Gaussian noise on a Poisson sample.

An outcome ``y``, of mass proportional to :math:`e^{-y^2/(2v)}` under ``Q``, has loss ``l = (d/v)(y
- d/2)`` before sampling, ``d`` the shift. As ``log w`` has slope at most 1 in ``l``, and ``1 - q <=
w <= 1`` where ``l <= 0``, what a sum over ``y`` leaves out lies below geometric series
(``docs/theory/atoms.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from flint import acb, arb

from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.on_sample import OnSample, Rule
from dpexact.accounting.pairs.pair import Masses, TooExpensive
from dpexact.balls import approximate, approximate_log, ball
from dpexact.reals import Real

#: Most outcomes listed.
MAX_LISTED: Final = 800
#: Beyond the accuracy asked for, in the exponent.
_GUARD: Final = 12.0


@dataclass(frozen=True)
class SampledDiscreteGaussian(OnSample):
    """``noise`` on a sample of rate ``0 < q < 1``; ``removes`` the record, or adds it."""

    noise: DiscreteGaussian
    q: Real
    removes: bool

    @property
    def reverse(self) -> SampledDiscreteGaussian:
        return SampledDiscreteGaussian(self.noise, self.q, not self.removes)

    def overlap(self) -> arb:
        """``1 - q`` and ``q`` times that of the noise: the laws differ by ``q`` times as much."""
        return 1 - ball(self.q) * (1 - self.noise.overlap())

    def largest_loss(self) -> arb | None:
        """Unbounded, or ``-log(1 - q)``."""
        return None if self.removes else -(-ball(self.q)).log1p()

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        listed, (left_p, left_q) = self.noise.atoms(tail)
        q = ball(self.q)
        found = [((1 - q) * b + q * a, b) for a, b in [*listed, (left_p, left_q)]]
        *atoms, left = found if self.removes else [(b, a) for a, b in found]
        return atoms, left

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        # proposes: how many outcomes are listed; the rest is bounded
        first, last = self._range(float(power.mid()), accuracy)
        v, d, q = ball(self.noise.variance), self.noise.shift, ball(self.q)
        total = self.noise._theta(acb(0)).real
        weights, logs = [], []
        for y in range(first, last + 1):
            weights.append((-arb(y * y) / (2 * v)).exp() / total)
            logs.append((q * (d * (2 * y - d) / (2 * v)).expm1()).log1p())
        up, down = arb.max(power, arb(0)), arb.min(power, arb(0))
        edge = d * (2 * (last + 1) - d) / (2 * v)
        rise = (up * (q * edge.expm1()).log1p()).exp()
        right = _beyond(last + 1, v, up * d / v) * rise
        left = _beyond(1 - first, v, arb(0)) * (down * (-q).log1p()).exp()
        error = ((right + left) / total).upper()
        return Rule(weights, logs, error * arb(0).union(arb(1)).union(arb(-1)))

    # --- proposals --------------------------------------------------------------------------------

    @cached_property
    def _stays(self) -> float:
        """About ``log(1 - q)``, where a float ``q`` may be 1."""
        return approximate_log(1 - self.q)

    def _range(self, power: float, accuracy: float) -> tuple[int, int]:
        v, d = approximate(self.noise.variance), self.noise.shift
        # proposes: how many are listed; far on the left w is about 1 - q
        left = accuracy + _GUARD + (power * self._stays if power < 0 else 0.0)
        # proposes: what is too much work
        if not left < math.inf:
            raise TooExpensive("too many outcomes of discrete Gaussian noise")
        reach = math.ceil(math.sqrt(2 * v * (accuracy + _GUARD))) + d
        first = -math.ceil(math.sqrt(2 * v * left)) - d
        last = math.ceil(max(power, 0.0) * d) + reach
        # proposes: what is too much work
        if not last - first < MAX_LISTED:
            raise TooExpensive("too many outcomes of discrete Gaussian noise")
        return first, last

    def _listed(self, power: float) -> list[tuple[float, float]]:
        v, d, q = approximate(self.noise.variance), self.noise.shift, approximate(self.q)
        first, last = self._range(power, 20.0)
        log = -math.log(sum(math.exp(-y * y / (2 * v)) for y in range(first, -first + 1)))
        losses = ((y, d * (2 * y - d) / (2 * v)) for y in range(first, last + 1))
        return [(log - y * y / (2 * v), self._mixed(q, loss)) for y, loss in losses]

    def _mixed(self, q: float, loss: float) -> float:
        """About ``log(1 - q + q e^loss)``.

        Proposes: an estimate by which contours are planned.
        """
        if loss > 500:
            return loss + math.log(q)
        more = q * math.expm1(loss)
        return (
            math.log1p(more)
            if more > -0.5
            else float(np.logaddexp(self._stays, loss + math.log(q)))
        )

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """As many as are listed."""
        first, last = self._range(1 + c if self.removes else -c, accuracy)
        return last - first, math.log2(2 + abs(c))


def _beyond(first: int, v: arb, slope: arb) -> arb:
    r""":math:`\sum_{y \ge f} e^{-y^2/(2v) + s (y-f)}` at most: from ``f`` on ratios only fall."""
    ratio = (slope - arb(2 * first + 1) / (2 * v)).exp()
    if not (first > 0 and ratio < 1):
        raise TooExpensive("the outcomes left out are not bounded")
    return (-arb(first * first) / (2 * v)).exp() / (1 - ratio)
