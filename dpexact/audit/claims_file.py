"""Writing claims files, which :func:`dpexact.audit.read_claims` reads back to the same claims."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from dpexact.audit.claims import Claim
from dpexact.audit.reports.writing import write_atomically
from dpexact.errors import InvalidInput


def write_claims(claims: Iterable[Claim], path: Path) -> None:
    """Write ``claims`` to ``path``, whole or not at all; every number is exact.

    Raises:
        InvalidInput: there is no claim, which no claims file can say, or a claim of NaN.
    """
    records = [_record(claim) for claim in claims]
    if not records:
        raise InvalidInput("claims: none to write, and a claims file holds at least one")
    text = yaml.safe_dump({"claims": records}, sort_keys=False, allow_unicode=True, width=100)
    write_atomically(path, text)


def _record(claim: Claim) -> dict[str, str]:
    if claim.claimed != claim.claimed:
        raise InvalidInput(f"claim {claim.id or claim.mechanism}: NaN cannot be written")
    fields = {
        "id": claim.id,
        "mechanism": str(claim.mechanism),
        "claims": claim.quantity,
        claim.quantity: str(claim.claimed),
        claim.argument: str(claim.at),
        "kind": claim.kind,
        "tolerance": "" if claim.tolerance is None else str(claim.tolerance),
        "direction": claim.direction,
        "accountant": claim.accountant,
        "expect": claim.expect or "",
        "source": claim.source,
    }
    return {key: value for key, value in fields.items() if value}
