"""The claims of a large report in columns, compressed: what its page unpacks and shows by pages.

A payload is base64 of a zlib stream of text: records separated by U+001E, the first of them JSON
that names the others and says what is made of them. A record is a column, one line a claim, in
input order. ``page/unpack.js`` reads it.

- *plain* columns are their own lines.
- *words* are two records: the different texts in order of their first line, and the lines, empty
  where the text is the next new one, else its number.
- *tails* begin like the text in the same line of another column: the length of what they share in
  base 36, a space, and the rest; an empty line is that text with 1 added to its last digit.
- *chain* are tails of the line before in the same column.
- *exact* are words too, of numbers that another column rounds: ``=`` is the ratio that a double is,
  nothing says that they are not rounded.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final

from dpexact.audits.claims import Claimed, number_text
from dpexact.audits.reports import wording
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.mechanisms.base import shown
from dpexact.reals import Real
from dpexact.visible import visible

#: What claims are ranked by; the page compares mechanisms and accountants itself.
RANKS: Final = ("truth", "error")
_RECORD: Final = "\x1e"
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def packed(report: Report, ranks: Sequence[tuple[int, ...]], worst: Sequence[int]) -> str:
    """The claims of ``report`` with their ``ranks``, and the places of the ``worst`` first.

    Places count from 0. Ranks are by :data:`RANKS`.
    """
    records: list[Iterable[str]] = []
    names: list[tuple[str, str]] = []

    def add(name: str, kind: str, *lines: Iterable[str]) -> None:
        names.append((name, kind))
        records.extend(lines)

    for name, text in _CHAINS.items():
        texts = [visible(text(finding)) for finding in report.findings]
        add(name, "chain", map(_tail, ["", *texts], texts))
    for name, text in _WORDS.items():
        texts = [text(finding) for finding in report.findings]
        add(name, "words", *_words([visible(each) for each in texts]))
    certified = [wording.certified_text(finding) for finding in report.findings]
    add(
        "claimed-exact",
        "exact:claimed",
        *_words(_exactly(f.claim.claimed) for f in report.findings),
    )
    add("at-exact", "exact:at", *_words(_exactly(f.claim.at) for f in report.findings))
    bounds = [finding.enclosure.decimal_bounds(finding.digits + 5) for finding in report.findings]
    lower, upper = [low for low, _ in bounds], [high for _, high in bounds]
    add("lower", "plain", lower)
    add("upper", "tails:lower", map(_tail, lower, upper))
    add("certified", "tails:lower", map(_tail, lower, certified))
    for at, name in enumerate(RANKS):
        add(f"rank-{name}", "plain", [str(rank[at]) for rank in ranks])
    steps = (place - before for before, place in zip([0, *worst], worst, strict=False))
    add("worst", "plain", map(str, steps))
    head = json.dumps({"claims": len(report.findings), "columns": names})
    whole = _RECORD.join([head, *("\n".join(lines) for lines in records)])
    return base64.b64encode(zlib.compress(whole.encode(), 9)).decode()


def _exactly(value: Claimed) -> str:
    """The exact number where people are shown a rounded one."""
    exact, rounded = str(value), number_text(value)
    if exact == rounded or not isinstance(value, Real) or value.fraction is None:
        return "" if exact == rounded else exact
    above, below = value.fraction.as_integer_ratio()
    with suppress(OverflowError, ValueError):  # of what is only begun no float is made
        if Fraction(float(rounded)) == value.fraction and exact in (f"{above}/{below}", str(above)):
            return "="
    return exact


def _mechanism(finding: Finding) -> str:
    """The exact mechanism where it is shown with rounded numbers."""
    exact = str(finding.claim.mechanism)
    return "" if exact == shown(finding.claim.mechanism) else exact


def _place(finding: Finding) -> tuple[str, str]:
    place = finding.claim.place
    return ("", "") if place is None else (place.file, str(place.line))


#: What often counts from claim to claim.
_CHAINS: Final[dict[str, Callable[[Finding], str]]] = {
    "id": lambda f: f.claim.id,
    "line": lambda f: _place(f)[1],
}

#: What is said of a claim, text by text; an empty one is not shown.
_WORDS: Final[dict[str, Callable[[Finding], str]]] = {
    "verdict": lambda f: f.verdict,
    "grade": lambda f: f.grade,
    "mechanism": lambda f: shown(f.claim.mechanism),
    "exact": _mechanism,
    "quantity": lambda f: f.claim.quantity,
    "argument": lambda f: f.claim.argument,
    "kind": lambda f: f.claim.kind,
    "claimed": lambda f: number_text(f.claim.claimed),
    "at": lambda f: number_text(f.claim.at),
    "accountant": lambda f: f.claim.accountant,
    "error": lambda f: wording.error_text(f.relative_error),
    "source": lambda f: f.claim.source,
    "file": lambda f: _place(f)[0],
    "tolerance": lambda f: "" if f.claim.tolerance is None else str(f.claim.tolerance),
    "contract": lambda f: wording.contract_text(f.claim.contract) if f.claim.contract else "",
    "expected": lambda f: f.claim.expect or "",
    "direction": lambda f: f.claim.direction,
    "method": lambda f: f.enclosure.method,
    "seconds": lambda f: f"{f.seconds:.2g}",
    "digits": lambda f: str(max(wording.REPRODUCE_DIGITS, f.digits)),
    "note": lambda f: f.note,
}


def _words(texts: Iterable[str]) -> tuple[Iterable[str], Iterable[str]]:
    numbers: dict[str, int] = {}
    lines = []
    for text in texts:
        known = numbers.get(text)
        lines.append("" if known is None else str(known))
        numbers.setdefault(text, len(numbers))
    return numbers, lines


def _tail(reference: str, text: str) -> str:
    last = reference[-1:]
    if "0" <= last <= "8" and text == f"{reference[:-1]}{int(last) + 1}":
        return ""
    pairs = enumerate(zip(reference, text, strict=False))
    length = next((at for at, (a, b) in pairs if a != b), min(len(reference), len(text)))
    units = len(text[:length].encode("utf-16-le")) // 2  # as scripts count
    return f"{_in_base_36(units)} {text[length:]}"


def _in_base_36(number: int) -> str:
    text = ""
    while number >= 36:
        number, last = divmod(number, 36)
        text = _DIGITS[last] + text
    return _DIGITS[number] + text
