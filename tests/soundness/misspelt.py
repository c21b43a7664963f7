"""A family of serialised events in which one member is misspelt, missing or too many."""

from __future__ import annotations

import random
from typing import Any

from soundness.asking import family
from soundness.trial import Failed, Trial

import dpexact
from dpexact import InvalidInput, UnsupportedMechanism

Event = dict[str, Any]

_GAUSSIAN: Event = {"class_name": "GaussianDpEvent", "noise_multiplier": 2}
#: Events that hold no others; members that need not be given among them.
_LEAVES: tuple[Event, ...] = (
    _GAUSSIAN,
    {"class_name": "LaplaceDpEvent", "noise_multiplier": 3},
    {"class_name": "DiscreteLaplaceDpEvent", "noise_parameter": 1, "sensitivity": 2},
    {"class_name": "DiscreteGaussianDpEvent", "sigma": 2, "sensitivity": 3, "dimension": 1},
    {"class_name": "EpsilonDeltaDpEvent", "epsilon": 1, "delta": 0},
    {"class_name": "ExponentialMechanismDpEvent", "epsilon": 1},
    {"class_name": "PermuteAndFlipDpEvent", "epsilon": 1},
    {"class_name": "ZCDpEvent", "rho": 0.5, "xi": 1},
    {"class_name": "NoOpDpEvent"},
    {"class_name": "NonPrivateDpEvent"},
)
_AROUND: tuple[Event, ...] = (
    {"class_name": "SelfComposedDpEvent", "count": 3},
    {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.25},
    {"class_name": "RandomAllocationDpEvent", "num_steps": 3, "num_selected": 1},
    {"class_name": "RepeatAndSelectDpEvent", "mean": 2, "shape": 1},
    {"class_name": "SampledWithReplacementDpEvent", "source_dataset_size": 9, "sample_size": 2},
)


def _drawn(rng: random.Random, depth: int) -> tuple[Event, list[Event]]:
    """An event, and all that it holds."""
    if not depth or rng.random() < 0.3:
        leaf = dict(rng.choice(_LEAVES))
        return leaf, [leaf]
    if rng.random() < 0.3:
        parts = [_drawn(rng, depth - 1) for _ in range(rng.randint(0, 3))]
        whole: Event = {"class_name": "ComposedDpEvent", "events": [part for part, _ in parts]}
        return whole, [whole, *(event for _, events in parts for event in events)]
    inner, events = _drawn(rng, depth - 1)
    whole = {**rng.choice(_AROUND), "event": inner}
    return whole, [whole, *events]


@family(0.3)
def misspelt_events(trial: Trial, rng: random.Random) -> None:
    """An event with a member that its class does not have is refused, wherever it stands."""
    event, events = _drawn(rng, 3)
    spoilt = rng.choice(events)
    names = [name for name in spoilt if name != "class_name"]
    if names and rng.random() < 0.7:
        name = rng.choice(names)
        spoilt[name.title() if rng.random() < 0.5 else f"{name}_"] = spoilt.pop(name)
    else:
        spoilt[rng.choice(("sigma_", "Epsilon", "noise", "name", ""))] = rng.choice((0, 1, "x", []))
    call = f"dpexact.from_dp_event({event!r})"

    def ask() -> object:
        try:
            return dpexact.from_dp_event(event)
        except (InvalidInput, UnsupportedMechanism):
            return None

    if (found := trial.attempt(call, ask)) is not None:
        raise Failed(f"read as {found}")
