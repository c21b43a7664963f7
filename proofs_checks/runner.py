"""Running checks: each in a process of its own if asked, compared with what is expected of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from typing import Any

from dpexact.processes import interrupts_held, processes
from proofs_checks.claims import claim
from proofs_checks.coq import formal
from proofs_checks.prover import checker
from proofs_checks.record import recorded
from proofs_checks.registry import check_of
from proofs_checks.verdicts import Result, Verdict, declined


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found about each of its claims, against what was expected.

    ``problem`` is empty if every verdict is the expected one and everything else is as recorded
    (or nothing is recorded yet); ``boxes`` counts those that the proof checker has confirmed.
    """

    name: str
    ids: tuple[str, ...]
    expected: Verdict
    results: dict[str, Result]
    problem: str
    boxes: int
    seconds: float

    @property
    def result(self) -> Result:
        """The result of the first claim, which names the check."""
        return self.results[self.name]

    def to_json(self) -> dict[str, Any]:
        """The outcome for ``--json``."""
        return {
            "ids": list(self.ids),
            "expected": self.expected,
            "claims": [entry(each, result) for each, result in self.results.items()],
            "finding": self.result.finding,
            "as_expected": not self.problem,
            "problem": self.problem,
            "boxes": self.boxes,
            "seconds": round(self.seconds, 3),
        }


def entry(identity: str, result: Result) -> dict[str, Any]:
    """What was found about one claim: the proof record."""
    check = check_of(identity)
    return {
        "id": identity,
        "statement": claim(identity).statement,
        "hash": claim(identity).hash,
        "verdict": result.verdict,
        "strength": result.strength,
        "repair_kind": result.repair_kind,
        "facts": [fact.to_json() for fact in result.evidence],
        "assumes": [] if check is None else list(check.assumes),
    }


def run(
    names: Sequence[str],
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Outcome]:
    """The outcomes of the checks ``names``, in this order; ``jobs`` > 1 spawns processes."""
    progress(0, len(names))
    if jobs == 1 or len(names) < 2:
        found = []
        for name in names:
            found.append(run_one(name))
            progress(len(found), len(names))
        return found
    with processes(min(jobs, len(names))) as pool:
        with interrupts_held():
            futures = [pool.submit(run_one, name) for name in names]
        for done, _ in enumerate(as_completed(futures), start=1):
            progress(done, len(names))
        return [_result(name, future) for name, future in zip(names, futures, strict=True)]


def run_one(name: str) -> Outcome:
    """Run the check of the claim ``name`` and have the checker confirm its interval proofs.

    Raises:
        KeyError: the claim has no check.
    """
    entry = check_of(name)
    if entry is None:
        raise KeyError(name)
    started = time.perf_counter()
    boxes = 0
    try:
        results = {each: _formally(each, one) for each, one in entry.results().items()}
        proofs = [fact.proof for one in results.values() for fact in one.evidence if fact.proof]
        for proof in {id(proof): proof for proof in proofs}.values():
            boxes += checker.check(json.loads(json.dumps(proof)))
    except checker.Rejected as error:
        results = dict.fromkeys(entry.ids, declined(f"the checker rejects a proof: {error}"))
    except Exception as error:  # whatever breaks in one check must not end the run
        why = f"the check broke: {type(error).__name__}: {error}"
        results = dict.fromkeys(entry.ids, declined(why))
    return Outcome(
        name=entry.name,
        ids=entry.ids,
        expected=entry.expects,
        results=results,
        problem=_problem(entry.name, entry.expects, results),
        boxes=boxes,
        seconds=time.perf_counter() - started,
    )


def _formally(identity: str, result: Result) -> Result:
    """The result, ``formal`` where coqc has accepted the typed statement itself."""
    holds = result.verdict in ("proved", "repaired")
    return replace(result, strength="formal") if holds and formal(identity) else result


def _result(name: str, future: Future[Outcome]) -> Outcome:
    failure = future.exception()
    entry = check_of(name)
    if failure is None or entry is None:
        return future.result()
    lost = declined(f"the worker was lost: {type(failure).__name__}: {failure}")
    results = dict.fromkeys(entry.ids, lost)
    problem = _problem(entry.name, entry.expects, results)
    return Outcome(entry.name, entry.ids, entry.expects, results, problem, 0, 0.0)


def _problem(name: str, expected: Verdict, results: dict[str, Result]) -> str:
    for identity, result in results.items():
        if result.verdict != expected:
            where = "" if identity == name else f"{identity}: "
            return f"{where}expected {expected}, found {result.verdict}: {result.finding}"
        before = recorded(identity)
        if before is None:
            continue
        if before["hash"] != claim(identity).hash:
            return f"the statement of {identity} has changed since the record"
        if before["strength"] != result.strength:
            return f"{identity} was {before['strength']} in the record, now {result.strength}"
        if before["finding"] != result.finding:
            return f"the finding differs from the record, which says: {before['finding']}"
    return ""
