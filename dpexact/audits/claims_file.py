"""Writing claims files, which :func:`dpexact.audits.read_claims` reads back to the same claims."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path

import yaml

from dpexact.audits.claims import Claim
from dpexact.audits.records import CONTRACT
from dpexact.errors import InvalidInput
from dpexact.files import write_atomically
from dpexact.visible import visible

_Row = dict[str, str]


def write_claims(claims: Iterable[Claim], path: str | os.PathLike[str]) -> None:
    """Write ``claims`` to ``path`` in the format that its suffix names, whole or not at all.

    Every number is exact.

    Raises:
        InvalidInput: the suffix is none of ``.yaml``, ``.yml``, ``.json`` and ``.csv``, ``path``
            cannot be written, there is no claim, which no claims file can say, or a claim of NaN.
    """
    writers = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}
    write = writers.get(Path(path).suffix.lower())
    if write is None:
        known = ", ".join(writers)
        raise InvalidInput(f"{visible(os.fspath(path))}: suffix must be one of {known}")
    rows = [_row(claim) for claim in claims]
    if not rows:
        raise InvalidInput("claims: none to write, and a claims file holds at least one")
    write_atomically(path, write(rows))


def _row(claim: Claim) -> _Row:
    if claim.claimed != claim.claimed:
        raise InvalidInput(f"claim {claim.id or claim.mechanism}: NaN cannot be written")
    contract = {
        key: "" if claim.contract is None else str(getattr(claim.contract, name))
        for key, name in CONTRACT.items()
    }
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
        **contract,
    }
    return {key: value for key, value in fields.items() if value}


def _yaml(rows: list[_Row]) -> str:
    return yaml.safe_dump({"claims": rows}, sort_keys=False, allow_unicode=True, width=100)


def _json(rows: list[_Row]) -> str:
    return json.dumps({"claims": rows}, indent=2) + "\n"


def _csv(rows: list[_Row]) -> str:
    text = io.StringIO()
    keys = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, keys, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
