"""What each mechanism is: one entry a mechanism, and the one place that knows them all.

Most are one pair. The others are several laws, or mechanisms that have entries of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import Any, Final, TypeAlias

from dpexact import balls, mechanisms
from dpexact.accounting.coins import Composed, Inside, flipped, sides
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.finite import Finite, total
from dpexact.accounting.pairs.laplace import Laplace
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
from dpexact.reals import ONE, ZERO, Real, rational


@dataclass(frozen=True, slots=True)
class Noise:
    """Gaussian noise, of that standard deviation over the sensitivity."""

    level: Real


@dataclass(frozen=True, slots=True)
class Concentrated:
    """``(xi, rho)``-zCDP with ``rho > 0``, a guarantee that no pair stands for."""

    rho: Real
    xi: Real


Law: TypeAlias = "Pair | Noise | Concentrated | mechanisms.Mechanism"
Laws: TypeAlias = Iterator[tuple[Law, int]]


def laws(step: mechanisms.Mechanism, composed: Composed) -> Laws:
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
#: Most outcomes of a side of a coin that is one law; of more, each side has its moments.
_MOST_OUTCOMES: Final = 16
#: Digits to which a probability that is no expression is rounded up; smaller ones, to the least.
_DIGITS: Final = 40
_LEAST: Final = Fraction(1, 1 << 100_000)


def _gaussian(step: mechanisms.Gaussian, composed: Composed) -> Laws:
    yield Noise(step.sigma / step.sensitivity), 1


def _gdp(step: mechanisms.GDP, composed: Composed) -> Laws:
    if balls.sign(step.mu, "mu") > 0:
        yield Noise(1 / step.mu), 1


def _zcdp(step: mechanisms.ZCDP, composed: Composed) -> Laws:
    # D_inf <= xi is what pure DP means
    concentrated = balls.sign(step.rho, "rho") > 0
    yield Concentrated(step.rho, step.xi) if concentrated else mechanisms.PureDP(step.xi), 1


def _mixture(step: mechanisms.GaussianMixture, composed: Composed) -> Laws:
    shifts = of_sensitivities(step.sigma, step.sensitivities)
    if shifts.moves:
        from dpexact.accounting.pairs.mixture import GaussianMixtures

        yield GaussianMixtures(shifts, STILL), 1


def _regrouped(step: mechanisms.Group | mechanisms.Replace, composed: Composed) -> Laws:
    if sides(step) is not None:
        yield from _coin(step, composed)
        return
    from dpexact.accounting.regrouped import regrouped

    yield from regrouped(step, composed)


def _coin(step: mechanisms.Mechanism, composed: Composed) -> Laws:
    found = [(chance, composed(part)) for chance, part in sides(step) or []]
    law = _tossed(found)
    if law is not None:
        yield from _parted(law)
        return
    lost, coin = flipped([(chance, *inside.run()) for chance, inside in found])
    yield Response(ZERO, lost), 1
    if coin is not None:
        yield coin, 1


def _tossed(found: list[tuple[Real, Inside]]) -> tuple[Atom, ...] | None:
    """The outcomes of a coin and of what then runs, where those of every side are few."""
    try:
        listed = [
            (chance, inside.outcomes(_MOST_OUTCOMES, samples=True)) for chance, inside in found
        ]
    except UnsupportedMechanism:
        return None
    return tuple(Atom(chance * a.p, chance * a.q) for chance, atoms in listed for a in atoms)


def _allocation(step: mechanisms.Allocation, composed: Composed) -> Laws:
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


def _shuffled_batches(step: mechanisms.ShuffledBatches, composed: Composed) -> Laws:
    if step.t > 1:
        raise UnsupportedMechanism(
            f"no certified accounting for {step}: only delta and epsilon, from below"
        )
    yield from step.mechanism.steps().items()


def _shuffle(step: mechanisms.Shuffle, composed: Composed) -> Laws:
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


def _range(step: mechanisms.BoundedRange, composed: Composed) -> Laws:
    if balls.sign(step.eps, "eps") > 0:
        raise UnsupportedMechanism(f"no certified accounting for {step}")
    return iter(())


def _noisy_max(
    step: mechanisms.PermuteAndFlip | mechanisms.ReportNoisyMax, composed: Composed
) -> Laws:
    if balls.sign(step.eps, "eps") > 0:
        yield Laplace(step.eps), 1


def _randomized_response(step: mechanisms.RandomizedResponse, composed: Composed) -> Laws:
    if step.k == 2:
        yield Response(step.eps), 1
    elif balls.sign(step.eps, "eps") > 0:
        yield randomized_response(step.eps, step.k), 1


def _curve(step: mechanisms.RenyiDP, composed: Composed) -> Laws:
    raise UnsupportedMechanism(
        "renyi_dp says nothing but divergences at some orders: it stands beside other mechanisms, "
        "not on samples, in groups or below several coins"
    )


def _selection(step: mechanisms.PartitionSelection, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.partition_selection import partition_selection

    return _compared(partition_selection(step.eps, step.delta))


def _compared(law: tuple[Atom, ...]) -> Laws:
    """Laws that are the same lose nothing, laws apart everything."""
    if all(a.p.fraction == 0 or a.q.fraction == 0 for a in law):
        yield Response(ZERO, ONE), 1
    elif any(a.p != a.q for a in law):
        yield Finite(law), 1


def _parted(law: tuple[Atom, ...]) -> Laws:
    """The same with the mass of infinite loss apart, where both laws have as much: few see it."""
    lost = total(a.p for a in law if a.q.fraction == 0)
    if lost.fraction in (0, 1) or lost != total(a.q for a in law if a.p.fraction == 0):
        yield from _compared(law)
        return
    finite = [a for a in law if a.p.fraction != 0 and a.q.fraction != 0]
    yield Response(ZERO, lost), 1
    yield from _compared(tuple(Atom(a.p / (1 - lost), a.q / (1 - lost)) for a in finite))


def _truncated_laplace(step: mechanisms.TruncatedLaplace, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.laplace import truncated_laplace

    return _beside(*truncated_laplace(step.scale, step.bound, step.sensitivity))


def _truncated_gaussian(step: mechanisms.TruncatedDiscreteGaussian, composed: Composed) -> Laws:
    from dpexact.accounting.pairs.discrete_gaussian import truncated_discrete_gaussian

    variance = step.sigma * step.sigma
    return _beside(*truncated_discrete_gaussian(variance, step.bound, step.sensitivity))


def _beside(lost: Real, pair: Pair | None) -> Laws:
    """A mass of infinite loss, and the pair for the rest."""
    yield Response(ZERO, lost), 1
    if pair is not None:
        yield pair, 1


def _threshold(step: mechanisms.Threshold, composed: Composed) -> Laws:
    yield Response(ZERO, _reached(step.mechanism, step.least)), 1
    yield step.mechanism, 1


def _reached(noise: mechanisms.Mechanism, least: Real) -> Real:
    """``Pr[sensitivity + noise >= least]``; that of Gaussian noise is rounded up."""
    assert isinstance(noise, mechanisms.Gaussian | mechanisms.Laplace)
    if least == noise.sensitivity:  # of symbols the sign of the difference may not be told
        return rational(Fraction(1, 2))
    if isinstance(noise, mechanisms.Laplace):
        away = (least - noise.sensitivity) / noise.scale
        if balls.sign(away, "least") < 0:
            return 1 - exponential(away) / 2
        return exponential(-away) / 2
    away = (least - noise.sensitivity) / noise.sigma
    found = balls.certify(
        lambda: balls.normal_tail(balls.ball(away)), _DIGITS, lowest=ZERO.value, highest=ONE.value
    )
    return rational(max(Fraction(found.upper), _LEAST))


_LAWS: Final[dict[type[mechanisms.Mechanism], Callable[[Any, Composed], Laws]]] = {
    mechanisms.Gaussian: _gaussian,
    mechanisms.GDP: _gdp,
    mechanisms.ZCDP: _zcdp,
    mechanisms.GaussianMixture: _mixture,
    mechanisms.Group: _regrouped,
    mechanisms.Replace: _regrouped,
    mechanisms.Mix: _coin,
    mechanisms.TruncatedPoisson: _coin,
    mechanisms.Allocation: _allocation,
    mechanisms.ShuffledBatches: _shuffled_batches,
    mechanisms.Shuffle: _shuffle,
    mechanisms.Adaptive: lambda step, composed: iter(step.mechanism.steps().items()),
    mechanisms.BoundedRange: _range,
    mechanisms.PermuteAndFlip: _noisy_max,
    mechanisms.ReportNoisyMax: _noisy_max,
    mechanisms.RandomizedResponse: _randomized_response,
    mechanisms.FinitePair: lambda step, _: _compared(tuple(starmap(Atom, step.outcomes))),
    mechanisms.RenyiDP: _curve,
    mechanisms.PartitionSelection: _selection,
    mechanisms.TruncatedLaplace: _truncated_laplace,
    mechanisms.TruncatedDiscreteGaussian: _truncated_gaussian,
    mechanisms.Threshold: _threshold,
}


def _discrete_laplace(step: mechanisms.DiscreteLaplace) -> Pair:
    if step.sensitivity == 1:
        return Response(quotient(ONE, step.scale))
    return discrete_laplace(step.scale, step.sensitivity)


#: Mechanisms that are one pair, each in direction ``remove``. Where it is not symmetric it gives
#: its ``reverse``. A mechanism from outside is entered here.
PAIRS: Final[dict[type[mechanisms.Mechanism], Callable[[Any], Pair]]] = {
    mechanisms.ApproxDP: lambda m: Response(m.eps, m.delta),
    mechanisms.PureDP: lambda m: Response(m.eps),
    mechanisms.Laplace: lambda m: Laplace(quotient(m.sensitivity, m.scale)),
    mechanisms.DiscreteLaplace: _discrete_laplace,
    mechanisms.DiscreteGaussian: lambda m: DiscreteGaussian(m.sigma * m.sigma, m.sensitivity),
    mechanisms.Staircase: lambda m: staircase(m.eps, m.gamma),
}
