"""Claims in one line, as people write them."""

from __future__ import annotations

import re
from typing import Final

from dpexact.audit.claims import ARGUMENTS, Claim, Kind, quantity_in
from dpexact.errors import InvalidInput
from dpexact.tokens import shorten

_KINDS: Final[dict[str, Kind]] = {"<=": "upper", ">=": "lower", "~": "estimate"}
_SENTENCE: Final = re.compile(
    rf"\s*({'|'.join(ARGUMENTS)})\s*(<=|>=|~)\s*(.+?)\s+of\s+(.+)"
    rf"\s+at\s+({'|'.join(ARGUMENTS.values())})\s*=?\s*(.+?)"
    r"(?:\s+by\s+(.+?))?\s*",
    re.DOTALL,
)


def claim_of(sentence: str) -> Claim:
    """The claim that ``sentence`` makes.

    Raises:
        InvalidInput: it has another form, or a part of it is not accepted.

    >>> claim = claim_of("epsilon <= 2.4 of gaussian(1.1)^9 at delta 1e-5 by Opacus 1.6")
    >>> claim.statement, claim.source
    ('epsilon <= 2.4 at delta = 0.00001', 'Opacus 1.6')
    """
    found = _SENTENCE.fullmatch(sentence)
    if found is None or found[5] != ARGUMENTS[quantity_in(found[1])]:
        raise InvalidInput(
            f"claim: {shorten(repr(sentence))} is not accepted; write for example "
            "'epsilon <= 2.4 of gaussian(1.1)^9 at delta 1e-5 by Opacus 1.6'"
        )
    quantity, relation, value, mechanism, _, at, source = found.groups()
    kind = _KINDS[relation]
    return Claim(mechanism, quantity_in(quantity), value, at, kind, source or "")  # type: ignore[arg-type]
