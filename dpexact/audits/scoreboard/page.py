"""The scoreboard as one self-contained page."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from operator import attrgetter

from dpexact.audits.reports.templates import templates
from dpexact.audits.scoreboard.rows import Row, Scoreboard
from dpexact.audits.verdicts import GUILTY


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
