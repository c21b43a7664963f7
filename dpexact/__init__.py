"""Certified differential-privacy accounting in exact rationals and ball arithmetic.

Rooms, each importing only from those before it::

    errors, ternary, visible < enclosure, files < answers, comparison, tokens < reals
           < exactness < balls < arguments < mechanisms, tradeoffs < accounting
           < formulas, empirical, audits < certificates, oracle < cli

Every public name is imported when it is first used, so that ``import dpexact`` costs nothing and
:mod:`dpexact.oracle` works where only the standard library is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpexact.accounting.along import epsilon_along
    from dpexact.accounting.approximate import approximation_error
    from dpexact.accounting.bounds_of import bounds
    from dpexact.accounting.calibrate import calibrate
    from dpexact.accounting.filters import Filter
    from dpexact.accounting.queries import (
        delta,
        delta_bounds,
        epsilon,
        epsilon_bounds,
        epsilon_curve,
    )
    from dpexact.accounting.renyi.query import renyi
    from dpexact.accounting.tradeoff_of import tradeoff
    from dpexact.answers import PrecisionNotReached
    from dpexact.audits.runner import audit
    from dpexact.enclosure import Enclosure
    from dpexact.errors import (
        Contradiction,
        DpexactError,
        InvalidInput,
        UndecidedComparison,
        UnsupportedMechanism,
    )
    from dpexact.formulas import symbolic
    from dpexact.mechanisms import (
        Mechanism,
        adaptive,
        allocation,
        approx_dp,
        bounded_range,
        discrete_gaussian,
        discrete_laplace,
        fixed_size,
        gaussian,
        gaussian_mixture,
        gdp,
        group,
        laplace,
        mix,
        pair,
        parse,
        partition_selection,
        permute_and_flip,
        poisson,
        pure_dp,
        randomized_response,
        renyi_dp,
        repeat_and_select,
        replace,
        report_noisy_max,
        shuffle,
        shuffled_batches,
        staircase,
        threshold,
        truncated_discrete_gaussian,
        truncated_laplace,
        truncated_poisson,
        zcdp,
    )
    from dpexact.training.accountant import CertifiedAccountant as CertifiedAccountant
    from dpexact.training.correlated import banded, matrix_mechanism
    from dpexact.training.events import from_dp_event
    from dpexact.training.history import from_opacus_history
    from dpexact.training.to_events import to_dp_event

__version__ = "0.1.0"

# CertifiedAccountant is not listed: it needs dp-accounting, which a star must not
__all__ = [
    "Contradiction",
    "DpexactError",
    "Enclosure",
    "Filter",
    "InvalidInput",
    "Mechanism",
    "PrecisionNotReached",
    "UndecidedComparison",
    "UnsupportedMechanism",
    "__version__",
    "adaptive",
    "allocation",
    "approx_dp",
    "approximation_error",
    "audit",
    "banded",
    "bounded_range",
    "bounds",
    "calibrate",
    "delta",
    "delta_bounds",
    "discrete_gaussian",
    "discrete_laplace",
    "epsilon",
    "epsilon_along",
    "epsilon_bounds",
    "epsilon_curve",
    "fixed_size",
    "from_dp_event",
    "from_opacus_history",
    "gaussian",
    "gaussian_mixture",
    "gdp",
    "group",
    "laplace",
    "matrix_mechanism",
    "mix",
    "pair",
    "parse",
    "partition_selection",
    "permute_and_flip",
    "poisson",
    "pure_dp",
    "randomized_response",
    "renyi",
    "renyi_dp",
    "repeat_and_select",
    "replace",
    "report_noisy_max",
    "shuffle",
    "shuffled_batches",
    "staircase",
    "symbolic",
    "threshold",
    "to_dp_event",
    "tradeoff",
    "truncated_discrete_gaussian",
    "truncated_laplace",
    "truncated_poisson",
    "zcdp",
]

#: The module that holds each public name.
_HOMES: Final = {
    name: home
    for home, names in {
        "dpexact.accounting.along": "epsilon_along",
        "dpexact.accounting.approximate": "approximation_error",
        "dpexact.accounting.bounds_of": "bounds",
        "dpexact.accounting.calibrate": "calibrate",
        "dpexact.accounting.filters": "Filter",
        "dpexact.accounting.queries": "delta delta_bounds epsilon epsilon_bounds epsilon_curve",
        "dpexact.accounting.renyi.query": "renyi",
        "dpexact.accounting.tradeoff_of": "tradeoff",
        "dpexact.answers": "PrecisionNotReached",
        "dpexact.audits.runner": "audit",
        "dpexact.enclosure": "Enclosure",
        "dpexact.errors": (
            "Contradiction DpexactError InvalidInput UndecidedComparison UnsupportedMechanism"
        ),
        "dpexact.mechanisms": (
            "Mechanism adaptive allocation approx_dp bounded_range discrete_gaussian "
            "discrete_laplace fixed_size gaussian gaussian_mixture gdp group laplace mix pair "
            "parse partition_selection permute_and_flip poisson pure_dp randomized_response "
            "renyi_dp repeat_and_select replace report_noisy_max shuffle shuffled_batches "
            "staircase threshold truncated_discrete_gaussian truncated_laplace "
            "truncated_poisson zcdp"
        ),
        "dpexact.formulas": "symbolic",
        "dpexact.training.accountant": "CertifiedAccountant",
        "dpexact.training.correlated": "banded matrix_mechanism",
        "dpexact.training.events": "from_dp_event",
        "dpexact.training.history": "from_opacus_history",
        "dpexact.training.to_events": "to_dp_event",
    }.items()
    for name in names.split()
}
#: Rooms that are reached as attributes after a plain ``import dpexact``.
_ROOMS: Final = frozenset(
    ("accounting", "empirical", "enclosure", "errors", "exactness", "mechanisms", "oracle", "reals")
)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
