"""Threads, tasks and processes get the digits that one caller gets, interrupted or not."""

from __future__ import annotations

import asyncio
import ctypes
import random
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from multiprocessing import get_context
from types import FrameType

import flint
import pytest
from oracles import scaled

import dpexact
from dpexact import balls

#: Seconds after which a deadlock is certain.
PATIENCE = 120

QUESTIONS = [
    (quantity, mechanism, argument, digits)
    for digits in (5, 40, 200, 15)
    for quantity, mechanism, argument in (
        ("delta", "gaussian(1.3)^10", "1"),
        ("epsilon", "gdp(log(3))", "1e-9"),
        ("delta", "approx_dp(1/10, 1/1000)^30", "3/2"),
        ("renyi", "poisson(gaussian(2), 1/10)", "8"),
        ("epsilon", "laplace(1)", "1e-3"),
    )
]
QUESTIONS += [("epsilon", "poisson(gaussian(1.3), 1/100)^100", "1e-5", d) for d in (5, 12)]


def ask(question: tuple[str, str, str, int]) -> tuple[object, object]:
    quantity, mechanism, argument, digits = question
    found = getattr(dpexact, quantity)(mechanism, argument, digits)
    return found.lower, found.upper


@cache
def answers() -> list[tuple[object, object]]:
    return [ask(question) for question in QUESTIONS]


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_executors(kind: str) -> None:
    pool: Executor
    if kind == "threads":
        pool = ThreadPoolExecutor(8)
    else:
        pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    source = random.Random(1)
    order = source.sample(range(len(QUESTIONS)), len(QUESTIONS)) * (2 if kind == "threads" else 1)
    with pool:
        asked = (QUESTIONS[i] for i in order)
        waiting = [pool.submit(getattr(dpexact, quantity), *rest) for quantity, *rest in asked]
        found = [future.result(PATIENCE) for future in waiting]
    assert [(one.lower, one.upper) for one in found] == [answers()[i] for i in order]


def test_tasks() -> None:
    async def together() -> list[tuple[object, object]]:
        tasks = (asyncio.to_thread(ask, question) for question in QUESTIONS)
        return await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)

    assert asyncio.run(together()) == answers()


class Stopped(BaseException):
    """Raised in a thread from outside."""


def test_a_thread_that_is_interrupted_frees_the_others() -> None:
    """The others would wait for ever on the lock, or compute at its precision."""
    source = random.Random(2)
    for _ in range(scaled(10)):
        stopped = threading.Event()

        def work(stopped: threading.Event = stopped) -> None:
            try:
                while True:
                    dpexact.delta("poisson(gaussian(1.3), 1/100)^100", "1", 300)
            except Stopped:
                stopped.set()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        time.sleep(source.uniform(0, 0.1))
        while not stopped.is_set():
            assert thread.ident is not None
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
            )
            stopped.wait(1)
        thread.join(PATIENCE)
        assert not thread.is_alive()
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(ask, QUESTIONS[0]).result(PATIENCE) == answers()[0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX timers")
def test_an_interrupt_at_any_moment_restores_precision_and_lock() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Stopped

    source = random.Random(3)
    before = flint.ctx.prec
    old = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for _ in range(scaled(200)):
            try:
                signal.setitimer(signal.ITIMER_REAL, source.uniform(1e-5, 4e-3))
                ask(QUESTIONS[source.randrange(8)])
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stopped:
                interrupted += 1
            assert flint.ctx.prec == before
            free = threading.Thread(target=_take_turn, daemon=True)
            free.start()
            free.join(PATIENCE)
            assert not free.is_alive(), "the lock was kept"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert interrupted > 10
    assert [ask(question) for question in QUESTIONS] == answers()


def _take_turn() -> None:
    with balls.precision(64):
        balls.ball(Fraction(1, 3))
