"""The scoreboard as one self-contained page."""

from __future__ import annotations

from importlib.resources import files
from itertools import groupby
from operator import attrgetter

from dpexact.audits.scoreboard.rows import Row, Scoreboard
from dpexact.audits.verdicts import GUILTY
from dpexact.visible import visible


def to_html(board: Scoreboard) -> str:
    """The page: a table for each release; all foreign text in it is inert."""
    from jinja2 import Environment, StrictUndefined  # only where a page is written
    from markupsafe import Markup

    templates = Environment(
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = files(__package__).joinpath("page.html").read_text("utf-8")
    style = files("dpexact.audits.reports").joinpath("page", "page.css").read_text("utf-8")
    by_release = groupby(board.rows, attrgetter("accountant", "release"))
    return templates.from_string(page).render(
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
