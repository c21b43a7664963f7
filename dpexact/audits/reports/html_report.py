"""The HTML report: one file without outside resources, for a screen, a phone and paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dpexact.audits.claims import number_text
from dpexact.audits.reports import strips, wording
from dpexact.audits.reports.columns import packed
from dpexact.audits.reports.drawing import figure
from dpexact.audits.reports.templates import templates
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.comparison import GUILTY, RIGHT, WRONG, Verdict
from dpexact.mechanisms.base import shown

if TYPE_CHECKING:
    from jinja2 import Environment

#: Claims on one page of the table.
PAGE: Final = 100
#: Claims of a large report that are printed; what filters leave of a small one is printed whole.
PRINTED: Final = 2000
#: A report of more claims packs them: the page makes those that it shows, and draws the worst.
DRAWN: Final = 1000

#: Signs beside the words, so that colour is never the only difference.
_SIGNS: Final[dict[Verdict, str]] = {
    "unsound": "✗",
    "inaccurate": "✗",
    "undecided": "?",
    "accurate": "✓",
    "sound": "✓",
}


def to_html(report: Report) -> str:
    """The report as one self-contained page; all foreign text in it is inert."""
    from markupsafe import Markup

    many = len(report.findings) > DRAWN
    script = (_part("unpack.js") if many else "") + _part("page.js")
    ranks, worst = _ranks(report), wording.worst_first(report)
    page = _templates().get_template("page.html")
    return page.render(
        report=report,
        wrong=sum(report.grades[grade] for grade in GUILTY),
        style=Markup(_part("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        rows=_rows(worst[:PAGE] if many else worst, ranks),
        columns=_packed(report, ranks, worst) if many else "",
        strips=strips.strips(report),
        page_size=PAGE,
        printed=PRINTED,
    )


@cache
def _templates() -> Environment:
    found = templates("dpexact.audits.reports", "page")
    found.globals |= {
        "GUILTY": GUILTY,
        "RIGHT": RIGHT,
        "WRONG": WRONG,
        "certified_text": wording.certified_text,
        "contract_text": wording.contract_text,
        "claims": wording.claims,
        "crowded": strips.crowded,
        "error_text": wording.error_text,
        "mechanism": shown,
        "lanes": strips.LANES,
        "number_text": number_text,
        "judgement": wording.judgement,
        "outcome_sentence": wording.outcome_sentence,
        "reproduce": wording.reproduce,
        "run_sentence": wording.run_sentence,
        "grades": wording.GRADE_WORDS,
        "shape": strips.shape,
        "signs": _SIGNS,
        "tone": strips.tone,
    }
    return found


def _part(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


class _Row(NamedTuple):
    """A claim in the table: its place in the report, its picture, its ranks."""

    place: int
    finding: Finding
    picture: str
    ranks: tuple[int, ...]


def _rows(
    findings: Iterable[tuple[int, Finding]], ranks: Sequence[tuple[int, ...]]
) -> Iterator[_Row]:
    from markupsafe import Markup

    for place, finding in findings:
        yield _Row(place, finding, Markup(figure(finding)), ranks[place - 1])


def _packed(
    report: Report, ranks: Sequence[tuple[int, ...]], worst: Sequence[tuple[int, Finding]]
) -> str:
    return packed(report, [rank[2:] for rank in ranks], [place - 1 for place, _ in worst])


def _ranks(report: Report) -> list[tuple[int, ...]]:
    """For every claim its rank by text, accountant, truth and error, compared exactly here."""
    keys: list[Callable[[Finding], Any]] = [
        lambda finding: str(finding.claim.mechanism),
        lambda finding: finding.claim.accountant,
        lambda f: (f.claim.quantity, f.enclosure.lower, f.enclosure.upper),
        wording.error_size,
    ]
    columns = []
    for key in keys:
        values = [key(finding) for finding in report.findings]
        order = {value: rank for rank, value in enumerate(sorted(set(values)))}
        columns.append([order[value] for value in values])
    return list(zip(*columns, strict=True))
