"""Lexical units of the text grammars of numbers and mechanisms."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from dpexact.errors import InvalidInput

#: Longest text and deepest nesting of an expression.
MAX_TEXT: Final = 1_000_000
MAX_DEPTH: Final = 120
#: Most bits, summed over all intermediate results, that evaluating one text may produce.
MAX_WORK: Final = 10_000_000

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|@(?P<file>\"[^\"]+\"|[^\s\"(),*^]+)|(?P<symbol>\*\*|[-+*/^(),:=?])|(?P<bad>\S))"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One lexical unit: ``kind`` is number, name, file, symbol or end; ``column`` counts from 1."""

    kind: str
    text: str
    column: int


class Tokens:
    """A cursor over the tokens of one expression, shared by the number and mechanism grammars."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise InvalidInput(f"text of {len(text)} characters is too long (limit {MAX_TEXT})")
        self.text = text
        self._tokens = _tokenize(text)
        self._index = 0
        self._depth = 0
        self._work = 0
        #: The token ahead, and those that stand for an unknown.
        self.next: Token = self._tokens[0]
        self.blanks = [token for token in self._tokens if token.text == "?"]

    @property
    def behind(self) -> Token:
        """The token stepped over last; at the start the one ahead."""
        return self._tokens[max(self._index - 1, 0)]

    def take(self) -> Token:
        """Step over the token ahead and return it; the end stays."""
        token = self.next
        if token.kind != "end":
            self._index += 1
            self.next = self._tokens[self._index]
        return token

    def accept(self, *symbols: str) -> Token | None:
        """Take the next token if it is one of ``symbols``."""
        if self.next.kind == "symbol" and self.next.text in symbols:
            return self.take()
        return None

    def expect(self, symbol: str, opened: Token | None = None) -> None:
        """Take ``symbol`` or fail; ``opened`` is the bracket that it closes."""
        if self.accept(symbol):
            return
        hint = f" to close the bracket of column {opened.column}" if opened else ""
        raise self.error(f"expected {symbol!r}{hint}, found {self.found()}")

    def peek_after(self) -> Token:
        """The token after the one ahead."""
        return self._tokens[min(self._index + 1, len(self._tokens) - 1)]

    def found(self) -> str:
        """The token ahead, in words for a message."""
        return "the end" if self.next.kind == "end" else repr(shorten(self.next.text))

    def error(self, message: str, at: Token | None = None) -> InvalidInput:
        """An error that points at a column: that of ``at``, or of the token ahead."""
        column = (at or self.next).column
        return InvalidInput(f"column {column} of {shorten(self.text)!r}: {message}")

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level of nesting more inside the block."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        yield
        self._depth -= 1

    @contextmanager
    def brackets(self) -> Iterator[Token]:
        """Likewise, between brackets, of which the opening one is given."""
        opened = self.next
        self.expect("(")
        with self.nested():
            yield opened
        self.expect(")", opened)

    def spend(self, bits: int) -> None:
        """Account for an intermediate result of ``bits`` bits."""
        self._work += bits
        if self._work > MAX_WORK:
            raise self.error("too much arithmetic for one text")


def _tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while match := _TOKEN.match(text, position):
        kind = match.lastgroup
        assert kind is not None
        start = match.start(kind)
        if kind == "bad":
            raise InvalidInput(
                f"column {start + 1} of {shorten(text)!r}: unexpected character {text[start]!r}"
            )
        tokens.append(Token(kind, match.group(kind), start + 1))
        position = match.end()
    tokens.append(Token("end", "", len(text.rstrip()) + 1))
    return tokens


def shorten(text: str, limit: int = 60) -> str:
    """``text`` fit for a one-line message: the middle of a long one is left out."""
    return text if len(text) <= limit else f"{text[: limit - 20]}...{text[-15:]}"


def quoted(value: object) -> str:
    """What was given, fit for a one-line message; its kind where it cannot be written out."""
    try:
        return shorten(repr(value))
    except (ValueError, RecursionError):  # an integer of too many digits, or nested too deep
        return f"<{type(value).__name__}>"


def unknown(what: str, name: str, known: Iterable[str], otherwise: str = "") -> str:
    """What to say about ``name``, which is none of the ``known``.

    The nearest of them is proposed; without a near one all are listed, or ``otherwise`` is said.

    >>> print(unknown("mechanism", "gausian", ["gaussian", "laplace"]))
    unknown mechanism 'gausian'; did you mean 'gaussian'?
    """
    listed = list(known)
    near = difflib.get_close_matches(name[:40], listed, 1)
    hint = otherwise or f"known: {', '.join(listed)}"
    if near:
        hint = f"did you mean {near[0]!r}?"
    return f"unknown {what} {quoted(name)}; {hint}"
