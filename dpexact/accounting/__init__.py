"""From a mechanism to certified numbers: delta, epsilon and Rényi divergences."""

from dpexact.accounting.approximate import approximation_error
from dpexact.accounting.bounds_of import bounds
from dpexact.accounting.queries import delta, delta_bounds, epsilon
from dpexact.accounting.renyi import renyi

__all__ = ["approximation_error", "bounds", "delta", "delta_bounds", "epsilon", "renyi"]
