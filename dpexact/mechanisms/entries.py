"""Parameters that are lists, all that is left of the arguments: ``1: 1/2, 2: 1/2``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import mechanism_inside
from dpexact.tokens import shorten

Entries: TypeAlias = Literal["number: number", "number: mechanism", "(number, number)"]
"""How the entries of a list are written; each is a tuple of two."""
Check: TypeAlias = Callable[[tuple[tuple[Any, Any], ...], str], tuple[tuple[Any, Any], ...]]
"""What takes the entries, numbers and mechanisms already, into their domain."""

#: How an entry is printed.
_WRITTEN: Final[dict[Entries, str]] = {
    "number: number": "{}: {}",
    "number: mechanism": "{}: {}",
    "(number, number)": "({}, {})",
}


def listed(
    entries: Entries, check: Check, columns: tuple[str, str] | None = None
) -> dict[str, Any]:
    """The domain of a list, which stands last among the fields of a mechanism.

    A file may hold it, with the ``columns`` of these titles.
    """

    def into(value: object, name: str) -> tuple[tuple[Any, Any], ...]:
        return check(_entries_in(value, name, entries), name)

    return {"domain": into, "entries": entries, "written": _WRITTEN[entries], "columns": columns}


def _entries_in(value: object, name: str, entries: Entries) -> tuple[tuple[Any, Any], ...]:
    pairs = tuple(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, tuple | list) or not pairs:
        raise InvalidInput(f"{name}: {shorten(repr(value))} is not accepted; write {entries}, ...")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(f"{name}: {shorten(repr(pair))} is not accepted; write {entries}")
    second = mechanism_inside if entries == "number: mechanism" else real
    return tuple((real(one, name), second(other, name)) for one, other in pairs)
