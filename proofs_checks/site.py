"""A page a claim for the documentation site, and an index that filters without a script.

The site's build writes them, from the catalogue and the records: nothing is computed here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import Any, Final

from dpexact.files import write_atomically
from proofs_checks.claims import SOURCES, Claim, claim, claims
from proofs_checks.coq import accepted, coq_of, formal, scope_of
from proofs_checks.record import recorded
from proofs_checks.registry import Check, check_of
from proofs_checks.statements.writing import latex
from proofs_checks.verdicts import STRENGTHS, VERDICTS

Formula = Callable[[str], str]

#: So many facts are listed; the record has all.
_LISTED: Final = 40
_STYLE: Final = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d2330; background: #fff; }
code { overflow-wrap: anywhere; }
.formula { overflow: auto hidden; margin: 1rem 0; padding: 0.5rem 0; }
dt { font-weight: 600; margin-top: .8rem; } dd { margin-left: 1rem; }
table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .6rem; border-bottom: 1px solid #ccd; overflow-wrap: anywhere; }
.role { color: #5a6478; } fieldset { border: 0; padding: 0; margin: .3rem 0; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
@media (prefers-color-scheme: dark) { body { color: #dde; background: #14171f; }
  a { color: #8ab4ff; } td, th { border-color: #334; } .role { color: #99a3b8; } }
"""


def write_site(folder: Path, formula: Formula) -> int:
    """Write the page of every claim and ``index.html`` into ``folder``; the number of pages.

    ``formula`` turns LaTeX into what a browser draws.
    """
    folder.mkdir(parents=True, exist_ok=True)
    every = [entry for source in SOURCES for entry in claims(source).values()]
    for entry in every:
        write_atomically(folder / f"{entry.id}.html", claim_page(entry, formula))
        text = coq_of(entry.id)
        if text is not None:
            write_atomically(folder / f"{entry.id}.v", text)
    write_atomically(folder / "index.html", index_page(every))
    return len(every) + 1


def claim_page(entry: Claim, formula: Formula) -> str:
    """The page of one claim."""
    check = None if entry.not_checkable else check_of(entry.id)
    known = recorded(entry.id) or {}
    rows = [
        ("Source", f"{escape(SOURCES[entry.source])}, {escape(entry.place)}"),
        ("The source says", _said(entry)),
        ("What is checked", _formal(entry, formula)),
        ("Verdict", escape(_verdict(entry, known))),
        ("Finding", escape(entry.not_checkable or str(known.get("finding", "")))),
    ]
    if known.get("sides"):
        rows.append(("At the witness", _bars(known["sides"])))
    if check is not None:
        rows += [
            ("The written proof", f"<p>{_prose(inspect.getdoc(check.run) or '')}</p>"),
            ("Facts", _facts(known.get("facts", []))),
            ("Rests on", _rests(check, {entry.id})),
            ("In Coq", _coq(entry)),
            ("Program", f"<code>{escape(check.run.__module__.replace('.', '/'))}.py</code>"),
            ("Hash", f"<code>{entry.hash}</code>"),
        ]
    body = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows if text)
    return _page(entry.id, f'<p><a href="index.html">All claims</a></p><dl>{body}</dl>')


