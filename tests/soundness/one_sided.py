"""A family of whatever asks for answers, where these bound the truth from one side only."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from soundness.asking import family
from soundness.trial import Failed, Refused, Trial

import dpexact
from dpexact.accounting.approximate import approximation_distance
from dpexact.empirical import both_sides, from_counts, from_guesses
from dpexact.ternary import Ternary

#: What is known from above only, with a hole for a number of its own.
_ABOVE = (
    "report_noisy_max(?)^3",
    "permute_and_flip(?)^2",
    "shuffle(pure_dp(?), 10)",
    "group(pure_dp(?), 2)",
    "threshold(laplace(2), ?)^2",
    "zcdp(?)",
    "adaptive(bounded_range(?)^2)",
    "allocation(gaussian(?), 4, 3)",
    "truncated_poisson(gaussian(?), 1/2, 4, 2)",
    "group(poisson(laplace(?), 1/2), 2)",
)
_BESIDE = ("", " * pure_dp(1/10)", " * gaussian(3)")
_BELOW = "shuffled_batches(gaussian(?), 2)"


def _refused(trial: Trial, call: str, ask: Callable[[], Any]) -> None:
    try:
        trial.attempt(call, ask)
    except Refused:
        return
    raise Failed(f"{call} takes a bound for the truth")


@family(0.5)
def bounds_from_one_side(trial: Trial, rng: random.Random) -> None:
    """Nobody takes an upper or a lower bound for the truth."""
    if rng.random() < 0.2:
        _from_below(trial, rng)
        return
    template = rng.choice(_ABOVE) + rng.choice(_BESIDE)
    text = template.replace("?", rng.choice(("1/2", "1", "2")))
    kind = rng.randrange(4)
    if kind == 0:
        method = rng.choice(("clt", "edgeworth-1", "berry-esseen"))
        ask: Callable[[], Any] = lambda: dpexact.approximation_error(text, method, 1, digits=3)  # noqa: E731
        if method == "clt" and rng.random() < 0.5:
            ask = lambda: approximation_distance(text, method, 2)  # noqa: E731
        _refused(trial, f"{method} of {text}", ask)
    elif kind == 1:
        _refused(trial, f"dpexact.symbolic({text!r})", lambda: dpexact.symbolic(text))
    elif kind == 2:
        found = trial.ask("calibrate", template, 1, "1/20", digits=3)
        if found.bound == "exact" or not found.theorem:
            raise Failed(f"calibrate({template!r}) calls a bound exact")
    else:
        exact = trial.ask("bounds", text, "1/100", digits=3).exact
        if exact is not None:
            raise Failed(f"bounds({text!r}) calls a bound exact")


def _from_below(trial: Trial, rng: random.Random) -> None:
    text = _BELOW.replace("?", rng.choice(("1", "2")))
    hits = rng.randrange(50, 101)
    attack = rng.choice((from_counts(hits, 0, 100, 100), from_guesses(100, 100, hits)))
    call = f"both_sides(..., {text!r})"
    try:
        found = trial.attempt(call, lambda: both_sides(attack, text))
    except Refused:
        pass
    else:
        if found.convicted is Ternary.HOLDS:
            raise Failed(f"{call} convicts by a lower bound")
    sample = f"poisson({text}, 1/2)"
    theorem = trial.ask("bounds", sample, "1/100", digits=3)["subsampling theorem"]
    if theorem.value is not None:
        raise Failed(f"bounds({sample!r}) amplifies a lower bound")


@family(0.5)
def zcdp_on_samples_beside_pairs(trial: Trial, rng: random.Random) -> None:
    """A bound with a little zCDP beside a pair is no smaller than the truth without it."""
    p, q = (rng.randint(1, 19) for _ in range(2))
    pair = f"pair(({p}/20, {q}/20), ({20 - p}/20, {20 - q}/20))"
    rate = rng.choice(("1/2", "9/10", "99/100"))
    way, digits = rng.choice(("remove", "add", "both")), 5
    both = (f"poisson({pair}, {rate})", f"poisson({pair} * zcdp(1e-9), {rate})")
    name, at = rng.choice((("renyi", "2"), ("renyi", "5"), ("delta", "1/10"), ("epsilon", "1/50")))
    least, most = (trial.ask(name, text, at, digits=digits, direction=way) for text in both)
    if most.upper < least.lower:
        raise Failed(f"{most} is below {least}, of less")
