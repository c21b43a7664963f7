"""The scoreboard as one self-contained page, as Markdown tables, and as JSON with its history."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from importlib.resources import files
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from dpexact.audits.reports.markdown_report import inert, tabulated
from dpexact.audits.reports.templates import templates
from dpexact.audits.scoreboard.rows import Row, Scoreboard
from dpexact.comparison import GUILTY
from dpexact.errors import InvalidInput
from dpexact.files import read_text, refusing
from dpexact.visible import visible


def to_html(board: Scoreboard) -> str:
    """The page: a table for each release; all foreign text in it is inert."""
    from markupsafe import Markup  # only where a page is written

    style = files("dpexact.audits.reports").joinpath("page", "page.css").read_text("utf-8")
    by_release = groupby(board.rows, attrgetter("accountant", "release"))
    page = templates("dpexact.audits.scoreboard", "").get_template("page.html")
    return page.render(
        board=board,
        style=Markup(style),
        releases=[(*key, list(rows)) for key, rows in by_release],
        dates=sorted({row.date for row in board.rows}),
        tone=_tone,
    )


def _tone(row: Row) -> str:
    if row.worst in GUILTY:
        return "bad"
    return "good" if row.claims and row.right == row.claims else "open"


_HEADER = (
    "mechanisms",
    "claims",
    "certified right",
    "worst error",
    "off, median",
    "off, most",
    "not supported",
    "failed",
    "out of time",
    "seconds",
)


def to_markdown(board: Scoreboard) -> str:
    """The scoreboard in the dialect of GitHub and GitLab; nothing in foreign text is markup."""
    workloads = ", ".join(board.workloads)
    parts = ["# Scoreboard of accountants", f"Workloads: {inert(workloads)}."]
    for (accountant, release), group in groupby(
        board.rows, lambda row: (row.accountant, row.release)
    ):
        rows = list(group)
        parts.append(f"## {inert(accountant)} ({inert(release)})")
        parts.append(tabulated(_HEADER, map(_cells, rows)))
        platform = f"; {rows[-1].platform}" if rows[-1].platform else ""
        said = f"Measured {rows[-1].date}, judged by dpexact {rows[-1].judge}{platform}."
        parts.append(inert(said))
    return "\n\n".join(parts) + "\n"


def _cells(row: Row) -> list[str]:
    judged = ["", "", "", ""]
    if row.claims:
        judged = [f"{row.share} %", row.worst, row.median, row.most]
    counted = [str(count) for count in (row.unsupported, row.failed, row.unasked)]
    return [
        inert(row.family),
        str(row.claims),
        *map(inert, judged),
        *counted,
        f"{row.seconds:.3g}",
    ]


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
        with refusing("cannot read the file", "not UTF-8 text"):
            return of_json(read_text(path))
    except InvalidInput as error:
        raise InvalidInput(f"scoreboard {shown}: {error}") from None
