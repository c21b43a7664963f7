"""The installed accountants on the run of a form, judged one by one as their answers come."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final

from anyio import CancelScope, CapacityLimiter, create_task_group, to_thread

from dpexact.arguments import direction_in
from dpexact.audits.accountants import Interview, Limits, NoAnswer, find, names, questions_for
from dpexact.audits.claims import number_text
from dpexact.audits.judging import Judges
from dpexact.audits.reports.wording import error_text
from dpexact.audits.verdicts import Finding, tightest_first
from dpexact.audits.workloads import Case
from dpexact.comparison import RIGHT, WRONG
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import parse
from dpexact.serve.parts import rendered
from dpexact.visible import visible

#: What each accountant may use for its answer, and the seconds of a judgement.
LIMITS: Final = Limits(seconds=60.0, memory=8192)
PATIENCE: Final = 120.0
_DIGITS: Final = 15


class Bench:
    """Accountants before the judges, all about one case; from several threads.

    Args:
        question: what :func:`dpexact.serve.parts.part` calls ``question``.
        asked: names of accountants; every registered one if not given.
    """

    def __init__(self, question: dict[str, Any], asked: list[str] | None = None) -> None:
        self._case = Case(
            parse(question["mechanism"]),
            question["quantity"],
            real(question["at"]),
            direction_in(question["direction"]),
        )
        self.names = names() if asked is None else asked
        self._lock = threading.Lock()
        self._judges = Judges()
        self._interviews: list[Interview] = []
        self._closed = False
        self._heard = 0
        self._findings: list[Finding] = []
        self._notes: dict[str, list[str]] = {"silent": [], "skipped": [], "absent": []}

    def hear(self, name: str) -> None:
        """Ask the accountant ``name`` and judge what it claims."""
        findings: list[Finding] = []
        notes: list[tuple[str, str]] = []
        try:
            interview = Interview(find(name), "", LIMITS)
            questions, skipped = questions_for(interview.accountant, [self._case])
            notes += [("skipped", skip.reason) for skip in skipped]
            with interview:
                self._enter(interview)
                for question in questions:
                    interview.open()
                    self._check_open()
                    try:
                        claims = interview.claims(question)
                    except NoAnswer as error:
                        notes.append(("silent", f"{name}: {error}"))
                        continue
                    findings += [self._judges.judge(claim, _DIGITS, PATIENCE) for claim in claims]
        except InvalidInput as error:
            notes.append(("absent", str(error).removeprefix("accountant ")))
        with self._lock:
            self._heard += 1
            self._findings += findings
            for kind, text in notes:
                self._notes[kind].append(visible(text))

    def table(self) -> str:
        """What is known so far as HTML, the tightest sound claim first."""
        with self._lock:
            findings = tightest_first(self._findings)
            notes = {kind: sorted(texts) for kind, texts in self._notes.items()}
            left = len(self.names) - self._heard
        rows = [_row(finding) for finding in findings]
        return rendered("accountants.html", rows=rows, notes=notes, left=left)

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._closed = True
            interviews = list(self._interviews)
        for interview in interviews:
            interview.close()
        self._judges.close()

    def _enter(self, interview: Interview) -> None:
        with self._lock:
            self._interviews.append(interview)
        self._check_open()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidInput("the page that asked is gone")


async def hear_all(
    question: dict[str, Any], tell: Callable[[str], Awaitable[None]], most: int
) -> None:
    """Tell the table after every accountant, ``most`` of which are asked at a time."""
    bench = Bench(question)
    threads = CapacityLimiter(most)

    async def hear(name: str) -> None:
        await to_thread.run_sync(bench.hear, name, abandon_on_cancel=True, limiter=threads)
        await tell(bench.table())

    try:
        await tell(bench.table())
        async with create_task_group() as group:
            for name in bench.names:
                group.start_soon(hear, name)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(bench.close)


def _row(finding: Finding) -> dict[str, str]:
    claim = finding.claim
    verdict = finding.verdict
    return {
        "name": claim.id.partition(":")[0],
        "kind": claim.kind,
        "value": number_text(claim.claimed, 10),
        "verdict": verdict,
        "grade": "" if finding.grade == "none" else finding.grade,
        "tone": "bad" if verdict in WRONG else "good" if verdict in RIGHT else "open",
        "sign": "✗" if verdict in WRONG else "✓" if verdict in RIGHT else "?",
        "error": error_text(finding.relative_error),
        "software": claim.accountant,
    }
