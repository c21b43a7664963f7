"""Proposes: about ``delta`` in floats, where exact evaluations are dear."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpexact import balls
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.profile import Fallback, Profile, WorseDirection
from dpexact.accounting.profiles import profile
from dpexact.arguments import Direction
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real


def saddle_gap(
    mechanism: Mechanism, epsilon: Real, target: Fraction, direction: Direction
) -> float | None:
    """About ``log(delta(epsilon)/target)`` by the saddle point; None where there is none."""
    accounting = profile(mechanism, direction)
    parts = [accounting]
    if isinstance(accounting, WorseDirection):
        parts = [accounting.remove, accounting.add]
    point = balls.approximate(epsilon)
    log_target = math.log(target.numerator) - math.log(target.denominator)
    try:
        with np.errstate(all="ignore"):
            gap = max(_log_delta(part, point) for part in parts) - log_target
    except (_NoSaddle, ArithmeticError, ValueError):
        return None
    return None if math.isnan(gap) else gap


class _NoSaddle(Exception):
    """The profile is no contour integral."""


def _log_delta(part: Profile, epsilon: float) -> float:
    if isinstance(part, Fallback):
        part = part.first
    if not isinstance(part, ContourProfile):
        raise _NoSaddle
    return min(part.product.saddle(epsilon, 1)[1], 0.0)
