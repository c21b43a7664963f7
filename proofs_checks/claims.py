"""The catalogue: what each source claims, and where. One JSON file a source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from dpexact.errors import InvalidInput
from dpexact.tokens import unknown
from proofs_checks.statements import reading
from proofs_checks.statements.statement import Statement, digest
from proofs_checks.statements.writing import sentence

#: The sources, each the prefix of its claims' ids and the package of its checks.
SOURCES: Final[dict[str, str]] = {
    "kov": "Kairouz, Oh, Viswanath: The Composition Theorem for Differential Privacy",
    "gdp": "Dong, Roth, Su: Gaussian Differential Privacy",
    "steinke": "Steinke: Composition of DP & Privacy Amplification by Subsampling",
    "slides": "Su: A Statistical Viewpoint on Privacy (talk)",
    "cks": "Canonne, Kamath, Steinke: The Discrete Gaussian for Differential Privacy",
    "bw": "Balle, Wang: Improving the Gaussian Mechanism for Differential Privacy",
    "rdp": "Mironov: Rényi Differential Privacy; Bun, Steinke: Concentrated Differential Privacy",
    "sgm": "Mironov, Talwar, Zhang: Rényi DP of the Sampled Gaussian; Wang, Balle, Kasiviswanathan",
    "pld": "Zhu, Dong, Wang: Optimal Accounting by Characteristic Function; Gopi, Lee, Wutschitz",
    "bins": "Chua et al. and Feldman, Shenfeld: Balls in bins and random allocation",
    "mv": "Murtagh, Vadhan: The Complexity of Computing the Optimal Composition",
    "pit": "Lebeda, Regehr, Kamath, Steinke: Avoiding Pitfalls for Subsampled Mechanisms",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a source.

    ``said`` is what the source says, in words; ``formal`` writes down the typed statement (see
    :mod:`~proofs_checks.statements.reading`): what is printed, or, where that is repaired, what
    holds instead. ``fails_at`` in it is the member where a refuted statement fails.
    ``not_checkable`` gives the reason where no program can decide it; it is empty otherwise.
    """

    id: str
    place: str
    kind: str
    said: str
    hypotheses: str = ""
    not_checkable: str = ""
    formal: Mapping[str, Any] | None = None

    @property
    def source(self) -> str:
        """The source that the id begins with."""
        return self.id.partition(".")[0]

    @property
    def typed(self) -> Statement | None:
        """The typed statement, where one is written down.

        Raises:
            TypeError: it is not well formed, or not well sorted.
        """
        return None if self.formal is None else reading.statement(self.formal)

    @property
    def fails_at(self) -> dict[str, str] | None:
        """The member at which the typed statement is to fail."""
        return None if self.formal is None else self.formal.get("fails_at")

    @property
    def restricts(self) -> str:
        """Which part of the claim the typed statement says, where that is not all of it."""
        return "" if self.formal is None else str(self.formal.get("restricts", ""))

    @property
    def statement(self) -> str:
        """What is checked: written from the typed statement, or else what the source says."""
        typed = self.typed
        return self.said if typed is None else sentence(typed)

    @property
    def hash(self) -> str:
        """A hash of the typed statement and its witness, or else of the words."""
        typed = self.typed
        if typed is None:
            return digest([self.said, self.hypotheses])
        return typed.hash if self.fails_at is None else digest([typed.to_json(), self.fails_at])


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
