"""Gamma tails in floats.

Proposes: about the height of a window; what rests on it is bounded in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from dpexact.accounting.arrays import Floats

_BELOW, _ABOVE, _POINTS = 5.0, 3.0, 1201
#: How near to an end, as a share, a secant may lead.
_MARGIN = 0.02


def log_sum(logs: Floats) -> Floats:
    """``log sum exp`` along the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total: Floats = np.squeeze(top, -1) + np.log(np.exp(logs - top).sum(axis=-1))
    return total


def crossing(
    value: Callable[[float], float], low: float, high: float, width: float, near: float = 0.0
) -> float:
    """About where a falling ``value`` is 0 or a little beyond, to ``width``, by secants.

    Or where it is that ``near`` to 0. ``low`` where it is not above 0 there; at ``high`` it is not.
    """
    above, below, before, last = value(low), value(high), math.inf, 0
    if above <= 0:
        return low
    while high - low > width:
        share = above / (above - below) if math.isfinite(above - below) else 0.5
        at = low + min(max(share, _MARGIN), 1 - _MARGIN) * (high - low)
        if abs(at - before) < width / 2:
            return at + width / 2
        found, before = value(at), at
        if abs(found) <= near:
            return at
        side = 1 if found <= 0 else -1
        # an end that stays twice weighs less
        less = 0.5 if side == last else 1.0
        if side > 0:
            high, above, below = at, less * above, found
        else:
            low, above, below = at, found, less * below
        last = side
    return high


@cache
def _table(shape: int) -> tuple[Floats, Floats, Floats]:
    """``log v``, ``log P(Gamma_k > v)`` and ``log P(Gamma_k <= v)``."""
    logs = np.linspace(math.log(shape) - _BELOW, math.log(shape) + _ABOVE, _POINTS)
    v = np.exp(logs)
    # by recurrences: terms v^j / j! e^-v below and above k
    j = np.arange(2 * shape + 200)
    factorials = np.array([math.lgamma(i + 1) for i in j])
    above = np.empty(_POINTS)
    below = np.empty(_POINTS)
    for part in np.array_split(np.arange(_POINTS), 8):
        terms = j * logs[part, None] - factorials - v[part, None]
        above[part] = log_sum(terms[:, :shape])
        below[part] = log_sum(terms[:, shape:])
    far = v > shape
    below[far] = np.log1p(-np.exp(np.minimum(above[far], -1e-12)))
    return logs, above, below


def log_above(shape: int, logs: Floats) -> Floats:
    """About ``log P(Gamma_k > v)`` at ``log v``."""
    at, above, _ = _table(shape)
    far = -np.exp(np.minimum(logs, 600.0)) + shape + shape * (logs - math.log(shape))
    return np.where(logs > at[-1], far, np.interp(logs, at, above))


def log_below(shape: int, logs: Floats) -> Floats:
    """About ``log P(Gamma_k <= v)`` at ``log v``."""
    at, _, below = _table(shape)
    near = shape * logs - math.lgamma(shape + 1)
    return np.where(logs < at[0], near, np.interp(logs, at, below))
