"""Writing claims files, which :func:`dpexact.audits.read_claims` reads back to the same claims."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from pathlib import Path
from typing import cast

import yaml

from dpexact.accounting.approximate import ApproximationError
from dpexact.arguments import digits_in, direction_in
from dpexact.audits.claims import Claim, Quantity
from dpexact.audits.records import CONTRACT
from dpexact.conversion import RealLike, real
from dpexact.decimals import format_decimal
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


def estimate_of(
    found: ApproximationError,
    digits: int = 15,
    direction: str = "both",
    tolerance: RealLike | None = None,
) -> Claim:
    """The claim of ``kind: estimate`` that an approximation makes, to ``digits`` digits.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> from dpexact import approximation_error
    >>> found = approximation_error("pure_dp(0.1)^100", "clt", delta="1e-6", digits=8)
    >>> estimate_of(found, 8).statement
    'epsilon ~ 4.8888717 at delta = 0.000001'
    """
    low, high = found.claimed.lower, found.claimed.upper
    middle = (Fraction(low) + Fraction(high)) / 2 if isinstance(high, Fraction) else high
    text = format_decimal(middle, digits_in(digits), ROUND_HALF_EVEN)
    return Claim(
        mechanism=found.mechanism,
        quantity=cast(Quantity, found.quantity),
        claimed=real(text) if isinstance(middle, Fraction) else math.inf,
        at=found.at,
        kind="estimate",
        source=found.method,
        id=f"{found.method}, {found.mechanism}",
        tolerance=tolerance,
        direction=direction_in(direction),
    )
