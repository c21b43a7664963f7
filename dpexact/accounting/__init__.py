"""From a mechanism to certified numbers: ``delta(epsilon)`` and ``epsilon(delta)``."""

from dpexact.accounting.queries import delta, delta_bounds, epsilon

__all__ = ["delta", "delta_bounds", "epsilon"]
