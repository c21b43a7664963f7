"""Random allocation and random order: in which of the steps a record takes part."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpexact.arguments import MAX_COUNT, integer_in
from dpexact.conversion import RealLike
from dpexact.mechanisms.base import ADD_REMOVE, INNER, Mechanism
from dpexact.mechanisms.ordering import BELOW, Ordering, ordered


@dataclass(frozen=True, slots=True, repr=False)
class Allocation(Mechanism, name="allocation", neighbours=ADD_REMOVE):
    """``t`` runs of ``mechanism``; a record takes part in ``k`` of them, chosen uniformly.

    Records choose independently; a neighbour has one record more, or that record nowhere.
    """

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


@dataclass(frozen=True, slots=True, repr=False)
class ShuffledBatches(Mechanism, name="shuffled_batches", neighbours=ADD_REMOVE):
    """``t`` runs of ``mechanism`` on the ``t`` batches that a random permutation is cut into.

    Neighbours: a record that is there, or one in its place that adds nothing to its batch.
    """

    mechanism: Mechanism = field(metadata=INNER)
    t: int = field(metadata=BELOW)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(t=integer_in(self.t, "t", 1, MAX_COUNT))


def shuffled_batches(mechanism: Mechanism, t: RealLike) -> ShuffledBatches:
    """``t`` runs of Gaussian noise on the equal batches that a random permutation is cut into.

    ``shuffled_batches(M, t)^E`` permutes anew in each of ``E`` epochs. No upper bound is known but
    that of any order, ``M^E``; answers are certified lower bounds (Chua et al. 2024).

    >>> from dpexact import epsilon, gaussian, shuffled_batches
    >>> print(epsilon(shuffled_batches(gaussian("0.8"), 100), "1e-5", digits=4).safe(4))
    5.623
    """
    return ShuffledBatches(mechanism, t)
