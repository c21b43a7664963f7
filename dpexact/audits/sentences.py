"""Claims in one line, as people write them."""

from __future__ import annotations

import re
from typing import Final

from dpexact.audits.claims import ARGUMENTS, Claim, Kind, quantity_in, written_in
from dpexact.errors import InvalidInput
from dpexact.tokens import quoted
from dpexact.training.logs import printed_promises

_KINDS: Final[dict[str, Kind]] = {"<=": "upper", ">=": "lower", "~": "estimate"}
_SENTENCE: Final = re.compile(
    rf"\s*({'|'.join(ARGUMENTS)})\s*(<=|>=|~)\s*(.+?)\s+of\s+(.+)"
    rf"\s+at\s+({'|'.join(ARGUMENTS.values())})\s*=?\s*(.+?)"
    r"(?:\s+by\s+(.+?))?\s*",
    re.DOTALL,
)


_SAMPLINGS: Final = {
    "ordered": "each example once an epoch",
    "poisson": "assuming Poisson sampling",
}


def claims_of(text: str) -> list[Claim]:
    """The claim that the sentence ``text`` makes, or those of a statement of TensorFlow Privacy.

    Its numbers are judged as it prints them, rounded to three places.

    Raises:
        InvalidInput: it is neither, or a part of it is not accepted.
    """
    promises = printed_promises(text)
    if not promises:
        return [claim_of(text)]
    named = [
        f"TensorFlow Privacy, {promise.accounting}, {_SAMPLINGS[promise.sampling]}"
        for promise in promises
    ]
    return [
        Claim(promise.mechanism, "epsilon", promise.epsilon, promise.delta, "upper", source)
        for promise, source in zip(promises, named, strict=True)
    ]


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
            f"claim: {quoted(sentence)} is not accepted; write for example "
            "'epsilon <= 2.4 of gaussian(1.1)^9 at delta 1e-5 by Opacus 1.6'"
        )
    name, relation, value, mechanism, _, at, source = found.groups()
    quantity, kind = quantity_in(name), _KINDS[relation]
    claimed = written_in(value, quantity)
    return Claim(mechanism, quantity, claimed, at, kind, source or "")  # type: ignore[arg-type]
