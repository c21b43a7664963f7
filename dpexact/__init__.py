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
    from dpexact.accounting.along import epsilon_along as epsilon_along
    from dpexact.accounting.approximate import approximation_error as approximation_error
    from dpexact.accounting.bounds_of import bounds as bounds
    from dpexact.accounting.calibrate import calibrate as calibrate
    from dpexact.accounting.filters import Filter as Filter
    from dpexact.accounting.queries import delta as delta
    from dpexact.accounting.queries import delta_bounds as delta_bounds
    from dpexact.accounting.queries import epsilon as epsilon
    from dpexact.accounting.queries import epsilon_bounds as epsilon_bounds
    from dpexact.accounting.queries import epsilon_curve as epsilon_curve
    from dpexact.accounting.renyi.query import renyi as renyi
    from dpexact.accounting.tradeoff_of import tradeoff as tradeoff
    from dpexact.answers import PrecisionNotReached as PrecisionNotReached
    from dpexact.audits.runner import audit as audit
    from dpexact.enclosure import Enclosure as Enclosure
    from dpexact.errors import Contradiction as Contradiction
    from dpexact.errors import DpexactError as DpexactError
    from dpexact.errors import InvalidInput as InvalidInput
    from dpexact.errors import UndecidedComparison as UndecidedComparison
    from dpexact.errors import UnsupportedMechanism as UnsupportedMechanism
    from dpexact.formulas import symbolic as symbolic
    from dpexact.mechanisms import Mechanism as Mechanism
    from dpexact.mechanisms import adaptive as adaptive
    from dpexact.mechanisms import allocation as allocation
    from dpexact.mechanisms import approx_dp as approx_dp
    from dpexact.mechanisms import bounded_range as bounded_range
    from dpexact.mechanisms import discrete_gaussian as discrete_gaussian
    from dpexact.mechanisms import discrete_laplace as discrete_laplace
    from dpexact.mechanisms import fixed_size as fixed_size
    from dpexact.mechanisms import gaussian as gaussian
    from dpexact.mechanisms import gaussian_mixture as gaussian_mixture
    from dpexact.mechanisms import gdp as gdp
    from dpexact.mechanisms import group as group
    from dpexact.mechanisms import laplace as laplace
    from dpexact.mechanisms import mix as mix
    from dpexact.mechanisms import pair as pair
    from dpexact.mechanisms import parse as parse
    from dpexact.mechanisms import partition_selection as partition_selection
    from dpexact.mechanisms import permute_and_flip as permute_and_flip
    from dpexact.mechanisms import poisson as poisson
    from dpexact.mechanisms import pure_dp as pure_dp
    from dpexact.mechanisms import randomized_response as randomized_response
    from dpexact.mechanisms import renyi_dp as renyi_dp
    from dpexact.mechanisms import repeat_and_select as repeat_and_select
    from dpexact.mechanisms import replace as replace
    from dpexact.mechanisms import report_noisy_max as report_noisy_max
    from dpexact.mechanisms import shuffle as shuffle
    from dpexact.mechanisms import shuffled_batches as shuffled_batches
    from dpexact.mechanisms import staircase as staircase
    from dpexact.mechanisms import threshold as threshold
    from dpexact.mechanisms import truncated_discrete_gaussian as truncated_discrete_gaussian
    from dpexact.mechanisms import truncated_laplace as truncated_laplace
    from dpexact.mechanisms import truncated_poisson as truncated_poisson
    from dpexact.mechanisms import zcdp as zcdp
    from dpexact.training.accountant import CertifiedAccountant as CertifiedAccountant
    from dpexact.training.correlated import banded as banded
    from dpexact.training.correlated import matrix_mechanism as matrix_mechanism
    from dpexact.training.events import from_dp_event as from_dp_event
    from dpexact.training.history import from_opacus_history as from_opacus_history
    from dpexact.training.to_events import to_dp_event as to_dp_event

__version__ = "0.1.0"

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
# CertifiedAccountant is not listed: it needs dp-accounting, which a star must not
__all__ = sorted(["__version__", *_HOMES.keys() - {"CertifiedAccountant"}])
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
