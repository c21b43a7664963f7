"""Templates: a mechanism's text with one ``?`` in place of a number or a repetition count."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import FixedSize, Mechanism, Poisson
from dpexact.mechanisms.grammar import NAMES, parse
from dpexact.reals import print_fraction
from dpexact.tokens import Token, Tokens, shorten

#: The parameter that ``(...)^?`` asks for; its owner has no name.
TIMES: Final = "times"

_PLACES: Final = (
    "write it once, in place of a number or of a repetition count, "
    "as in 'poisson(gaussian(?), 1/100)^1000' or 'gaussian(2)^?'"
)


@dataclass(frozen=True, slots=True)
class Template:
    """A mechanism but for one unknown.

    ``parameter`` is the unknown and ``owner`` the name of the mechanism that has it (empty for
    ``times``); ``first`` and ``last`` delimit the owner in ``text``, for ``times`` with the power;
    ``within`` names the mechanisms around the owner. Made by :func:`read_template` alone.
    """

    text: str
    owner: str
    parameter: str
    within: tuple[str, ...]
    first: int
    last: int

    def fill(self, value: Fraction | int) -> Mechanism:
        """The mechanism with ``value`` for the unknown.

        Raises:
            InvalidInput: outside the domain of the parameter.

        >>> print(read_template("poisson(gaussian(?), 1/100)^1000").fill(2))
        poisson(gaussian(2), 0.01)^1000
        """
        return parse(self.text.replace("?", print_fraction(Fraction(value))))

    def with_owner(self, other: Mechanism) -> Mechanism:
        """The mechanism with ``other`` in place of the whole owner.

        >>> from dpexact.mechanisms import gdp
        >>> print(read_template("pure_dp(1) * gaussian(2)^?").with_owner(gdp(0)))
        pure_dp(1) * gdp(0)
        """
        return parse(f"{self.text[: self.first]}({other}){self.text[self.last :]}")

    def owner_at_one(self) -> Mechanism:
        """The owner alone, with 1 for the unknown."""
        return parse(self.text[self.first : self.last].replace("?", "1"))

    @property
    def is_sampled(self) -> bool:
        """Whether the owner runs on a Poisson sample."""
        return Poisson.name in self.within

    def __str__(self) -> str:
        return self.text


def read_template(text: str) -> Template:
    """The template that ``text`` describes.

    Raises:
        InvalidInput: no ``?``, several, one that does not stand for a whole number, or a text
            that is no mechanism.

    >>> template = read_template("laplace(scale=?)^10")
    >>> template.owner, template.parameter
    ('laplace', 'scale')
    """
    if not isinstance(text, str):
        raise InvalidInput(f"template: {shorten(repr(text))} is not text")
    cursor = Tokens(text)
    tokens: list[Token] = []
    while cursor.next.kind != "end":
        tokens.append(cursor.take())
    spots = [i for i, token in enumerate(tokens) if token.text == "?"]
    if not spots:
        raise InvalidInput(f"template: no '?' in {shorten(text)!r}; {_PLACES}")
    if len(spots) > 1:
        raise cursor.error(f"a second '?'; {_PLACES}", tokens[spots[1]])
    template = _Reader(text, tokens, spots[0]).template()
    if template is None:
        problem = _problem(text, "1")
        if problem is not None and problem == _problem(text, "2"):
            raise InvalidInput(problem)
        raise cursor.error(f"'?' cannot stand here; {_PLACES}", tokens[spots[0]])
    if template.owner != FixedSize.name:  # there 1 may be out of the domain
        problem = _problem(text, "1")
        if problem is not None:
            raise InvalidInput(problem)
    return template


def _problem(text: str, number: str) -> str | None:
    """What is wrong with the text when ``number`` stands for the ``?``."""
    probe = text.replace("?", number)
    try:
        parse(probe)
    except InvalidInput as error:
        return str(error).replace(repr(shorten(probe)), repr(shorten(text)))
    return None


class _Reader:
    """Finds what the ``?`` stands for, from the brackets around it."""

    def __init__(self, text: str, tokens: list[Token], spot: int) -> None:
        self.text = text
        self.tokens = tokens
        self.spot = spot
        self.closing: dict[int, int] = {}
        self.opening: dict[int, int] = {}
        self.around: list[int] = []
        self.position = 0
        open_brackets: list[int] = []
        commas = [0]
        for i, token in enumerate(tokens):
            if i == spot:
                self.around, self.position = open_brackets.copy(), commas[-1]
            if token.text == "(":
                open_brackets.append(i)
                commas.append(0)
            elif token.text == ")" and open_brackets:
                self.opening[i] = open_brackets.pop()
                self.closing[self.opening[i]] = i
                commas.pop()
            elif token.text == ",":
                commas[-1] += 1

    def template(self) -> Template | None:
        """What the ``?`` stands for; None where it cannot stand."""
        return self._power() if self._text(-1) in ("^", "**") else self._argument()

    def _power(self) -> Template | None:
        opened = self.opening.get(self.spot - 2)
        if opened is None or self._text(1) not in ("", ")", ",", "*"):
            return None
        name = self._name_before(opened)
        first = opened if name is None else opened - 1
        words = {token.text for token in self.tokens[first : self.spot]}
        if name not in NAMES and (name is not None or not words & NAMES.keys()):
            return None  # the power of a number
        return self._found("", TIMES, self.around, first, self.spot)

    def _argument(self) -> Template | None:
        opened = self.around[-1] if self.around else -1
        name = self._name_before(opened)
        if name not in NAMES or opened not in self.closing:
            return None
        if self._text(-1) not in ("(", ",", "=") or self._text(1) not in (",", ")"):
            return None
        parameters = [parameter.name for parameter in fields(NAMES[name])]
        if self._text(-1) == "=":
            parameter = self._text(-2)
        else:
            parameter = dict(enumerate(parameters)).get(self.position, "")
        if parameter not in parameters or parameter == "mechanism":
            return None
        return self._found(name, parameter, self.around[:-1], opened - 1, self.closing[opened])

    def _found(
        self, owner: str, parameter: str, around: list[int], first: int, last: int
    ) -> Template:
        names = (self._name_before(opened) for opened in around)
        within = tuple(name for name in names if name is not None)
        start, end = self.tokens[first], self.tokens[last]
        stop = end.column - 1 + len(end.text)
        return Template(self.text, owner, parameter, within, start.column - 1, stop)

    def _name_before(self, opened: int) -> str | None:
        """The name in front of an opening bracket."""
        token = self.tokens[opened - 1] if opened > 0 else None
        return token.text if token is not None and token.kind == "name" else None

    def _text(self, offset: int) -> str:
        """The text of a token near the ``?``; empty beyond the ends."""
        index = self.spot + offset
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""
