"""Accountants on the page: real ones are judged, others end with the page."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
import time
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("anyio")

from served_pages import children_of, idle

from dpexact.audits.accountants import registry
from dpexact.serve import judged
from dpexact.serve.judged import Bench

FAILING = Path(__file__).parents[1] / "audits/wrong_accountants/failing_accountants.py"

QUESTION = {
    "mechanism": "poisson(gaussian(1), 1/100)^100",
    "quantity": "epsilon",
    "at": "1e-5",
    "direction": "both",
}


@pytest.fixture
def bench():
    made = []

    def make(*asked, **changed):
        made.append(Bench({**QUESTION, **changed}, list(asked) or None))
        return made[-1]

    yield make
    for each in made:
        each.close()


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.slow
def test_real_accountants_the_tightest_first(bench):
    pytest.importorskip("dp_accounting")
    asked = bench("dp-accounting-rdp", "dp-accounting-pld")
    assert "2 still to answer" in words(asked.table())
    for name in asked.names:
        asked.hear(name)
    told = words(asked.table())
    assert told.index("dp-accounting-pld 0.718") < told.index("dp-accounting-rdp 1.2")
    assert told.count("✓ sound") == 2
    assert "still to answer" not in told
    assert re.search(r"dp-accounting \d", told)


def test_what_cannot_be_asked_or_is_absent_is_told(bench):
    pytest.importorskip("opendp")
    asked = bench("diffprivlib", "nobody", mechanism="laplace(1)")
    for name in asked.names:
        asked.hear(name)
    told = words(asked.table())
    assert "None of those installed accounts for this" in told
    assert "unknown name &#39;nobody&#39;" in told
    assert "diffprivlib does not account for it" in told


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Accountants that fail, in place of all others."""
    (tmp_path / "zz_failing.py").write_text(FAILING.read_text())
    info = tmp_path / "zz_failing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zz-failing\nVersion: 1.0\n")
    points = "".join(f"zz-{name.lower()} = zz_failing:{name}\n" for name in ("HANGS", "NAN"))
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zz_failing", raising=False)

    def ours(group):
        return [point for point in entry_points(group=group) if point.name.startswith("zz-")]

    monkeypatch.setattr(registry, "entry_points", ours)


@pytest.mark.usefixtures("failing")
def test_an_accountant_that_gives_no_number_is_told(bench):
    asked = bench(mechanism="gaussian(1)")
    assert asked.names == ["zz-hangs", "zz-nan"]
    asked.hear("zz-nan")
    assert "1 gave no answer zz-nan: upper = nan" in words(asked.table())


@pytest.mark.usefixtures("failing")
def test_closing_ends_an_accountant_that_hangs(bench):
    asked = bench(mechanism="gaussian(1)")
    thread = threading.Thread(target=asked.hear, args=("zz-hangs",))
    thread.start()
    time.sleep(3)
    assert thread.is_alive()
    asked.close()
    thread.join(30)
    assert not thread.is_alive()
    asked.hear("zz-hangs")  # nobody is asked any more
    assert "the page that asked is gone" in words(asked.table())


@pytest.mark.usefixtures("failing")
@pytest.mark.slow
def test_a_disconnect_ends_an_accountant_that_hangs(served):
    query = urlencode({"mode": "expression", "expr": "gaussian(1)", "delta": "1e-5"})
    before = set(children_of(os.getpid()))
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(f"GET /accountants?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        told = b""
        while b"zz-nan" not in told:  # the other one is at work then
            told += raw.recv(65536)
        time.sleep(2)
        hanging = set(children_of(os.getpid())) - before
        assert hanging
    until = time.monotonic() + 30
    while set(children_of(os.getpid())) - before - idle(served):
        assert time.monotonic() < until, "an accountant outlived its page"
        time.sleep(0.05)


@pytest.mark.slow
def test_over_the_wire(served, monkeypatch):
    pytest.importorskip("dp_accounting")
    monkeypatch.setattr(judged, "names", lambda: ["dp-accounting-pld", "dp-accounting-rdp"])
    query = urlencode({"mode": "expression", "expr": QUESTION["mechanism"], "delta": "1e-5"})
    status, _, body = served.get(f"/accountants?{query}")
    assert status == 200
    tables = [json.loads(line)["html"] for line in body.splitlines()]
    assert [len(re.findall("<li", table)) for table in tables] == [0, 1, 2]
    assert "2 still to answer" in tables[0]
    assert "still to answer" not in tables[-1]
