"""Proposes: about ``delta`` in floats, where exact evaluations are dear."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.lattice_law import MixedProfile
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.profile import Fallback, FirstToReach, Profile, WorseDirection
from dpexact.accounting.profiles import profile
from dpexact.arguments import Direction
from dpexact.decimals import log_of
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real

#: Profiles that do much more work than a saddle point.
_DEAR: Final = (FirstToReach, LatticeComposition, MixedProfile)


def saddle_gap(
    mechanism: Mechanism, epsilon: Real, target: Fraction, direction: Direction
) -> float | None:
    """About ``log(delta(epsilon)/target)`` by the saddle point; None where there is none."""
    accounting = profile(mechanism, direction)
    ways: dict[Direction, Profile] = {"remove" if direction == "both" else direction: accounting}
    if isinstance(accounting, WorseDirection):
        ways = {"remove": accounting.remove, "add": accounting.add}
    point = balls.approximate(epsilon)
    log_target = log_of(target)
    try:
        with np.errstate(all="ignore"):
            gap = max(_log_delta(x, mechanism, way, point) for way, x in ways.items()) - log_target
    except (_NoSaddle, UnsupportedMechanism, ArithmeticError, ValueError):
        return None
    return None if math.isnan(gap) else gap


class _NoSaddle(Exception):
    """An evaluation is as cheap as a saddle point, or none is known."""


def _log_delta(part: Profile, mechanism: Mechanism, way: Direction, epsilon: float) -> float:
    if isinstance(part, Fallback):
        part = part.first
    if isinstance(part, ContourProfile):
        return min(part.product.saddle(epsilon, 1)[1], 0.0)
    if not isinstance(part, _DEAR):
        raise _NoSaddle
    composition = Composition.of(mechanism.steps().items())
    product = Product(composition.facing(way).everything(way))
    return min(product.saddle(epsilon, 1)[1], 0.0)
