"""Groups and replacement: what they stand for, step by step (``docs/theory/relations.md``).

Groups are of ``k`` records, all present or all absent; replacement of a record is removing one and
adding one. With noise, and with Gaussian noise on Poisson samples, the pair is attained; under a
guarantee it is the group privacy of f-DP, an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from flint import fmpq

from dpexact import balls
from dpexact.accounting.coins import Composed
from dpexact.accounting.pairs.mixture import Grouped, one_shift
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.pairs.response import grouped_response
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Group,
    Laplace,
    Mechanism,
    Mix,
    PermuteAndFlip,
    Poisson,
    PureDP,
    RenyiDP,
    Replace,
    ReportNoisyMax,
    Staircase,
    TruncatedDiscreteGaussian,
    TruncatedLaplace,
    TruncatedPoisson,
)
from dpexact.reals import ONE, Real, rational

#: Noise on what a group moves ``k`` times as far.
_NOISES: Final = (
    Gaussian,
    Laplace,
    DiscreteGaussian,
    DiscreteLaplace,
    TruncatedLaplace,
    TruncatedDiscreteGaussian,
)
Step: TypeAlias = tuple[Mechanism | Pair, int]
"""A mechanism or a pair in direction remove, and how often it runs."""


def regrouped(step: Group | Replace, composed: Composed) -> Iterator[Step]:
    """What ``step`` stands for; ``composed`` is asked about what runs on samples.

    Raises:
        UnsupportedMechanism: naming what has no certified pair, or speaks of other neighbours.
    """
    step.relation()
    size = step.k if isinstance(step, Group) else 2
    yield from _of_all(step.mechanism, size, isinstance(step, Replace), composed)


def _of_all(inner: Mechanism, k: int, replaced: bool, composed: Composed) -> Iterator[Step]:
    """All steps, for groups of ``k``, or one record ``replaced``: then ``k`` is 2."""
    for part, count in inner.steps().items():
        for law, times in _of(part, k, replaced, composed):
            yield law, times * count


def _of(part: Mechanism, k: int, replaced: bool, composed: Composed) -> Iterator[Step]:
    if isinstance(part, _NOISES):
        farther: dict[str, Any] = {"sensitivity": k * part.sensitivity}
        yield replace(part, **farther), 1
        return
    match part:
        case PermuteAndFlip(eps) | ReportNoisyMax(eps):
            yield type(part)(k * eps), 1
        case GDP(mu):
            yield GDP(k * mu), 1
        case ZCDP(rho, xi) if balls.sign(rho, "rho") > 0:
            yield ZCDP(k * k * rho, _harmonic(k) * xi), 1
        case ZCDP(_, eps):
            yield from _guaranteed(eps, rational(0), k)
        case PureDP(eps) | Staircase(eps, _, _):
            yield from _guaranteed(eps, rational(0), k)
        case ApproxDP(eps, delta):
            yield from _guaranteed(eps, delta, k)
        case Group(inner, size):
            yield from _of_all(inner, k * size, replaced, composed)
        case Mix(parts):
            inside = ((w, Replace(m) if replaced else Group(m, k)) for w, m in parts)
            yield Mix(tuple(inside)), 1
        case TruncatedPoisson() if replaced:
            yield Replace(part), 1
        case Poisson():
            yield from _sampled(part, k, replaced, composed)
        case RenyiDP():
            yield part, 1  # which says itself that it is in no group
        case _:
            raise UnsupportedMechanism(f"no certified accounting for groups under {part}")


def _harmonic(k: int) -> Fraction:
    """``k (1 + 1/2 + ... + 1/k)``, by which ``xi`` of zCDP grows in a group."""
    total = fmpq(0)
    for size in range(1, k + 1):
        total += fmpq(k, size)
    return Fraction(int(total.p), int(total.q))


def _guaranteed(eps: Real, delta: Real, k: int) -> Iterator[Step]:
    lost, law = grouped_response(eps, delta, k)
    if lost.fraction != 0:
        yield ApproxDP(rational(0), lost), 1
    if law is not None:
        yield law, 1


def _sampled(part: Poisson, k: int, replaced: bool, composed: Composed) -> Iterator[Step]:
    rate, inner = ONE, part
    while isinstance(inner, Poisson):
        rate, inner = rate * inner.q, inner.mechanism  # type: ignore[assignment]
    if balls.sign(rate, "q") == 0:
        return
    if rate.fraction == 1:
        yield from _of_all(inner, k, replaced, composed)
        return
    inside = composed(inner)
    if inside.is_gaussian:
        if inside.noise is not None and replaced:
            yield one_shift(inside.noise, rate, rate), 1
        elif inside.noise is not None:
            yield Grouped(1 / inside.noise, rate, k), 1
        return
    if inside.beside.is_certain:  # whom it takes no part of, it does not reveal
        yield ApproxDP(rational(0), rate if replaced else 1 - (1 - rate) ** k), 1
        return
    found = composed(part).guaranteed()
    if found is None:
        raise UnsupportedMechanism(f"no certified accounting for groups under {part}")
    yield from _guaranteed(*found, k)


def attained(step: Group | Replace) -> bool:
    """Whether some pair of datasets attains what :func:`regrouped` says."""
    return step == Group(step.mechanism, 1) or _attained(step.mechanism, sampled=False)


def _attained(mechanism: Mechanism, *, sampled: bool) -> bool:
    return all(_is_attained(part, sampled) for part in mechanism.steps())


def _is_attained(part: Mechanism, sampled: bool) -> bool:
    match part:
        case Gaussian() | TruncatedPoisson():  # what the latter stands for it says itself
            return True
        case Poisson(inner, q):
            nobody = balls.sign(q, "q") == 0
            return nobody or _attained(inner, sampled=sampled or q.fraction != 1)
        case Group() | Mix():
            return all(_attained(inner, sampled=sampled) for inner in part.kinds())
    return not sampled and isinstance(part, (*_NOISES, PermuteAndFlip, ReportNoisyMax))
