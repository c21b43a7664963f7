"""From a mechanism to certified numbers: delta, epsilon and Rényi divergences."""

from dpexact.accounting.calibrate import calibrate
from dpexact.accounting.queries import delta, delta_bounds, epsilon, epsilon_curve
from dpexact.accounting.renyi import renyi
from dpexact.accounting.tradeoff_of import tradeoff

__all__ = ["calibrate", "delta", "delta_bounds", "epsilon", "epsilon_curve", "renyi", "tradeoff"]
