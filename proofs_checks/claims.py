"""The catalogue: what each source claims, and where. One JSON file a source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.tokens import unknown

#: The sources, each the prefix of its claims' ids and the package of its checks.
SOURCES: Final[dict[str, str]] = {
    "kov": "Kairouz, Oh, Viswanath: The Composition Theorem for Differential Privacy",
    "gdp": "Dong, Roth, Su: Gaussian Differential Privacy",
    "steinke": "Steinke: Composition of DP & Privacy Amplification by Subsampling",
    "slides": "Su: A Statistical Viewpoint on Privacy (talk)",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a source, as printed there.

    ``not_checkable`` gives the reason where no program can decide it; it is empty otherwise.
    """

    id: str
    place: str
    kind: str
    statement: str
    hypotheses: str = ""
    not_checkable: str = ""

    @property
    def source(self) -> str:
        """The source that the id begins with."""
        return self.id.partition(".")[0]


@cache
def claims(source: str) -> dict[str, Claim]:
    """The claims of ``source`` by id, in the order of the catalogue.

    Raises:
        InvalidInput: ``source`` is not one of :data:`SOURCES`.
    """
    if source not in SOURCES:
        raise InvalidInput(f"source: {source!r} is not accepted; use {', '.join(SOURCES)}")
    text = files(__package__).joinpath("catalogue", f"{source}.json").read_text(encoding="utf-8")
    return {entry["id"]: Claim(**entry) for entry in json.loads(text)}


def claim(identity: str) -> Claim:
    """The claim with this id.

    Raises:
        InvalidInput: no source claims it; the message names the nearest id.
    """
    source = identity.partition(".")[0]
    if source in SOURCES and identity in claims(source):
        return claims(source)[identity]
    known = (name for each in SOURCES for name in claims(each))
    raise InvalidInput(unknown("claim", identity, known, "`dpexact prove --list` names all"))
