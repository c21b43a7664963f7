"""Sightings: what is wrong with an accountant's answer to one case, and what counts as the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from dpexact.audit.claims import Claim
from dpexact.audit.runs import Failure
from dpexact.audit.verdicts import WRONG, Finding
from dpexact.audit.workloads import Case
from dpexact.mechanisms import Composition, Mechanism, Poisson, Repetition
from dpexact.reals import Real, real
from dpexact.visible import visible

#: Certified relative errors from which on a violation is no mere rounding, and is gross.
_VISIBLE: Final = Fraction(1, 10**9)
_GROSS: Final = Fraction(1, 100)
#: A claim of 0 is a mere rounding of what is smaller than this.
_UNDERFLOW: Final = Fraction(1, 10**300)
_ZERO: Final = real(0)

Sort: TypeAlias = tuple[str, str, str]
"""Quantity, kind of claim, and verdict or the reason of a failure."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A certified wrong claim, or a failure to answer; exactly one of the two is there."""

    case: Case
    finding: Finding | None = None
    failure: Failure | None = None

    @property
    def sort(self) -> Sort:
        """What a simpler sighting must share."""
        if self.finding is not None:
            return self.case.quantity, self.finding.claim.kind, self.finding.verdict
        assert self.failure is not None
        return self.case.quantity, "failure", self.failure.reason.split(":")[0]

    @property
    def weight(self) -> int:
        """0 for a wrong rounding, 1 where the error is visible, 2 where it is gross or absolute."""
        if self.finding is None or self.finding.relative_error is None:
            return 2
        if self.finding.claim.claimed == _ZERO and self.finding.enclosure.upper < _UNDERFLOW:
            return 0
        error = self.finding.relative_error
        least = error.lower if error.lower > 0 else -error.upper
        return int(least >= _VISIBLE) + int(least >= _GROSS)

    @property
    def label(self) -> tuple[str, Sort, int]:
        """Sightings of one label are reported once; wrong roundings whatever the mechanism."""
        return shape(self.case.mechanism) if self.weight else "", self.sort, self.weight

    @property
    def claim(self) -> Claim | None:
        """The wrong claim, with its verdict as the expectation."""
        if self.finding is None:
            return None
        return replace(self.finding.claim, expect=self.finding.verdict)


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
        f"{finding.verdict}: {claim.mechanism}: {claim.statement}, "
        f"but it is {finding.enclosure.shown(8)}"
        + (f", relative error {finding.relative_error.shown(2)}" if finding.relative_error else "")
        + f": {claim.source}"
    )
