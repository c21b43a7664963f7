"""Exit codes of real processes: what is no verdict is never told by the code of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "dpexact"]
ROOT = Path(__file__).parents[2]
SOUND = (
    "claims:\n- {mechanism: gaussian(1), claims: epsilon, epsilon: 5, delta: 1e-5, kind: upper}\n"
)
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def claims(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text(SOUND)
    return str(path)


def arguments(verb, claims):
    return {
        "answer": ["epsilon", "gaussian(1)", "--delta", "1e-5"],
        "json": ["epsilon", "gaussian(1)", "--delta", "1e-5", "--json"],
        "audit": ["audit", claims, "--jobs", "1"],
        "help": ["--help"],
        "version": ["--version"],
    }[verb]


VERBS = ["answer", "json", "audit", "help", "version"]


@needs_full
@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk(verb, claims):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments(verb, claims)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 74
    assert done.stderr == b"dpexact: the output could not be written: No space left on device\n"


@needs_full
def test_a_full_disk_under_everything(claims):
    with open("/dev/full", "w") as full:
        for verb, code in (("answer", 74), ("wrong", 2)):
            given = ["--no-such"] if verb == "wrong" else arguments(verb, claims)
            done = subprocess.run([*COMMAND, *given], stdout=full, stderr=full, check=False)
            assert done.returncode == code


@needs_full
def test_a_report_on_a_full_disk(claims):
    command = [*COMMAND, "audit", claims, "--jobs", "1", "--json", "/dev/full"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 74
    assert done.stderr == "dpexact: /dev/full: cannot write: No space left on device\n"


@pytest.mark.parametrize("verb", VERBS)
def test_a_closed_pipe_is_silent(verb, claims):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments(verb, claims)], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt():
    endless = "poisson(gaussian(1) * laplace(1), 1/10)^999"
    ready = (
        "import dpexact.accounting.queries, sys; sys.argv[0] = 'dpexact'; print('r', flush=True)"
    )
    script = f"{ready}; from dpexact.cli import main; main()"
    command = [sys.executable, "-c", script, "delta", endless, "--epsilon", "1", "--digits", "12"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert said.split() == [b"dpexact:", b"interrupted"]


@pytest.mark.parametrize("shown", [False, True])
def test_an_internal_error_is_one_line_that_says_how_to_report_it(shown):
    broken = (
        "import dpexact.accounting as a\n"
        "def broken(*_, **__): raise ZeroDivisionError('two\\nlines')\n"
        "import dpexact\ndpexact.epsilon = broken\n"
        "from dpexact.cli import main\nmain()"
    )
    command = [sys.executable, "-c", broken, "epsilon", "gaussian(1)", "--delta", "1e-5"]
    environment = {**os.environ, **({"DPEXACT_TRACEBACK": "1"} if shown else {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (70, "")
    *trace, line = done.stderr.splitlines()
    assert line.startswith("dpexact: internal error: ZeroDivisionError: two lines (<string>:2); ")
    assert "report it" in line
    assert bool(trace) == shown
