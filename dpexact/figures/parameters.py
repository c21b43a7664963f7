"""What may be set in a figure: named numbers with their domains, and as the source has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpexact.arguments import integer_in, rational_in, real_in
from dpexact.errors import InvalidInput
from dpexact.reals import Real, rational
from dpexact.tokens import MAX_TEXT, quoted, shorten, unknown

#: Longest number in a title or a legend.
_SHOWN: Final = 36


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number, or up to ``most`` of them separated by commas.

    Attributes:
        meaning: what it is, in words.
        default: its text in the source, or what was chosen where the source has none.
        accepts: the domain of one number, in words.
        one: the value of the text of one number, of the parameter that is named.
        most: how many numbers it may be; 0 for exactly one, which is no tuple then.
    """

    meaning: str
    default: str
    accepts: str
    one: Callable[[str, str], Any]
    most: int = 0

    @property
    def domain(self) -> str:
        """What is accepted, in words."""
        return f"1 to {self.most} of {self.accepts}, with commas" if self.most else self.accepts

    def read(self, text: str, name: str) -> Any:
        """The value of ``text``.

        Raises:
            InvalidInput: naming the parameter ``name``, the text and what is accepted.
        """
        if not self.most:
            return self.one(text, name)
        parts = text[:MAX_TEXT].split(",")
        if len(parts) > self.most:
            raise InvalidInput(f"{name}: {len(parts)} numbers are not accepted; use {self.domain}")
        values = tuple(self.one(part, name) for part in parts)
        if len(set(values)) < len(values):
            raise InvalidInput(f"{name}: {quoted(text)} has a number twice")
        return values


def number(meaning: str, default: str, *conditions: str, most: int = 0) -> Parameter:
    """An exact real, or several, that meets ``conditions`` as :func:`real_in` takes them."""
    domain = f"numbers {' and '.join(conditions)}"
    return Parameter(meaning, default, domain, lambda x, name: real_in(x, name, *conditions), most)


def share(meaning: str, default: str, *conditions: str, most: int = 0) -> Parameter:
    """A rational number, or several, that meets ``conditions``."""
    domain = f"rational numbers {' and '.join(conditions)}"
    return Parameter(
        meaning, default, domain, lambda x, name: rational_in(x, name, *conditions), most
    )


def count(meaning: str, default: str, low: int, high: int, most: int = 0) -> Parameter:
    """An integer from ``low`` to ``high``, or several."""
    domain = f"integers from {low} to {high}"
    return Parameter(meaning, default, domain, lambda x, name: integer_in(x, name, low, high), most)


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of all parameters of a figure.

    Attributes:
        values: by name, for the computation.
        texts: by name, for titles and captions.
        changed: those of ``texts`` that are not as in the source.
    """

    values: Mapping[str, Any]
    texts: Mapping[str, str]
    changed: Mapping[str, str]


def settings(
    figure: str, parameters: Mapping[str, Parameter], given: Mapping[str, str]
) -> Settings:
    """The ``parameters`` of ``figure`` with what was ``given``; the others as in the source.

    Raises:
        InvalidInput: a name that ``figure`` has not, or a value out of its domain.
    """
    for name in given:
        if name not in parameters:
            none = "" if parameters else f"{figure} has none"
            told = unknown(f"parameter of {figure}", name, parameters, none)
            raise InvalidInput(f"set: {told}")
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    changed: dict[str, str] = {}
    for name, parameter in parameters.items():
        usual = parameter.read(parameter.default, name)
        text = given.get(name, parameter.default)
        value = parameter.read(text, f"set: {name} of {figure}")
        if value == usual:
            text = parameter.default
        else:
            changed[name] = "".join(text.split())
        values[name], texts[name] = value, ", ".join(map(str.strip, text.split(",")))
    return Settings(values, {name: shorten(text, _SHOWN) for name, text in texts.items()}, changed)


def shown(value: Real | Fraction) -> str:
    """``value`` as titles and legends have it."""
    return shorten(str(value if isinstance(value, Real) else rational(value)), _SHOWN)
