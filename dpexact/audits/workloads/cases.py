"""Cases: questions with an exact answer, before any accountant has answered them."""

from __future__ import annotations

from dataclasses import dataclass

from dpexact.arguments import Direction
from dpexact.audits.claims import ARGUMENTS, Quantity, number_text
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real


@dataclass(frozen=True, slots=True)
class Case:
    """What is the ``quantity`` of ``mechanism`` when its argument is ``at``?"""

    mechanism: Mechanism
    quantity: Quantity
    at: Real
    direction: Direction = "both"

    def __str__(self) -> str:
        side = "" if self.direction == "both" else f", {self.direction}"
        argument = f"{ARGUMENTS[self.quantity]} = {number_text(self.at)}"
        return f"{self.quantity} of {self.mechanism} at {argument}{side}"


@dataclass(frozen=True, slots=True)
class Workload:
    """Cases, none twice, under a name and a one-line description."""

    name: str
    description: str
    cases: tuple[Case, ...]
