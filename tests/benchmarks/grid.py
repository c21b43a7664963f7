"""CPU seconds of epsilon(delta) of sampled Gaussians over a grid, beside dp-accounting's defaults.

``python tests/benchmarks/grid.py [--digits 8] [--points 36] [--seed 0] [--whole] [--alone]`` draws
a sample of the grid, or takes all of it. A row a point: what dpexact needs for the larger of both
directions, in one call, as dp-accounting answers it; the seconds of that (unless ``--alone`` or it
is not installed) and their ratio. Both are warm, and the better of two times counts where the first
is short. dp-accounting is asked in processes forked for one question each, as it may take all
memory at little noise: one that dies, or takes longer than ``--patience``, gives no answer.
Rates 1e-7 to 0.5, sigma 0.3 to 10, 1 to 10^7 steps.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.connection import Connection

import dpexact

RATES = ("1e-7", "1e-5", "1e-4", "1e-3", "1e-2", "0.05", "0.5")
SIGMAS = ("0.3", "0.5", "0.8", "1", "1.5", "3", "10")
STEPS = (1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
DELTAS = ("1e-4", "1e-8", "1e-12")
SECONDS = {8: 1.0, 15: 3.0}
MEMORY = 8 << 30
SHORT = 0.5


def timed(ask: Callable[[], object]) -> tuple[str, float]:
    """The answer, or why there is none, and CPU seconds."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        try:
            found = str(ask())
        except Exception as error:
            found = f"refused: {str(error)[:50]}"
        best = min(best, time.process_time() - start)
        if best > SHORT:
            break
    return found, best


def theirs(sigma: str, q: str, steps: int, delta: str) -> object:
    """Both directions at once: their accountant answers for no single one."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    event = PoissonSampledDpEvent(float(q), GaussianDpEvent(float(sigma)))
    accountant = PLDAccountant()
    accountant.compose(SelfComposedDpEvent(event, steps))
    return accountant.get_epsilon(float(delta))


def forked(patience: float, *question: object) -> tuple[str, float] | None:
    """What a process of its own says to the question; None where it dies or is too slow."""

    def answer(end: Connection) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        end.send(timed(lambda: theirs(*question)))  # type: ignore[arg-type]

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=answer, args=(there,))
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(patience) else None
    except EOFError:
        return None
    finally:
        child.kill()
        child.join()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=int, default=8)
    parser.add_argument("--points", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--alone", action="store_true")
    chosen = parser.parse_args()
    grid = list(itertools.product(SIGMAS, RATES, STEPS, DELTAS))
    if not chosen.whole:
        grid = random.Random(chosen.seed).sample(grid, chosen.points)
    beside = not chosen.alone and find_spec("dp_accounting") is not None
    limit = SECONDS.get(chosen.digits, 3.0)
    slow = refused = slower = twice = silent = 0
    ours = 0.0
    for q in ("1e-5", "1e-2"):  # nobody is timed while modules are loaded
        dpexact.epsilon(f"poisson(gaussian(1.1), {q})^50", "1e-6", digits=chosen.digits)
        if beside:
            theirs("1.1", q, 50, "1e-6")
    for sigma, q, steps, delta in grid:
        text = f"poisson(gaussian({sigma}), {q})^{steps}"
        found, seconds = timed(
            lambda text=text, delta=delta: dpexact.epsilon(text, delta, digits=chosen.digits)
        )
        ours += seconds
        slow += seconds > limit
        refused += found.startswith("refused")
        row = f"{text:38} {delta:6} {seconds:8.4f}  {found:26}"
        if beside:
            answer = forked(chosen.patience, sigma, q, steps, delta)
            silent += answer is None
            said, took = ("no answer", float("inf")) if answer is None else answer
            slower += seconds > took
            twice += seconds > 2 * took
            row += f" dp-acc. {took:8.4f}  {said:24} ratio {took / seconds:.2f}"
        print(row, flush=True)
    print(f"{len(grid)} points in {ours:.2f} s, {slow} slower than {limit} s, {refused} refused")
    if beside:
        print(
            f"{slower} slower than dp-accounting, {twice} more than twice; "
            f"it gave no answer to {silent}"
        )


if __name__ == "__main__":
    main()
