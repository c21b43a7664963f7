"""Exit codes of real processes: what is no verdict is never told by the code of one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import invoke

from dpexact.cli import main

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


#: An interpreter that need not load what is installed in an environment.
BARE = getattr(sys, "_base_executable", sys.executable)
#: Every verb that ends by itself, as it prints something.
PRINTING = {
    "accountants": ["--python", BARE],
    "approx": ["gaussian(1)^9", "--method", "clt", "--delta", "1e-5"],
    "audit": ["--claim", "epsilon <= 5 of gaussian(1) at delta 1e-5", "--jobs", "1"],
    "bounds": ["gaussian(1)^9", "--delta", "1e-5"],
    "calibrate": ["gaussian(?)", "--epsilon", "1", "--delta", "1e-5"],
    "certify": ["pure_dp(1)", "--epsilon", "1/2", "--coq", "answer.v"],
    "completion": ["bash"],
    "delta": ["gaussian(1)", "--epsilon", "1"],
    "dpsgd": ["--rate", "1", "--steps", "9", "--sigma", "1", "--delta", "1e-5", "--statement"],
    "empirical": ["counts", "--tp", "9", "--fp", "2", "--positives", "9", "--negatives", "9"],
    "epsilon": ["gaussian(1)", "--delta", "1e-5"],
    "figure": ["list"],
    "filter": ["--budget", "gdp(1)", "gaussian(2)"],
    "log": ["history.csv", "--delta", "1e-5"],
    "oracle": ["list", "--suite", "renyi"],
    "prove": ["--list"],
    "renyi": ["gaussian(1)", "--order", "2"],
    "schema": ["claims"],
    "selftest": ["--help"],
    "symbolic": ["pure_dp(1)"],
    "tradeoff": ["gaussian(1)", "--alpha", "0.1"],
    "verify": ["certificate.json"],
}
#: Runs all commands in one process, each with a standard output of its own.
CHILD = """
import json, os, sys
from dpexact.cli import main

def code_of(arguments, kind):
    if kind == "full":
        target = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, target = os.pipe()
        if kind == "closed":
            os.close(reading)
    os.dup2(target, 1)
    os.close(target)
    sys.stdout = open(1, "w", closefd=False)
    try:
        main(arguments)
    except SystemExit as done:
        return done.code

kind, commands = sys.argv[1], json.loads(sys.argv[2])
print(json.dumps({verb: code_of([verb, *rest], kind) for verb, rest in commands.items()}),
      file=sys.stderr)
"""


@pytest.mark.slow
@needs_full
@pytest.mark.parametrize(("kind", "code"), [("open", 0), ("full", 74), ("closed", 141)])
def test_every_verb_says_that_nobody_reads(kind, code, tmp_path):
    assert main.commands.keys() - {"serve"} == PRINTING.keys()
    (tmp_path / "history.csv").write_text("sigma,q,steps\n1,1,9\n")
    made = tmp_path / "certificate.json"
    asked = ["epsilon", "pure_dp(1)", "--delta", "1/10", "--certificate", str(made)]
    assert invoke(*asked).exit_code == 0
    command = [sys.executable, "-c", CHILD, kind, json.dumps(PRINTING)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment, check=False
    )
    *lines, codes = done.stderr.splitlines()
    said = [line for line in lines if not line.endswith("s so far")]  # on a busy machine
    assert json.loads(codes) == dict.fromkeys(PRINTING, code), said
    wanted = "dpexact: the output could not be written: No space left on device"
    assert said == ([wanted] * len(PRINTING) if kind == "full" else [])


@pytest.mark.skipif(os.name != "posix", reason="no shell that closes it")
@pytest.mark.parametrize("verb", VERBS)
def test_an_output_that_was_closed_before(verb, claims):
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, *arguments(verb, claims)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = "dpexact: the output could not be written: Bad file descriptor\n"
    assert (done.returncode, done.stderr) == (74, wanted)


@needs_full
def test_a_full_disk_under_everything(claims):
    with open("/dev/full", "w") as full:
        for verb, code in (("answer", 74), ("wrong", 2)):
            given = ["--no-such"] if verb == "wrong" else arguments(verb, claims)
            done = subprocess.run([*COMMAND, *given], stdout=full, stderr=full, check=False)
            assert done.returncode == code


@needs_full
@pytest.mark.slow
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
    endless = "poisson(gaussian(1), 1/100)^1000"
    loaded = "import dpexact.accounting.queries, sys; from dpexact.cli import main"
    script = f"{loaded}; sys.argv[0] = 'dpexact'; print('r', flush=True); main()"
    command = [sys.executable, "-c", script, "delta", endless, "--epsilon", "1", "--digits", "9999"]
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
