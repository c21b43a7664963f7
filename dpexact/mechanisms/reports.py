"""Shuffled reports of users, and selection: what is published is one of several candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import INNER, NOT_NEGATIVE, Mechanism, integers
from dpexact.mechanisms.guarantees import ApproxDP, PureDP
from dpexact.mechanisms.ordering import CROWD, GUARANTEE
from dpexact.mechanisms.relations import REPLACEMENT, Relation
from dpexact.reals import Real, rational
from dpexact.tokens import shorten

#: Reports that reveal everything.
_ALL: Final = ApproxDP(rational(0), rational(1))


@dataclass(frozen=True, slots=True, repr=False)
class Shuffle(Mechanism):
    """The reports of ``n`` users in random order, each private by ``mechanism``: ``pure_dp(eps)``.

    At the end of that, for which a search may ask, is ``approx_dp(0, 1)``.
    """

    name: ClassVar[str] = "shuffle"
    neighbours: ClassVar[Relation | None] = REPLACEMENT
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
class BoundedRange(Mechanism):
    """Any ``eps``-bounded-range mechanism, as the exponential mechanism. ``eps >= 0``.

    On neighbours its losses lie within an interval of length ``eps``. Repetitions are chosen
    without a look at results; :class:`Adaptive` ones may look.
    """

    name: ClassVar[str] = "bounded_range"
    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class PermuteAndFlip(Mechanism):
    """Permute-and-flip: the best of several scores with exponential noise. ``eps >= 0``.

    The scale is ``2s/eps``, where a score moves by at most ``s``, or ``s/eps``, where a record
    moves all scores the same way.
    """

    name: ClassVar[str] = "permute_and_flip"
    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class ReportNoisyMax(Mechanism):
    """Likewise with Laplace noise of that scale."""

    name: ClassVar[str] = "report_noisy_max"
    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class Adaptive(Mechanism):
    """``mechanism``, whose steps may be chosen by the results of earlier ones.

    Products of pairs hold for such steps as they are; only bounded range makes a difference.
    """

    name: ClassVar[str] = "adaptive"
    mechanism: Mechanism = field(metadata=INNER)

    def steps(self) -> dict[Mechanism, int]:
        bounded = any(isinstance(part, BoundedRange) for part in _within(self.mechanism))
        return {self: 1} if bounded else self.mechanism.steps()


def _within(mechanism: Mechanism) -> list[Mechanism]:
    parts = [mechanism]
    for part in parts:
        parts.extend(part.inner())
    return parts
