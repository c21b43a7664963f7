"""Whole certificates: of one answer, and of all findings of an audit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from dpexact import certificate_checker as checker
from dpexact.accounting.queries import delta_answer, epsilon_answer
from dpexact.accounting.standing import standing
from dpexact.arguments import Direction
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.certificates.statements import NoCertificate, number_tree, statement
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real


def certificate(
    mechanism: Mechanism, quantity: str, at: Real, direction: Direction, found: Enclosure
) -> dict[str, Any]:
    """The certificate of one answer.

    Args:
        mechanism: what the answer is about.
        quantity: ``"delta"`` or ``"epsilon"``.
        at: the argument: epsilon of a ``delta``, delta of an ``epsilon``.
        direction: neighbours.
        found: the answer.

    Raises:
        NoCertificate: it has none.
    """
    return _document([statement(mechanism, quantity, at, direction, found)], [], [])


def certificate_of_audit(
    report: Report, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """The certificate of all findings of an audit; it lists those that have none, with the reason.

    Raises:
        NoCertificate: no finding has one.
    """
    certified, rest = [], []
    for done, finding in enumerate(report.findings, 1):
        name = finding.claim.id or f"claim {done}"
        try:
            certified.append(_finding(name, finding))
        except NoCertificate as error:
            rest.append({"id": name, "reason": str(error)})
        if progress is not None:
            progress(done, len(report.findings))
    if not certified:
        why = rest[0]["reason"] if rest else "no certificate: there is no finding"
        raise NoCertificate(why)
    return _document([], certified, rest)


def to_text(document: dict[str, Any]) -> str:
    """The certificate as the content of a file."""
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _document(
    statements: list[dict[str, Any]],
    findings: list[dict[str, Any]],
    uncertified: list[dict[str, str]],
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "statements": statements,
        "findings": findings,
        "uncertified": uncertified,
    }
    return {**document, "digest": checker.digest(document)}


def _finding(name: str, finding: Finding) -> dict[str, Any]:
    claim = finding.claim
    if claim.quantity not in ("epsilon", "delta"):
        raise NoCertificate(f"no certificate: {claim.quantity} has none yet")
    if finding.verdict == "undecided" or claim.claimed != claim.claimed:
        raise NoCertificate(f"no certificate: {finding.note or 'the claim is not a number'}")
    ask = epsilon_answer if claim.quantity == "epsilon" else delta_answer
    enclosure = finding.enclosure
    if standing(claim.mechanism).bound == "upper":  # a statement encloses the bound, not the truth
        enclosure = ask(claim.mechanism, claim.at, 30, claim.direction)
    for digits in (30, 60, None):  # as many as the bounds need to decide
        found = {
            "id": name,
            "kind": claim.kind,
            "claimed": _claimed(claim.claimed),
            "tolerance": "0" if claim.tolerance is None else str(claim.tolerance.value),
            "verdict": finding.verdict,
            "statement": statement(
                claim.mechanism, claim.quantity, claim.at, claim.direction, enclosure
            ),
        }
        try:
            checker.check_finding(found, lambda _: "verified when it was written")
        except checker.Invalid as error:
            reason = error
        else:
            return found
        if digits is not None:
            try:
                enclosure = ask(claim.mechanism, claim.at, digits, claim.direction)
            except UnsupportedMechanism:
                break
    raise NoCertificate(f"no certificate: {reason}")


def _claimed(value: Real | float) -> Any:
    if isinstance(value, Real):
        return number_tree(value)
    return "inf" if value == math.inf else "-inf"
