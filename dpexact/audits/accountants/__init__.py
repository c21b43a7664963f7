"""Accountants under audit: other libraries, each behind one adapter module.

An adapter imports nothing of dpexact, and the audited package only inside its functions, so that it
can be listed where the package is absent and run by another interpreter.
"""

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
