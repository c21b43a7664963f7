"""What is certain below an upper bound: a mechanism of that kind whose answers are attained.

Of ``k`` of ``t`` Gaussian steps the sum of all outputs is a Gaussian step (``allocation.md``,
Proposition 2b); of selections two candidates are a randomized response (``selection.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.profile import Profile, in_direction
from dpexact.accounting.shuffled_batches import LargestOutput
from dpexact.accounting.standing import ranges_alone, standing
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    Adaptive,
    Allocation,
    BoundedRange,
    Gaussian,
    Mechanism,
    PermuteAndFlip,
    PureDP,
    ReportNoisyMax,
)
from dpexact.reals import Real, rational, square_root

_DIGITS: Final = 30
_ZERO: Final = Fraction(0)


def beneath(mechanism: Mechanism) -> Mechanism | None:
    """What ``mechanism`` may be, or may be turned into; None where no such is known."""
    found = _within(mechanism)
    return found if standing(found).bound == "exact" else None


def largest_output(mechanism: Mechanism, direction: Direction) -> Profile | None:
    """What the largest outputs of ``k`` of ``t`` steps lose; None of anything else."""
    match list(mechanism.steps().items()):
        case [(Allocation(inner, t, k), epochs)] if 1 < k < t:
            if (noise := _noise(inner)) is not None:
                return in_direction(
                    direction, lambda way: LargestOutput(noise, t, k, epochs, add=way == "add")
                )
    return None


def _noise(inner: Mechanism) -> Real | None:
    """That of Gaussian steps, and no others."""
    try:
        inside = Composition.of(inner.steps().items())
    except UnsupportedMechanism:
        return None
    return inside.noise if inside.is_gaussian else None


def _within(mechanism: Mechanism) -> Mechanism:
    match mechanism:
        case Adaptive(inner):
            return inner if ranges_alone(inner) else _within(inner)
        case Allocation(inner, t, k) if 1 < k < t:
            if (noise := _noise(inner)) is not None:
                return Gaussian(noise * square_root(rational(t)) / k)
        case BoundedRange(eps):
            return PureDP(eps / 2)
        case PermuteAndFlip(eps):
            return _response(eps, lambda x: arb(0))
        case ReportNoisyMax(eps):
            return _response(eps, lambda x: (x / 4).log1p())
    return mechanism.with_inner(_within)


def _response(eps: Real, log_share: Callable[[arb], arb]) -> Mechanism:
    """Two answers; the unlikely one has chance ``share(eps) exp(-eps/2) / 2``."""

    def log_odds() -> arb:
        log_twice = log_share(balls.ball(eps)) - balls.ball(eps) / 2
        return (-log_twice.expm1()).log1p() - log_twice

    return PureDP(rational(Fraction(balls.certify(log_odds, _DIGITS, lowest=_ZERO).lower)))
