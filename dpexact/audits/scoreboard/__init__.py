"""The scoreboard: how each release of each accountant does, by family of mechanisms."""

from dpexact.audits.scoreboard.formats import (
    of_json,
    read_scoreboard,
    to_html,
    to_json,
    to_markdown,
)
from dpexact.audits.scoreboard.measuring import family, scoreboard
from dpexact.audits.scoreboard.rows import Row, Scoreboard

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
__dir__ = __all__.copy
