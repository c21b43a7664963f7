"""Workloads: documented sets of questions that accountants are asked in an audit."""

from dpexact.audits.workloads.files import Case, Workload, load, names

__all__ = ["Case", "Workload", "load", "names"]
__dir__ = __all__.copy
