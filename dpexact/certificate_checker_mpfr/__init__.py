"""Verify certificates of contour integrals: ``python -m dpexact.certificate_checker_mpfr FILE``.

MPFR is a second arithmetic, and the code is separate: :mod:`~dpexact.certificate_checker` reads the
files and verifies all other statements, and nothing else of the project is used.
``docs/certificates.md`` specifies the format. Needs gmpy2.

Exit codes are those of the standard checker.
"""
