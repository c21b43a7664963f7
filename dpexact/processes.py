"""Processes that compute for one that waits, and end when it is interrupted."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Up to so many, spawned and not forked: a fork may inherit a lock of FLINT or of a thread.

    They start as work is submitted, which is to be done while :func:`interrupts_held`. An
    interrupt, or whatever else is raised, ends them at once.
    """
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            # its thread has ended then, else it would still close what the interpreter wakes it by
            pool.shutdown(wait=True, cancel_futures=True)
            raise


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
