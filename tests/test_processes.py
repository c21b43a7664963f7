"""Commands with processes of their own, interrupted as a terminal does: the whole group."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMANDS = [
    ["prove", "--source", "gdp", "--jobs", "2"],
    ["oracle", "check", "--sample", "500", "--jobs", "2"],
]


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("delay", [0.05, 0.4, 1, 3])
def test_an_interrupt_is_one_line(command, delay):
    """Also while processes start, or load what they need."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    asked = subprocess.Popen(
        [sys.executable, "-m", "dpexact", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    children = Path(f"/proc/{asked.pid}/task/{asked.pid}/children")
    while asked.poll() is None and children.exists() and not children.read_text():
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(asked.pid, signal.SIGINT)
    said = asked.communicate(timeout=60)[1].decode()
    assert (asked.returncode, said.strip()) == (130, "dpexact: interrupted")


@pytest.mark.skipif(os.name != "posix", reason="no process is killed by a signal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_none_is_left_of_what_was_killed(number):
    """They had waited for more work for ever. The pipe has an end when all that hold it have."""
    script = r"""
import functools, time
from dpexact.processes import in_processes
if __name__ == "__main__":
    work = {n: functools.partial(print, "here\n", end="", flush=True) for n in range(2)}
    in_processes({**work, 2: functools.partial(time.sleep, 600)}, 2)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert killed.stdout is not None
    assert [killed.stdout.readline() for _ in range(2)] == [b"here\n"] * 2
    killed.send_signal(number)
    killed.communicate(timeout=60)
    assert killed.returncode == -number
