"""Live audits: run accountants on workloads, and collect what they claim and where they fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from dpexact.arguments import integer_in
from dpexact.audits import workloads
from dpexact.audits.accountants import (
    Interview,
    Limits,
    NoAnswer,
    Question,
    call_of,
    find,
    names,
    python_for,
    questions_for,
)
from dpexact.audits.claims import Claim
from dpexact.audits.journal import Answer, Journal
from dpexact.audits.runs import AccountantRun, Failure, Skip
from dpexact.audits.workloads import Case
from dpexact.errors import InvalidInput

#: In place of a name: every registered accountant, the absent ones reported.
ALL: Final = "all"
#: Of more accountants that do not work the reasons are not listed in one line.
MOST_REASONS: Final = 3


def ask(
    accountants: Sequence[str],
    asked: Sequence[str | Case],
    progress: Callable[[int, int], None] | None = None,
    *,
    pythons: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    jobs: int = 1,
    journal: Journal | None = None,
) -> tuple[list[Claim], tuple[AccountantRun, ...]]:
    """The claims of the named accountants on workloads or cases, and what became of asking them.

    Claims and runs stand in the order of the names and of the cases, whatever the ``jobs``.

    Args:
        accountants: names of registered accountants (see ``dpexact accountants``), or ``"all"``.
        asked: names of built-in workloads, YAML files, or cases themselves.
        progress: called as ``progress(done, total)`` after every answer, never twice at once.
        pythons: interpreters by accountant; the one under ``""`` is for all others.
        limits: of each answer.
        jobs: how many accountants are asked at once, each in a process of its own.
        journal: takes every answer as it comes; what it holds already is not asked again.

    Raises:
        InvalidInput: an unknown name, or a package that is absent or broken although it was named;
            nobody has been asked then. Or no accountant works at all.
    """
    jobs = integer_in(jobs, "jobs", 1, 1024)
    listed = [find(name) for name in dict.fromkeys(accountants) if name != ALL]
    grids = [[x] if isinstance(x, Case) else workloads.load(x).cases for x in dict.fromkeys(asked)]
    cases = list(dict.fromkeys(case for grid in grids for case in grid))
    python = dict(pythons or {})
    for name in python:
        if name:
            find(name)
    interviews = [Interview(found, python_for(found.name, python), limits) for found in listed]
    runs: list[AccountantRun] = []
    try:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(Interview.open, interviews))
        if ALL in accountants:
            named = {interview.name for interview in interviews}
            for name in names():
                if name in named:
                    continue
                try:
                    interviews.append(Interview(find(name), python_for(name, python), limits))
                except InvalidInput as error:
                    runs.append(
                        AccountantRun(name, python=python_for(name, python), reason=str(error))
                    )
        counter = _Counter(progress)
        tables = [_Table(interview, cases, counter, journal) for interview in interviews]
        with ThreadPoolExecutor(jobs) as pool:
            try:
                outcomes = list(pool.map(_Table.filled, tables))
            except BaseException:
                for table in tables:
                    table.stop()
                raise
    finally:
        for interview in interviews:
            interview.close()
    # those whose adapter does not load stand first so far
    order = [*(found.name for found in listed), *names()]
    runs = sorted([*runs, *(run for _, run in outcomes)], key=lambda run: order.index(run.name))
    if all(run.reason for run in runs):
        if len(runs) > MOST_REASONS:
            raise InvalidInput(
                f"accountant: none of {len(runs)} works here, and 'dpexact accountants' says why; "
                'pip install "dpexact[accountants]" brings most, --python names a Python with them'
            )
        reasons = "; ".join(run.reason for run in runs)
        raise InvalidInput(f"accountant: none works here: {reasons}")
    return [claim for claims, _ in outcomes for claim in claims], tuple(runs)


class _Counter:
    """Counts answers of all threads."""

    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._done = self._total = 0

    def add(self, done: int = 0, total: int = 0) -> None:
        with self._lock:
            self._done += done
            self._total += total
            if self._progress and done:
                self._progress(self._done, self._total)


class _Table:
    """One accountant and all that it is asked."""

    def __init__(
        self,
        interview: Interview,
        cases: list[Case],
        counter: _Counter,
        journal: Journal | None,
    ) -> None:
        self._interview, self._counter, self._journal = interview, counter, journal
        self._questions, self._skipped = questions_for(interview.accountant, cases)
        self._stopped = False
        counter.add(total=len(self._questions))

    def stop(self) -> None:
        """Ask nothing more, and end what is being answered."""
        self._stopped = True
        self._interview.close()

    def filled(self) -> tuple[list[Claim], AccountantRun]:
        """Ask every question."""
        claims: list[Claim] = []
        failures: list[Failure] = []
        interview, clock = self._interview, time.perf_counter()
        reason = ""
        try:
            interview.open()
        except InvalidInput as error:
            reason = str(error)
        for question in self._questions:
            if self._stopped:
                break
            if not reason:
                answer = answered(interview, question, self._journal, lambda: self._stopped)
                claims += answer.claims
                failures += [answer.failure] if answer.failure else []
            self._counter.add(done=1)
        interview.close()
        run = AccountantRun(
            name=interview.name,
            versions=interview.versions,
            python=interview.python,
            asked=0 if reason else len(self._questions),
            skipped=() if reason else tuple(Skip(str(s.case), s.reason) for s in self._skipped),
            failures=tuple(failures),
            seconds=time.perf_counter() - clock,
            reason=reason,
            platform=interview.platform,
        )
        return claims, run


def answered(
    interview: Interview,
    question: Question,
    journal: Journal | None,
    stopped: Callable[[], bool] = lambda: False,
) -> Answer:
    """The answer to ``question``, from the journal if it has it; one that was ``stopped`` is not

    written there.
    """
    software = [interview.versions, interview.platform, interview.python]
    key = json.dumps([interview.name, *software, question.query], sort_keys=True)
    known = journal.answer(key) if journal else None
    if known is not None:
        return known
    started = time.perf_counter()
    claims: tuple[Claim, ...] = ()
    failure = None
    try:
        claims = tuple(interview.claims(question))
    except NoAnswer as error:
        call = call_of(interview.accountant, question)
        failure = Failure(str(question.case), call, str(error), error.refused)
    answer = Answer(claims, failure, time.perf_counter() - started)
    if journal and not stopped():
        journal.write_answer(key, answer)
    return answer
