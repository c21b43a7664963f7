"""The scoreboard: how each release of each accountant does, by family of mechanisms."""

from dpexact.audits.scoreboard.families import family
from dpexact.audits.scoreboard.markdown import to_markdown
from dpexact.audits.scoreboard.measuring import scoreboard
from dpexact.audits.scoreboard.page import to_html
from dpexact.audits.scoreboard.rows import Row, Scoreboard
from dpexact.audits.scoreboard.saved import of_json, read_scoreboard, to_json

__all__ = [
    "Row",
    "Scoreboard",
    "family",
    "of_json",
    "read_scoreboard",
    "scoreboard",
    "to_html",
    "to_json",
    "to_markdown",
]


def __dir__() -> list[str]:
    return __all__
