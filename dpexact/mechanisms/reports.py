"""Shuffled reports of users, and selection: what is published is one of several candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dpexact.arguments import real_in
from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import (
    INNER,
    NOT_NEGATIVE,
    REPLACEMENT,
    Mechanism,
    integers,
    numbers,
)
from dpexact.mechanisms.guarantees import ApproxDP, PureDP
from dpexact.mechanisms.ordering import CROWD, GUARANTEE, REPEATED
from dpexact.reals import Real, rational
from dpexact.tokens import shorten

#: Reports that reveal everything.
_ALL: Final = ApproxDP(rational(0), rational(1))


@dataclass(frozen=True, slots=True, repr=False)
class Shuffle(Mechanism, name="shuffle", neighbours=REPLACEMENT):
    """The reports of ``n`` users in random order, each private by ``mechanism``: ``pure_dp(eps)``.

    At the end of that, for which a search may ask, is ``approx_dp(0, 1)``.
    """

    mechanism: Mechanism = field(metadata=INNER)
    n: int = field(metadata=integers(1) | CROWD)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        kind = getattr(self.mechanism, "owner", type(self.mechanism))  # of a hole, what it will be
        if kind is not PureDP and self.mechanism != _ALL:
            raise InvalidInput(
                f"mechanism: {shorten(str(self.mechanism))} is not accepted; "
                "reports to shuffle are pure_dp(eps)"
            )

    @property
    def eps(self) -> Real | None:
        """That of one report; None of reports that reveal everything."""
        return self.mechanism.eps if isinstance(self.mechanism, PureDP) else None


@dataclass(frozen=True, slots=True, repr=False)
class BoundedRange(Mechanism, name="bounded_range"):
    """Any ``eps``-bounded-range mechanism, as the exponential mechanism. ``eps >= 0``.

    On neighbours its losses lie within an interval of length ``eps``. Repetitions are chosen
    without a look at results; :class:`Adaptive` ones may look.
    """

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class PermuteAndFlip(Mechanism, name="permute_and_flip"):
    """Permute-and-flip: the best of several scores with exponential noise. ``eps >= 0``.

    The scale is ``2s/eps``, where a score moves by at most ``s``, or ``s/eps``, where a record
    moves all scores the same way.
    """

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class ReportNoisyMax(Mechanism, name="report_noisy_max"):
    """Likewise with Laplace noise of that scale."""

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class Adaptive(Mechanism, name="adaptive"):
    """``mechanism``, whose steps may be chosen by the results of earlier ones.

    Products of pairs hold for such steps as they are; only bounded range makes a difference.
    """

    mechanism: Mechanism = field(metadata=INNER)

    def steps(self) -> dict[Mechanism, int]:
        bounded = any(isinstance(part, BoundedRange) for part in _within(self.mechanism))
        return {self: 1} if bounded else self.mechanism.steps()


def _within(mechanism: Mechanism) -> list[Mechanism]:
    parts = [mechanism]
    for part in parts:
        parts.extend(part.inner())
    return parts


def _shape_in(value: RealLike | None, name: str) -> Real | None:
    return None if value is None else real_in(value, name, "> -1")


@dataclass(frozen=True, slots=True, repr=False)
class RepeatAndSelect(Mechanism, name="repeat_and_select"):
    """``mechanism``, run ``K`` times, of which the best output is published and no other.

    ``K`` is a Poisson variable of that ``mean > 0``; with a ``shape > -1`` it has the negative
    binomial law of that shape without 0, and ``mean >= 1``: shape 1 is geometric, 0 logarithmic.
    """

    mechanism: Mechanism = field(metadata=INNER)
    mean: Real = field(metadata=numbers("> 0") | REPEATED)
    shape: Real | None = field(default=None, metadata={"domain": _shape_in} | REPEATED)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.shape is not None:
            real_in(self.mean, "mean", ">= 1")
            if self.shape.fraction is None:
                raise InvalidInput(f"shape: {self.shape} is not accepted; must be rational")

    @property
    def runs_once(self) -> bool:
        """Whether nothing is chosen, as ``K`` is 1."""
        return self.shape is not None and self.mean.fraction == 1

    def steps(self) -> dict[Mechanism, int]:
        return self.mechanism.steps() if self.runs_once else {self: 1}


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
