"""The errors that dpexact raises: one root, and subclasses of the built-ins that callers expect."""

from __future__ import annotations


class DpexactError(Exception):
    """Root of every error that dpexact raises on purpose."""


class InvalidInput(DpexactError, ValueError):
    """An argument is outside its domain; the message names it, its value and what is accepted."""


class NotWritten(InvalidInput):
    """A file could not be written, though nothing spoke against it before; the old one stays."""


class UnsupportedMechanism(DpexactError, NotImplementedError):
    """The mechanism is well formed, but no certified method accounts for it."""


class Contradiction(DpexactError, RuntimeError):
    """Two certified enclosures of one number do not meet: a defect of dpexact, never of its input.

    The message names both methods and both enclosures, and asks for a report.
    """

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first, second)
        self.first = first
        self.second = second

    def __str__(self) -> str:
        return (
            f"two certified answers to one question do not meet: {self.first} and {self.second}; "
            "at least one of them is wrong. This is a defect of dpexact: please report the question"
        )


class UndecidedComparison(DpexactError, ArithmeticError):
    """Two enclosures overlap, so their order is unknown at this precision."""
