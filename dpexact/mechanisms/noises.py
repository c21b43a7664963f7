"""Noise, and the selection of partitions by it.

Where the support is bounded, outputs that one dataset alone gives reveal a record for certain, with
a probability that every account holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import (
    ADD_REMOVE,
    INNER,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    REACH,
    SCALE,
    Mechanism,
    integers,
    numbers,
)
from dpexact.mechanisms.ordering import (
    CORNERS,
    COUNT,
    FEW_INTEGERS,
    FLATTER,
    NOISE,
    SCALED,
    SENSITIVITY,
    STAIRS,
    Ordering,
    ordered,
)
from dpexact.reals import ONE, Real
from dpexact.tokens import shorten


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Mechanism, name="gaussian"):
    """Gaussian noise of standard deviation ``sigma > 0`` on a query of the given sensitivity."""

    sigma: Real = field(metadata=SCALE | NOISE)
    sensitivity: Real = field(default=ONE, metadata=REACH | SENSITIVITY)


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(Mechanism, name="laplace"):
    """Laplace noise of scale ``scale > 0`` on a query of the given sensitivity."""

    scale: Real = field(metadata=SCALE | NOISE)
    sensitivity: Real = field(default=ONE, metadata=REACH | SENSITIVITY)


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(Mechanism, name="discrete_laplace"):
    """Integer noise of mass proportional to ``exp(-|x|/scale)``; integer sensitivity."""

    scale: Real = field(metadata=SCALE | NOISE)
    sensitivity: int = field(default=1, metadata=integers(1) | COUNT)


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(Mechanism, name="discrete_gaussian"):
    """Integer noise of mass proportional to ``exp(-x^2/(2 sigma^2))``; integer sensitivity."""

    sigma: Real = field(metadata=SCALE | FEW_INTEGERS)
    sensitivity: int = field(default=1, metadata=integers(1) | COUNT)


@dataclass(frozen=True, slots=True, repr=False)
class Staircase(Mechanism, name="staircase"):
    """The staircase mechanism of Geng and Viswanath; ``eps > 0``, ``0 <= gamma <= 1``."""

    eps: Real = field(metadata=POSITIVE | SENSITIVITY)
    gamma: Real = field(metadata=PROBABILITY | STAIRS)
    sensitivity: Real = field(default=ONE, metadata=REACH | SCALED)


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedLaplace(Mechanism, name="truncated_laplace"):
    """Laplace noise conditioned on ``[-bound, bound]``, on a query of one number.

    The truncated Laplacian of Geng, Ding, Guo and Kumar (2020). Outputs are not clamped: what lies
    within ``bound`` of one answer alone reveals it.
    """

    scale: Real = field(metadata=SCALE | FLATTER)
    bound: Real = field(metadata=POSITIVE | ordered(Ordering(least=True, towards=Laplace)))
    sensitivity: Real = field(default=ONE, metadata=REACH | SENSITIVITY)


_WIDENED: Final = Ordering(least=True, integer=True, towards=DiscreteGaussian)
#: Partitions of many users are published whatever is asked for, with the noise itself.
_RAISED: Final = Ordering(least=True, towards=lambda mechanism: mechanism)


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedDiscreteGaussian(Mechanism, name="truncated_discrete_gaussian"):
    """Integer noise in ``[-bound, bound]`` of mass proportional to ``exp(-x^2/(2 sigma^2))``."""

    sigma: Real = field(metadata=SCALE | FLATTER)
    bound: int = field(metadata=integers(1) | ordered(_WIDENED))
    sensitivity: int = field(default=1, metadata=integers(1) | COUNT)


@dataclass(frozen=True, slots=True, repr=False)
class PartitionSelection(Mechanism, name="partition_selection", neighbours=ADD_REMOVE):
    """Whether a partition is published: the optimal ``(eps, delta)`` strategy, of one partition.

    That of Desfontaines, Voss, Gipson and Mandayam (2022), by the number of users in it; one of no
    user is never published. ``eps >= 0`` and ``0 <= delta <= 1``.
    """

    eps: Real = field(metadata=NOT_NEGATIVE | CORNERS)
    delta: Real = field(metadata=PROBABILITY | CORNERS)


@dataclass(frozen=True, slots=True, repr=False)
class Threshold(Mechanism, name="threshold", neighbours=ADD_REMOVE):
    """The noisy count of one partition, published from ``least`` on; one without records never is.

    ``mechanism`` is the noise, Laplace or Gaussian, of the sensitivity that one user has in one
    partition.
    """

    mechanism: Mechanism = field(metadata=INNER)
    least: Real = field(metadata=numbers() | ordered(_RAISED))

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        kind = getattr(self.mechanism, "owner", type(self.mechanism))  # of a hole, what it will be
        if not issubclass(kind, Gaussian | Laplace):
            raise InvalidInput(
                f"mechanism: {shorten(str(self.mechanism))} is not accepted; "
                "noise with a threshold is laplace(scale) or gaussian(sigma)"
            )
