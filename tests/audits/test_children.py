"""Child processes: answers, endings and time limits."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from dpexact.audits import children
from dpexact.audits.children import Child, ChildLost, ChildTooSlow, processor_time

ECHO = """
import json, sys, time, os
for line in sys.stdin:
    request = json.loads(line)
    if request == "sleep":
        time.sleep(60)
    if request == "work":
        until = time.process_time() + 1
        while time.process_time() < until:
            pass
    if request == "always":
        while True:
            pass
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


def test_of_idle_children_one_that_lives_is_taken(child):
    command = [sys.executable, "-c", ECHO]
    killed = [Child(command), Child(command)]
    for one in killed:
        os.kill(one.pid, signal.SIGKILL)
        one._reader.join()  # its end is here
    idle = [killed[0], child, killed[1]]
    assert Child.of(idle, command) is child
    assert idle == killed[:1]
    new = Child.of(idle, command)
    try:
        assert new.ask(1, 30) == [1]
        assert not idle
    finally:
        new.close()


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


@pytest.mark.slow
def test_only_its_own_work_counts_against_a_child(child, monkeypatch):
    """As on a busy machine: it gets no processor for longer than the limit."""
    assert child.ask(0, 30) == [0]
    child.send("work")
    os.kill(child.pid, signal.SIGSTOP)
    waker = threading.Timer(4, os.kill, [child.pid, signal.SIGCONT])
    waker.start()
    assert child.work(3) == ["work"]
    waker.join()


def test_work_is_limited(child):
    assert child.ask(0, 30) == [0]
    child.send("always")
    with pytest.raises(ChildTooSlow, match=r"^no answer within 0\.5 s of the processor$"):
        child.work(0.5)


def test_a_child_that_stands_still_is_given_up(child, monkeypatch):
    monkeypatch.setattr(children, "STILL", 0.5)
    child.send("sleep")
    with pytest.raises(ChildTooSlow, match=r"^no sign of work for 0\.5 s$"):
        child.work(100)


def test_where_nobody_tells_the_clock_counts(child, monkeypatch):
    monkeypatch.setattr(children, "processor_time", lambda pid: None)
    child.send("sleep")
    with pytest.raises(ChildTooSlow, match=r"^no answer within 0\.5 s$"):
        child.work(0.5)


def test_a_process_that_is_gone_tells_nothing():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert processor_time(gone.pid) is None
    assert processor_time(os.getpid()) == pytest.approx(time.process_time(), abs=1)


def test_what_cannot_be_started():
    with pytest.raises(FileNotFoundError):
        Child(["/no/such/program"])
