"""By their neighbours, and by chance: groups, replacement, cut batches, coins, allocation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from dpexact.arguments import MAX_COUNT, integer_in, real_in
from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms.base import (
    ADD_REMOVE,
    INNER,
    PROBABILITY,
    REPLACEMENT,
    SCALE,
    Mechanism,
    Relation,
    integers,
)
from dpexact.mechanisms.entries import listed
from dpexact.mechanisms.ordering import (
    BELOW,
    DETERMINED,
    NOISE,
    Ordering,
    entries_ordered,
    ordered,
    unordered,
)
from dpexact.reals import Real
from dpexact.tokens import shorten

#: Largest group.
MAX_GROUP: Final = 10_000
#: Most entries of a list of weights.
MAX_ENTRIES: Final = 1_000


@dataclass(frozen=True, slots=True, repr=False)
class Group(Mechanism, name="group"):
    """``mechanism``, for neighbours that differ by ``k`` records, all present or all absent."""

    mechanism: Mechanism = field(metadata=INNER)
    k: int = field(metadata=ordered(Ordering(integer=True, limit=MAX_GROUP)))

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(k=integer_in(self.k, "k", 1, MAX_GROUP))

    def steps(self) -> dict[Mechanism, int]:
        return self.mechanism.steps() if self.k == 1 else {self: 1}

    def speakers(self) -> Iterator[tuple[str, Relation]]:
        inside = self.mechanism.relation()
        if inside is not None and inside.kind != ADD_REMOVE.kind:
            raise UnsupportedMechanism(
                f"group counts records added or removed; {self.mechanism} speaks of {inside}"
            )
        yield self.name, replace(ADD_REMOVE, records=self.k * (inside.records if inside else 1))


@dataclass(frozen=True, slots=True, repr=False)
class Replace(Mechanism, name="replace"):
    """``mechanism``, for neighbours of which one record is replaced by another.

    Sensitivities and guarantees inside are for one record added or removed.
    """

    mechanism: Mechanism = field(metadata=INNER)

    def speakers(self) -> Iterator[tuple[str, Relation]]:
        inside = self.mechanism.relation()
        if inside not in (None, ADD_REMOVE):
            raise UnsupportedMechanism(
                f"replace removes one record and adds one; {self.mechanism} speaks of {inside}"
            )
        yield self.name, REPLACEMENT


def _weights(weights: list[Any], name: str) -> None:
    """Refuse what are no probabilities, or do not add up to 1."""
    if len(weights) > MAX_ENTRIES:
        raise InvalidInput(f"{name}: {len(weights)} entries are too many (limit {MAX_ENTRIES})")
    total = Fraction(0)
    for given in weights:
        weight = real_in(given, name, ">= 0", "<= 1").fraction
        if weight is None:
            raise InvalidInput(f"{name}: the weight {shorten(str(given))} is not rational")
        total += weight
    if total != 1:
        shown = total if total.denominator < 10**6 else float(total)
        raise InvalidInput(
            f"{name}: the weights add up to {shown}, not to 1; a float is its exact binary value, "
            "so write 1/10 as text"
        )


def _sensitivities(entries: tuple[tuple[Any, Any], ...], name: str) -> tuple[tuple[Any, Any], ...]:
    for shift, _ in entries:
        real_in(shift, name, ">= 0")
    _weights([weight for _, weight in entries], name)
    return entries


def _coins(entries: tuple[tuple[Any, Any], ...], name: str) -> tuple[tuple[Any, Any], ...]:
    _weights([weight for weight, _ in entries], name)
    return entries


@dataclass(frozen=True, slots=True, repr=False)
class GaussianMixture(Mechanism, name="gaussian_mixture", neighbours=ADD_REMOVE):
    """Gaussian noise on a query whose sensitivity is random: each ``>= 0`` with its probability.

    The probabilities are rational and add up to 1; add/remove neighbours.
    """

    sigma: Real = field(metadata=SCALE | NOISE)
    sensitivities: tuple[tuple[Real, Real], ...] = field(
        metadata=listed("number: number", _sensitivities)
        | entries_ordered(Ordering(from_zero=True), DETERMINED)
    )


_CUT_RATE: Final = unordered(
    "privacy is not proved monotone in q of truncated_poisson, and its bound is not: delta at "
    "epsilon = 0.5 of gaussian(8), n = 10, batch = 1 is 1.568e-14 at q = 0.8 and 2.077e-15 at q = 1"
)
_CUT_SIZE: Final = unordered(
    "privacy is not proved monotone in n of truncated_poisson, and its bound is not: delta at "
    "epsilon = 0.5 of gaussian(0.5), q = 0.1, batch = 1 is 0.03297, 0.03581 and 0.03005 at n = 1, "
    "6 and 20"
)
_CUT_BATCH: Final = unordered(
    "privacy is not proved monotone in batch of truncated_poisson, and its bound is not: delta at "
    "epsilon = 0.5 of gaussian(0.5), q = 0.1, n = 20 is 0.03005, 0.04190 and 0.03297 at "
    "batch = 1, 2 and 20"
)


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedPoisson(Mechanism, name="truncated_poisson", neighbours=ADD_REMOVE):
    """Gaussian noise on Poisson batches of ``n`` records, cut at random to ``batch`` records."""

    mechanism: Mechanism = field(metadata=INNER)
    q: Real = field(metadata=PROBABILITY | _CUT_RATE)
    n: int = field(metadata=integers(1) | _CUT_SIZE)
    batch: int = field(metadata=_CUT_BATCH)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(batch=integer_in(self.batch, "batch", 0, MAX_COUNT))


@dataclass(frozen=True, slots=True, repr=False)
class Mix(Mechanism, name="mix"):
    """One of several mechanisms, by a coin that everybody sees; rational weights that make 1."""

    parts: tuple[tuple[Real, Mechanism], ...] = field(
        metadata=listed("number: mechanism", _coins) | entries_ordered(DETERMINED, None)
    )

    def kinds(self) -> Iterator[Mechanism]:
        """Those that may run."""
        return (part for weight, part in self.parts if weight.fraction != 0)


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

    def steps(self) -> dict[Mechanism, int]:
        if self.k < self.t:
            return {self: 1}
        return {step: count * self.t for step, count in self.mechanism.steps().items()}


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
