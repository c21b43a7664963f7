"""Optimal composition of mechanisms of different ``eps_i``: exact if possible, else enclosed."""

from dpexact.accounting.heterogeneous.choose import different_responses
from dpexact.accounting.heterogeneous.profile import HeterogeneousComposition

__all__ = ["HeterogeneousComposition", "different_responses"]


def __dir__() -> list[str]:
    return __all__
