"""Mechanisms and exact reals as nested lists of text: the name first, then the parameters."""

from __future__ import annotations

from typing import TypeAlias

from dpexact import mechanisms
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms.base import Composition, Repetition, compose
from dpexact.reals import Real

Tree: TypeAlias = "str | list[Tree]"


def number_tree(x: Real) -> Tree:
    """An exact real.

    >>> from dpexact.conversion import real
    >>> number_tree(real("log(1.5) * 3"))
    ['*', ['log', '3/2'], '3']
    """
    if x.fraction is not None:
        return str(x.fraction)
    return [x.operator, *map(number_tree, x.arguments)]


def mechanism_tree(mechanism: mechanisms.Mechanism) -> Tree:
    """A mechanism, with every parameter written out.

    Raises:
        UnsupportedMechanism: one of which certificates do not speak.

    >>> from dpexact.mechanisms import parse
    >>> mechanism_tree(parse("poisson(gaussian(1.3), 1/100)^5"))
    ['repeat', ['poisson', ['gaussian', '13/10', '1'], '1/100'], '5']
    """
    name = mechanism.name
    match mechanism:
        case Composition(parts):
            return ["compose", *map(mechanism_tree, parts)]
        case Repetition(inner, times):
            return ["repeat", mechanism_tree(inner), str(times)]
        case mechanisms.Poisson(inner, q):
            return [name, mechanism_tree(inner), number_tree(q)]
        case mechanisms.FinitePair(rows) | mechanisms.RenyiDP(rows):
            return [name, *([number_tree(x), number_tree(y)] for x, y in rows)]
        case mechanisms.Mix(parts):
            return [name, *([number_tree(w), mechanism_tree(part)] for w, part in parts)]
        case mechanisms.TruncatedPoisson(inner, q, n, batch):
            return [name, mechanism_tree(inner), number_tree(q), str(n), str(batch)]
        case mechanisms.Threshold(inner, least):
            return [name, mechanism_tree(inner), number_tree(least)]
        case mechanisms.ZCDP(rho, xi):
            return [name, number_tree(xi), number_tree(rho)]
        case mechanisms.TruncatedDiscreteGaussian(x, bound, n):
            return [name, number_tree(x), str(bound), str(n)]
        case mechanisms.Allocation(inner, t, 1):
            return [name, mechanism_tree(inner), str(t)] if t > 1 else mechanism_tree(inner)
        case mechanisms.FixedSize(inner, m, n):
            return [name, mechanism_tree(inner), str(m), str(n)]
        case mechanisms.Group(inner, k) | mechanisms.Shuffle(inner, k):
            return [name, mechanism_tree(inner), str(k)]
        case mechanisms.Replace(inner):
            return [name, mechanism_tree(inner)]
        case mechanisms.GaussianMixture(sigma, law):
            entries = [[number_tree(reach), number_tree(weight)] for reach, weight in law]
            return [name, number_tree(sigma), *entries]
        case (
            mechanisms.PureDP(x)
            | mechanisms.GDP(x)
            | mechanisms.PermuteAndFlip(x)
            | mechanisms.ReportNoisyMax(x)
            | mechanisms.BoundedRange(x)
        ):
            return [name, number_tree(x)]
        case (
            mechanisms.ApproxDP(x, y)
            | mechanisms.Gaussian(x, y)
            | mechanisms.Laplace(x, y)
            | mechanisms.PartitionSelection(x, y)
        ):
            return [name, number_tree(x), number_tree(y)]
        case mechanisms.Staircase(x, y, z) | mechanisms.TruncatedLaplace(x, y, z):
            return [name, number_tree(x), number_tree(y), number_tree(z)]
        case (
            mechanisms.DiscreteLaplace(x, n)
            | mechanisms.DiscreteGaussian(x, n)
            | mechanisms.RandomizedResponse(x, n)
        ):
            return [name, number_tree(x), str(n)]
    laws = [one**count for one, count in mechanism.steps().items()]
    if laws == [mechanism]:
        raise UnsupportedMechanism(f"certificates do not speak of {mechanism}")
    return mechanism_tree(compose(*laws))  # one that stands for the law of others
