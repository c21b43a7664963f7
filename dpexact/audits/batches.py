"""Which claims are judged together, and how many are handed out at a time.

A chunk holds claims about one mechanism: they share work, and what is in a chunk depends on the
claims alone, so that the answers do too. A batch is some chunks, handed to a worker in one piece:
its size follows the time that claims take, and decides nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from dpexact.audits.claims import Claim

Chunk: TypeAlias = tuple[int, ...]
"""The places of claims that share work, in the list that is judged."""

#: Most claims of a chunk, and of a batch.
CHUNK: Final = 64
BATCH: Final = 256
#: Seconds that a batch should take.
TARGET: Final = 0.5
#: Claims of a batch while nothing is known of the time they take.
_FIRST: Final = 8
#: Of the claims that are left no batch takes more than this share, so that workers end together.
_SHARE: Final = 8


def chunks(claims: Sequence[Claim]) -> list[Chunk]:
    """The places of ``claims``, those about one mechanism together, in order of the first.

    Within it those with the same question stand together, which is answered once.
    """
    alike: dict[object, dict[object, list[int]]] = {}
    for place, claim in enumerate(claims):
        questions = alike.setdefault((claim.mechanism, claim.direction), {})
        questions.setdefault((claim.quantity, claim.at), []).append(place)
    found = []
    for questions in alike.values():
        places = [place for same in questions.values() for place in same]
        found += [tuple(places[at : at + CHUNK]) for at in range(0, len(places), CHUNK)]
    return sorted(found)


class Plan:
    """Hands out batches of chunks, in order; threads may share it."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._waiting = deque(chunks(claims))
        self._alone: deque[Chunk] = deque()
        self._left = len(claims)
        self._seconds, self._judged = 0.0, 0
        self._lock = threading.Lock()

    def take(self) -> list[Chunk]:
        """The next batch; empty when nothing waits."""
        with self._lock:
            if self._alone:
                return [self._alone.popleft()]
            batch: list[Chunk] = []
            room = self._size()
            while self._waiting and (not batch or len(self._waiting[0]) <= room):
                chunk = self._waiting.popleft()
                batch.append(chunk)
                room -= len(chunk)
                self._left -= len(chunk)
            return batch

    def learn(self, seconds: Iterable[float]) -> None:
        """How long claims took, for the size of what follows."""
        with self._lock:
            for each in seconds:
                self._seconds += each
                self._judged += 1

    def put_back(self, batch: Iterable[Chunk]) -> None:
        """Hand out the claims of ``batch`` again, next and each on its own."""
        with self._lock:
            self._alone.extend((place,) for chunk in batch for place in chunk)

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._lock:
            self._waiting.clear()
            self._alone.clear()

    def _size(self) -> int:
        wanted: float = _FIRST
        if self._judged:
            wanted = TARGET * self._judged / max(self._seconds, 1e-9)
        return max(1, int(min(wanted, BATCH, self._left / _SHARE)))
