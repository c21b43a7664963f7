"""Child processes: answers, endings and time limits."""

import os
import signal
import sys
import time

import pytest

from dpexact.audits.children import Child, ChildLost, ChildTooSlow

ECHO = """
import json, sys, time, os
for line in sys.stdin:
    request = json.loads(line)
    if request == "sleep":
        time.sleep(60)
    if request == "leave":
        sys.exit("had enough\\n")
    if request == "silent":
        os._exit(7)
    print(json.dumps([request]), flush=True)
"""


@pytest.fixture
def child():
    child = Child([sys.executable, "-c", ECHO])
    yield child
    child.close()


def test_answers_come_in_order(child):
    assert [child.ask(value, 30) for value in (1, "\n", None)] == [[1], ["\n"], [None]]


@pytest.mark.parametrize(
    ("request_", "message"),
    [("leave", "it ended with code 1: had enough"), ("silent", "it ended with code 7")],
)
def test_the_last_words_are_told(child, request_, message):
    with pytest.raises(ChildLost, match=f"^{message}$"):
        child.ask(request_, 30)
    child.close()


def test_a_killed_child_is_lost(child):
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildLost, match="killed by signal 9"):
        child.ask(1, 30)


def test_a_child_that_hangs_is_killed(child):
    started = time.monotonic()
    with pytest.raises(ChildTooSlow, match="no answer within"):
        child.ask("sleep", 0.2)
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_what_cannot_be_started():
    with pytest.raises(FileNotFoundError):
        Child(["/no/such/program"])
