"""Uniform noise: a mechanism whose dominating pair is one that dpexact has."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpexact.balls import compare
from dpexact.mechanisms import ApproxDP, Mechanism
from dpexact.mechanisms.base import POSITIVE
from dpexact.mechanisms.grammar import NAMES
from dpexact.mechanisms.ordering import NOISE
from dpexact.reals import ONE, ZERO, Real


@dataclass(frozen=True, slots=True)
class Uniform(Mechanism, name="uniform"):
    """Noise uniform on ``[-width, width]``: outputs that only one dataset can give reveal it."""

    width: Real = field(metadata=POSITIVE | NOISE)
    sensitivity: Real = field(default=ONE, metadata=POSITIVE)

    def steps(self) -> dict[Mechanism, int]:
        """A shift by the sensitivity leaves all but ``sensitivity / (2 width)`` in common."""
        lost = self.sensitivity / (2 * self.width)
        apart = compare(lost, ONE, "sensitivity / (2 width)") >= 0
        return {ApproxDP(ZERO, ONE if apart else lost): 1}


NAMES[Uniform.name] = Uniform
