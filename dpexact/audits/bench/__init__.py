"""The defect bench: recorded claims of released accountants, each with its expected verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dpexact.audits.claims import Claim
from dpexact.audits.reading import read_claims

_FILE: Final = Path(__file__).parent / "recorded_claims.yaml"


def bench() -> list[Claim]:
    """The claims of the bench, in the order of its file.

    Known wrong outputs of released packages, each with the version, the call and the value it
    returned, stand beside right ones; ``expect`` of each says which it is.

    >>> len({claim.accountant.partition(" ")[0] for claim in bench()})
    13
    """
    return read_claims(_FILE)
