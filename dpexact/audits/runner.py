"""The audit of many claims: each on its own, on any executor, reported in input order."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from queue import SimpleQueue
from typing import Final, TypeAlias

from dpexact.arguments import digits_in, integer_in
from dpexact.audits.batches import Chunk, Plan, chunks
from dpexact.audits.claims import Claim
from dpexact.audits.journal import Journal
from dpexact.audits.judging import Judges, judged_batch
from dpexact.audits.reading import read_claims
from dpexact.audits.records import Record
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding, judge_together, unjudged
from dpexact.balls import FLINT_VERSION
from dpexact.comparison import GRADES, VERDICTS, WRONG, Grade, Verdict
from dpexact.errors import InvalidInput
from dpexact.tokens import quoted

#: Tasks that wait at a time in an executor of others, whose workers nobody counts.
AT_ONCE: Final = 256

Progress: TypeAlias = Callable[[int, int], None]
"""``progress(done, total)`` is called in the caller's thread after every claim."""

Found: TypeAlias = Callable[[int, Finding], None]
"""``found(place, finding)`` is called in the caller's thread with every finding."""

ClaimLike: TypeAlias = Claim | Mapping[str, object] | str | os.PathLike[str]
"""A claim, a mapping with the keys of the claims file, or the path of a claims file."""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one audit, in the order of the claims, and how they came about.

    ``versions`` names the software that judged, ``accountants`` the packages that were judged, and
    ``runs`` what became of asking them where they were asked live.
    ``started`` is UTC in ISO 8601; ``digits`` were asked for before any claim needed more.
    A ``strict`` report convicts claims that are wrong by a rounding or invalid too.
    """

    findings: tuple[Finding, ...]
    versions: dict[str, str]
    command: str
    started: str
    seconds: float
    digits: int
    accountants: tuple[str, ...] = ()
    runs: tuple[AccountantRun, ...] = ()
    strict: bool = False

    @property
    def summary(self) -> dict[Verdict, int]:
        """The number of claims of each verdict, the worst verdict first."""
        counts = Counter(finding.verdict for finding in self.findings)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def grades(self) -> dict[Grade, int]:
        """The number of claims of each grade, the worst grade first."""
        counts = Counter(finding.grade for finding in self.findings)
        return {grade: counts[grade] for grade in GRADES}

    def convicts(self, finding: Finding) -> bool:
        """Whether the audit fails for this claim."""
        lesser = self.strict and finding.grade in ("rounding", "invalid")
        return finding.verdict in WRONG and (finding.guilty or lesser)

    @property
    def expectations(self) -> tuple[int, int]:
        """How many verdicts are as expected, and how many were expected at all."""
        outcomes = [finding.as_expected for finding in self.findings]
        return outcomes.count(True), len(outcomes) - outcomes.count(None)

    @property
    def exit_code(self) -> int:
        """1 if a claim is convicted; 3 if one is undecided or an answer failed; else 0."""
        if any(map(self.convicts, self.findings)):
            return 1
        failed = any(run.failed for run in self.runs)
        return 3 if failed or self.summary["undecided"] else 0


def audit(
    claims: ClaimLike | Iterable[ClaimLike],
    digits: int = 15,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    timeout: float | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    found: Found | None = None,
    command: str = "",
    runs: Iterable[AccountantRun] = (),
    strict: bool = False,
    started: datetime | None = None,
) -> Report:
    """Judge ``claims`` and report the findings in input order.

    Args:
        claims: claims, mappings with the keys of the claims file (where a float means its exact
            binary value), paths of claims files, or a mix; or one of these.
        digits: certified digits asked for; claims closer to the truth get more.
        jobs: processes that judge at a time; 1 without a ``timeout`` judges in this one.
        executor: any ``concurrent.futures`` executor, as that of a Dask cluster, instead of
            ``jobs``; it is left open.
        timeout: seconds of the processor that the judgement of one claim may take; then it is
            ``undecided``.
        journal: takes every finding as it comes; what it holds already is not judged again.
        progress: called as ``progress(done, total)`` after every claim.
        found: called as ``found(place, finding)`` with every finding as it comes, those of the
            journal first; places count from 0.
        command: the command line to show in the report.
        runs: what became of asking the accountants that made the claims, for the report.
        strict: let the report convict claims that are wrong by a rounding or invalid too.
        started: when the audit began, where accountants were asked before.

    Raises:
        InvalidInput: a claim or an argument is not acceptable; nothing is judged then.

    >>> report = audit({"mechanism": "gaussian(1)", "claims": "delta", "epsilon": 1,
    ...                 "delta": "0.127", "kind": "upper"})
    >>> report.findings[0].verdict, report.exit_code
    ('sound', 0)
    """
    listed = collect(claims)
    digits_in(digits)
    if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
        raise InvalidInput(
            f"timeout: {timeout} is not accepted; use seconds > 0, or None for no limit"
        )
    workers = integer_in(jobs, "jobs", 1, 1024)
    now, clock = datetime.now(UTC), time.perf_counter()
    begun = now if started is None else started
    findings = [journal.take(claim) if journal is not None else None for claim in listed]
    missing = [place for place, finding in enumerate(findings) if finding is None]
    tell = progress or (lambda done, total: None)
    give = found or (lambda place, finding: None)
    for place, known in enumerate(findings):
        if known is not None:
            give(place, known)
    tell(len(listed) - len(missing), len(listed))
    judged = _judged([listed[place] for place in missing], digits, workers, executor, timeout)
    with closing(judged):
        for done, (position, finding) in enumerate(judged, start=1):
            findings[missing[position]] = finding
            if journal is not None:
                journal.write(finding)
            give(missing[position], finding)
            tell(len(listed) - len(missing) + done, len(listed))
    return Report(
        findings=tuple(finding for finding in findings if finding is not None),
        versions=versions(),
        command=command,
        started=begun.isoformat(timespec="seconds"),
        seconds=(now - begun).total_seconds() + time.perf_counter() - clock,
        digits=digits,
        accountants=tuple(sorted({claim.accountant for claim in listed} - {""})),
        runs=tuple(runs),
        strict=strict,
    )


def collect(claims: ClaimLike | Iterable[ClaimLike]) -> list[Claim]:
    """The claims of ``claims``, with files read and mappings checked.

    Raises:
        InvalidInput: naming the file and line, or the position in the list.
    """
    if isinstance(claims, Claim | Mapping | str | os.PathLike):
        claims = (claims,)
    try:
        items = list(claims)
    except TypeError:
        shown = quoted(claims)
        raise InvalidInput(
            f"claims: {shown} is neither a claim nor a file nor a list of these"
        ) from None
    listed: list[Claim] = []
    for position, item in enumerate(items, start=1):
        if isinstance(item, Claim):
            listed.append(item)
        elif isinstance(item, Mapping):
            listed.append(Record.of_mapping(item, f"claim {position}").claim())
        elif isinstance(item, str | os.PathLike):
            listed.extend(read_claims(item))
        else:
            raise InvalidInput(f"claim {position}: {quoted(item)} is neither a claim nor a file")
    return listed


def versions() -> dict[str, str]:
    """The versions of what judges: dpexact, Python, python-flint and FLINT."""
    from dpexact import __version__

    return {
        "dpexact": __version__,
        "python": platform.python_version(),
        "python-flint": version("python-flint"),
        "flint": FLINT_VERSION,
    }


def _judged(
    claims: Sequence[Claim],
    digits: int,
    jobs: int,
    executor: Executor | None,
    timeout: float | None,
) -> Generator[tuple[int, Finding], None, None]:
    """The position of each claim and the finding on it, in the order in which they come."""
    if executor is not None:
        yield from _on(executor, claims, digits, timeout)
    elif min(jobs, len(claims)) <= 1 and timeout is None:
        for chunk in chunks(claims):
            found = judge_together([claims[place] for place in chunk], digits)
            yield from zip(chunk, found, strict=True)
    else:
        yield from _in_children(claims, digits, min(jobs, len(claims)), timeout)


def _in_children(
    claims: Sequence[Claim], digits: int, jobs: int, timeout: float | None
) -> Iterator[tuple[int, Finding]]:
    """By child processes, each of which is asked by a thread."""
    plan = Plan(claims)
    results: SimpleQueue[tuple[int, Finding] | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            while batch := plan.take():
                found = judges.together(_claims(claims, batch), digits, timeout)
                for place, finding in zip(chain.from_iterable(batch), found, strict=True):
                    plan.learn([finding.seconds])
                    results.put((place, finding))
        except BaseException as error:
            results.put(error)

    with ThreadPoolExecutor(max(jobs, 1)) as threads, Judges() as judges:
        try:
            for _ in range(jobs):
                threads.submit(work)
            for _ in claims:
                result = results.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            plan.stop()


def _on(
    executor: Executor, claims: Sequence[Claim], digits: int, timeout: float | None
) -> Iterator[tuple[int, Finding]]:
    """By tasks of ``executor``, of which some wait at a time so that none of its workers does.

    Claims of a task that is lost are given out again, each on its own; one that is lost on its own
    is undecided.
    """
    plan = Plan(claims)
    waiting: dict[Future[list[Finding]], list[Chunk]] = {}
    try:
        while True:
            while len(waiting) < AT_ONCE and (batch := plan.take()):
                task = executor.submit(judged_batch, _claims(claims, batch), digits, timeout)
                waiting[task] = batch
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                batch = waiting.pop(future)
                places = [place for chunk in batch for place in chunk]
                failure = future.exception()
                if failure is None:
                    findings = future.result()
                    plan.learn(finding.seconds for finding in findings)
                    yield from zip(places, findings, strict=True)
                elif len(places) > 1:
                    plan.put_back(batch)
                else:
                    yield places[0], unjudged(claims[places[0]], digits, _lost(failure))
    finally:
        for future in waiting:
            future.cancel()


def _claims(claims: Sequence[Claim], batch: Sequence[Chunk]) -> list[list[Claim]]:
    return [[claims[place] for place in chunk] for chunk in batch]


def _lost(failure: BaseException) -> str:
    said = " ".join(str(failure).split())
    return f"the worker was lost: {type(failure).__name__}: {said}"
