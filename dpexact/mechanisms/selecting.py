"""Hyperparameters: a mechanism runs a random number of times, and its best output is published."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import INNER, Mechanism, numbers
from dpexact.mechanisms.ordering import REPEATED
from dpexact.reals import Real


def _shape_in(value: RealLike | None, name: str) -> Real | None:
    return None if value is None else real_in(value, name, "> -1")


@dataclass(frozen=True, slots=True, repr=False)
class RepeatAndSelect(Mechanism):
    """``mechanism``, run ``K`` times, of which the best output is published and no other.

    ``K`` is a Poisson variable of that ``mean > 0``; with a ``shape > -1`` it has the negative
    binomial law of that shape without 0, and ``mean >= 1``: shape 1 is geometric, 0 logarithmic.
    """

    name: ClassVar[str] = "repeat_and_select"
    mechanism: Mechanism = field(metadata=INNER)
    mean: Real = field(metadata=numbers("> 0") | REPEATED)
    shape: Real | None = field(default=None, metadata={"domain": _shape_in} | REPEATED)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.shape is not None:
            real_in(self.mean, "mean", ">= 1")
            if self.shape.fraction is None:
                raise InvalidInput(f"shape: {self.shape} is not accepted; must be rational")

    def steps(self) -> dict[Mechanism, int]:
        once = self.shape is not None and self.mean.fraction == 1
        return self.mechanism.steps() if once else {self: 1}


def repeat_and_select(
    mechanism: Mechanism, mean: RealLike, shape: RealLike | None = None
) -> RepeatAndSelect:
    """The best output of a random number of runs of ``mechanism``, as in a search of parameters.

    The number of runs is Poisson of that mean, or of the negative binomial law of ``shape``
    without 0: 1 is geometric, 0 logarithmic. Answers are upper bounds (Papernot, Steinke 2022).

    >>> from dpexact import gaussian, repeat_and_select
    >>> print(repeat_and_select(gaussian(5), 10, 0).epsilon("1e-6", digits=6).safe())
    1.512852
    """
    return RepeatAndSelect(mechanism, mean, shape)
