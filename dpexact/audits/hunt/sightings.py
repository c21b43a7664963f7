"""Sightings: what is wrong with an accountant's answer to one case, and what counts as the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from dpexact.audits.claims import Claim, number_text
from dpexact.audits.runs import Failure
from dpexact.audits.verdicts import Finding
from dpexact.audits.workloads import Case
from dpexact.comparison import WRONG
from dpexact.conversion import real
from dpexact.mechanisms import Composition, Mechanism, Poisson, Repetition
from dpexact.reals import Real
from dpexact.visible import visible

Sort: TypeAlias = tuple[str, str, str]
"""Quantity, kind of claim, and verdict or the reason of a failure."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A certified wrong claim, or a failure to answer; exactly one of the two is there.

    ``elsewhere`` is the finding on the same question with numpy's vector instructions switched off,
    as on another processor; ``None`` where that was not asked or not answered.
    """

    case: Case
    finding: Finding | None = None
    failure: Failure | None = None
    elsewhere: Finding | None = None

    @property
    def is_noise(self) -> bool:
        """Whether another processor is no worse than rounding here."""
        return self.elsewhere is not None and not self.elsewhere.guilty

    @property
    def sort(self) -> Sort:
        """What a simpler sighting must share."""
        if self.finding is not None:
            return self.case.quantity, self.finding.claim.kind, self.finding.verdict
        assert self.failure is not None
        return self.case.quantity, "failure", self.failure.reason.split(":")[0]

    @property
    def weight(self) -> int:
        """2 where the claim is grossly wrong, 1 where visibly, or there is none; else 0."""
        if self.finding is None:
            return int(not self.is_tame)
        return {"gross": 2, "visible": 1}.get(self.finding.grade, 0)

    @property
    def is_tame(self) -> bool:
        """Whether the failure is an honest refusal, or too slow an answer."""
        return self.failure is not None and (self.failure.refused or self.is_slow)

    @property
    def is_slow(self) -> bool:
        """Whether asking again and again costs too much."""
        return self.failure is not None and "no answer within" in self.failure.reason

    @property
    def label(self) -> tuple[str, Sort, str]:
        """Sightings of one label are reported once; what has no weight whatever the mechanism."""
        grade = self.finding.grade if self.finding is not None else ""
        return shape(self.case.mechanism) if self.weight else "", self.sort, grade

    @property
    def claim(self) -> Claim | None:
        """The wrong claim, with its verdict as the expectation."""
        if self.finding is None:
            return None
        claim = self.finding.claim
        source = "; ".join(filter(None, (claim.source, self._elsewhere)))
        return replace(claim, expect=self.finding.verdict, source=source)

    @property
    def _elsewhere(self) -> str:
        """What another processor says, in words."""
        if self.elsewhere is None:
            return ""
        said = f"{number_text(self.elsewhere.claim.claimed)} without vector instructions of numpy"
        return f"{said}: noise of the processor" if self.is_noise else said


def sighting_of(case: Case, finding: Finding) -> Sighting | None:
    """The sighting of a wrong claim; None where the claim is right or undecided."""
    return Sighting(case, finding) if finding.verdict in WRONG else None


def shape(mechanism: Mechanism) -> str:
    """``mechanism`` without its numbers."""
    if isinstance(mechanism, Composition):
        return " * ".join(sorted(set(map(shape, mechanism.parts))))
    if isinstance(mechanism, Repetition):
        return f"{shape(mechanism.mechanism)}^k"
    if isinstance(mechanism, Poisson):
        return f"poisson({shape(mechanism.mechanism)})"
    return mechanism.name


def in_decimals(claim: Claim, case: Case) -> Claim:
    """``claim`` about the decimals of ``case`` and not about their floats, to be judged anew."""
    value = claim.claimed
    if isinstance(value, Real) and value.fraction is not None:
        value = real(repr(float(value.fraction)))
    return replace(claim, mechanism=case.mechanism, at=case.at, claimed=value)


def described(sighting: Sighting) -> str:
    """The sighting in one line: what was said, the certified truth, and the call."""
    if sighting.failure is not None:
        return visible(f"{sighting.failure.reason}: {sighting.failure.call}")
    assert sighting.finding is not None
    finding = sighting.finding
    claim = finding.claim
    return visible(
        f"{finding.verdict}, {finding.grade}: {claim.mechanism}: {claim.statement}, "
        f"but it is {finding.enclosure.shown(8)}"
        + (f", relative error {finding.relative_error.shown(2)}" if finding.relative_error else "")
        + f": {sighting.claim.source if sighting.claim else claim.source}"
    )
