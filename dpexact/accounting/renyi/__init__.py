"""Rényi divergences, certified: exact values and the published upper bounds by name."""

from dpexact.accounting.renyi.bounds import fixed_size_bound as fixed_size_bound
from dpexact.accounting.renyi.bounds import poisson_general_bound as poisson_general_bound
from dpexact.accounting.renyi.bounds import poisson_large_order_bound as poisson_large_order_bound
from dpexact.accounting.renyi.bounds import poisson_small_rate_bound as poisson_small_rate_bound
from dpexact.accounting.renyi.bounds import poisson_zcdp_bound as poisson_zcdp_bound
from dpexact.accounting.renyi.query import renyi as renyi

# what stands here
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__dir__ = __all__.copy
