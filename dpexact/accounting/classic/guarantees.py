"""What a mechanism guarantees as ``(eps, delta)`` pairs, the input of the classic theorems."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.arguments import integer_in, real_in
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    ApproxDP,
    DiscreteLaplace,
    FixedSize,
    Laplace,
    Mechanism,
    Poisson,
    PureDP,
    Staircase,
)
from dpexact.reals import Real, RealLike

_ZERO: Final = reals.rational(0)
_ONE: Final = reals.rational(1)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """``count >= 1`` mechanisms, each ``(eps, delta)``-DP; ``eps >= 0`` and ``0 <= delta <= 1``."""

    eps: Real
    delta: Real = _ZERO
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", real_in(self.eps, "eps", ">= 0"))
        object.__setattr__(self, "delta", real_in(self.delta, "delta", ">= 0", "<= 1"))
        object.__setattr__(self, "count", integer_in(self.count, "count", 1))


def guarantees(mechanism: Mechanism) -> list[Guarantee]:
    """The guarantee of each step, equal ones counted together.

    Samples carry the amplified guarantee of :func:`sampled_guarantee`, applied to the sum of the
    guarantees inside (basic composition).

    Raises:
        UnsupportedMechanism: a step has no single best pair, as Gaussian noise; or samples for
            different neighbours stand together.
    """
    sampling_of(mechanism)
    counts: dict[tuple[Real, Real], int] = {}
    for step, count in mechanism.steps().items():
        eps, delta = _pair(step)
        counts[eps, delta] = counts.get((eps, delta), 0) + count
    return [Guarantee(eps, delta, count) for (eps, delta), count in counts.items()]


def sampling_of(mechanism: Mechanism) -> type[Mechanism] | None:
    """``Poisson`` or ``FixedSize``, whichever occurs at any depth; ``None`` without samples.

    Raises:
        UnsupportedMechanism: both occur; they are for different neighbours.
    """
    kinds: set[type[Mechanism]] = set()
    parts = list(mechanism.steps())
    while parts:
        part = parts.pop()
        if isinstance(part, Poisson | FixedSize):
            kinds.add(type(part))
            parts += part.mechanism.steps()
    if len(kinds) > 1:
        raise UnsupportedMechanism(
            "poisson (add/remove neighbours) beside fixed_size (replacement neighbours)"
        )
    return kinds.pop() if kinds else None


def sampled_guarantee(eps: RealLike, delta: RealLike, q: RealLike) -> tuple[Real, Real]:
    r"""``(log(1 + q (e^eps - 1)), q delta)``: an ``(eps, delta)``-DP mechanism on a sample.

    Holds for Poisson samples of rate ``q`` with add/remove neighbours, and for samples of ``m`` of
    ``n`` records with ``q = m/n`` and replacement neighbours (Li, Qardaji, Su 2012; Balle, Barthe,
    Gaboardi 2018, Theorems 8 and 9; Steinke 2022, Theorem 29).

    Args:
        eps: any exact real ``>= 0``.
        delta: any exact real in ``[0, 1]``.
        q: sampling rate in ``[0, 1]``.

    >>> eps, delta = sampled_guarantee("log(3)", "1/100", "1/4")
    >>> str(eps), str(delta)
    ('log(1.5)', '0.0025')
    """
    level = real_in(eps, "eps", ">= 0")
    mass = real_in(delta, "delta", ">= 0", "<= 1")
    rate = real_in(q, "q", ">= 0", "<= 1")
    if rate.fraction == 1:
        return level, mass
    growth = reals.exponential(level) - 1
    amplified = reals.logarithm(1 + rate * growth)
    return amplified, rate * mass


def largest_loss(mechanism: Mechanism) -> Real | None:
    """The largest privacy loss, which is the epsilon at ``delta = 0``, in symbols.

    It is the sum over the steps, as their losses are independent and each attains its largest.
    ``None`` where it is infinite or not in symbols here, as for samples.
    """
    total = _ZERO
    for step, count in mechanism.steps().items():
        if isinstance(step, Poisson | FixedSize):
            return None
        try:
            eps, delta = _pair(step)
        except UnsupportedMechanism:
            return None
        if delta.fraction != 0:
            return None
        total += count * eps
    return total


def _pair(step: Mechanism) -> tuple[Real, Real]:
    match step:
        case ApproxDP(eps, delta):
            return eps, delta
        case PureDP(eps) | Staircase(eps, _, _):
            return eps, _ZERO
        case Laplace(scale, sensitivity):
            return sensitivity / scale, _ZERO
        case DiscreteLaplace(scale, width):
            return width / scale, _ZERO
        case Poisson(inner, q):
            return _sample(inner, q)
        case FixedSize(inner, m, n):
            return _sample(inner, reals.rational(Fraction(m, n)))
        case _:
            raise UnsupportedMechanism(f"{step} has no single best (eps, delta)")


def _sample(inner: Mechanism, q: Real) -> tuple[Real, Real]:
    eps, delta = _ZERO, _ZERO
    for part in guarantees(inner):
        times = reals.rational(part.count)
        eps += times * part.eps
        delta += times * part.delta
    whole = delta.fraction
    return sampled_guarantee(eps, _ONE if whole is not None and whole > 1 else delta, q)
