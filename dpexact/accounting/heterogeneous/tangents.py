r"""``epsilon(delta)`` by tangents: an evaluation of two halves costs much, so few are made.

Every test ``S`` bounds the profile from below, so the ``epsilon`` where ``P(S) - e^epsilon Q(S)``
crosses the target is a lower bound of the answer; the tangent at a point near it gives one that is
better than the point by far. A point where ``delta`` is certainly at most the target is an upper
bound. Floats propose where to start.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpexact import balls
from dpexact.accounting.heterogeneous.commensurate import Parameters
from dpexact.accounting.heterogeneous.grid import Floats
from dpexact.accounting.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_ROUNDS: Final = 12
_BISECTIONS: Final = 40
_ZERO: Final = Fraction(0)


def epsilon_by_tangents(
    meeting: Meeting, infinite: InfiniteLoss, target: Real, digits: int
) -> Enclosure | None:
    """Enclose the smallest ``epsilon`` with ``delta(epsilon) <= target``; None if not settled.

    ``target`` is above the mass of infinite loss.
    """
    with balls.precision(balls.bits_for(30)):
        lost = infinite.ball()
        share = (balls.ball(target) - lost) / (1 - lost)
        if not share > 0:
            return None
        small = max(0, -math.floor(float(share.log().mid()) / math.log(2)))
    start = _proposal(meeting, float(share.mid()))
    # proposes: a first point; without one nothing is claimed
    if not start > 0:
        return None
    point, low, high = Fraction(start), _ZERO, None
    bits = balls.bits_for(digits + 6) + meeting.lost_bits + 2 * small
    with balls.precision(bits):
        lost = infinite.ball()
        share = (balls.ball(target) - lost) / (1 - lost)
        for _ in range(_ROUNDS):
            at = balls.ball(point)
            p, q, doubt = meeting.tangent(at)
            crossing = ((p - share) / q).log()
            if balls.in_range(crossing):
                low = max(low, Fraction(balls.to_enclosure(crossing).lower))
            # proposes: the point; balls decide on which side of the crossing it lies
            if p - at.exp() * q + doubt <= share:
                high = point if high is None else min(high, point)
            tolerance = low / 10 ** (digits + 1)
            # proposes: when to stop; both ends are certified
            if high is not None and high - low <= tolerance:
                return Enclosure.bracket(low, high, meeting.method)
            if low == 0:
                return None
            point = low + tolerance / 2
    return None


def _proposal(meeting: Meeting, target: float) -> float:
    """About where the finite part of the profile crosses ``target``; 0 if it starts below.

    Proposes: the first point at which a tangent is drawn.
    """
    halves = [_float_outcomes(half) for half in meeting.split]
    (first, p_first, q_first), (second, p_second, q_second) = halves
    p_tails = np.append(np.cumsum(p_second[::-1])[::-1], 0.0)
    q_tails = np.append(np.cumsum(q_second[::-1])[::-1], 0.0)
    whole = first[-1] + second[-1]

    def profile(epsilon: float) -> float:
        at = np.searchsorted(second, (epsilon + whole) / 2 - first, side="right")
        p, q = float(np.dot(p_first, p_tails[at])), float(np.dot(q_first, q_tails[at]))
        return p - math.exp(min(epsilon, 700.0)) * q

    low, high = 0.0, float(whole)
    if profile(low) <= target:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if profile(middle) <= target else (middle, high)
    return high


def _float_outcomes(half: Parameters) -> tuple[Floats, Floats, Floats]:
    """Proposes: about the sums of ``eps``, rising, and the masses under P and Q."""
    keys, p, q = np.zeros(1), np.ones(1), np.ones(1)
    for eps, count in half:
        value = balls.approximate(eps)
        logs = [
            math.lgamma(count + 1) - math.lgamma(j + 1) - math.lgamma(count - j + 1)
            for j in range(count + 1)
        ]
        up, down = -math.log1p(math.exp(-value)), -value - math.log1p(math.exp(-value))
        shares = [(n + j * up + (count - j) * down) for j, n in enumerate(logs)]
        weights = np.exp(np.array(shares))
        keys = np.add.outer(value * np.arange(count + 1), keys).ravel()
        p, q = np.multiply.outer(weights, p).ravel(), np.multiply.outer(weights[::-1], q).ravel()
    order = np.argsort(keys, kind="stable")
    return keys[order], p[order], q[order]
