"""Accountants under audit: other libraries, each behind one adapter module."""

from dpexact.audits.accountants.asking import Question, Skipped, call_of, questions_for
from dpexact.audits.accountants.interviews import (
    AccountantInfo,
    Interview,
    Limits,
    NoAnswer,
    available,
    python_for,
)
from dpexact.audits.accountants.registry import Accountant, Registered, find, names

__all__ = [
    "Accountant",
    "AccountantInfo",
    "Interview",
    "Limits",
    "NoAnswer",
    "Question",
    "Registered",
    "Skipped",
    "available",
    "call_of",
    "find",
    "names",
    "python_for",
    "questions_for",
]
__dir__ = __all__.copy
