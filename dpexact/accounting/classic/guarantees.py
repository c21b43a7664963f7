"""What a mechanism guarantees as ``(eps, delta)`` pairs, the input of the classic theorems."""

from __future__ import annotations

from dataclasses import dataclass

from dpexact.accounting.composition import Composition
from dpexact.arguments import integer_in, real_in
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import ZERO, Real


@dataclass(frozen=True, slots=True)
class Guarantee:
    """``count >= 1`` mechanisms, each ``(eps, delta)``-DP; ``eps >= 0`` and ``0 <= delta <= 1``."""

    eps: Real
    delta: Real = ZERO
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", real_in(self.eps, "eps", ">= 0"))
        object.__setattr__(self, "delta", real_in(self.delta, "delta", ">= 0", "<= 1"))
        object.__setattr__(self, "count", integer_in(self.count, "count", 1))


def guarantees(mechanism: Mechanism) -> list[Guarantee]:
    """The guarantee of each step, equal ones counted together.

    An ``(eps, delta)``-DP mechanism on a Poisson sample of rate ``q`` with add/remove neighbours,
    or on ``m`` of ``n`` records with ``q = m/n`` and replacement neighbours, is
    ``(log(1 + q (e^eps - 1)), q delta)``-DP (Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018,
    Theorems 8 and 9; Steinke 2022, Theorem 29): samples carry that of the sum of the guarantees
    inside (basic composition).

    Raises:
        UnsupportedMechanism: a step has no single best pair, as Gaussian noise; or samples for
            different neighbours stand together.
    """
    mechanism.relation()
    counts: dict[tuple[Real, Real], int] = {}
    for step, count in mechanism.steps().items():
        found = guarantee(step)
        if found is None:
            raise UnsupportedMechanism(f"{step} has no single best (eps, delta)")
        counts[found] = counts.get(found, 0) + count
    return [Guarantee(eps, delta, count) for (eps, delta), count in counts.items()]


def guarantee(step: Mechanism) -> tuple[Real, Real] | None:
    """The single best ``(eps, delta)`` of one step, by basic composition inside it; else None."""
    try:
        return Composition.of([(step, 1)], fixed_size=True).guaranteed()
    except UnsupportedMechanism:
        return None


def largest_loss(mechanism: Mechanism) -> Real | None:
    """The largest privacy loss, which is the epsilon at ``delta = 0``, in symbols.

    ``None`` where it is infinite or not in symbols here, as for samples.
    """
    total = ZERO
    for step, count in mechanism.steps().items():
        try:
            found = Composition.of([(step, 1)])
        except UnsupportedMechanism:
            return None
        if found.largest is None or found.apart or found.masses or found.samples:
            return None
        total += count * found.largest
    return total
