"""Certified differential-privacy accounting in exact rationals and ball arithmetic.

Rooms, each importing only from those before it::

    errors < enclosure, tokens < reals < exactness < balls < arguments
           < mechanisms, tradeoff < accounting < symbolic, audit < cli
"""

from dpexact.accounting import (
    approximation_error,
    bounds,
    calibrate,
    delta,
    delta_bounds,
    epsilon,
    epsilon_curve,
    renyi,
    tradeoff,
)
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
    "calibrate",
    "delta",
    "delta_bounds",
    "discrete_gaussian",
    "discrete_laplace",
    "epsilon",
    "epsilon_curve",
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
    "tradeoff",
    "zcdp",
]
