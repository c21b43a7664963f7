"""Published approximations, evaluated as printed, and their certified error."""

from dpexact.accounting.approximate.central_limit import poisson_mu, uniform_mu
from dpexact.accounting.approximate.diagonal_distance import theorem_8_constant
from dpexact.accounting.approximate.errors_of import (
    ApproximationError,
    approximation_distance,
    approximation_error,
)

__all__ = [
    "ApproximationError",
    "approximation_distance",
    "approximation_error",
    "poisson_mu",
    "theorem_8_constant",
    "uniform_mu",
]
__dir__ = __all__.copy
