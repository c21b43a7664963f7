"""Certificates: answers in a form that :mod:`dpexact.certificate_checker` verifies alone."""

from __future__ import annotations

from dpexact.certificates.documents import certificate, certificate_of_audit, to_text
from dpexact.certificates.statements import NoCertificate, statement

__all__ = ["NoCertificate", "certificate", "certificate_of_audit", "statement", "to_text"]
__dir__ = __all__.copy
