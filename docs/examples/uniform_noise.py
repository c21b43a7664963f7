"""Uniform noise: a mechanism whose dominating pair is one that dpexact has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpexact.accounting.calibrate import PARAMETERS, Parameter
from dpexact.arguments import real_in
from dpexact.balls import compare
from dpexact.mechanisms import ApproxDP, Mechanism
from dpexact.mechanisms.grammar import NAMES
from dpexact.reals import Real, rational

ONE = rational(1)


@dataclass(frozen=True, slots=True)
class Uniform(Mechanism):
    """Noise uniform on ``[-width, width]``: outputs that only one dataset can give reveal it."""

    name: ClassVar[str] = "uniform"
    width: Real
    sensitivity: Real = ONE

    def __post_init__(self) -> None:
        width = real_in(self.width, "width", "> 0")
        sensitivity = real_in(self.sensitivity, "sensitivity", "> 0")
        self._set(width=width, sensitivity=sensitivity)

    def steps(self) -> dict[Mechanism, int]:
        """A shift by the sensitivity leaves all but ``sensitivity / (2 width)`` in common."""
        lost = self.sensitivity / (2 * self.width)
        apart = compare(lost, ONE, "sensitivity / (2 width)") >= 0
        return {ApproxDP(rational(0), ONE if apart else lost): 1}


NAMES[Uniform.name] = Uniform
PARAMETERS["uniform", "width"] = Parameter(least=True)
