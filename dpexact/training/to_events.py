"""Mechanisms as the events of dp-accounting that describe them: the way back."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

from dpexact import balls
from dpexact.arguments import word_in
from dpexact.decimals import float_down, float_up
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    Adaptive,
    Allocation,
    ApproxDP,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    FixedSize,
    Gaussian,
    GaussianMixture,
    Laplace,
    Mechanism,
    PermuteAndFlip,
    Poisson,
    PureDP,
    RepeatAndSelect,
    Repetition,
    Replace,
    TruncatedPoisson,
)
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import ZERO, Real, exponential, rational
from dpexact.training.events import NEIGHBOURS, Neighbours, from_dp_event

#: Digits that decide a float.
_DIGITS: Final = 20


def to_dp_event(mechanism: Mechanism | str, *, neighbours: Neighbours = "add-remove") -> Any:
    """The ``DpEvent`` of dp-accounting that describes ``mechanism``; it needs that package.

    ``from_dp_event`` of it, under the same neighbours, is ``mechanism`` again, up to parameters
    that say the same (``gdp(2)`` is ``gaussian(1/2)``). A number that is no float is rounded to the
    side of less privacy, so that the event is at most as private.

    Raises:
        InvalidInput: no mechanism, or unknown neighbours.
        UnsupportedMechanism: no event of the installed release describes it under these neighbours.

    >>> to_dp_event("gaussian(1.5)^2")
    SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=1.5), count=2)
    """
    event = _Writer(word_in(neighbours, "neighbours", NEIGHBOURS)).write(mechanism_in(mechanism))
    from_dp_event(event, neighbours=neighbours)  # refuses what these neighbours have no event for
    return event


class _Writer:
    """Writes events for one neighbouring relation."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        # by how many units a sum moves when one record does, which events leave to the relation
        self._moved = 2 if neighbours == "replace" else 1

    def write(self, mechanism: Mechanism) -> Any:
        match mechanism:
            case Composition(parts):
                return _event("ComposedDpEvent", [self.write(part) for part in parts])
            case Repetition(inner, times):
                return _event("SelfComposedDpEvent", self.write(inner), times)
            case PureDP(eps) | ApproxDP(eps, Real(fraction=Fraction(numerator=0))) | GDP(eps) if (
                eps == ZERO
            ):
                return _event("NoOpDpEvent")
            case Gaussian(sigma, sensitivity):
                return _event("GaussianDpEvent", self._noise(sigma, sensitivity))
            case GDP(mu):
                return _event("GaussianDpEvent", self._noise(rational(1), mu))
            case Laplace(scale, sensitivity):
                return _event("LaplaceDpEvent", self._noise(scale, sensitivity))
            case DiscreteLaplace(scale, sensitivity) if sensitivity % self._moved == 0:
                rate = _up(1 / scale)
                return _event("DiscreteLaplaceDpEvent", rate, sensitivity // self._moved)
            case DiscreteGaussian(sigma, sensitivity):
                return _event(
                    "DiscreteGaussianDpEvent", _down(sigma), _up(rational(sensitivity)), 1
                )
            case ApproxDP(_, delta) if delta.fraction == 1:
                return _event("NonPrivateDpEvent")
            case FinitePair() if (found := self._buckets(mechanism)) is not None:
                return _event("RandomizedResponseDpEvent", *found)
            case PureDP(eps) if self._neighbours == "replace" and (
                exponential(eps).fraction is not None or not _has("EpsilonDeltaDpEvent")
            ):
                return _event("RandomizedResponseDpEvent", _down(2 / (1 + exponential(eps))), 2)
            case PureDP(eps):
                return _event("EpsilonDeltaDpEvent", _up(eps), 0.0)
            case ApproxDP(eps, delta):
                return _event("EpsilonDeltaDpEvent", _up(eps), _up(delta))
            case Adaptive(BoundedRange(eps)):
                return _event("ExponentialMechanismDpEvent", _up(eps))
            case PermuteAndFlip(eps):
                return _event("PermuteAndFlipDpEvent", _up(eps))
            case ZCDP(rho, xi):
                return _event("ZCDpEvent", _up(rho), _up(xi))
            case Allocation(inner, t, k):
                return _event("RandomAllocationDpEvent", self.write(inner), k, t)
            case RepeatAndSelect(inner, mean, shape):
                form = math.inf if shape is None else float(shape.fraction or 0)
                if shape is not None and Fraction(form) != shape.fraction:
                    raise UnsupportedMechanism(
                        f"shape: {shape}: events hold floats, and it is none"
                    )
                return _event("RepeatAndSelectDpEvent", self.write(inner), _up(mean), form)
            case GaussianMixture(sigma, law):
                reaches = [_up(reach) for reach, _ in law]
                masses = _masses(reaches, [mass for _, mass in law])
                return _event("MixtureOfGaussiansDpEvent", _down(sigma), reaches, masses)
            case TruncatedPoisson(Gaussian(sigma, sensitivity), q, n, batch) if (
                self._neighbours != "replace"
            ):
                noise = self._noise(sigma, sensitivity)
                return _event("TruncatedSubsampledGaussianDpEvent", n, _up(q), batch, noise)
            case Replace(TruncatedPoisson() as cut) if self._neighbours == "replace":
                return _Writer("add-remove").write(cut)
            case Replace(Poisson(inner, q)) if self._neighbours == "replace":
                added = _Writer("add-remove").write(inner)
                return _event("PoissonSampledDpEvent", _up(q), added)
            case Poisson(inner, q) if self._neighbours != "replace":
                return _event("PoissonSampledDpEvent", _up(q), self.write(inner))
            case FixedSize(inner, m, n) if self._neighbours == "replace":
                return _event("SampledWithoutReplacementDpEvent", n, m, self.write(inner))
        raise UnsupportedMechanism(
            f"{mechanism}: no event of dp-accounting describes it for neighbours by "
            f"{self._neighbours}"
        )

    def _buckets(self, pair: FinitePair) -> tuple[float, int] | None:
        """Noise and number of buckets of the randomised response that ``pair`` is, if it is one."""
        law = [(p.fraction, q.fraction) for p, q in pair.outcomes]
        match self._neighbours, law:
            case "zero-out", [(own, uniform), _] if uniform:
                buckets = 1 / uniform
                noise = (1 - own) / (1 - uniform) if own is not None and uniform < 1 else None
            case "replace", [(own, other), _, (rest, _)] if other and rest:
                buckets = rest / other + 2
                noise = buckets * other
            case _:
                return None
        if noise is None or buckets.denominator != 1 or not 0 <= noise <= 1:
            return None
        if (
            from_dp_event(
                {
                    "class_name": "RandomizedResponseDpEvent",
                    "noise_parameter": noise,
                    "num_buckets": buckets,
                },
                neighbours=self._neighbours,
            )
            != pair
        ):
            return None
        return _down(rational(noise)), int(buckets)

    def _noise(self, scale: Real, sensitivity: Real) -> float:
        return _down(self._moved * scale / sensitivity)


def _masses(reaches: list[float], masses: list[Real]) -> list[float]:
    """Probabilities rounded to the largest sensitivity, also after division by their sum."""
    largest = reaches.index(max(reaches))
    found = [_down(mass) for mass in masses]
    found[largest] = 0.0
    found[largest] = float_up(1 - sum(map(Fraction, found), Fraction(0)))
    return found


def _event(name: str, *values: Any) -> Any:
    if not _has(name):
        raise UnsupportedMechanism(f"{name}: the installed release of dp-accounting has none")
    return getattr(_installed(), name)(*values)


def _has(name: str) -> bool:
    return hasattr(_installed(), name)


def _installed() -> Any:
    try:
        from dp_accounting import dp_event
    except ImportError as error:
        raise ImportError(
            'to_dp_event needs dp-accounting: pip install "dpexact[accountants]"'
        ) from error
    return dp_event


def _down(value: Real) -> float:
    return float_down(balls.enclosed(value, _DIGITS).lower)


def _up(value: Real) -> float:
    rounded = float_up(balls.enclosed(value, _DIGITS).upper)
    if rounded == math.inf:
        raise UnsupportedMechanism(f"{value}: events hold floats, and it is beyond them")
    return rounded
