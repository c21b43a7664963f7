"""Delta and epsilon from the picture of one step, without a line.

Proposes: where searches begin.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.rare.law import total_variation
from dpexact.accounting.rare.picture import Picture, Question
from dpexact.accounting.rare.tables import log_sum
from dpexact.balls import ball, precision
from dpexact.reals import Real

_BITS = 64

#: Tilts over the gap, the share of a step between them that is tried then, and how much of the
#: picture is looked at.
_TILTS = np.geomspace(0.3, 30_000, 32)
_STEPS = (_TILTS[1] / _TILTS[0]) ** np.linspace(-1, 1, 9)
_EVERY = 2
#: Shares of the gap below which losses are summed; the second where steps are many.
_SHARES, _MANY = (0.65, 0.03), 1_000
#: Logarithms of the gap, over the gap at 0, between which epsilon is looked for.
_LEAST, _MOST = -7.0, 30.0
_BEGIN, _STRIDE = -1.0, 4.0
#: When it is near enough, as logarithms of the gap and of delta, and when it is given up.
_CLOSE, _NEAR, _LOOKS = 0.03, 0.2, 30


def about(ask: Question) -> float:
    """About ``log delta``: the saddle point of smaller losses, or one loss above the gap."""
    picture = Picture(ask, 1)
    losses, density = picture.loss[::_EVERY], picture.density[::_EVERY] + math.log(_EVERY)
    if ask.add:
        top = -ask.count * math.log1p(-ask.q)
        return min(0.0, _saddle(ask, density, -losses, -ask.gap) + top)
    weights = density + losses
    law = ask.count * np.exp(weights)
    alone = float(law @ -np.expm1(np.minimum(ask.gap - losses, 0.0)))
    found = math.inf
    for share in _SHARES if ask.count > _MANY else _SHARES[:1]:
        small = losses < share * ask.gap
        sums = math.exp(_saddle(ask, weights[small], losses[small], ask.gap))
        large = alone if share == _SHARES[0] else float(law[~small].sum())
        found = min(found, sums + large)
    return min(0.0, math.log(max(found, 1e-300)))


def _saddle(ask: Question, weights: Floats, losses: Floats, gap: float) -> float:
    """``log`` of about ``(1/2 pi i) Int M(c)^T e^{-c gap} / (c (c + 1)) dc``."""
    tilts = _TILTS / ask.gap
    for steps in (_STEPS, None):
        tilted = weights + tilts[:, None] * losses
        sums = log_sum(tilted)
        logs = ask.count * sums - tilts * gap - np.log(tilts * (tilts + 1))
        at = int(np.argmin(logs))
        # proposes: a second time between its neighbours
        tilts = tilts if steps is None else tilts[at] * steps
    tilt, law = tilts[at], np.exp(tilted[at] - sums[at])
    spread = float(law @ losses**2) - float(law @ losses) ** 2
    curvature = ask.count * spread + 1 / tilt**2 + 1 / (tilt + 1) ** 2
    return float(logs[at]) - math.log(2 * math.pi * curvature) / 2


def first_gap(ask: Question, log_target: float) -> tuple[float, float]:
    """About the gap at which delta is the target, for any question of the mechanism.

    And how fast ``log delta`` changes with the logarithm of what the gap exceeds its least by.
    """
    top = -ask.count * math.log1p(-ask.q)
    base, sign = (0.0, 1.0) if ask.add else (top, -1.0)

    def gap(at: float) -> float:
        return base + top * math.exp(at)

    def missing(at: float) -> float:
        """Positive on the side of ``high``."""
        return sign * (about(replace(ask, gap=gap(at))) - log_target)

    low, high = _LEAST, 0.0 if ask.add else _MOST
    at, before, last, slope = _BEGIN, math.nan, math.nan, math.nan
    for _ in range(_LOOKS):
        value = missing(at)
        low, high = (low, at) if value > 0 else (at, high)
        if at != before and value != last:
            slope = (value - last) / (at - before)
        before, last = at, value
        if abs(value) < _NEAR or high - low < _CLOSE:
            break
        step = -value / slope if slope > 0 else math.copysign(_STRIDE, -value)
        at += max(-_STRIDE, min(_STRIDE, step))
        if not low < at < high:
            at = (low + high) / 2
    return gap(before), slope if 0 < slope < math.inf else 1.0


def digits_of_delta(digits: int, steepness: float) -> float:
    """About those that show so many ``digits`` of epsilon."""
    return max(1.0, digits + 1.5 - math.log10(steepness))


def least_at_zero(sigma: Real, q: Real, count: int) -> float:
    """About the least ``log delta`` at 0: of one step, and of a sum of steps as random signs.

    Proposes: whether to look there.
    """
    with precision(_BITS):
        once = total_variation(ball(sigma), ball(q), 1)
    return math.log(float(once)) + math.log(count) / 2
