"""Asking every release that is installed, and judging what it answers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Final

import dpexact
from dpexact.audits import workloads
from dpexact.audits.accountants import Interview, Limits, Question, find, names, questions_for
from dpexact.audits.accountants.registry import Registered
from dpexact.audits.claims import Claim
from dpexact.audits.journal import Journal
from dpexact.audits.live import answered
from dpexact.audits.runner import audit
from dpexact.audits.runs import AccountantRun
from dpexact.audits.scoreboard.rows import Row, Scoreboard, counted, tightness, worst_grade
from dpexact.audits.verdicts import Finding
from dpexact.audits.workloads import Case
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism

_KINDS: Final = {
    "gaussian": "Gaussian",
    "gdp": "Gaussian",
    "laplace": "Laplace",
    "discrete_laplace": "integer noise",
    "discrete_gaussian": "integer noise",
    "approx_dp": "guarantees",
    "pure_dp": "guarantees",
}


def family(mechanism: Mechanism) -> str:
    """The family of ``mechanism``, however often it runs; ``mixed`` where there are several.

    >>> from dpexact import parse
    >>> family(parse("poisson(gaussian(1), 1/10)^100")), family(parse("gaussian(1) * laplace(2)"))
    ('samples of Gaussian', 'mixed')
    """
    kinds = {_kind(step) for step in mechanism.steps()}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _kind(step: Mechanism) -> str:
    for parameter in fields(step):
        inner = getattr(step, parameter.name)
        if isinstance(inner, Mechanism):
            return f"samples of {family(inner)}"
    return _KINDS.get(step.name, step.name)


@dataclass(slots=True)
class _Asked:
    """What became of the cases of one family."""

    claims: list[Claim] = field(default_factory=list)
    unsupported: int = 0
    failed: int = 0
    unasked: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Release:
    """One release, and its families."""

    accountant: str
    release: str
    platform: str
    families: dict[str, _Asked]


def scoreboard(
    accountants: Iterable[str] = (),
    workload_names: Iterable[str] = (),
    *,
    pythons: Sequence[str] = (),
    history: Scoreboard | None = None,
    limits: Limits | None = None,
    accountant_timeout: float | None = None,
    digits: int = 15,
    jobs: int = 1,
    timeout: float | None = None,
    journal: Journal | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scoreboard:
    """Ask accountants the cases of workloads, judge their claims, and tabulate both.

    Args:
        accountants: names of registered accountants; every one if empty. Those whose package is
            absent or broken everywhere leave no row.
        workload_names: built-in workloads, or YAML files; every built-in one if empty.
        pythons: further interpreters, with other releases; each accountant is asked in all of them.
        history: an older scoreboard, whose rows stay where nothing replaces them.
        limits: of each answer.
        accountant_timeout: seconds for all answers of one release; what is left then is not asked.
        digits: certified digits asked for.
        jobs: how many are asked, or judged, at a time, each in a process of its own.
        timeout: seconds that the judgement of one claim may take.
        journal: takes every answer and finding as it comes; what it holds is not asked again.
        progress: called as ``progress(done, total)`` after every claim that was judged.

    Raises:
        InvalidInput: an unknown name, or no accountant works in any interpreter.
    """
    grids = [workloads.load(name) for name in workload_names or workloads.names()]
    cases = list(dict.fromkeys(case for grid in grids for case in grid.cases))
    whom = [find(name) for name in accountants] or list(_all_that_load())
    interviews = [Interview(one, python, limits) for one in whom for python in ("", *pythons)]
    patience = math.inf if accountant_timeout is None else accountant_timeout
    with ThreadPoolExecutor(jobs) as pool:
        asked = list(pool.map(lambda one: _asked(one, cases, patience, journal), interviews))
    releases = {(one.accountant, one.release): one for one in reversed(asked) if one is not None}
    if not releases:
        raise InvalidInput("accountant: none works in any of the interpreters")
    tables = [table for one in releases.values() for table in one.families.values()]
    claims = [claim for table in tables for claim in table.claims]
    report = audit(claims, digits, jobs=jobs, timeout=timeout, journal=journal, progress=progress)
    findings = iter(report.findings)
    today = datetime.now(UTC).date().isoformat()
    rows = [
        _row(one, name, table, [next(findings) for _ in table.claims], today)
        for one in releases.values()
        for name, table in one.families.items()
    ]
    names_asked = dict.fromkeys(grid.name for grid in grids)
    if history is not None:
        rows = [*history.rows, *rows]
        names_asked |= dict.fromkeys(history.workloads)
    return Scoreboard.of(rows, sorted(names_asked))


def _all_that_load() -> Iterator[Registered]:
    for name in names():
        with suppress(InvalidInput):
            yield find(name)


def _asked(
    interview: Interview, cases: Sequence[Case], patience: float, journal: Journal | None
) -> _Release | None:
    """What one release answered within ``patience`` seconds; None where it does not work."""
    families: defaultdict[str, _Asked] = defaultdict(_Asked)
    with interview:
        try:
            interview.open()
        except InvalidInput:
            return None
        questions, skipped = questions_for(interview.accountant, cases)
        for skip in skipped:
            families[family(skip.case.mechanism)].unsupported += 1
        spent = 0.0
        for name, question in _by_turns(questions):
            table = families[name]
            if spent > patience:
                table.unasked += 1
                continue
            answer = answered(interview, question, journal)
            table.claims += answer.claims
            table.failed += answer.failure is not None
            table.seconds += answer.seconds
            spent += answer.seconds
        release = " ".join(f"{name} {number}" for name, number in interview.versions.items())
        computed_on = AccountantRun(interview.name, platform=interview.platform).computed_on
    return _Release(interview.name, release, computed_on, families)


def _by_turns(questions: Iterable[Question]) -> list[tuple[str, Question]]:
    """The questions with their families, one of each family after another.

    No family is left out alone where time is short.
    """
    turns: Counter[str] = Counter()
    ordered = []
    for question in questions:
        name = family(question.case.mechanism)
        turns[name] += 1
        ordered.append((turns[name], name, question))
    ordered.sort(key=lambda each: each[0])
    return [(name, question) for _, name, question in ordered]


def _row(
    release: _Release, name: str, table: _Asked, findings: Sequence[Finding], date: str
) -> Row:
    right, wrong = counted(findings)
    median, most = tightness(findings)
    return Row(
        accountant=release.accountant,
        release=release.release,
        family=name,
        claims=len(findings),
        right=right,
        wrong=wrong,
        worst=worst_grade(findings),
        median=median,
        most=most,
        unsupported=table.unsupported,
        failed=table.failed,
        unasked=table.unasked,
        seconds=round(table.seconds, 3),
        platform=release.platform,
        date=date,
        judge=dpexact.__version__,
    )
