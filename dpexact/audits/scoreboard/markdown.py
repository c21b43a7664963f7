"""The scoreboard as Markdown: a table for each release, for comments and wikis."""

from __future__ import annotations

from itertools import groupby

from dpexact.audits.reports.markdown_report import inert, tabulated
from dpexact.audits.scoreboard.rows import Row, Scoreboard

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
