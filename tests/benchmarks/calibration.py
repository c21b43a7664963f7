"""Calibrations as multiples of one evaluation: ``python tests/benchmarks/calibration.py [TEXT]``.

Each row is one `?`: what is found at 6 digits, processor seconds of that, those of one ``delta`` at
the safe end with the digits that a search asks for, and their ratio. Each text keeps the rows that
contain it. What any process does once (imports, caches) is done before.
"""

from __future__ import annotations

import sys
import time

import dpexact
from dpexact.mechanisms.grammar import parse_template

#: Template, epsilon, delta.
ROWS = (
    ("gaussian(?)", "1", "1e-5"),
    ("gaussian(2, ?)^10 * gdp(1/10)", "1", "1e-5"),
    ("gaussian(20)^?", "1", "1e-5"),
    ("discrete_gaussian(30, ?)^4", "1", "1e-6"),
    ("discrete_gaussian(20)^?", "1", "1e-6"),
    ("laplace(?)", "1", "1e-4"),
    ("laplace(?)^500", "1", "1e-4"),
    ("laplace(10)^?", "3", "1e-5"),
    ("discrete_laplace(?, 3)^50", "1", "1e-6"),
    ("poisson(gaussian(?), 256/60000)^3515", "1", "1e-5"),
    ("poisson(gaussian(1), ?)^1000", "2", "1e-6"),
    ("poisson(gaussian(1), 1/100)^?", "5", "1e-6"),
    ("poisson(gaussian(?), 1/2)^100000", "1", "1e-12"),
    ("poisson(pure_dp(1), ?)^30", "1", "1e-6"),
    ("group(poisson(gaussian(?), 1/100)^100, 3)", "1", "1e-5"),
    ("group(poisson(gaussian(2), 1/100)^100, ?)", "3", "1e-5"),
    ("replace(poisson(gaussian(?), 1/100)^1000)", "1", "1e-5"),
    ("gaussian_mixture(?, 1: 1/2, 2: 1/2)^30", "2", "1e-5"),
    ("allocation(gaussian(?), 100)^10", "1", "1e-5"),
    ("allocation(gaussian(1), ?)", "1", "1e-5"),
    ("approx_dp(?, 1e-8)^10", "1", "1e-6"),
    ("approx_dp(?, 1e-8)^10 * approx_dp(1/10, 1e-9)^7 * pure_dp(1/30)^5", "1", "1e-6"),
    ("shuffle(pure_dp(?), 1000)", "1/2", "1e-6"),
    ("shuffle(pure_dp(2), ?)", "1/2", "1e-6"),
    ("truncated_poisson(gaussian(?), 1/100, 10000, 110)^1000", "1", "1e-5"),
    ("randomized_response(2, ?)^20", "1", "1e-6"),
    ("bounded_range(?)^20", "1", "1e-6"),
)
#: Digits of a calibration, and what its search asks of one evaluation.
DIGITS, ASKED = 6, 9


def timed(ask):
    """What is found, and the seconds of the processor."""
    started = time.process_time()
    try:
        found = ask()
    except dpexact.DpexactError as error:
        found = getattr(error, "best", None) or error
    return found, time.process_time() - started


def main(names: list[str]) -> None:
    """Print the table."""
    worst = 0.0
    for text, epsilon, delta in ROWS:
        if names and not any(name in text for name in names):
            continue
        blank = parse_template(text)
        timed(lambda: dpexact.calibrate(text, epsilon, delta, 1))
        found, seconds = timed(lambda: dpexact.calibrate(text, epsilon, delta, DIGITS))
        if not isinstance(found, dpexact.Enclosure):
            print(f"{text:70} {found}")
            continue
        safe = found.lower if found.safe_end == "lower" else found.upper
        _, once = timed(lambda: dpexact.delta(blank.fill(safe), epsilon, ASKED))
        worst = max(worst, ratio := seconds / once)
        print(f"{text:70} {found.safe():>14} {seconds:9.3f} {once:9.4f} {ratio:7.1f}", flush=True)
    print(f"worst ratio {worst:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
