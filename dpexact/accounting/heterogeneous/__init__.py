"""Optimal composition of mechanisms of different ``eps_i``: exact if possible, else enclosed."""

from dpexact.accounting.heterogeneous.choose import different_responses

__all__ = ["different_responses"]


def __dir__() -> list[str]:
    return __all__
