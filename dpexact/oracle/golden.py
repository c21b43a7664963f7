"""The golden table: read once, from one compressed file beside this module."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterable
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final, cast

from dpexact.errors import InvalidInput
from dpexact.oracle.cases import ARGUMENTS, Case, Quantity
from dpexact.tokens import shorten, unknown

#: Largest table, in bytes of text: some hundred times that of the package.
MAX_BYTES: Final = 64 * 1024 * 1024
#: Exact text of a number, with an exponent that costs no time.
_NUMBER: Final = re.compile(r"inf|[0-9]+/[0-9]+|[0-9]+(\.[0-9]+)?(e-?[0-9]{1,5})?")

FILE: Final = Path(__file__).with_name("table.csv.gz")
COLUMNS: Final = (
    "suites",
    "mechanism",
    "quantity",
    "argument",
    "direction",
    "lower",
    "upper",
    "method",
    "family",
    "parameters",
)


@cache
def table() -> tuple[Case, ...]:
    """Every row of the golden table.

    >>> row = next(case for case in table() if case.mechanism == "gaussian(1)")
    >>> row.enclosure.digits >= 40
    True
    """
    return read(FILE)


def suites() -> dict[str, int]:
    """The suites, each with the number of its rows."""
    counts: dict[str, int] = {}
    for case in table():
        for name in case.suites:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def select(
    suite: str | None = None,
    *,
    quantity: str | None = None,
    direction: str | None = None,
    mechanism: str | None = None,
    family: str | None = None,
    most: int | None = None,
) -> list[Case]:
    """The rows of ``suite`` (all, if None) that match; ``mechanism`` is part of the text.

    Of more than ``most`` rows so many are taken, spread evenly over them.

    Raises:
        InvalidInput: an unknown suite, or no row matches.
    """
    if suite is not None and suite not in suites():
        raise InvalidInput(f"suite: {unknown('name', str(suite), suites())}")
    if quantity is not None and quantity not in ARGUMENTS:
        raise InvalidInput(f"quantity: {quantity!r} is not accepted; use {', '.join(ARGUMENTS)}")
    if direction not in (None, "remove", "add", "both"):
        raise InvalidInput(f"direction: {direction!r} is not accepted; use remove, add, both")
    found = [
        case
        for case in table()
        if (suite is None or suite in case.suites)
        and quantity in (None, case.quantity)
        and direction in (None, case.direction)
        and family in (None, case.family)
        and (mechanism is None or mechanism in case.mechanism)
    ]
    if not found:
        raise InvalidInput("no golden row matches: a test of these would check nothing")
    if most is not None and len(found) > most:
        found = [found[i * len(found) // most] for i in range(most)]
    return found


# --- the file -----------------------------------------------------------------------------------


def read(path: Path) -> tuple[Case, ...]:
    """The rows of the file ``path``, every field checked but the mechanism.

    Raises:
        InvalidInput: it cannot be read, is larger than ``MAX_BYTES``, or is not a golden table.
    """
    try:
        with gzip.open(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES} bytes")
        header, *rows = csv.reader(StringIO(content.decode("utf-8"), newline=""))
        if tuple(header) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
            raise ValueError(f"expected the columns {', '.join(COLUMNS)}")
        return tuple(map(_case, rows))
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, ArithmeticError) as error:
        missing = getattr(error, "strerror", None)
        reason = f"cannot read: {missing}" if missing else f"not a golden table: {error}"
        raise InvalidInput(f"{path}: {shorten(reason, 200)}") from None


def written(cases: Iterable[Case]) -> bytes:
    """The content of the file that holds ``cases``; the same bytes for the same cases."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for case in cases:
        parameters = " ".join(f"{name}={value!r}" for name, value in case.parameters.items())
        row = (*(getattr(case, column) for column in COLUMNS[1:-1]), parameters)
        writer.writerow((" ".join(case.suites), *row))
    return gzip.compress(text.getvalue().encode("utf-8"), 9, mtime=0)


def _case(row: list[str]) -> Case:
    names, mechanism, quantity, argument, direction, lower, upper, method, family, given = row
    if quantity not in ARGUMENTS:
        raise ValueError(f"unknown quantity {quantity!r}")
    if direction not in ("remove", "add", "both"):
        raise ValueError(f"unknown direction {direction!r}")
    for number in (argument, lower, upper):
        if not _NUMBER.fullmatch(number):
            raise ValueError(f"{number!r} is not a number")
    parameters = {}
    for pair in given.split():
        name, _, value = pair.partition("=")
        parameters[name] = int(value) if value.isdigit() else float(value)
    case = Case(
        tuple(names.split()),
        mechanism,
        cast(Quantity, quantity),
        argument,
        direction,
        lower,
        upper,
        method,
        family,
        parameters,
    )
    if not (case.at >= 0 and case.enclosure.lower >= 0):  # and both can be computed
        raise ValueError("a number is negative")
    return case
