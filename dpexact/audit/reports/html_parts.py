"""Small parts of the HTML report."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from dpexact.audit.verdicts import RIGHT, WRONG, Verdict
from dpexact.visible import visible


def inert(text: str) -> str:
    """Foreign text as HTML in which nothing acts."""
    return escape(visible(text))


def tone(verdict: Verdict) -> str:
    """The class of what is shown of ``verdict``."""
    return "bad" if verdict in WRONG else "good" if verdict in RIGHT else "open"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """The inside of a ``dl``; both of each pair are HTML."""
    return "".join(f"<dt>{term}</dt><dd>{value}</dd>" for term, value in pairs)
