"""``python -m dpexact.certificate_checker_mpfr FILE``."""

from __future__ import annotations

import importlib.util
import sys

if importlib.util.find_spec("gmpy2") is None:
    print("this checker needs gmpy2: pip install gmpy2", file=sys.stderr)
    sys.exit(2)

from dpexact.certificate_checker_mpfr.checking import main

sys.exit(main(sys.argv[1:]))
