"""Verdicts and strengths, computed from what a check derived and what its claim states.

A check returns a :class:`Derivation`: what it set out to show, and facts. :func:`judge` adds the
facts up to the claim's statement: every relation of the conclusion, the whole domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from proofs_checks.evidence import CONCLUSIVE, GENERAL, Declined, Evidence, Refuted
from proofs_checks.prover.deciding import fails_at
from proofs_checks.prover.goals import covered, settle
from proofs_checks.prover.sampling import sampled
from proofs_checks.statements.statement import Statement

Verdict: TypeAlias = Literal[
    "proved", "repaired", "refuted", "certified", "tested", "not checkable", "declined"
]
"""``declined`` is never expected: the check did not establish what it set out to establish."""

Strength: TypeAlias = Literal["formal", "complete", "derived", "finite"]
"""``formal``: a Coq file with no admitted step checks it; ``complete``: every step, quantifiers
included, is checked by the provers; ``derived``: a written proof whose algebraic steps are checked;
``finite``: on finite sets, at numbers or on a stated domain."""

RepairKind: TypeAlias = Literal["error", "missing_hypothesis", "slip"]
"""``error``: the printed statement or step is false; ``missing_hypothesis``: it holds under a
condition that is not printed; ``slip``: a misprint, or an edge case such as delta > 1."""

Aim: TypeAlias = Literal["holds", "corrected", "fails", "holds on a part"]

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
STRENGTHS: Final[tuple[Strength, ...]] = get_args(Strength)
REPAIRS: Final[tuple[RepairKind, ...]] = get_args(RepairKind)


@dataclass(frozen=True, slots=True)
class Derivation:
    """What a check brings: its aim, one line on the argument, and the facts.

    ``finding`` is deterministic, so that two runs can be compared. ``repair_kind`` says what kind
    of repair a correction is; it is empty otherwise.
    """

    aim: Aim
    finding: str
    facts: tuple[Evidence, ...]
    repair_kind: RepairKind | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found about one claim; ``strength`` is empty where nothing was established."""

    verdict: Verdict
    finding: str
    evidence: tuple[Evidence, ...] = ()
    strength: Strength | Literal[""] = ""
    repair_kind: RepairKind | Literal[""] = ""


def argued(by: str, *facts: Evidence) -> Derivation:
    """The claim holds; ``by`` says how the facts add up, in one line."""
    return Derivation("holds", _named("by", by), facts)


def argued_on(domain: str, *facts: Evidence) -> Derivation:
    """The claim holds on ``domain``, a stated part of its domain."""
    return Derivation("holds on a part", f"on {_named('domain', domain)}", facts)


def corrected(kind: RepairKind, wrong: str, instead: str, *facts: Evidence) -> Derivation:
    """The printed statement or proof is ``wrong``; what holds ``instead`` follows from the facts.

    Raises:
        TypeError: ``kind`` is none of :data:`REPAIRS`.
    """
    if kind not in REPAIRS:
        raise TypeError(f"a repair is one of {', '.join(REPAIRS)}, not {kind!r}")
    finding = f"{_named('wrong', wrong)}; corrected: {_named('instead', instead)}"
    return Derivation("corrected", finding, facts, kind)


def contradicted(witness: Mapping[str, object], because: str, *facts: Evidence) -> Derivation:
    """The claim fails at ``witness``; the facts verify it anew at each run."""
    if not witness:
        raise TypeError("a refutation needs a witness")
    point = ", ".join(f"{name} = {value}" for name, value in witness.items())
    return Derivation("fails", f"witness {point}: {_named('because', because)}", facts)


def judge(
    derivation: Derivation,
    statement: Statement | None = None,
    witness: Mapping[str, str] | None = None,
    restricts: str = "",
) -> Result:
    """The verdict on a claim: what the facts establish of its statement, and how strongly.

    With a typed ``statement`` every goal must be among the facts, or settled by a prover, or hold
    at sampled members beside a written proof with checked steps. Without one nothing is stronger
    than ``derived``. ``witness`` is where a typed statement is to fail; one that ``restricts`` the
    claim to a part does not make it complete.
    """
    facts = derivation.facts
    try:
        added, settled = _ties(derivation, statement, witness, facts)
    except Refuted as error:
        point = ", ".join(f"{name} = {value}" for name, value in error.witness.items())
        return declined(f"{error} (counterexample {point})")
    except Declined as error:
        return declined(str(error))
    settled = settled and not restricts
    every = (*facts, *added)
    strength = _strength(every, settled)
    if not strength:
        return declined("no fact establishes anything")
    if derivation.aim == "holds on a part" and strength != "finite":
        strength = "finite"
    verdict = _verdict(derivation.aim, every, statement, settled)
    finding = derivation.finding
    if verdict == "tested":
        cases = sum(fact.cases for fact in every if fact.kind not in CONCLUSIVE)
        finding = f"{cases} exact cases: {finding}"
    return Result(verdict, finding, every, strength, derivation.repair_kind)


def declined(why: str) -> Result:
    """The check did not come through."""
    return Result("declined", why)


def _ties(
    derivation: Derivation,
    statement: Statement | None,
    witness: Mapping[str, str] | None,
    facts: tuple[Evidence, ...],
) -> tuple[list[Evidence], bool]:
    """What ties the facts to the statement, and whether every goal is settled."""
    if statement is None:
        return [], False
    if derivation.aim == "fails":
        if witness is None:
            raise Declined("a typed statement that fails needs a typed witness")
        return [fails_at(statement, witness)], True
    added, settled = [], True
    for goal in statement.goals():
        if covered(goal, facts) is not None:
            continue
        try:
            found = settle(goal)
        except Refuted:
            raise
        except Declined:
            found, settled = sampled(goal), False
        added.append(found)
    return added, settled


def _strength(facts: tuple[Evidence, ...], settled: bool) -> Strength | Literal[""]:
    if settled:
        return "complete"
    if any(fact.kind in GENERAL for fact in facts):
        return "derived"
    return "finite" if any(fact.kind != "unfolding" for fact in facts) else ""


def _verdict(
    aim: Aim, facts: tuple[Evidence, ...], statement: Statement | None, settled: bool
) -> Verdict:
    kinds = {fact.kind for fact in facts}
    if not settled and not kinds & CONCLUSIVE:
        return "certified" if "cases" not in kinds and aim == "holds on a part" else "tested"
    if aim == "holds on a part":
        return "certified"
    return {"holds": "proved", "corrected": "repaired", "fails": "refuted"}[aim]  # type: ignore[return-value]


def _named(name: str, text: str) -> str:
    if not text.strip():
        raise TypeError(f"{name} must say something")
    return text