def index_page(every: Iterable[Claim]) -> str:
    """All claims; the choices of paper, verdict and strength hide the other rows."""
    rows, rules = [], []
    choices = {"paper": tuple(SOURCES), "verdict": VERDICTS[:-1], "strength": STRENGTHS}
    for entry in every:
        known = recorded(entry.id) or {}
        verdict = "not checkable" if entry.not_checkable else known.get("verdict", "")
        marks = {
            "paper": entry.source,
            "verdict": verdict,
            "strength": known.get("strength", ""),
        }
        classes = " ".join(f"{name}-{_class(value)}" for name, value in marks.items())
        rows.append(
            f'<tr class="{classes}"><td><a href="{entry.id}.html"><code>{entry.id}</code></a></td>'
            f"<td>{escape(entry.said)}</td><td>{escape(_verdict(entry, known))}</td></tr>"
        )
    fields = []
    for name, values in choices.items():
        buttons = [f'<label><input type="radio" name="{name}" checked> any</label>']
        for value in values:
            mark = f"{name}-{_class(value)}"
            buttons.append(f'<label><input type="radio" name="{name}" id="{mark}"> {value}</label>')
            rules.append(f"body:has(#{mark}:checked) tbody tr:not(.{mark}) {{ display: none; }}")
        fields.append(f"<fieldset><strong>{name}</strong> {' '.join(buttons)}</fieldset>")
    table = (
        "<table><thead><tr><th>claim</th><th>the source says</th><th>verdict</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    back = '<p><a href="../index.html">Documentation</a></p>'
    return _page("Claims of the papers", back + "".join(fields) + table, "\n".join(rules))


def _page(title: str, body: str, style: str = "") -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _prose(text: str) -> str:
    """A docstring, whose code stands between two backticks each."""
    return re.sub("``(.+?)``", r"<code>\1</code>", escape(text), flags=re.DOTALL)


def _said(entry: Claim) -> str:
    return escape(entry.said + (f" ({entry.hypotheses})" if entry.hypotheses else ""))


def _formal(entry: Claim, formula: Formula) -> str:
    if entry.typed is None:
        return "" if entry.not_checkable else "the words above: there is no typed statement yet"
    part = f"<p>Only this part of the claim: {escape(entry.restricts)}.</p>"
    return (
        f'<div class="formula">{formula(latex(entry.typed))}</div>'
        f"<p><code>{escape(entry.statement)}</code></p>" + (part if entry.restricts else "")
    )


def _coq(entry: Claim) -> str:
    """The Coq file of the claim, and of what it speaks."""
    scope = scope_of(entry.id)
    if scope is None:
        return ""
    whole = "its last theorem is the statement above" if formal(entry.id) else escape(scope)
    said = "accepted by coqc" if accepted(entry.id) else "not yet run"
    return f'<a href="{entry.id}.v"><code>{entry.id}.v</code></a>, {said}: {whole}'


def _verdict(entry: Claim, known: dict[str, Any]) -> str:
    if entry.not_checkable:
        return "not checkable"
    kind = str(known.get("repair_kind", "")).replace("_", " ")
    parts = (str(known.get("verdict", "")), str(known.get("strength", "")), kind)
    return ", ".join(part for part in parts if part)


def _facts(facts: list[dict[str, Any]]) -> str:
    items = []
    for fact in facts[:_LISTED]:
        role = f' <span class="role">{escape(fact["role"])}</span>' if "role" in fact else ""
        items.append(f"<li>{fact['kind']}: <code>{escape(fact['text'])}</code>{role}</li>")
    if len(facts) > _LISTED:
        items.append(f"<li>and {len(facts) - _LISTED} more in the record</li>")
    return f"<ol>{''.join(items)}</ol>" if items else ""


def _rests(check: Check, above: set[str]) -> str:
    """What a check assumes, and what that assumes in turn, as nested lists."""
    items = []
    for name in check.assumes:
        source = name.partition(".")[0]
        if " " in name or source not in SOURCES:
            items.append(f"<li>{escape(name)}</li>")
            continue
        known = recorded(name) or {}
        shown = f'<a href="{name}.html"><code>{name}</code></a> ({_verdict(claim(name), known)})'
        below = check_of(name)
        inner = _rests(below, above | {name}) if below is not None and name not in above else ""
        items.append(f"<li>{shown}{inner}</li>")
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _bars(sides: list[dict[str, Any]]) -> str:
    """The two sides of each comparison at the witness, as bars of one scale."""
    pictures = []
    for one in sides:
        values = (float(one["left"]), float(one["right"]))
        largest = max(map(abs, values)) or 1.0
        bars = "".join(
            f'<rect x="60" y="{8 + 28 * i}" height="20" fill="{("#3569c8", "#d9822b")[i]}" '
            f'width="{max(1.0, 380 * abs(value) / largest):.1f}"/>'
            f'<text x="0" y="{23 + 28 * i}">{("left", "right")[i]}</text>'
            f'<text x="450" y="{23 + 28 * i}">{value:.6g}</text>'
            for i, value in enumerate(values)
        )
        label = escape(str(one["text"]))
        pictures.append(
            f'<figure><svg viewBox="0 0 560 64" width="560" role="img" aria-label="{label}">{bars}'
            f"</svg><figcaption><code>{label}</code></figcaption></figure>"
        )
    return "".join(pictures)


def _class(value: str) -> str:
    return value.replace(" ", "-") or "none"
