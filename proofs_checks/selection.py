"""What ``dpexact prove`` speaks of: which checks run, what is listed, printed and recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dpexact.errors import InvalidInput
from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.record import renew
from proofs_checks.registry import Check, check_of, checks
from proofs_checks.runner import Outcome
from proofs_checks.verdicts import VERDICTS


def select(ids: Sequence[str], sources: Sequence[str], smoke: bool = False) -> list[Check]:
    """The checks of the claims ``ids``, or else of ``sources``, or else all of them.

    Raises:
        InvalidInput: an unknown id or source, a claim without a check (and why), or no check left.
    """
    for source in sources:
        claims(source)
    entries = [_of(identity, sources) for identity in ids] or checks(sources or SOURCES)
    chosen = {entry.name: entry for entry in entries if entry.smoke or not smoke}
    if not chosen:
        raise InvalidInput("nothing to prove: no claim of this selection has such a check")
    return list(chosen.values())


def listing(ids: Sequence[str], sources: Sequence[str]) -> list[dict[str, str]]:
    """The claims of a selection, each with its place and the verdict that is expected.

    Raises:
        InvalidInput: an unknown id or source.
    """
    listed = [claim(identity) for identity in ids] or [
        entry for source in sources or SOURCES for entry in claims(source).values()
    ]
    rows = []
    for entry in listed:
        check = None if entry.not_checkable else check_of(entry.id)
        expected = "not checkable" if entry.not_checkable else check.expects if check else ""
        rows.append(
            {
                "id": entry.id,
                "place": entry.place,
                "statement": entry.statement,
                "expected": expected,
            }
        )
    return rows


def summary(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The number of outcomes of each verdict that occurs."""
    counts = Counter(outcome.result.verdict for outcome in outcomes)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def document(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The outcomes for ``--json``."""
    from dpexact.audits.runner import versions

    return {
        "checks": [outcome.to_json() for outcome in outcomes],
        "summary": summary(outcomes),
        "unexpected": sum(bool(outcome.problem) for outcome in outcomes),
        "versions": versions(),
    }


def keep(outcomes: Iterable[Outcome]) -> None:
    """Record the findings of those outcomes whose verdict is the expected one."""
    by_source: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.result.verdict == outcome.expected:
            findings = by_source.setdefault(claim(outcome.name).source, {})
            findings[outcome.name] = outcome.result.finding
    for source, findings in by_source.items():
        renew(source, findings)


def _of(identity: str, sources: Sequence[str]) -> Check:
    entry = claim(identity)
    if sources and entry.source not in sources:
        raise InvalidInput(f"claim {identity!r} is not of --source {', '.join(sources)}")
    found = check_of(identity)
    if found is None:
        why = entry.not_checkable or "it has no check yet"
        raise InvalidInput(f"claim {identity!r} cannot be proved: {why}")
    return found
