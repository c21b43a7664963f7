"""Rényi divergences, certified: exact values and the published upper bounds by name."""

from dpexact.accounting.renyi.bounds import (
    fixed_size_bound,
    poisson_general_bound,
    poisson_large_order_bound,
    poisson_small_rate_bound,
    poisson_zcdp_bound,
)
from dpexact.accounting.renyi.query import renyi

__all__ = [
    "fixed_size_bound",
    "poisson_general_bound",
    "poisson_large_order_bound",
    "poisson_small_rate_bound",
    "poisson_zcdp_bound",
    "renyi",
]
__dir__ = __all__.copy
