"""Threads, tasks and processes get the digits that one caller gets, interrupted or not."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pytest
from oracles import scaled

import dpexact

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_tasks() -> None:
    async def together() -> list[tuple[object, object]]:
        tasks = (asyncio.to_thread(ask, question) for question in QUESTIONS)
        return await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)

    assert asyncio.run(together()) == answers()


@pytest.mark.parametrize(("where", "rounds"), [("thread", 10), ("main", 200)])
def test_interrupts(where: str, rounds: int) -> None:
    """In a process of its own: an interrupt inside a tracer of this one would keep its locks."""
    if where == "main" and not hasattr(signal, "setitimer"):
        pytest.skip("needs POSIX timers")
    script = Path(__file__).with_name("interrupts.py")
    command = [sys.executable, str(script), where, str(scaled(rounds))]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COV")}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
