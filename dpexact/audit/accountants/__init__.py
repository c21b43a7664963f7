"""Accountants under audit: other libraries, each behind one adapter module."""

from dpexact.audit.accountants.asking import Question, Skipped, claims_of, questions_for
from dpexact.audit.accountants.registry import Accountant, AccountantInfo, available, load

__all__ = [
    "Accountant",
    "AccountantInfo",
    "Question",
    "Skipped",
    "available",
    "claims_of",
    "load",
    "questions_for",
]
