"""Parameters that are lists, all that is left of the arguments: ``1: 1/2, 2: 1/2``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.files import read_text, refusing
from dpexact.mechanisms.base import mechanism_inside
from dpexact.reals import Real, rational
from dpexact.tokens import quoted, shorten

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
        raise InvalidInput(f"{name}: {quoted(value)} is not accepted; write {entries}, ...")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(f"{name}: {quoted(pair)} is not accepted; write {entries}")
    second = mechanism_inside if entries == "number: mechanism" else real
    return tuple((real(one, name), second(other, name)) for one, other in pairs)


# --- in files -------------------------------------------------------------------------------------

#: Longest file, in rows, and longest number in it, in characters.
MAX_ROWS: Final = 200_000
MAX_NUMBER: Final = 400
_RATIONAL: Final = re.compile(
    r"[+-]?([0-9]+/0*[1-9][0-9]*|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?)"
)


def rows_of_file(name: str, kind: str, columns: tuple[str, str]) -> tuple[tuple[Real, Real], ...]:
    """The rows of the CSV file ``name``: rationals in two ``columns``, for a mechanism ``kind``.

    Raises:
        InvalidInput: it cannot be read, or a line holds something else.
    """
    with refusing(f"{kind}: cannot read {shorten(name)}", "it is no text in UTF-8"):
        lines = io.StringIO(read_text(name), newline="")
        return tuple(_rows(name, csv.reader(lines), kind, columns))


def _rows(
    name: str, rows: Iterator[list[str]], kind: str, columns: tuple[str, str]
) -> Iterator[tuple[Real, Real]]:
    header = [title.strip().lower() for title in next(rows, [])]
    if sorted(header) != sorted(columns):
        titles = ",".join(columns)
        raise InvalidInput(f"{kind}: the first line of {shorten(name)} must be '{titles}'")
    place = header.index(columns[0])
    count = 0
    for line, row in enumerate(rows, 2):
        if not row:
            continue
        count += 1
        if count > MAX_ROWS:
            raise InvalidInput(f"{kind}: {shorten(name)} has more than {MAX_ROWS} rows")
        if len(row) != 2:
            told = f"line {line} of {shorten(name)} has {len(row)} fields, not 2"
            raise InvalidInput(f"{kind}: {told}")
        one, other = (_rational(text.strip(), line, name, kind) for text in row)
        yield (one, other) if place == 0 else (other, one)


def _rational(text: str, line: int, name: str, kind: str) -> Real:
    if len(text) > MAX_NUMBER or not _RATIONAL.fullmatch(text):
        raise InvalidInput(
            f"{kind}: line {line} of {shorten(name)}: {quoted(text)} is not accepted; "
            "write a rational as 1/3, 0.25 or 1e-5"
        )
    return rational(Fraction(text))
