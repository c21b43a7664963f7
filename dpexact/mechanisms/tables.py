"""Lists in files: CSV with two columns of rationals, such as ``p`` and ``q`` of a pair."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.reals import Real, rational
from dpexact.tokens import shorten

#: Longest file, in bytes and in rows, and longest number in it, in characters.
MAX_FILE: Final = 64 << 20
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
    try:
        if (size := Path(name).stat().st_size) > MAX_FILE:
            raise InvalidInput(f"{kind}: {shorten(name)} has {size} bytes (limit {MAX_FILE})")
        with open(name, encoding="utf-8-sig", newline="") as file:
            return tuple(_rows(name, csv.reader(file), kind, columns))
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InvalidInput(f"{kind}: cannot read {shorten(name)}: {reason}") from None


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
            f"{kind}: line {line} of {shorten(name)}: {shorten(repr(text))} is not accepted; "
            "write a rational as 1/3, 0.25 or 1e-5"
        )
    return rational(Fraction(text))
