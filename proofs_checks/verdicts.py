"""The six verdicts, never blurred: each constructor demands what its verdict needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from proofs_checks.evidence import CONCLUSIVE, Evidence

Verdict: TypeAlias = Literal[
    "proved", "repaired", "refuted", "certified", "tested", "not checkable", "declined"
]
"""``declined`` is never expected: the check did not establish what it set out to establish."""

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found: the verdict, one line on it, and the evidence.

    ``finding`` is the domain (certified), the number of cases (tested), the witness (refuted), what
    is wrong and what holds instead (repaired), the reason (not checkable, declined), the method
    (proved). It is deterministic, so that two runs can be compared.
    """

    verdict: Verdict
    finding: str
    evidence: tuple[Evidence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The result with its evidence, proofs without their boxes."""
        return {
            "verdict": self.verdict,
            "finding": self.finding,
            "evidence": [{"kind": fact.kind, "text": fact.text} for fact in self.evidence],
        }


def proved(by: str, *evidence: Evidence) -> Result:
    """The statement holds on the whole domain that it names; ``by`` says how, in one line.

    Raises:
        TypeError: some evidence only tried cases, or there is none.
    """
    return Result("proved", by, _conclusive("proved", evidence))


def certified(domain: str, *evidence: Evidence) -> Result:
    """The statement holds on ``domain``, a stated part of its domain; no random cases count."""
    if not evidence or any(fact.kind == "cases" for fact in evidence):
        raise TypeError("certified needs proofs or complete enumerations, not random cases")
    return Result("certified", f"on {_named('domain', domain)}", evidence)


def tested(what: str, *evidence: Evidence) -> Result:
    """The statement held in exact cases; the number is counted from the evidence."""
    cases = sum(fact.cases for fact in evidence if fact.kind not in CONCLUSIVE)
    if cases < 1:
        raise TypeError("tested needs evidence that counts cases")
    return Result("tested", f"{cases} exact cases: {_named('what', what)}", evidence)


def refuted(witness: Mapping[str, object], because: str, *evidence: Evidence) -> Result:
    """The statement fails at ``witness``; the evidence verifies it anew at each run."""
    if not witness:
        raise TypeError("refuted needs a witness")
    point = ", ".join(f"{name} = {value}" for name, value in witness.items())
    return Result(
        "refuted",
        f"witness {point}: {_named('because', because)}",
        _conclusive("refuted", evidence),
    )


def repaired(wrong: str, corrected: str, *evidence: Evidence) -> Result:
    """The printed statement or proof is ``wrong``; the ``corrected`` statement is proved."""
    return Result(
        "repaired",
        f"{_named('wrong', wrong)}; corrected: {_named('corrected', corrected)}",
        _conclusive("repaired", evidence),
    )


def not_checkable(why: str) -> Result:
    """No program can decide the statement; ``why`` says for which reason."""
    return Result("not checkable", _named("why", why))


def declined(why: str) -> Result:
    """The check did not come through; the registry makes these from ``Declined``."""
    return Result("declined", why)


def _conclusive(verdict: str, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    if not any(fact.kind in CONCLUSIVE for fact in evidence):
        raise TypeError(f"{verdict} needs conclusive evidence: cases alone are only tested")
    return evidence


def _named(name: str, text: str) -> str:
    if not text.strip():
        raise TypeError(f"{name} must say something")
    return text
