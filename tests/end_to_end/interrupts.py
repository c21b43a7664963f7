"""Interrupt computations at random moments: ``python interrupts.py thread|main ROUNDS``.

After each, FLINT's precision must be what it was, other threads must get their turn, and answers
must be those of an undisturbed process.
"""

from __future__ import annotations

import ctypes
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import FrameType

import flint

import dpexact
from dpexact import balls

#: Seconds after which a deadlock is certain.
PATIENCE = 60

QUESTIONS = [
    (quantity, mechanism, argument, digits)
    for digits in (40, 200)
    for quantity, mechanism, argument in (
        ("delta", "gaussian(1.3)^10", "1"),
        ("epsilon", "gdp(log(3))", "1e-9"),
        ("delta", "approx_dp(1/10, 1/1000)^30", "3/2"),
        ("renyi", "poisson(gaussian(2), 1/10)", "8"),
    )
]


class Stopped(BaseException):
    """Raised from outside."""


def ask(question: tuple[str, str, str, int]) -> tuple[object, object]:
    """The ends of the enclosure."""
    quantity, mechanism, argument, digits = question
    found = getattr(dpexact, quantity)(mechanism, argument, digits)
    return found.lower, found.upper


def interrupt_threads(rounds: int) -> None:
    """The others would wait for ever on the lock, or compute at its precision."""
    source, truth = random.Random(2), ask(QUESTIONS[0])
    # modules are loaded first: what interrupts an import is Python's to mend
    dpexact.delta("poisson(gaussian(1.3), 1/100)^100", "1", 20)
    for _ in range(rounds):
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
            assert pool.submit(ask, QUESTIONS[0]).result(PATIENCE) == truth


def interrupt_main(rounds: int) -> None:
    """By a timer, in the midst of questions."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Stopped

    source, truth = random.Random(3), list(map(ask, QUESTIONS))
    before, interrupted = flint.ctx.prec, 0
    signal.signal(signal.SIGALRM, interrupt)
    for _ in range(rounds):
        try:
            signal.setitimer(signal.ITIMER_REAL, source.uniform(1e-5, 1e-3))
            ask(source.choice(QUESTIONS))
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stopped:
            interrupted += 1
        assert flint.ctx.prec == before
        free = threading.Thread(target=_take_turn, daemon=True)
        free.start()
        free.join(PATIENCE)
        assert not free.is_alive(), "the lock was kept"
    assert interrupted > rounds // 20
    assert list(map(ask, QUESTIONS)) == truth


def _take_turn() -> None:
    with balls.precision(64):
        balls.ball(Fraction(1, 3))


if __name__ == "__main__":
    {"thread": interrupt_threads, "main": interrupt_main}[sys.argv[1]](int(sys.argv[2]))
