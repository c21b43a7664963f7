"""One Coq file a claim, out of the sources ``claims/SOURCE.v``.

A source begins with what all its claims require. Then come sections: a line
``(** * ids | scope *)``, followed by the theorems; the claim ``kov.thm3.1`` is the theorem
``kov_thm3_1``. The scope says of which mechanisms or numbers the theorems speak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from dpexact.certificates.coq.theorems import LIBRARY, library
from dpexact.errors import InvalidInput
from dpexact.files import write_atomically
from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.coq.goals import goal_of

#: The files beside dpexact's library that claims require, in order.
CLAIM_LIBRARY: Final = (
    "Analysis",
    "Losses",
    "Testing",
    "Composing",
    "Tradeoff",
    "Terms",
    "Optimal",
    "Moments",
    "Normal",
)
#: The files of ``claims`` that prove typed statements.
_STATED_IN: Final = (
    "stated",
    "stated_laws",
    "stated_mechanisms",
    "stated_losses",
    "stated_papers",
    "stated_bounds",
)
_SECTION: Final = re.compile(r"^\(\*\* \* ([^|\n]+) \| ([^\n]+) \*\)\n", re.MULTILINE)
_STATED: Final = re.compile(r"^\(\*\* \* ([^|\n]+) \*\)\n", re.MULTILINE)
_HEAD: Final = """Require Import Reals Lra Lia List Bool Psatz.
From Coquelicot Require Import Coquelicot.
{interval}From DPExact Require Import Finite Response Sampling Gaussian Analysis Losses \
Composing Testing.
From DPExact Require Import Tradeoff Terms Optimal Moments.
{normal}Import ListNotations.
Open Scope R_scope.
"""
_TACTICS: Final = """
Ltac positive := repeat match goal with |- context [exp ?x] =>
  lazymatch goal with H : 0 < exp x |- _ => fail | _ => pose proof (exp_pos x) end end.
Ltac nonzero := repeat split; try lra; try nra; try (intro; nra).
"""
_PROJECT: Final = "-Q . DPExact\n"


@dataclass(frozen=True, slots=True)
class Section:
    """The theorems of the claims ``ids``; ``text`` is a whole file but for its last lines."""

    ids: tuple[str, ...]
    scope: str
    text: str


def coq_of(identity: str) -> str | None:
    """The Coq file of a claim, or None where it has none.

    Where the claim has a typed statement with a proof in ``claims/stated*.v``, the last theorem is
    that statement, generated from it.

    Raises:
        InvalidInput: no source claims ``identity``.
    """
    entry = claim(identity)
    section = _sections(entry.source).get(identity)
    theorem = _stated(identity)
    if section is None and theorem is None:
        return None
    text = section.text if section else f"{_head(theorem)}{_title(identity, 'as stated')}"
    name = theorem_of(identity)
    if theorem is not None:
        text, name = f"{text}{_TACTICS}\n{theorem}", f"{name}_stated"
    return f"{text}\nPrint Assumptions {name}.\n"


def stated(identity: str) -> bool:
    """Whether the last theorem of the claim's file is its typed statement."""
    return _stated(identity) is not None


def scope_of(identity: str) -> str | None:
    """Of which mechanisms or numbers the theorems of a claim speak; None where it has none."""
    section = _sections(claim(identity).source).get(identity)
    return section.scope if section else "as stated" if stated(identity) else None


def covered(sources: Iterable[str] = SOURCES) -> list[str]:
    """The ids of the claims that have a Coq file.

    >>> "kov.thm3.1" in covered(["kov"])
    True
    """
    return [identity for source in sources for identity in claims(source) if scope_of(identity)]


def theorem_of(identity: str) -> str:
    """The name of the theorem of a claim.

    >>> theorem_of("kov.thm3.1")
    'kov_thm3_1'
    """
    return identity.replace(".", "_")


def libraries() -> dict[str, str]:
    """The library files by name, each after those that it requires."""
    own = files(__package__)
    return {name: library(name) for name in LIBRARY} | {
        name: own.joinpath(f"{name}.v").read_text(encoding="utf-8") for name in CLAIM_LIBRARY
    }


def write(folder: Path, identities: Iterable[str]) -> list[str]:
    """Write the libraries, the files of those claims that have one, and ``_CoqProject``.

    Returns the names of the files in an order in which ``coqc -Q . DPExact FILE`` accepts them.

    Raises:
        InvalidInput: none of the claims has a Coq file.
        NotWritten: the folder cannot be written.
    """
    texts = {
        theorem_of(identity): text
        for identity in identities
        if (text := coq_of(identity)) is not None
    }
    if not texts:
        raise InvalidInput("--coq: no claim of this selection has a Coq file")
    written = []
    for name, text in (libraries() | texts).items():
        write_atomically(folder / f"{name}.v", text)
        written.append(f"{name}.v")
    write_atomically(folder / "_CoqProject", _PROJECT + "".join(f"{name}\n" for name in written))
    return written


@cache
def _sections(source: str) -> dict[str, Section]:
    """The sections of ``claims/SOURCE.v`` by the ids of their claims; there may be no such file."""
    path = files(__package__).joinpath("claims", f"{source}.v")
    if not path.is_file():
        return {}
    head, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
    found = {}
    for names, scope, body in zip(*[iter(parts)] * 3, strict=True):
        ids = tuple(names.split())
        for identity in ids:
            title = _title(identity, scope)
            found[identity] = Section(ids, scope, f"{head}{title}{body.rstrip()}\n")
    return found


def _head(theorem: str | None) -> str:
    """What a file requires that holds nothing but a typed statement; coq-interval loads slowly."""
    computes = theorem is not None and re.search(r"\b(interval|integral)\b", theorem)
    tail = theorem is not None and "delta_below" in theorem
    return _HEAD.replace(
        "{interval}", "From Interval Require Import Tactic.\n" if computes else ""
    ).replace("{normal}", "From DPExact Require Import Normal.\n" if tail else "")


def _title(identity: str, scope: str) -> str:
    return f"(** {identity}, {claim(identity).place}. Scope: {scope}. *)\n"


def _stated(identity: str) -> str | None:
    """The theorem of a typed statement with its proof, or None."""
    proof = _proofs().get(identity)
    statement = claim(identity).typed
    if proof is None or statement is None:
        return None
    return (
        "(** The typed statement of the catalogue. *)\n"
        f"Theorem {theorem_of(identity)}_stated :\n  {goal_of(statement)}.\nProof.\n{proof}\nQed.\n"
    )


@cache
def _proofs() -> dict[str, str]:
    """The proofs of typed statements by claim; claims of one form share a proof."""
    found: dict[str, str] = {}
    for name in _STATED_IN:
        text = files(__package__).joinpath("claims", f"{name}.v").read_text(encoding="utf-8")
        _, *parts = _STATED.split(text)
        for identities, proof in zip(*[iter(parts)] * 2, strict=True):
            found |= dict.fromkeys(identities.split(), proof.rstrip())
    return found
