"""A composition sorted into steps without sampling and steps on Poisson samples.

Rates multiply along a chain of samples and nowhere else: ``docs/theory/dominating-pairs.md``,
Proposition 6.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from dpexact import balls, reals
from dpexact.accounting.unsampled import Unsampled
from dpexact.mechanisms import ApproxDP, Mechanism, Poisson

Steps: TypeAlias = dict[Mechanism, int]
"""Mechanisms, and how often each runs."""
Samples: TypeAlias = dict[Poisson, int]
"""Samples at rates strictly between 0 and 1 of mechanisms that are no samples themselves."""

_ONE: Final = reals.rational(1)
#: What runs where one step reveals everything: whatever runs beside it adds nothing.
_REVEALED: Final = ApproxDP(reals.rational(0), _ONE)


def separate(steps: Steps) -> tuple[Steps, Samples]:
    """The steps without and with sampling; nested rates multiply.

    Rates 0 and 1, and samples from which nothing is lost, disappear; so does what is sampled with
    a step that reveals everything, and every sample beside such a step.
    """
    plain: Steps = {}
    samples: Samples = {}
    for step, count in steps.items():
        rate, inner = _ONE, step
        while isinstance(inner, Poisson):
            rate, inner = rate * inner.q, inner.mechanism
        if balls.sign(rate, "q") == 0:
            continue
        if inner is step:
            plain[step] = plain.get(step, 0) + count
            continue
        plain_inside, samples_inside = separate(inner.steps())
        if rate.fraction == 1:
            for single, times in plain_inside.items():
                plain[single] = plain.get(single, 0) + count * times
            for inside, times in samples_inside.items():
                samples[inside] = samples.get(inside, 0) + count * times
        elif samples_inside or not Unsampled.of(plain_inside).is_empty:
            sample = Poisson(_REVEALED if _reveals(plain_inside) else inner, rate)
            samples[sample] = samples.get(sample, 0) + count
    return ({_REVEALED: 1}, {}) if samples and _reveals(plain) else (plain, samples)


def _reveals(plain: Steps) -> bool:
    """Whether a step reveals everything."""
    return any(isinstance(step, ApproxDP) and step.delta.fraction == 1 for step in plain)
