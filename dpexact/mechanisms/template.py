"""Templates: mechanisms with a hole, the ``?`` in place of a number or a repetition count.

Text has one hole. A run that has one noise in several steps makes its template itself, with a hole
for the same parameter of the same kind of mechanism in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpexact.mechanisms.base import (
    Composition,
    Mechanism,
    Repetition,
    compose,
    repeat,
)
from dpexact.reals import rational

#: The parameter that ``(...)^?`` asks for; its owner has no name.
TIMES: Final = "times"


@dataclass(frozen=True, slots=True)
class Hole(Mechanism):
    """A mechanism of the kind ``owner``, all of whose parameters are ``given`` but one."""

    owner: type[Mechanism]
    parameter: str
    given: tuple[tuple[str, Any], ...]

    def fill(self, value: Fraction | int) -> Mechanism:
        """The mechanism with ``value`` for the unknown.

        Raises:
            InvalidInput: outside the domain of the parameter.
        """
        arguments = {**dict(self.given), self.parameter: rational(value)}
        return repeat(**arguments) if self.owner is Repetition else self.owner(**arguments)


@dataclass(frozen=True, slots=True)
class Template:
    """A ``mechanism`` with holes for one unknown in it, and the ``text`` it was read from."""

    text: str
    mechanism: Mechanism

    def fill(self, value: Fraction | int) -> Mechanism:
        """The mechanism with ``value`` for the unknown.

        Raises:
            InvalidInput: outside the domain of the parameter.

        >>> from dpexact.mechanisms.grammar import parse_template
        >>> print(parse_template("poisson(gaussian(?), 1/100)^1000").fill(2))
        poisson(gaussian(2), 0.01)^1000
        """
        return _filled(self.mechanism, lambda hole: hole.fill(value))

    def with_owner(self, other: Mechanism) -> Mechanism:
        """The mechanism with ``other`` in place of the whole owner.

        >>> from dpexact.mechanisms import gdp
        >>> from dpexact.mechanisms.grammar import parse_template
        >>> print(parse_template("pure_dp(1) * gaussian(2)^?").with_owner(gdp(0)))
        pure_dp(1) * gdp(0)
        """
        return _filled(self.mechanism, lambda _: other)

    @property
    def hole(self) -> Hole:
        """The first hole."""
        return next(_holes(self.mechanism))[0]

    @property
    def owner(self) -> str:
        """The name of the mechanism that has the unknown; empty for ``times``."""
        return self.hole.owner.name

    @property
    def parameter(self) -> str:
        """The name of the unknown."""
        return self.hole.parameter

    @property
    def within(self) -> tuple[str, ...]:
        """The names of the samples, and of what else is around the owner."""
        return next(_holes(self.mechanism))[1]

    def __str__(self) -> str:
        return self.text


def _filled(mechanism: Mechanism, other: Callable[[Hole], Mechanism]) -> Mechanism:
    """``mechanism`` with ``other`` in place of its holes."""
    match mechanism:
        case Hole():
            return other(mechanism)
        case Composition(parts):
            return compose(*(_filled(part, other) for part in parts))
        case Repetition(inner, times):
            return repeat(_filled(inner, other), times)
    return mechanism.with_inner(lambda inner: _filled(inner, other))


def _holes(
    mechanism: Mechanism, within: tuple[str, ...] = ()
) -> Iterator[tuple[Hole, tuple[str, ...]]]:
    """The holes, each with the names of what is around it."""
    if isinstance(mechanism, Hole):
        yield mechanism, within
        return
    around = (*within, mechanism.name) if mechanism.name else within
    for inner in mechanism.inner():
        yield from _holes(inner, around)
