"""Workloads: documented sets of questions that accountants are asked in an audit."""

from dpexact.audits.workloads.cases import Case, Workload
from dpexact.audits.workloads.files import load, names

__all__ = ["Case", "Workload", "load", "names"]


def __dir__() -> list[str]:
    return __all__
