"""The search: vary cases, ask, judge within time limits, and simplify what is certified wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dpexact.arguments import integer_in
from dpexact.audits import workloads
from dpexact.audits.accountants import (
    Interview,
    Limits,
    NoAnswer,
    call_of,
    find,
    questions_for,
)
from dpexact.audits.accountants.registry import Accountant
from dpexact.audits.claims import Claim
from dpexact.audits.hunt.numbers import simpler, variation
from dpexact.audits.hunt.sightings import Sighting, in_decimals, shape, sighting_of
from dpexact.audits.judging import Judges
from dpexact.audits.runs import AccountantRun, Failure
from dpexact.audits.verdicts import Finding
from dpexact.audits.workloads import Case
from dpexact.errors import InvalidInput

#: Seconds that an accountant has for one answer, and the certified truth for one claim.
ASK_LIMIT: Final = 5.0
JUDGE_LIMIT: Final = 3.0
#: Certified digits of the verdicts during the search.
DIGITS: Final = 10
#: Cases asked while one sighting is simplified, and the share of all the time that may take.
_MOST_SIMPLER: Final = 150
#: Cases drawn at random for each that is asked.
_DRAWN: Final = 3
_SHARE: Final = 0.15


@dataclass(slots=True)
class Hunted:
    """What a hunt found: one sighting of each label, simplified, and how much was looked at."""

    accountant: str
    sightings: list[Sighting] = field(default_factory=list)
    met: dict[int, int] = field(default_factory=dict)
    asked: int = 0
    judged: int = 0
    undecided: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    python: str = ""
    platform: dict[str, str] = field(default_factory=dict)

    def put_worst_first(self) -> None:
        """Order the sightings: grossly wrong ones first, and of these noise last."""
        ranks = {
            place: (sighting.is_noise, -sighting.weight, sighting.finding is None)
            for place, sighting in enumerate(self.sightings)
        }
        places = sorted(ranks, key=ranks.__getitem__)
        self.met = {new: self.met[old] for new, old in enumerate(places)}
        self.sightings = [self.sightings[place] for place in places]

    @property
    def claims(self) -> list[Claim]:
        """The wrong claims, the worst first; the source of each says what it was computed on."""
        where = self.run.computed_on
        return [
            replace(claim, source="; ".join(filter(None, (claim.source, where))))
            for claim in (sighting.claim for sighting in self.sightings)
            if claim is not None
        ]

    @property
    def run(self) -> AccountantRun:
        """The hunt as an accountant's run of an audit: its failures, and how much it was asked."""
        failures = tuple(s.failure for s in self.sightings if s.failure is not None)
        return AccountantRun(
            self.accountant,
            self.versions,
            self.python,
            asked=self.asked,
            failures=failures,
            seconds=self.seconds,
            platform=self.platform,
        )


def hunt(
    accountant: str,
    workload_names: Sequence[str] = (),
    seed: int = 0,
    seconds: float = 60.0,
    progress: Callable[[int, int], None] | None = None,
    *,
    python: str = "",
    memory: int | None = None,
) -> Hunted:
    """Search for about ``seconds`` for certified wrong answers of ``accountant``, and its failures.

    Cases of the workloads (all built-in ones if none is named) are varied at random from ``seed``.
    A case whose truth is not certified within :data:`JUDGE_LIMIT` counts as undecided. What is
    grossly or visibly wrong, or crashes, is simplified to fewer parts and steps and rounder
    numbers, with the same verdict and an error of the same weight, and asked again with numpy's
    vector instructions switched off; if it is wrong there too, all its simplifications are.
    Roundings, values outside their domain, refusals and answers that take too long are kept once
    each.

    Args:
        accountant: the name of a registered accountant.
        workload_names: built-in workloads, or YAML files.
        seed: of the variations.
        seconds: the hunt ends at the first answer after them.
        progress: called as ``progress(seconds done, seconds in all)``.
        python: the interpreter that has the package; this one if empty.
        memory: MiB that the accountant may use.

    Raises:
        InvalidInput: an unknown name or an absent package, or no case that the accountant answers.
    """
    if not seconds > 0:
        raise InvalidInput(f"seconds: {seconds} is not accepted; must be > 0")
    chance = random.Random(integer_in(seed, "seed", 0, 2**63))
    registered = find(accountant)
    cases = _answered(registered.accountant, workload_names or workloads.names())
    found = Hunted(accountant)
    limits = Limits(ASK_LIMIT, memory)
    with (
        Interview(registered, python, limits) as interview,
        Interview(registered, python, limits, _without_vectors(interview)) as elsewhere,
        Judges() as judges,
    ):
        found.python, found.versions = python, interview.versions
        found.platform = interview.platform
        started = time.monotonic()
        search = _Search(interview, elsewhere, judges, found, started + seconds)
        while (spent := time.monotonic() - started) < seconds:
            if progress:
                progress(int(spent), int(seconds))
            drawn = chance.sample(cases, min(_DRAWN, len(cases)))
            base = min(drawn, key=search.burden)
            quick = search.try_case(variation(base, chance), _SHARE * seconds)
            if not quick and len(cases) > 1:
                cases.remove(base)  # what is near it would cost as much time
        found.seconds = time.monotonic() - started
    found.put_worst_first()
    return found


