"""Certified differential-privacy accounting in exact rationals and ball arithmetic.

Rooms, each importing only from those before it::

    errors < enclosure, tokens < reals < exactness < balls < arguments
           < mechanisms < accounting < symbolic, audit < cli
"""

from dpexact.accounting import approximation_error, bounds, delta, delta_bounds, epsilon, renyi
from dpexact.audit.runner import audit
from dpexact.enclosure import Enclosure
from dpexact.errors import (
    DpexactError,
    InvalidInput,
    PrecisionNotReached,
    UndecidedComparison,
    UnsupportedMechanism,
)
from dpexact.mechanisms import (
    Mechanism,
    approx_dp,
    discrete_gaussian,
    discrete_laplace,
    fixed_size,
    gaussian,
    gdp,
    laplace,
    parse,
    poisson,
    pure_dp,
    staircase,
    zcdp,
)
from dpexact.symbolic import symbolic

__version__ = "0.1.0"

__all__ = [
    "DpexactError",
    "Enclosure",
    "InvalidInput",
    "Mechanism",
    "PrecisionNotReached",
    "UndecidedComparison",
    "UnsupportedMechanism",
    "__version__",
    "approx_dp",
    "approximation_error",
    "audit",
    "bounds",
    "delta",
    "delta_bounds",
    "discrete_gaussian",
    "discrete_laplace",
    "epsilon",
    "fixed_size",
    "gaussian",
    "gdp",
    "laplace",
    "parse",
    "poisson",
    "pure_dp",
    "renyi",
    "staircase",
    "symbolic",
    "zcdp",
]
