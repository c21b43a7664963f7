"""Scoreboards in JSON: what the next one takes its history from."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from dpexact.audits.scoreboard.rows import Row, Scoreboard
from dpexact.errors import InvalidInput
from dpexact.visible import visible

#: Raised when a reader of older scoreboards would misread a newer one.
FORMAT: Final = 2

_KEYS: Final = {entry.name for entry in fields(Row)}


def to_json(board: Scoreboard) -> str:
    """The scoreboard as JSON text, a row a line, so that changes between days can be read."""
    rows = ",\n".join(json.dumps(asdict(row)) for row in board.rows)
    workloads = json.dumps(list(board.workloads))
    return f'{{"format": {FORMAT}, "workloads": {workloads}, "rows": [\n{rows}\n]}}\n'


def of_json(text: str) -> Scoreboard:
    """The scoreboard that :func:`to_json` wrote.

    Raises:
        InvalidInput: it is not one.
    """
    try:
        content: Any = json.loads(text)
        if content["format"] != FORMAT:
            raise InvalidInput(f"format {content['format']!r} is not accepted; use {FORMAT}")
        for row in content["rows"]:
            if set(row) != _KEYS:
                raise InvalidInput("a row has other keys than a scoreboard's")
        return Scoreboard.of((Row(**row) for row in content["rows"]), content["workloads"])
    except (ValueError, TypeError, KeyError) as error:
        reason = str(error) if isinstance(error, InvalidInput) else "it is not a scoreboard in JSON"
        raise InvalidInput(reason) from None


def read_scoreboard(path: str | os.PathLike[str]) -> Scoreboard:
    """The scoreboard in the file ``path``.

    Raises:
        InvalidInput: the file cannot be read, or holds none.
    """
    shown = visible(os.fspath(path))
    try:
        return of_json(Path(path).read_text("utf-8"))
    except InvalidInput as error:
        raise InvalidInput(f"scoreboard {shown}: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the path
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InvalidInput(f"scoreboard {shown}: cannot read the file: {reason}") from None
