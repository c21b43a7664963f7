"""Judgement in child processes, so that a claim that takes too long can be stopped.

``python -m dpexact.audits.judging`` is the child: it reads ``{"claim": ..., "digits": ...}`` a line
and writes a finding a line, in the exact form of :mod:`dpexact.audits.journal`; ``null`` it echoes.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from types import TracebackType
from typing import Any, Final

from dpexact.audits.children import Child, ChildLost, ChildTooSlow, answer_requests
from dpexact.audits.claims import Claim
from dpexact.audits.journal import claim_of_json, claim_to_json, finding_of_json, finding_to_json
from dpexact.audits.verdicts import Finding, judge, unjudged

_COMMAND: Final = (sys.executable, "-m", "dpexact.audits.judging")

#: Seconds that a child may take to start.
PATIENCE: Final = 120.0

#: How often a claim is given to a new child after one was lost over it, but not for time.
RETRIES: Final = 1


class Judges:
    """Child processes that judge, as many as are asked at a time; use as a context manager."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    def __enter__(self) -> Judges:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def judge(self, claim: Claim, digits: int, timeout: float | None) -> Finding:
        """The finding on ``claim``; ``undecided`` after ``timeout`` seconds or two crashes."""
        request = {"claim": claim_to_json(claim), "digits": digits}
        reason = ""
        for _ in range(1 + RETRIES):
            try:
                child = self._take()
            except ChildLost as stopped:
                return unjudged(claim, digits, str(stopped))
            try:
                child.ask(None, PATIENCE)  # to start does not count against the claim
                answer = child.ask(request, timeout)
            except ChildLost as lost:
                reason = str(lost)
                self._give_back(child, usable=False)
                if isinstance(lost, ChildTooSlow):
                    break
            else:
                self._give_back(child, usable=True)
                return replace(finding_of_json(answer), claim=claim)
        return unjudged(claim, digits, reason)

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
            child = self._idle.pop() if self._idle else Child(_COMMAND)
            self._busy.add(child)
        return child

    def _give_back(self, child: Child, *, usable: bool) -> None:
        with self._lock:
            self._busy.discard(child)
            if usable:
                self._idle.append(child)


#: The children of the tasks of other executors, as of the worker processes of a Dask cluster.
_SHARED: Final = Judges()


def judge_in_child(claim: Claim, digits: int, timeout: float | None) -> Finding:
    """As :func:`dpexact.audits.verdicts.judge`, in a child that is kept for the next claim."""
    return _SHARED.judge(claim, digits, timeout)


def _answer(request: Any) -> Any:
    """The finding on the claim of a request; a ping is echoed."""
    if request is None:
        return None
    return finding_to_json(judge(claim_of_json(request["claim"]), request["digits"]))


if __name__ == "__main__":
    answer_requests(_answer)
