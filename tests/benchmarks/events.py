"""Every event of dp-accounting: how it is answered, certified digits and seconds beside its own.

Run ``python tests/benchmarks/events.py [NAME ...]``; each name keeps the rows that contain it. It
prints the table of ``docs/benchmarks.md``, in Markdown. With
the sources of another release first in ``PYTHONPATH`` that one is asked. Seconds are those of the
processor, the best of three where one run takes less than a second.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import dp_accounting
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

import dpexact
from dpexact.answers import best_of
from dpexact.errors import DpexactError
from dpexact.training.events import from_dp_event

RELATION = dp_accounting.NeighboringRelation
ADDED, REPLACED, ZEROED = (
    RELATION.ADD_OR_REMOVE_ONE,
    RELATION.REPLACE_ONE,
    RELATION.REPLACE_SPECIAL,
)
NEIGHBOURS = {ADDED: "add-remove", REPLACED: "replace", ZEROED: "zero-out"}
DIGITS = 15


def event(kind: str, **values: Any) -> dict[str, Any]:
    return {"class_name": kind, **values}


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=2.0)
TRUNCATED = event(
    "TruncatedSubsampledGaussianDpEvent",
    dataset_size=10_000,
    sampling_probability=0.01,
    truncated_batch_size=110,
    noise_multiplier=1.0,
)
MIXTURE = event(
    "MixtureOfGaussiansDpEvent",
    standard_deviation=2.0,
    sensitivities=[0.0, 1.0, 2.0],
    sampling_probs=[0.75, 0.1875, 0.0625],
)
SAMPLED = event("PoissonSampledDpEvent", sampling_probability=0.01, event=GAUSSIAN)
DRAWN = {"source_dataset_size": 10_000, "sample_size": 100, "event": GAUSSIAN}

#: Event, relation, how often, delta.
ROWS: list[tuple[dict[str, Any], dp_accounting.NeighboringRelation, int, float]] = [
    (event("NoOpDpEvent"), ADDED, 1, 1e-5),
    (event("NonPrivateDpEvent"), ADDED, 1, 1e-5),
    (event("UnsupportedDpEvent"), ADDED, 1, 1e-5),
    (GAUSSIAN, ADDED, 100, 1e-5),
    (GAUSSIAN, REPLACED, 100, 1e-5),
    (event("LaplaceDpEvent", noise_multiplier=5.0), ADDED, 100, 1e-5),
    (event("LaplaceDpEvent", noise_multiplier=5.0), REPLACED, 100, 1e-5),
    (event("DiscreteLaplaceDpEvent", noise_parameter=0.25, sensitivity=2), ADDED, 100, 1e-5),
    (event("DiscreteGaussianDpEvent", sigma=4.0), ADDED, 100, 1e-5),
    (event("DiscreteGaussianDpEvent", sigma=4.0, sensitivity=3.0), ADDED, 100, 1e-5),
    (event("EpsilonDeltaDpEvent", epsilon=0.125, delta=2.0**-30), ADDED, 100, 1e-5),
    (event("ZCDpEvent", rho=0.125), ADDED, 10, 1e-5),
    (event("ZCDpEvent", rho=0.125, xi=0.125), ADDED, 10, 1e-5),
    (event("ExponentialMechanismDpEvent", epsilon=0.125), ADDED, 100, 1e-5),
    (event("PermuteAndFlipDpEvent", epsilon=0.125), ADDED, 100, 1e-5),
    (event("RandomizedResponseDpEvent", noise_parameter=0.75, num_buckets=2), REPLACED, 10, 1e-5),
    (event("RandomizedResponseDpEvent", noise_parameter=0.75, num_buckets=9), REPLACED, 10, 1e-5),
    (event("RandomizedResponseDpEvent", noise_parameter=0.75, num_buckets=9), ZEROED, 10, 1e-5),
    (SAMPLED, ADDED, 1000, 1e-5),
    (SAMPLED, ZEROED, 1000, 1e-5),
    (SAMPLED, REPLACED, 1000, 1e-5),
    (event("SampledWithoutReplacementDpEvent", **DRAWN), REPLACED, 100, 1e-5),
    (event("SampledWithReplacementDpEvent", **DRAWN), REPLACED, 100, 1e-5),
    (
        event("SingleEpochTreeAggregationDpEvent", noise_multiplier=10.0, step_counts=1000),
        ZEROED,
        1,
        1e-5,
    ),
    (MIXTURE, ADDED, 100, 1e-5),
    (TRUNCATED, ADDED, 1000, 1e-5),
    (TRUNCATED, REPLACED, 1000, 1e-5),
    (event("ComposedDpEvent", events=[GAUSSIAN, SAMPLED]), ADDED, 100, 1e-5),
    (
        event("RandomAllocationDpEvent", event=GAUSSIAN, num_selected=1, num_steps=100),
        ADDED,
        10,
        1e-5,
    ),
    (event("RepeatAndSelectDpEvent", event=GAUSSIAN, mean=3.0, shape=1.0), ADDED, 1, 1e-5),
]


def made(tree: Any) -> Any:
    """The event of the release that is imported."""
    if isinstance(tree, dict):
        values = {key: made(value) for key, value in tree.items() if key != "class_name"}
        return getattr(dp_event, tree["class_name"])(**values)
    return list(map(made, tree)) if isinstance(tree, list) else tree


def timed(ask: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    while len(times) < 3 and sum(times) < 1:
        started = time.process_time()
        found = ask()
        times.append(time.process_time() - started)
    return min(times), found


def certified(tree: dict[str, Any], relation: Any, count: int, delta: float) -> tuple[str, ...]:
    """How it is answered, epsilon, digits, seconds; and epsilon to compare with."""
    try:
        mechanism = from_dp_event(tree, neighbours=NEIGHBOURS[relation]) ** count
        seconds, found = timed(lambda: best_of(lambda: dpexact.epsilon(mechanism, delta, DIGITS)))
    except DpexactError as error:
        return f"refused: {error}", "", "", "", ""
    digits = "exact" if found.is_exact else str(min(found.digits, DIGITS))
    return (
        dpexact.mechanisms.base.shown(mechanism),
        f"{found.relation} {found.safe()}",
        digits,
        f"{seconds:.3g}",
        str(found.lower),
    )


def theirs(kind: Any, tree: dict[str, Any], relation: Any, count: int, delta: float) -> tuple:
    """The epsilon of one of their accountants, or None and why not, and its seconds."""
    if not hasattr(dp_event, tree["class_name"]):
        return None, "not in this release", 0.0
    try:
        seconds, found = timed(
            lambda: (
                kind(neighboring_relation=relation).compose(made(tree), count).get_epsilon(delta)
            )
        )
    except dp_accounting.UnsupportedEventError:
        return None, "refused", 0.0
    except Exception as error:
        return None, type(error).__name__, 0.0
    return float(found), "", seconds


def compared(value: float | None, why: str, seconds: float, lower: str) -> str:
    """Their epsilon, how far it is from the truth, and the seconds that it took."""
    if value is None:
        return why
    shown = f"{value:.7g}"
    if lower and lower != "inf" and math.isfinite(value):
        truth = Fraction(lower)
        if truth:
            off = Fraction(value) / truth - 1
            shown += f" ({float(off):+.1g})"
    return f"{shown}, {seconds:.2g} s"


def main(names: list[str]) -> None:
    print(f"dp-accounting {version('dp-accounting')}, epsilon at delta = 1e-5", end="\n\n")
    print(
        "| event | relation | answered as | epsilon | digits | s | PLDAccountant | RdpAccountant |"
    )
    print("|" + " --- |" * 8)
    for tree, relation, count, delta in ROWS:
        if names and not any(name in tree["class_name"] for name in names):
            continue
        text, epsilon, digits, seconds, lower = certified(tree, relation, count, delta)
        asked = [
            compared(*theirs(kind, tree, relation, count, delta), lower)
            for kind in (PLDAccountant, RdpAccountant)
        ]
        name = tree["class_name"] + (f" × {count}" if count > 1 else "")
        about = relation.name.lower().replace("_", " ")
        shown = text if text.startswith("refused") else f"`{text}`"
        print(
            "|", " | ".join((name, about, shown, epsilon, digits, seconds, *asked)), "|", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
