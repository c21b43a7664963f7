"""From an answer to what the user gets, and back: where missing digits become an error."""

from __future__ import annotations

from collections.abc import Callable

from dpexact.enclosure import Enclosure
from dpexact.errors import DpexactError


class PrecisionNotReached(DpexactError, ArithmeticError):
    """The requested digits could not be certified within the stated limits.

    ``best`` is the narrowest enclosure that was certified; it is correct, only wide.
    """

    def __init__(self, message: str, best: Enclosure) -> None:
        super().__init__(message)
        self.best = best

    def __reduce__(self) -> tuple[type[PrecisionNotReached], tuple[str, Enclosure]]:
        return type(self), (str(self), self.best)


def delivered(answer: Enclosure, digits: int) -> Enclosure:
    """``answer``, which must be that of the question the user asked.

    Inside the library a question returns an enclosure, as narrow as its limits allowed; only the
    public function that was called turns one that is too wide into an error.

    Raises:
        PrecisionNotReached: it has fewer than ``digits`` digits; carries it.
    """
    if answer.digits >= digits:
        return answer
    cause = f": {answer.reason}" if answer.reason else ""
    raise PrecisionNotReached(f"{digits} digits were not reached{cause}; it is in {answer}", answer)


def best_of(ask: Callable[[], Enclosure]) -> Enclosure:
    """The answer of a public function, also where it has too few digits.

    For rooms that ask as users do; what they get is the answer of the question they asked.
    """
    return best_and_problem(ask)[0]


def best_and_problem(ask: Callable[[], Enclosure]) -> tuple[Enclosure, str]:
    """Likewise, and what was short of the digits asked for; nothing where they were reached."""
    try:
        return ask(), ""
    except PrecisionNotReached as error:
        return error.best, str(error)
