"""``python -m dpexact.certificate_checker_mpfr FILE``."""

from __future__ import annotations

from dpexact.certificate_checker_mpfr import run

run()
