"""Random allocation: a record takes part in some of the steps, chosen at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dpexact.arguments import MAX_COUNT, integer_in
from dpexact.conversion import RealLike
from dpexact.mechanisms.base import INNER, Mechanism
from dpexact.mechanisms.ordering import Ordering, ordered
from dpexact.mechanisms.relations import ADD_REMOVE, Relation


@dataclass(frozen=True, slots=True, repr=False)
class Allocation(Mechanism):
    """``t`` runs of ``mechanism``; a record takes part in ``k`` of them, chosen uniformly.

    Records choose independently; a neighbour has one record more, or that record nowhere.
    """

    name: ClassVar[str] = "allocation"
    neighbours: ClassVar[Relation | None] = ADD_REMOVE
    mechanism: Mechanism = field(metadata=INNER)
    t: int = field(metadata=ordered(Ordering(least=True, integer=True, lowest="k")))
    k: int = field(default=1, metadata=ordered(Ordering(integer=True, highest="t")))

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(t=integer_in(self.t, "t", 1, MAX_COUNT))
        self._set(k=integer_in(self.k, "k", 1, self.t))


def allocation(mechanism: Mechanism, t: RealLike, k: RealLike = 1) -> Allocation:
    """``t`` runs of ``mechanism``, of which a record takes part in ``k``, chosen at random.

    For ``k = 1`` balls in bins: every record draws one of ``t`` batches. ``allocation(M, t)^E``
    draws afresh in each of ``E`` epochs, ``allocation(M^E, t)`` keeps the batches. Neighbours
    differ by adding or removing one record. For ``1 < k < t`` answers are upper bounds.

    >>> from dpexact import gaussian
    >>> print(allocation(gaussian("0.8"), 100) ** 10)
    allocation(gaussian(0.8), 100)^10
    """
    return Allocation(mechanism, t, k)
