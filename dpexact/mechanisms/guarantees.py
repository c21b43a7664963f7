"""Mechanisms of which a guarantee is all that is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from dpexact.mechanisms.base import LEADS, NOT_NEGATIVE, PROBABILITY, Mechanism
from dpexact.mechanisms.ordering import FAILURE, GUARANTEE
from dpexact.reals import Real, rational

_ZERO: Final = rational(0)


@dataclass(frozen=True, slots=True, repr=False)
class ApproxDP(Mechanism):
    """Any ``(eps, delta)``-DP mechanism, by its pair; ``eps >= 0`` and ``0 <= delta <= 1``."""

    name: ClassVar[str] = "approx_dp"
    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)
    delta: Real = field(metadata=PROBABILITY | FAILURE)


@dataclass(frozen=True, slots=True, repr=False)
class PureDP(Mechanism):
    """Any ``eps``-DP mechanism, by its dominating pair (randomised response). ``eps >= 0``."""

    name: ClassVar[str] = "pure_dp"
    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class GDP(Mechanism):
    """Any ``mu``-Gaussian-DP mechanism: ``N(mu, 1)`` against ``N(0, 1)``. ``mu >= 0``."""

    name: ClassVar[str] = "gdp"
    mu: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class ZCDP(Mechanism):
    """Any ``(xi, rho)``-zCDP mechanism; answers about it are upper bounds. ``xi, rho >= 0``.

    ``D_alpha <= xi + rho alpha`` at all orders above 1, in both directions.
    """

    name: ClassVar[str] = "zcdp"
    rho: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)
    xi: Real = field(default=_ZERO, metadata=NOT_NEGATIVE | GUARANTEE | LEADS)
