"""What a check brings forward: one line of text, how it was established, and perhaps a proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "identity", "polynomial", "intervals", "computation", "enumeration", "cases"
]
"""How something was established.

``identity``: a symbolic normal form; ``polynomial``: exact real algebra; ``intervals``: a
subdivision with ball bounds that the checker accepts; ``computation``: exact or ball arithmetic
decided a closed statement about numbers; ``enumeration``: every member of a finite set was tried
exactly; ``cases``: exact random cases.
"""

#: The kinds that establish a statement on the whole of the domain that they name.
CONCLUSIVE: Final = frozenset(get_args(Kind)) - {"cases", "enumeration"}


class Declined(Exception):
    """The prover could not establish the statement; the message says where it got stuck."""


class Refuted(Declined):
    """The prover found an exact point where the statement fails; ``witness`` names it."""

    def __init__(self, message: str, witness: dict[str, str]) -> None:
        super().__init__(message)
        self.witness = witness

    def __reduce__(self) -> tuple[type[Refuted], tuple[str, dict[str, str]]]:
        return type(self), (str(self), self.witness)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One established fact. Only ``prover`` makes these.

    ``text`` says what holds and where, ``cases`` counts what was tried (``enumeration`` and
    ``cases``), ``proof`` is the serialised proof of an ``intervals`` fact.
    """

    kind: Kind
    text: str
    cases: int = 0
    proof: dict[str, Any] | None = None
