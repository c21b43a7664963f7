"""The golden table, made anew: every question of the grids answered, on several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from dpexact.oracle.cases import Case
from dpexact.oracle.grids import Question, questions
from dpexact.oracle.rows import row

_T = TypeVar("_T")
_R = TypeVar("_R")
#: Questions that a worker takes at once.
_CHUNK = 4


def export(
    suites: Sequence[str] = (),
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Case], dict[Question, str]]:
    """The rows of ``suites`` (all, if empty), and the questions without a row, with the reason."""
    asked = questions(suites)
    rows: list[Case] = []
    left_out: dict[Question, str] = {}
    pairs = zip(asked, answers(row, asked, jobs), strict=True)
    for done, (question, found) in enumerate(pairs, start=1):
        if isinstance(found, Case):
            rows.append(found)
        else:
            left_out[question] = found
        if progress is not None:
            progress(done, len(asked))
    return rows, left_out


def answers(ask: Callable[[_T], _R], asked: Sequence[_T], jobs: int) -> Iterable[_R]:
    """``ask`` of each of ``asked``, in order, on ``jobs`` processes."""
    if min(jobs, len(asked)) <= 1:
        yield from map(ask, asked)
        return
    with _pool(jobs) as pool:
        yield from pool.map(ask, asked, chunksize=_CHUNK)


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    # spawned, not forked: a fork may inherit a lock of FLINT or of the caller's threads
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
