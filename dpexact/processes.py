"""Processes that compute for one that waits, and end when it is interrupted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

#: Is told how much is done, and of how much.
Progress: TypeAlias = Callable[[int, int], None]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def in_processes(
    work: Mapping[_Key, Callable[[], _Value]], jobs: int, progress: Progress | None = None
) -> dict[_Key, _Value]:
    """The value of each piece of ``work``, in up to ``jobs`` processes; here, if in one.

    An interrupt, or whatever else is raised, ends the processes at once.
    """
    found: dict[_Key, _Value] = {}

    def tell() -> None:
        if progress is not None:
            progress(len(found), len(work))

    tell()
    if min(jobs, len(work)) <= 1:
        for key, compute in work.items():
            found[key] = compute()
            tell()
        return found
    with processes(min(jobs, len(work))) as pool:
        with interrupts_held():
            waiting = {pool.submit(compute): key for key, compute in work.items()}
        for future in as_completed(waiting):
            found[waiting[future]] = future.result()
            tell()
    return {key: found[key] for key in work}


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Up to so many, spawned and not forked: a fork may inherit a lock of FLINT or of a thread.

    They start as work is submitted, which is to be done while :func:`interrupts_held`. An
    interrupt, or whatever else is raised, ends them at once, and so does the end of this process.
    """
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawned, initializer=_end_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            # its thread has ended then, else it would still close what the interpreter wakes it by
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """End this process with the one that waits for it, which may be killed without a word."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """An interrupt meanwhile comes afterwards, and never to the processes that start meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
