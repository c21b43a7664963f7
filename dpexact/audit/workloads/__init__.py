"""Workloads: documented sets of questions that accountants are asked in an audit."""

from dpexact.audit.workloads.cases import Case, Workload
from dpexact.audit.workloads.files import load, names

__all__ = ["Case", "Workload", "load", "names"]


def __dir__() -> list[str]:
    return __all__