def _without_vectors(interview: Interview) -> dict[str, str]:
    """The variables that switch off the vector instructions which numpy chose there."""
    interview.open()
    return {"NPY_DISABLE_CPU_FEATURES": interview.platform.get("vectors", "")}


class _Search:
    def __init__(
        self,
        interview: Interview,
        elsewhere: Interview,
        judges: Judges,
        found: Hunted,
        end: float,
    ) -> None:
        self._interview = interview
        self._elsewhere = elsewhere
        self._judges = judges
        self._found = found
        self._end = end
        #: Labels met so far, each with the sighting that stands for it.
        self._known: dict[object, int] = {}
        #: Of each shape of mechanism, whether a violation is known, and the seconds it took last.
        self._burdens: dict[str, tuple[bool, float]] = {}

    def burden(self, case: Case) -> tuple[bool, float]:
        """What to prefer cases by: those without a known violation, then those that are quick."""
        return self._burdens.get(shape(case.mechanism), (False, 0.0))

    def try_case(self, case: Case, patience: float) -> bool:
        """Ask one case, and keep and simplify what is wrong with the answer if that is new.

        False if the answer did not come in time.
        """
        started = time.monotonic()
        sightings = self._examined(case)
        found = (sighting.finding for sighting in sightings)
        convicted = self.burden(case)[0] or any(each and each.guilty for each in found)
        self._burdens[shape(case.mechanism)] = convicted, time.monotonic() - started
        for sighting in sightings:
            if sighting.label not in self._known:
                seen = self._with_elsewhere(sighting)
                least = self._simplest(seen, min(time.monotonic() + patience, self._end))
                place = self._known.get(least.label)
                if place is None:
                    place = len(self._found.sightings)
                    self._found.sightings.append(self._readable(least))
                self._known[least.label] = self._known[sighting.label] = place
            place = self._known[sighting.label]
            self._found.met[place] = self._found.met.get(place, 0) + 1
        return not any(sighting.is_slow for sighting in sightings)

    def _simplest(self, sighting: Sighting, end: float) -> Sighting:
        """Walk to simpler cases as long as one of them shows the same, no less."""
        left = _MOST_SIMPLER if sighting.weight and not sighting.is_noise else 0
        found = True
        while found:
            found = False
            for case in simpler(sighting.case):
                left -= 1
                if left < 0 or time.monotonic() > end:
                    return sighting
                for other in self._examined(case):
                    if other.sort != sighting.sort or other.weight < sighting.weight:
                        continue
                    seen = self._with_elsewhere(other)
                    if not seen.is_noise:
                        sighting, found = seen, True
                        break
                if found:
                    break
        return sighting

    def _with_elsewhere(self, sighting: Sighting) -> Sighting:
        """The sighting with what the accountant says without numpy's vector instructions."""
        if sighting.finding is None or not sighting.weight:
            return sighting
        [question], _ = questions_for(self._interview.accountant, [sighting.case])
        try:
            claims = self._elsewhere.claims(question)
        except NoAnswer:
            return sighting
        [same] = [claim for claim in claims if claim.kind == sighting.finding.claim.kind]
        return replace(sighting, elsewhere=self._judges.judge(same, DIGITS, JUDGE_LIMIT))

    def _examined(self, case: Case) -> list[Sighting]:
        """What is wrong with the accountant's answer to ``case``."""
        accountant = self._interview.accountant
        questions, _ = questions_for(accountant, [case])
        seen: list[Sighting | None] = []
        for question in questions:
            self._found.asked += 1
            try:
                claims = self._interview.claims(question)
            except NoAnswer as error:
                failure = Failure(
                    str(case), call_of(accountant, question), str(error), error.refused
                )
                return [Sighting(case, failure=failure)]
            seen += [sighting_of(case, self._judged(claim)) for claim in claims]
        return [sighting for sighting in seen if sighting is not None]

    def _judged(self, claim: Claim) -> Finding:
        """The finding on ``claim``, undecided where the truth takes too long."""
        finding = self._judges.judge(claim, DIGITS, JUDGE_LIMIT)
        self._found.judged += 1
        self._found.undecided += finding.verdict == "undecided"
        return finding

    def _readable(self, sighting: Sighting) -> Sighting:
        """The claim in short decimals, if it is wrong in them too; else in exact binary values."""
        if sighting.finding is None:
            return sighting
        finding = self._judged(in_decimals(sighting.finding.claim, sighting.case))
        if finding.verdict != sighting.finding.verdict:
            return sighting
        return replace(sighting, finding=finding)


def _answered(accountant: Accountant, names: Iterable[str]) -> list[Case]:
    """The cases of the workloads that ``accountant`` answers."""
    grids = [workloads.load(name) for name in dict.fromkeys(names)]
    cases = list(dict.fromkeys(case for grid in grids for case in grid.cases))
    questions, _ = questions_for(accountant, cases)
    if not questions:
        raise InvalidInput(f"workload: {accountant.name} answers none of the {len(cases)} cases")
    return [question.case for question in questions]
