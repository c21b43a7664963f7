"""The verb in a process of its own: its address, a port that is taken, an interrupt, the extra."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlencode

import pytest
from command_line import invoke
from served_pages import ENDLESS, children_of

COMMAND = [sys.executable, "-m", "dpexact", "serve", "--port"]


def test_a_port_that_is_taken():
    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = invoke("serve", "--port", port, catch_exceptions=False)
    assert told.exit_code == 2
    assert told.stderr == (
        f"dpexact: port: {port} cannot be had (Address already in use); give another one, "
        "or 0 for any that is free\n"
    )


def test_no_such_port():
    told = invoke("serve", "--port", "65536")
    assert told.exit_code == 2
    assert len(told.stderr.splitlines()) == 1


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    told = invoke("serve")
    assert told.exit_code == 2
    assert told.stderr == (
        'dpexact: serve: needs starlette and uvicorn; pip install "dpexact[serve]"\n'
    )


@pytest.fixture
def process(interruptible):
    pytest.importorskip("uvicorn")
    child = subprocess.Popen(
        [*COMMAND, "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    address = re.fullmatch(
        r"dpexact: http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it\)\n", child.stdout.readline()
    )
    assert address
    yield child, int(address[1])
    child.kill()
    child.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_an_end_in_the_midst_of_a_computation(process, ending):
    child, port = process
    time.sleep(0.5)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/answer?" + urlencode(ENDLESS))
    until = time.monotonic() + 30
    while not (computing := children_of(child.pid)):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(1)
    child.send_signal(ending)
    _, said = child.communicate(timeout=30)
    connection.close()
    if ending == signal.SIGINT:
        assert (child.returncode, said.split()) == (130, ["dpexact:", "interrupted"])
    until = time.monotonic() + 30
    for number in computing:
        while True:  # whoever is orphaned may still be waited for
            try:
                with open(f"/proc/{number}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "Z":
                        break
            except FileNotFoundError:
                break
            assert time.monotonic() < until, "a child outlived its server"
            time.sleep(0.05)


def test_only_this_machine_is_served(process):
    _, port = process
    with open("/proc/net/tcp") as file:
        at = [line.split()[1] for line in file if line.split()[1].endswith(f":{port:04X}")]
    assert at[0] == f"0100007F:{port:04X}"
