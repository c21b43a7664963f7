"""Checks of arguments: each returns the exact value or says what is accepted."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, get_args

from dpexact import balls, reals
from dpexact.conversion import RealLike, real
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.tokens import quoted, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

Direction: TypeAlias = Literal["remove", "add", "both"]
"""Which dataset ``P`` sees: ``remove`` has the record that ``Q`` lacks; ``both`` is the larger."""

DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
#: Those of which the larger is the answer.
WAYS: Final[dict[Direction, tuple[Direction, ...]]] = {
    "remove": ("remove",),
    "add": ("add",),
    "both": ("remove", "add"),
}

Word = TypeVar("Word", bound=str)

Many: TypeAlias = "list[Any] | tuple[Any, ...] | NDArray[Any]"
"""Several numbers at once."""

Method: TypeAlias = Literal["auto", "contour", "lattice"]
"""``auto`` takes the fastest method that is certified; the others are engines, second routes."""

METHODS: Final[tuple[Method, ...]] = get_args(Method)

#: The published formulas of :func:`dpexact.approximation_error`.
APPROXIMATIONS: Final = (
    "clt-poisson",
    "clt-uniform",
    "clt",
    "berry-esseen",
    "edgeworth-1",
    "edgeworth-2",
)

#: Largest number of digits that may be asked for.
MAX_DIGITS: Final = 10_000
#: Largest number of repetitions of one mechanism.
MAX_COUNT: Final = 10**18

_RELATIONS: Final[dict[str, Callable[[int, int], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@cache
def _condition(text: str) -> tuple[Callable[[int, int], bool], int, int]:
    relation, limit = text.split()
    return _RELATIONS[relation], *Fraction(limit).as_integer_ratio()


def real_in(value: RealLike, name: str, *conditions: str) -> Real:
    """The exact ``value`` if it meets all ``conditions``, such as ``"> 0"`` and ``"<= 1"``.

    Raises:
        InvalidInput: naming the argument, its value and the conditions.
    """
    x = real(value, name)
    for condition in conditions:
        relation, above, below = _condition(condition)
        if x.fraction is None:
            limit = reals.rational(Fraction(above, below))
            met = relation(balls.compare(x, limit, name), 0)
        else:  # their difference may be too long a number where neither is
            met = relation(x.fraction.numerator * below, above * x.fraction.denominator)
        if not met:
            accepted = " and ".join(conditions)
            raise InvalidInput(f"{name}: {shorten(str(x))} is not accepted; must be {accepted}")
    return x


def short_in(value: Real, name: str) -> Real:
    """A number of which squared ratios can be written out.

    Raises:
        InvalidInput: naming the argument and its value.
    """
    most = reals.MAX_BITS // 4
    if value.fraction is not None and reals.bits_of(value.fraction) > most:
        raise InvalidInput(f"{name}: {shorten(str(value))} has more than {most} bits as a fraction")
    return value


def rational_in(value: RealLike, name: str, *conditions: str) -> Fraction:
    """The rational ``value``, likewise."""
    found = real_in(value, name, *conditions)
    if found.fraction is None:
        raise InvalidInput(f"{name}: {shorten(str(value))} is not accepted; must be rational")
    return found.fraction


def is_many(value: object) -> bool:
    """Whether an argument is a list, a tuple or an array of numbers rather than one."""
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def points_in(value: RealLike | Many, name: str, *conditions: str) -> list[Real]:
    """The exact numbers of :data:`Many`, or one; each meets the ``conditions``.

    Raises:
        InvalidInput: likewise, or an array that is not flat.
    """
    return [real_in(point, name, *conditions) for point in members(value, name)]


def members(value: RealLike | Many, name: str) -> list[Any]:
    """The numbers of :data:`Many`, or one, unchecked.

    Raises:
        InvalidInput: an array that is not flat.
    """
    if not is_many(value):
        return [value]
    if isinstance(value, list | tuple):
        return list(value)
    points: Any = value
    if points.ndim != 1:
        shown = f"{name}: an array of shape {points.shape}"
        raise InvalidInput(f"{shown} is not accepted; use a flat one")
    found: list[Any] = points.tolist()
    return found


def integers_in(values: Iterable[RealLike], name: str, lowest: int, highest: int) -> list[int]:
    """Each of several integers, as :func:`integer_in`."""
    try:
        if isinstance(values, str | bytes):  # its letters are no list
            raise TypeError
        listed = list(values)
    except TypeError:
        shown = quoted(values)
        raise InvalidInput(f"{name}: {shown} is not accepted; use a list of integers") from None
    return [integer_in(value, name, lowest, highest) for value in listed]


def integer_in(value: RealLike, name: str, lowest: int, highest: int = MAX_COUNT) -> int:
    """The integer ``value`` if it lies in ``[lowest, highest]``."""
    if type(value) is int and lowest <= value <= highest:
        return value
    x = real(value, name).fraction
    if x is None or x.denominator != 1 or not lowest <= x <= highest:
        shown = shorten(str(real(value, name)))
        raise InvalidInput(
            f"{name}: {shown} is not accepted; must be an integer from {lowest} to {highest}"
        )
    return int(x)


def digits_in(value: int) -> int:
    """The requested number of digits."""
    return integer_in(value, "digits", 1, MAX_DIGITS)


def word_in(value: object, name: str, words: Iterable[Word]) -> Word:
    """The one of ``words`` that ``value`` is."""
    accepted = list(words)
    for word in accepted:
        if isinstance(value, str) and value == word:  # arrays compare by their members
            return word
    raise InvalidInput(f"{name}: {quoted(value)} is not accepted; use {', '.join(accepted)}")


direction_in: Final[Callable[[object], Direction]] = partial(
    word_in, name="direction", words=DIRECTIONS
)
method_in: Final[Callable[[object], Method]] = partial(word_in, name="method", words=METHODS)
