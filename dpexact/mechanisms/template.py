"""Templates: mechanisms with a hole, the ``?`` in place of a number or a repetition count.

Text has one hole. A run that has one noise in several steps makes its template itself, with a hole
for the same parameter of the same kind of mechanism in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final

from dpexact.conversion import real
from dpexact.mechanisms.base import Composition, Mechanism, Repetition, compose, repeat
from dpexact.mechanisms.ordering import Ordering, ordering_of
from dpexact.reals import Real, rational


class Blank:
    """What stands among the arguments of a hole in place of the number that is sought."""

    def __repr__(self) -> str:
        return "?"


BLANK: Final = Blank()


@dataclass(frozen=True, slots=True)
class Hole(Mechanism):
    """A mechanism of the kind ``owner``, all of whose arguments are ``given`` but one number."""

    owner: type[Mechanism]
    given: tuple[tuple[str, Any], ...]

    def fill(self, value: Fraction | int) -> Mechanism:
        """The mechanism with ``value`` for the unknown.

        Raises:
            InvalidInput: outside the domain of the parameter.
        """
        number = rational(value)
        arguments = {name: _written(argument, number) for name, argument in self.given}
        return repeat(**arguments) if self.owner is Repetition else self.owner(**arguments)

    @property
    def parameter(self) -> str:
        """The name of the unknown, or of the list that it is in."""
        return next(name for name, argument in self.given if is_blank(argument))

    @property
    def ordering(self) -> Ordering | str | None:
        """How privacy moves with the unknown, or why it is not sought; None where nobody said."""
        argument = dict(self.given)[self.parameter]
        first = argument is BLANK or any(entry[0] is BLANK for entry in argument)
        field = next(field for field in fields(self.owner) if field.name == self.parameter)
        return ordering_of(field.metadata, 0 if first else 1)

    def end(self, told: int | str) -> Fraction:
        """An end of the domain: itself, or the parameter that it names."""
        if isinstance(told, int):
            return Fraction(told)
        defaults = {field.name: field.default for field in fields(self.owner)}
        return real({**defaults, **dict(self.given)}[told], told).fraction or Fraction(1)


def is_blank(argument: Any) -> bool:
    """Whether it is what is sought, or a list with that."""
    if isinstance(argument, tuple):
        return any(is_blank(part) for part in argument)
    return argument is BLANK


def _written(argument: Any, number: Real) -> Any:
    """An argument with ``number`` where it is blank."""
    if isinstance(argument, tuple):
        return tuple(_written(part, number) for part in argument)
    return number if argument is BLANK else argument


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
    def is_one(self) -> bool:
        """Whether there is a hole at all."""
        return any(True for _ in _holes(self.mechanism))

    @property
    def owner(self) -> str:
        """The name of the mechanism that has the unknown; empty for ``times``."""
        return self.hole.owner.name

    @property
    def parameter(self) -> str:
        """The name of the unknown."""
        return self.hole.parameter

    @property
    def around(self) -> tuple[Mechanism, ...]:
        """What the owner stands in, from outside: samples, groups, coins, compositions."""
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
    mechanism: Mechanism, around: tuple[Mechanism, ...] = ()
) -> Iterator[tuple[Hole, tuple[Mechanism, ...]]]:
    """The holes, each with what is around it."""
    if isinstance(mechanism, Hole):
        yield mechanism, around
        return
    for inner in mechanism.inner():
        yield from _holes(inner, (*around, mechanism))
