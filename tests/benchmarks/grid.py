"""CPU seconds of epsilon(delta) of sampled Gaussians over a grid, beside dp-accounting's defaults.

``python tests/benchmarks/grid.py [--digits 8] [--points 36] [--seed 0] [--whole] [--alone]`` draws
a sample of the grid, or takes all of it, and prints a row a point and direction: the seconds of
dpexact, those of dp-accounting (unless ``--alone`` or it is not installed) and their ratio, then
how many were slow or refused. Rates 1e-7 to 0.5, sigma 0.3 to 10, 1 to 10^7 steps.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Callable
from importlib.util import find_spec

import dpexact

RATES = ("1e-7", "1e-5", "1e-4", "1e-3", "1e-2", "0.05", "0.5")
SIGMAS = ("0.3", "0.5", "0.8", "1", "1.5", "3", "10")
STEPS = (1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
DELTAS = ("1e-4", "1e-8", "1e-12")
DIRECTIONS = ("remove", "add")
SECONDS = {8: 1.0, 15: 3.0}


def timed(ask: Callable[[], object]) -> tuple[str, float]:
    """The answer, or why there is none, and CPU seconds."""
    start = time.process_time()
    try:
        found = str(ask())
    except Exception as error:
        found = f"refused: {str(error)[:50]}"
    return found, time.process_time() - start


def theirs(sigma: str, q: str, steps: int, delta: str) -> object:
    """Both directions at once: their accountant answers for no single one."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    event = PoissonSampledDpEvent(float(q), GaussianDpEvent(float(sigma)))
    accountant = PLDAccountant()
    accountant.compose(SelfComposedDpEvent(event, steps))
    return accountant.get_epsilon(float(delta))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=int, default=8)
    parser.add_argument("--points", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--alone", action="store_true")
    chosen = parser.parse_args()
    grid = list(itertools.product(SIGMAS, RATES, STEPS, DELTAS))
    if not chosen.whole:
        grid = random.Random(chosen.seed).sample(grid, chosen.points)
    beside = not chosen.alone and find_spec("dp_accounting") is not None
    limit = SECONDS.get(chosen.digits, 3.0)
    slow = refused = slower = 0
    for q in ("1e-5", "1e-2"):  # nobody is timed while modules are loaded
        dpexact.epsilon(f"poisson(gaussian(1.1), {q})^50", "1e-6", digits=chosen.digits)
        if beside:
            theirs("1.1", q, 50, "1e-6")
    for sigma, q, steps, delta in grid:
        text, total = f"poisson(gaussian({sigma}), {q})^{steps}", 0.0
        for direction in DIRECTIONS:
            found, seconds = timed(
                lambda text=text, delta=delta, direction=direction: dpexact.epsilon(
                    text, delta, digits=chosen.digits, direction=direction
                )
            )
            total += seconds
            slow += seconds > limit
            refused += found.startswith("refused")
            print(f"{text:38} {delta:6} {direction:7} {seconds:8.3f}  {found}", flush=True)
        if beside:
            answer, seconds = timed(
                lambda s=sigma, q=q, n=steps, delta=delta: theirs(s, q, n, delta)
            )
            slower += total > seconds
            print(f"{'':46} dp-acc. {seconds:8.3f}  {answer}  ratio {seconds / total:.2f}")
    asked = len(grid) * len(DIRECTIONS)
    print(f"{asked} questions, {slow} slower than {limit} s, {refused} refused")
    if beside:
        print(f"{len(grid)} points, {slower} slower than dp-accounting")


if __name__ == "__main__":
    main()
