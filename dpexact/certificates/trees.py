"""Mechanisms and exact reals as nested lists of text: the name first, then the parameters."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain
from typing import Any, TypeAlias

from dpexact import mechanisms
from dpexact.certificate_checker import DOMAINS
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
    match mechanism:
        case Composition(parts):
            return ["compose", *map(mechanism_tree, parts)]
        case Repetition(inner, times):
            return ["repeat", mechanism_tree(inner), str(times)]
        case mechanisms.ZCDP(rho, xi):
            return [mechanism.name, number_tree(xi), number_tree(rho)]
        case mechanisms.Allocation(inner, t, 1):
            drawn: Tree = [mechanism.name, mechanism_tree(inner), str(t)]
            return drawn if t > 1 else mechanism_tree(inner)
    if mechanism.name in DOMAINS and not isinstance(mechanism, mechanisms.Allocation):
        given = [getattr(mechanism, field.name) for field in fields(mechanism)]
        rows = [value if isinstance(value, tuple) else (value,) for value in given]
        return [mechanism.name, *map(_tree, chain.from_iterable(rows))]
    laws = [one**count for one, count in mechanism.steps().items()]
    if laws == [mechanism]:
        raise UnsupportedMechanism(f"certificates do not speak of {mechanism}")
    return mechanism_tree(compose(*laws))  # one that stands for the law of others


def _tree(parameter: Real | int | mechanisms.Mechanism | tuple[Any, ...]) -> Tree:
    """A parameter, or a row of some."""
    match parameter:
        case Real():
            return number_tree(parameter)
        case mechanisms.Mechanism():
            return mechanism_tree(parameter)
        case tuple():
            return [*map(_tree, parameter)]
    return str(parameter)
