"""The audit of many claims: each on its own, on any executor, reported in input order."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TypeAlias

from dpexact.arguments import digits_in, integer_in
from dpexact.audits.claims import Claim
from dpexact.audits.journal import Journal
from dpexact.audits.judging import Judges, judge_in_child
from dpexact.audits.reading import read_claims
from dpexact.audits.records import Record
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import (
    GRADES,
    VERDICTS,
    WRONG,
    Finding,
    Grade,
    Verdict,
    judge,
    unjudged,
)
from dpexact.balls import FLINT_VERSION
from dpexact.errors import InvalidInput

Progress: TypeAlias = Callable[[int, int], None]
"""``progress(done, total)`` is called in the caller's thread after every claim."""

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
        counts: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
        for finding in self.findings:
            counts[finding.verdict] += 1
        return counts

    @property
    def grades(self) -> dict[Grade, int]:
        """The number of claims of each grade, the worst grade first."""
        counts: dict[Grade, int] = dict.fromkeys(GRADES, 0)
        for finding in self.findings:
            counts[finding.grade] += 1
        return counts

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
        jobs: claims judged at a time, each in a process of its own; 1 without a ``timeout`` judges
            in this process.
        executor: any ``concurrent.futures`` executor, as that of a Dask cluster, instead of
            ``jobs``; it is left open.
        timeout: seconds that the judgement of one claim may take; then it is ``undecided``.
        journal: takes every finding as it comes; what it holds already is not judged again.
        progress: called as ``progress(done, total)`` after every claim.
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
    tell(len(listed) - len(missing), len(listed))
    judged = _judged([listed[place] for place in missing], digits, workers, executor, timeout)
    with closing(judged):
        for done, (position, finding) in enumerate(judged, start=1):
            findings[missing[position]] = finding
            if journal is not None:
                journal.write(finding)
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
    elif not isinstance(claims, Iterable):
        raise InvalidInput(f"claims: {claims!r} is neither a claim nor a file nor a list of these")
    found: list[Claim] = []
    for position, item in enumerate(claims, start=1):
        if isinstance(item, Claim):
            found.append(item)
        elif isinstance(item, Mapping):
            found.append(Record.of_mapping(item, f"claim {position}").claim())
        elif isinstance(item, str | os.PathLike):
            found.extend(read_claims(item))
        else:
            raise InvalidInput(f"claim {position}: {item!r} is neither a claim nor a file")
    return found


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
    claims: list[Claim],
    digits: int,
    jobs: int,
    executor: Executor | None,
    timeout: float | None,
) -> Generator[tuple[int, Finding], None, None]:
    """The position of each claim and the finding on it, in the order in which they come."""
    if executor is not None:
        task = judge if timeout is None else partial(judge_in_child, timeout=timeout)
        yield from _on(executor, task, claims, digits)
    elif min(jobs, len(claims)) <= 1 and timeout is None:
        for position, claim in enumerate(claims):
            yield position, judge(claim, digits)
    else:
        with ThreadPoolExecutor(min(jobs, max(len(claims), 1))) as threads, Judges() as judges:
            yield from _on(threads, partial(judges.judge, timeout=timeout), claims, digits)


def _on(
    executor: Executor,
    task: Callable[[Claim, int], Finding],
    claims: list[Claim],
    digits: int,
) -> Iterator[tuple[int, Finding]]:
    places = {executor.submit(task, claim, digits): place for place, claim in enumerate(claims)}
    try:
        for future in as_completed(list(places)):
            place = places.pop(future)
            yield place, _result(claims[place], future, digits)
    finally:
        for future in places:
            future.cancel()


def _result(claim: Claim, future: Future[Finding], digits: int) -> Finding:
    failure = future.exception()
    if failure is None:
        return future.result()
    said = " ".join(str(failure).split())
    return unjudged(claim, digits, f"the worker was lost: {type(failure).__name__}: {said}")
