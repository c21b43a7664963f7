"""Claims written as a claims file, which :func:`dpexact.audit.read_claims` reads back."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dpexact.audit.claims import Claim
from dpexact.audit.reports.writing import write_atomically
from dpexact.audit.visible import visible
from dpexact.errors import InvalidInput

_KEYS: Final = (
    "id",
    "mechanism",
    "claims",
    "epsilon",
    "delta",
    "kind",
    "tolerance",
    "direction",
    "accountant",
    "source",
)


def write_claims(claims: Sequence[Claim], path: str | os.PathLike[str]) -> None:
    """Write ``claims`` to ``path``, atomically, in the format that its suffix names.

    Raises:
        InvalidInput: the suffix is none of ``.yaml``, ``.yml``, ``.json`` and ``.csv``, or ``path``
            cannot be written.
    """
    writers = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}
    write = writers.get(Path(path).suffix.lower())
    if write is None:
        known = ", ".join(writers)
        raise InvalidInput(f"{visible(os.fspath(path))}: suffix must be one of {known}")
    write_atomically(path, write([_fields(claim) for claim in claims]))


def _fields(claim: Claim) -> dict[str, str]:
    values = {
        "id": claim.id,
        "mechanism": str(claim.mechanism),
        "claims": claim.quantity,
        claim.quantity: str(claim.claimed),
        claim.argument: str(claim.at),
        "kind": claim.kind,
        "tolerance": "" if claim.tolerance is None else str(claim.tolerance),
        "direction": claim.direction,
        "accountant": claim.accountant,
        "source": claim.source,
    }
    return {key: values[key] for key in _KEYS if values[key]}


def _yaml(rows: list[dict[str, str]]) -> str:
    """A list of mappings; a JSON string is a YAML string."""
    lines = ["claims:"]
    for row in rows:
        for i, (key, value) in enumerate(row.items()):
            lines.append(f"  {' ' if i else '-'} {key}: {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def _json(rows: list[dict[str, str]]) -> str:
    return json.dumps({"claims": rows}, indent=2) + "\n"


def _csv(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _KEYS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
