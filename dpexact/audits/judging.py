"""Judgement in child processes, so that a claim that takes too long can be stopped.

``python -m dpexact.audits.judging`` is the child: it reads ``{"chunks": [[...]], "digits": ...}`` a
line and writes a finding a line for each claim, in the exact form of
:mod:`dpexact.audits.journal`; ``null`` it echoes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias

from dpexact.audits.children import Child, ChildLost, ChildTooSlow, answer_requests
from dpexact.audits.claims import Claim
from dpexact.audits.journal import claim_of_json, claim_to_json, finding_of_json, finding_to_json
from dpexact.audits.verdicts import Finding, judge_together, unjudged

Batch: TypeAlias = Sequence[Sequence[Claim]]
"""Claims; those of each part are about one mechanism, and share work."""

_COMMAND: Final = (sys.executable, "-m", "dpexact.audits.judging")

#: Seconds of the processor that a child may take to start.
PATIENCE: Final = 120.0

#: How often a claim is given to a new child after one was lost over it, but not for time.
RETRIES: Final = 1


class Judges(AbstractContextManager["Judges", None]):
    """Child processes that judge, as many as are asked at a time; use as a context manager."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    def __exit__(self, *raised: object) -> None:
        self.close()

    def judge(self, claim: Claim, digits: int, timeout: float | None) -> Finding:
        """The finding on ``claim``; ``undecided`` after ``timeout`` seconds or two crashes.

        The seconds are of the processor where the system tells (:meth:`Child.work`).
        """
        reason = ""
        for _ in range(1 + RETRIES):
            try:
                (found,) = self._asked([[claim]], digits, timeout)
            except ChildLost as lost:
                reason = str(lost)
                if self._closed or isinstance(lost, ChildTooSlow):
                    break
            else:
                return found
        return unjudged(claim, digits, reason)

    def together(self, batch: Batch, digits: int, timeout: float | None) -> Iterator[Finding]:
        """:meth:`judge` each claim of ``batch``, in one child as long as that goes well.

        If it is lost, what is left is judged one by one: no claim suffers for another.
        """
        claims, done = [claim for chunk in batch for claim in chunk], 0
        if len(claims) > 1:
            with suppress(ChildLost):
                for found in self._asked(batch, digits, timeout):
                    yield found
                    done += 1
        for claim in claims[done:]:
            yield self.judge(claim, digits, timeout)

    def _asked(self, batch: Batch, digits: int, timeout: float | None) -> Iterator[Finding]:
        """The findings of one child, as they come.

        Raises:
            ChildLost: the others do not.
        """
        child = self._take()
        usable = False
        try:
            child.send(None)
            child.work(PATIENCE)  # to start does not count against the claim
            chunks = [[claim_to_json(claim) for claim in chunk] for chunk in batch]
            child.send({"chunks": chunks, "digits": digits})
            for claim in chain.from_iterable(batch):
                yield replace(finding_of_json(child.work(timeout)), claim=claim)
            usable = True
        finally:
            self._give_back(child, usable=usable)

    def close(self) -> None:
        """Kill all children, those at work too."""
        with self._lock:
            self._closed = True
            children = [*self._idle, *self._busy]
        for child in children:
            child.close()

    def _take(self) -> Child:
        with self._lock:
            if self._closed:
                raise ChildLost("the audit was stopped")
            child = Child.of(self._idle, _COMMAND)
            self._busy.add(child)
        return child

    def _give_back(self, child: Child, *, usable: bool) -> None:
        with self._lock:
            self._busy.discard(child)
            if usable:
                self._idle.append(child)
        if not usable:
            child.close()


#: The children of the tasks of other executors, as of the worker processes of a Dask cluster.
_SHARED: Final = Judges()


def judge_batch(batch: Batch, digits: int) -> Iterator[Finding]:
    """The findings on the claims of ``batch``, in their order."""
    for chunk in batch:
        yield from judge_together(chunk, digits)


def judged_batch(batch: Batch, digits: int, timeout: float | None) -> list[Finding]:
    """:func:`judge_batch` as a task; with a ``timeout`` in a child that is kept for the next."""
    if timeout is None:
        return list(judge_batch(batch, digits))
    return list(_SHARED.together(batch, digits, timeout))


def _answers(request: Any) -> Iterator[Any]:
    """The findings on the claims of a request; a ping is echoed."""
    if request is None:
        yield None
        return
    batch = [[claim_of_json(claim) for claim in chunk] for chunk in request["chunks"]]
    yield from map(finding_to_json, judge_batch(batch, request["digits"]))


if __name__ == "__main__":
    answer_requests(_answers)
