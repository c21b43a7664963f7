"""The pages ``docs/claims/*.md``: every claim of a source with its verdict, from the records.

``python -m proofs_checks.page docs/claims`` writes them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from dpexact.files import write_atomically
from proofs_checks.claims import SOURCES, Claim, claims
from proofs_checks.record import recorded
from proofs_checks.registry import Check, checks
from proofs_checks.verdicts import REPAIRS, STRENGTHS, VERDICTS

_REPOSITORY_ROOT = "../../"


def page(source: str) -> str:
    """The page of one source as Markdown."""
    by_id = {identity: entry for entry in checks([source]) for identity in entry.ids}
    rows = [_row(entry, by_id.get(entry.id)) for entry in claims(source).values()]
    counts = Counter(_verdict(entry, by_id.get(entry.id)) for entry in claims(source).values())
    order = [*VERDICTS, "no check yet"]
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in order if counts[verdict])
    known = [recorded(identity) or {} for identity in by_id]
    for name, values in (("strength", STRENGTHS), ("repair_kind", REPAIRS)):
        found = Counter(one.get(name, "") for one in known)
        listed = [f"{found[value]} {_words(value)}" for value in values if found[value]]
        summary += f"; {', '.join(listed)}" if listed else ""
    return "\n".join(
        [
            f"# {SOURCES[source]}",
            "",
            f"{len(rows)} claims: {summary}. [How they are checked](../proofs.md). This page is",
            "written by `python -m proofs_checks.page docs/claims` from the last run's record;",
            f"`dpexact prove --source {source}` runs the checks.",
            "",
            "| claim | place | statement | verdict | strength | finding |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def write_pages(folder: Path) -> None:
    """Write the page of every source into ``folder``."""
    for source in SOURCES:
        write_atomically(folder / f"{source}.md", page(source))


def _verdict(entry: Claim, check: Check | None) -> str:
    if entry.not_checkable:
        return "not checkable"
    return check.expects if check else "no check yet"


def _row(entry: Claim, check: Check | None) -> str:
    statement = _cell(entry.said)
    if entry.hypotheses:
        statement += f" ({_cell(entry.hypotheses)})"
    if entry.typed is not None:
        part = " of it" if entry.restricts else ""
        statement += f"; checked{part}: `{entry.statement.replace('|', '¦')}`"
    finding, strength = entry.not_checkable, ""
    verdict = _verdict(entry, check)
    if check is not None:
        known = recorded(entry.id) or {}
        finding = known.get("finding", "not recorded yet")
        kind = known.get("repair_kind")
        strength = known.get("strength", "") + (f", {_words(kind)}" if kind else "")
        if check.assumes:
            finding += f"; assumes {', '.join(check.assumes)}"
        verdict = f"[{verdict}]({_REPOSITORY_ROOT}{_file(check)})"
    name = f'<a href="each/{entry.id}.html"><code>{entry.id}</code></a>'
    cells = (name, _cell(entry.place), statement, verdict, strength, _cell(finding))
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _file(check: Check) -> str:
    return f"{check.run.__module__.replace('.', '/')}.py"


def _cell(text: str) -> str:
    """Text as inert Markdown inside a table cell."""
    text = text.replace("&", "&amp;")
    for character in "\\|*_<>[]`~$":
        text = text.replace(character, f"&#{ord(character)};")
    return " ".join(text.split())


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
