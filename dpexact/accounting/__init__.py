"""From a mechanism to certified numbers: profiles, divergences, trade-off functions, bounds."""

from dpexact.accounting.approximate import approximation_error
from dpexact.accounting.bounds_of import bounds
from dpexact.accounting.calibrate import calibrate
from dpexact.accounting.classic.guarantees import largest_loss
from dpexact.accounting.classic.zcdp import is_only_bounded
from dpexact.accounting.queries import (
    delta,
    delta_answer,
    delta_bounds,
    epsilon,
    epsilon_answer,
    epsilon_curve,
)
from dpexact.accounting.renyi import renyi
from dpexact.accounting.tradeoff_of import tradeoff

__all__ = [
    "approximation_error",
    "bounds",
    "calibrate",
    "delta",
    "delta_answer",
    "delta_bounds",
    "epsilon",
    "epsilon_answer",
    "epsilon_curve",
    "is_only_bounded",
    "largest_loss",
    "renyi",
    "tradeoff",
]
