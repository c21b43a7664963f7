"""What each mechanism is: one entry a mechanism, and the one place that knows them all.

Most are one pair. The others are several laws, or mechanisms that have entries of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dpexact import balls
from dpexact.accounting.coins import flipped, sides
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian as DiscreteGaussianPair
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.laplace import Laplace as LaplacePair
from dpexact.accounting.pairs.pair import Atom, Pair
from dpexact.accounting.pairs.response import (
    Response,
    discrete_laplace,
    randomized_response,
    staircase,
)
from dpexact.accounting.pairs.shifts import STILL, of_sensitivities
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exponential, quotient
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    Adaptive,
    Allocation,
    ApproxDP,
    BoundedRange,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    Gaussian,
    GaussianMixture,
    Group,
    Laplace,
    Mechanism,
    Mix,
    PartitionSelection,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    Replace,
    ReportNoisyMax,
    Shuffle,
    ShuffledBatches,
    Staircase,
    Threshold,
    TruncatedDiscreteGaussian,
    TruncatedLaplace,
    TruncatedPoisson,
)
from dpexact.reals import Real, rational

if TYPE_CHECKING:
    from dpexact.accounting.composition import Composition

_ZERO: Final = rational(0)
_ONE: Final = rational(1)


@dataclass(frozen=True, slots=True)
class Noise:
    """Gaussian noise, of that standard deviation over the sensitivity."""

    level: Real


@dataclass(frozen=True, slots=True)
class Concentrated:
    """``(xi, rho)``-zCDP with ``rho > 0``, a guarantee that no pair stands for."""

    rho: Real
    xi: Real


Law: TypeAlias = "Pair | Noise | Concentrated | Mechanism"
Laws: TypeAlias = Iterator[tuple[Law, int]]
Composed: TypeAlias = "Callable[[Mechanism], Composition]"
"""What there is inside: on a sample, in a group, or on one side of a coin."""


def laws(step: Mechanism, composed: Composed) -> Laws:
    """What ``step`` is, in direction ``remove``, and how often each part of it runs.

    Raises:
        UnsupportedMechanism: it has no dominating pair here.
    """
    kind = type(step)
    if kind in PAIRS:
        pair = PAIRS[kind](step)
        if pair.revealed().fraction == 0 and not pair.infinite() == 0:  # of balls
            raise UnsupportedMechanism(
                f"{step}: a pair from outside must say what mass reveals everything"
            )
        return iter([(pair, 1)])
    if kind in _LAWS:
        return _LAWS[kind](step, composed)
    raise UnsupportedMechanism(f"no certified accounting for {step}")


# --- mechanisms that are no pair, or not always, or several ---------------------------------------

#: Users whose shuffled reports take some seconds.
_MOST_USERS: Final = 10**9
#: Digits to which a probability that is no expression is rounded up; smaller ones, to the least.
_DIGITS: Final = 40
_LEAST: Final = Fraction(1, 1 << 100_000)


def _gaussian(step: Gaussian, composed: Composed) -> Laws:
    yield Noise(step.sigma / step.sensitivity), 1


def _gdp(step: GDP, composed: Composed) -> Laws:
    if balls.sign(step.mu, "mu") > 0:
        yield Noise(1 / step.mu), 1


def _zcdp(step: ZCDP, composed: Composed) -> Laws:
    # D_inf <= xi is what pure DP means
    concentrated = balls.sign(step.rho, "rho") > 0
    yield Concentrated(step.rho, step.xi) if concentrated else PureDP(step.xi), 1


def _mixture(step: GaussianMixture, composed: Composed) -> Laws:
    shifts = of_sensitivities(step.sigma, step.sensitivities)
    if shifts.moves:
        from dpexact.accounting.pairs.mixture import GaussianMixtures

        yield GaussianMixtures(shifts, STILL), 1


def _regrouped(step: Group | Replace, composed: Composed) -> Laws:
    if sides(step) is not None:
        yield from _coin(step, composed)
        return
    from dpexact.accounting.regrouped import regrouped

    yield from regrouped(step, composed)


def _coin(step: Mechanism, composed: Composed) -> Laws:
    found = ((chance, composed(part).run()) for chance, part in sides(step) or [])
    lost, coin = flipped([(chance, *run) for chance, run in found])
    yield Response(_ZERO, lost), 1
    if coin is not None:
        yield coin, 1


def _allocation(step: Allocation, composed: Composed) -> Laws:
    if step.t // step.k == 1:
        for part, count in step.mechanism.steps().items():
            yield part, count * step.k
        return
    inside = composed(step.mechanism)
    if not inside.is_gaussian:
        raise UnsupportedMechanism(f"no certified accounting for {step}: only of Gaussian noise")
    if inside.noise is not None:
        from dpexact.accounting.pairs.allocation import Allocation as AllocationPair

        yield AllocationPair(inside.noise, step.t // step.k), step.k


def _shuffled_batches(step: ShuffledBatches, composed: Composed) -> Laws:
    if step.t > 1:
        raise UnsupportedMechanism(
            f"no certified accounting for {step}: only delta and epsilon, from below"
        )
    yield from step.mechanism.steps().items()


def _shuffle(step: Shuffle, composed: Composed) -> Laws:
    if step.n > _MOST_USERS:
        raise UnsupportedMechanism(
            f"no certified accounting for {step}: of at most {_MOST_USERS} users, and more of them "
            "lose no more"
        )
    if step.n == 1 or step.eps is None:
        yield step.mechanism, 1
    elif balls.sign(step.eps, "eps") > 0:
        from dpexact.accounting.pairs.shuffled import Shuffled

        yield Shuffled(step.eps, step.n), 1


def _range(step: BoundedRange, composed: Composed) -> Laws:
    if balls.sign(step.eps, "eps") > 0:
        raise UnsupportedMechanism(f"no certified accounting for {step}")
    return iter(())


def _noisy_max(step: PermuteAndFlip | ReportNoisyMax, composed: Composed) -> Laws:
    if balls.sign(step.eps, "eps") > 0:
        yield LaplacePair(step.eps), 1


def _randomized_response(step: RandomizedResponse, composed: Composed) -> Laws:
    if step.k == 2:
        yield Response(step.eps), 1
    elif balls.sign(step.eps, "eps") > 0:
        yield randomized_response(step.eps, step.k), 1


def _finite(step: FinitePair, composed: Composed) -> Laws:
    return _compared(tuple(starmap(Atom, step.outcomes)))


def _curve(step: RenyiDP, composed: Composed) -> Laws:
    raise UnsupportedMechanism(
        "renyi_dp says nothing but divergences at some orders: it stands beside other mechanisms, "
        "not on samples, in groups or below several coins"
    )


def _selection(step: PartitionSelection, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.partition_selection import partition_selection

    return _compared(partition_selection(step.eps, step.delta))


def _compared(law: tuple[Atom, ...]) -> Laws:
    """Laws that are the same lose nothing, laws apart everything."""
    if all(a.p.fraction == 0 or a.q.fraction == 0 for a in law):
        yield Response(_ZERO, _ONE), 1
    elif any(a.p != a.q for a in law):
        yield Finite(law), 1


def _truncated_laplace(step: TruncatedLaplace, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.truncated_laplace import truncated_laplace

    return _beside(*truncated_laplace(step.scale, step.bound, step.sensitivity))


def _truncated_gaussian(step: TruncatedDiscreteGaussian, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.truncated_discrete_gaussian import truncated_discrete_gaussian

    variance = step.sigma * step.sigma
    return _beside(*truncated_discrete_gaussian(variance, step.bound, step.sensitivity))


def _beside(lost: Real, pair: Pair | None) -> Laws:
    """A mass of infinite loss, and the pair for the rest."""
    yield Response(_ZERO, lost), 1
    if pair is not None:
        yield pair, 1


def _threshold(step: Threshold, composed: Composed) -> Laws:
    yield Response(_ZERO, _reached(step.mechanism, step.least)), 1
    yield step.mechanism, 1


def _reached(noise: Mechanism, least: Real) -> Real:
    """``Pr[sensitivity + noise >= least]``; that of Gaussian noise is rounded up."""
    assert isinstance(noise, Gaussian | Laplace)
    if isinstance(noise, Laplace):
        away = (least - noise.sensitivity) / noise.scale
        if balls.sign(away, "least") < 0:
            return 1 - exponential(away) / 2
        return exponential(-away) / 2
    away = (least - noise.sensitivity) / noise.sigma
    found = balls.certify(
        lambda: balls.normal_tail(balls.ball(away)), _DIGITS, lowest=_ZERO.value, highest=_ONE.value
    )
    return rational(max(Fraction(found.upper), _LEAST))


_LAWS: Final[dict[type[Mechanism], Callable[[Any, Composed], Laws]]] = {
    Gaussian: _gaussian,
    GDP: _gdp,
    ZCDP: _zcdp,
    GaussianMixture: _mixture,
    Group: _regrouped,
    Replace: _regrouped,
    Mix: _coin,
    TruncatedPoisson: _coin,
    Allocation: _allocation,
    ShuffledBatches: _shuffled_batches,
    Shuffle: _shuffle,
    Adaptive: lambda step, composed: iter(step.mechanism.steps().items()),
    BoundedRange: _range,
    PermuteAndFlip: _noisy_max,
    ReportNoisyMax: _noisy_max,
    RandomizedResponse: _randomized_response,
    FinitePair: _finite,
    RenyiDP: _curve,
    PartitionSelection: _selection,
    TruncatedLaplace: _truncated_laplace,
    TruncatedDiscreteGaussian: _truncated_gaussian,
    Threshold: _threshold,
}


def _discrete_laplace(step: DiscreteLaplace) -> Pair:
    if step.sensitivity == 1:
        return Response(quotient(_ONE, step.scale))
    return discrete_laplace(step.scale, step.sensitivity)


#: Mechanisms that are one pair, each in direction ``remove``. Where it is not symmetric it gives
#: its ``reverse``. A mechanism from outside is entered here.
PAIRS: Final[dict[type[Mechanism], Callable[[Any], Pair]]] = {
    ApproxDP: lambda m: Response(m.eps, m.delta),
    PureDP: lambda m: Response(m.eps),
    Laplace: lambda m: LaplacePair(quotient(m.sensitivity, m.scale)),
    DiscreteLaplace: _discrete_laplace,
    DiscreteGaussian: lambda m: DiscreteGaussianPair(m.sigma * m.sigma, m.sensitivity),
    Staircase: lambda m: staircase(m.eps, m.gamma),
}
