"""Families of questions at parameters out of all proportion, at which floats do not plan."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from soundness.asking import direction_of, family, fraction_text
from soundness.trial import Trial, interval

import dpexact
from dpexact.conversion import real

_SIZES = (
    "1e-300",
    "1e-30",
    "1e-12",
    "1e-3",
    "1/20",
    "1/3",
    "3",
    "1e3",
    "1e12",
    "1e300",
    "exp(-50)",
)
_RATES = ("1e-300", "1e-30", "1e-6", "1/3", "999/1000", "1-1e-12", "1-1e-30", "sqrt(2)/2", "0", "1")
_COUNTS = (1, 2, 5, 30, 400, 10**6, 10**9, 10**18)
_EPSILONS = ("0", "1e-400", "1e-300", "1e-30", "1/10", "7", "1e4", "1e300")
_TARGETS = ("0", "1e-1000", "1e-300", "1e-30", "1e-5", "1/2", "1-1e-9", "1-1e-30")


def _step(rng: random.Random) -> str:
    size, rate = rng.choice(_SIZES), rng.choice(_RATES)
    least = rng.choice(("1", "1/1000", "1000"))
    return rng.choice(
        (
            f"pure_dp({size})",
            f"approx_dp({size}, {rate})",
            f"gaussian({size}, {least})",
            f"laplace({size}, {least})",
            f"truncated_laplace({size}, {rng.choice(_SIZES)}, {least})",
            f"discrete_laplace({size}, {rng.choice((1, 2, 100))})",
            f"discrete_gaussian({size}, {rng.choice((1, 2, 100))})",
            f"staircase({size}, {rate}, {least})",
            f"randomized_response({size}, {rng.choice((2, 3, 10**15))})",
            f"partition_selection({size}, {rate})",
            f"gaussian_mixture({size}, 0: 1/2, 1: 1/4, 1000000: 1/4)",
            f"allocation(gaussian({size}), {rng.choice((2, 10, 10**6))})",
        )
    )


def _run(rng: random.Random, depth: int = 2) -> str:
    step = _step(rng) if depth == 0 or rng.random() < 0.3 else _run(rng, depth - 1)
    kind = rng.random()
    if kind < 0.5:
        return f"poisson({step}, {rng.choice(_RATES)})"
    if kind < 0.8:
        return f"({step})^{rng.choice(_COUNTS)}"
    return f"{step} * {_step(rng)}" if kind < 0.9 else step


@family(0.7)
def out_of_proportion(trial: Trial, rng: random.Random) -> None:
    """Answered or refused; both directions are the worse, and epsilon is where delta falls."""
    text, way, digits = _run(rng), direction_of(rng), rng.choice((1, 3, 8))
    name, points = rng.choice((("delta", _EPSILONS), ("epsilon", _TARGETS)))
    at = rng.choice(points)
    found = trial.ask(name, text, at, digits=digits, direction=way)
    if way == "both":
        one, two = (
            trial.ask(name, text, at, digits=digits, direction=each) for each in ("remove", "add")
        )
        trial.overlap(found, one.larger(two), "both directions and the worse of the two")
    if name == "delta":
        return
    target = dpexact.Enclosure.exact(Fraction(real(at).value))
    for end, is_lower in ((found.lower, True), (found.upper, False)):
        # nothing is said of what is infinite, and of 0 that there delta is not above the target
        if end == math.inf or (is_lower and not end) or len(point := fraction_text(end)) > 3000:
            continue
        back = trial.ask("delta", text, point, digits=2, direction=way)
        pair = (target, back) if is_lower else (back, target)
        trial.ordered(*pair, f"delta on the wrong side of its target at {interval(found)}")
