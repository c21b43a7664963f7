"""Proposes: float estimates of a sampled Gaussian, which choose methods and parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpexact import balls
from dpexact.reals import Real

#: Beyond ``e^(+-LIMIT)`` a number is replaced by that bound.
LIMIT = 600.0


@dataclass(frozen=True, slots=True)
class Scale:
    """The power ``a``, ``mu``, ``q``, and ``size = log |log E[w^a]|``, all approximate."""

    a: float
    mu: float
    q: float
    size: float


def estimate(square: Real, q: Real, order: Real, excess: Real, add: bool, negative: bool) -> Scale:
    """The scale for ``mu^2 = square``, rate ``q``, ``excess = order - 1`` and a direction.

    ``negative`` is the sign of the power.
    """
    log_square, log_q, log_excess = logarithm(square), logarithm(q), logarithm(excess)
    mu, rate, alpha = _exp(log_square / 2), _exp(log_q), _exp(logarithm(order))
    # second order in q: alpha (alpha - 1)/2 q^2 (e^(mu^2) - 1)
    small = math.log(alpha / 2) + log_excess + 2 * log_q + _log_expm1(log_square)
    if add:
        # w >= 1 - q
        gain = -math.log1p(-rate) if rate < 1 else 36.0
        cap = log_excess + (math.log(gain) if gain > 0 else log_q)
    else:
        # Minkowski: alpha log(1 - q + q e^((alpha - 1) mu^2/2))
        grown = log_q + _log_expm1(log_excess + log_square - math.log(2))
        cap = math.log(alpha) + (math.log(grown) if grown > 3 else _log_log1p(grown))
    power = _exp(log_excess) if add else alpha
    power = -power if negative else power
    return Scale(power, mu, rate, min(small, cap))


def _log_expm1(log_x: float) -> float:
    """``log(e^x - 1)`` for ``x = e^log_x``."""
    x = _exp(log_x)
    return log_x if x < 1e-9 else x + math.log(-math.expm1(-x))


def _log_log1p(log_x: float) -> float:
    """``log(log(1 + x))`` for ``x = e^log_x``."""
    x = _exp(log_x)
    return log_x if x < 1e-9 else math.log(math.log1p(x))


def _exp(x: float) -> float:
    return math.exp(max(-LIMIT, min(x, LIMIT)))


def approximate(value: Real) -> float:
    """A float near ``value >= 0``."""
    return _exp(logarithm(value)) if value.fraction != 0 else 0.0


def logarithm(value: Real) -> float:
    """``log |value|`` of a number that is not 0."""
    bits = 64
    while True:
        with balls.precision(bits):
            found = balls.ball(value).abs_lower().log()
            if found.is_finite() or bits > balls.CAP_EXTRA:
                # proposes: methods and parameters, see above
                return float(balls.midpoint(found)) if found.is_finite() else -LIMIT
        bits *= 4
