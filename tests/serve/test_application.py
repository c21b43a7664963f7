"""The routes over real sockets: answers, who is refused, limits, and what a disconnect ends."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from served_pages import ENDLESS, serving, until_idle

from dpexact.certificate_checker import read
from dpexact.certificate_checker_mpfr.checking import check
from dpexact.errors import InvalidInput
from dpexact.serve.application import _form
from dpexact.serve.forms import MAX_TEXT


def lines(body):
    return [json.loads(line) for line in body.splitlines()]


def test_the_parts_come_in_order(served):
    status, headers, body = served.get("/answer")
    found = lines(body)
    assert status == 200
    assert headers["content-type"].startswith("application/x-ndjson")
    assert [line["part"] for line in found] == ["answer", "curve", "profile"]
    assert found[0]["short"] == "epsilon ≤ 2.378018"
    assert found[2]["html"].count("<circle") == 25


def test_a_mistake_is_one_line(served):
    query = urlencode({"mode": "expression", "expr": "gausian(1)", "delta": "1e-5"})
    (found,) = lines(served.get(f"/answer?{query}")[2])
    assert (found["part"], found["field"]) == ("answer", "expr")
    assert found["error"].endswith("did you mean 'gaussian'?")
    for path in ("accountants", "certificate"):
        assert b"did you mean 'gaussian'?" in served.get(f"/{path}?{query}")[2]
    twice = lines(served.get("/answer?delta=1&delta=2")[2])
    assert [line["error"] for line in twice] == ["delta: given twice"]


def test_an_address_of_very_many_names_is_looked_at_once():
    """Requests are read where all of them are: each name had been looked for among all."""
    looked = []
    names = SimpleNamespace(multi_items=lambda: looked.append(1) or [(f"n{k}", "") for k in "abc"])
    with pytest.raises(InvalidInput, match="unknown field"):
        _form(SimpleNamespace(query_params=names))
    assert looked == [1]


def test_the_page_and_its_files(served):
    status, headers, body = served.get("/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b'value="60000"' in body
    assert b"http" not in body.replace(b'content="width', b"")  # nothing from elsewhere
    for name, kind in (("page.css", "text/css"), ("page.js", "text/javascript")):
        status, headers, body = served.get(f"/{name}")
        assert (status, headers["content-type"].partition(";")[0]) == (200, kind)
        assert b"://" not in body
    status, _, body = served.get("/?sigmma=1")
    assert status == 400
    assert b"did you mean" in body
    assert served.get("/page.html")[0] == 404
    assert served.get("/", method="POST")[0] == 405


@pytest.mark.parametrize("path", ["/", "/answer?x", "/page.js", "/nothing"])
def test_protecting_headers_stand_everywhere(served, path):
    for extra in ({}, {"Origin": "http://evil.example"}):
        headers = served.get(path, **extra)[1]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": "localhost:{port}.evil.example"},
        {"Host": "localhost@evil.example"},
        {"Host": ""},
        {"Host": "192.168.0.1:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
    ],
)
def test_others_are_refused(served, headers):
    given = {name: value.format(port=served.port) for name, value in headers.items()}
    for path in ("/", "/answer", "/accountants", "/certificate", "/page.js"):
        status, _, body = served.get(path, **given)
        assert status == 403
        assert len(body.splitlines()) == 1


def test_two_hosts_are_refused(served):
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert raw.recv(100).split()[1] in (b"400", b"403")


def test_this_machine_is_served_by_any_of_its_names(served):
    for host in ("localhost", "localhost:9000", "127.0.0.1", f"[::1]:{served.port}"):
        assert served.get("/", Host=host, Origin=f"http://{host}")[0] == 200
    # a link on another page leads here, but nothing else of another page does
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert served.get("/", **followed)[0] == 200
    assert served.get("/answer", **followed)[0] == 403


def test_long_addresses_are_refused(served):
    assert served.get("/answer?expr=" + "x" * 3 * MAX_TEXT)[0] == 414
    (found,) = lines(served.get("/answer?expr=" + "x" * 16_001)[2])
    assert found["error"].startswith("the fields are too long together")
    assert served.get("/?expr=" + "x" * 100_000)[0] in (400, 414, 431)


@pytest.mark.parametrize("query", ["%00", "%ff%fe", "=", "&&&", "expr=%ed%a0%80", "a" * 999])
def test_broken_addresses_are_answered(served, query):
    assert served.get(f"/?{query}")[0] in (200, 400)
    assert served.get(f"/answer?{query}")[0] == 200


def test_a_certificate_verifies(served):
    query = urlencode({"mode": "expression", "expr": "laplace(1)^3", "delta": "1e-5"})
    status, headers, body = served.get(f"/certificate?{query}")
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="certificate.json"'
    assert check(read(body))
    query = urlencode({"mode": "expression", "expr": "adaptive(bounded_range(1))", "delta": "1e-5"})
    status, headers, body = served.get(f"/certificate?{query}")
    assert (status, headers["content-type"].partition(";")[0]) == (422, "text/plain")
    assert body.startswith(b"no certificate: ")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["answer", "certificate"])
def test_a_disconnect_kills_the_child(served, path):
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
        query = urlencode(ENDLESS)
        raw.sendall(f"GET /{path}?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        until = time.monotonic() + 30
        while not served.workers.busy:
            assert time.monotonic() < until
            time.sleep(0.01)
        (child,) = served.workers.busy
        time.sleep(0.5)
        os.kill(child.pid, 0)  # it lives
    until_idle(served)
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


@pytest.mark.slow
def test_what_takes_too_long_is_stopped():
    with serving(1, seconds=2) as page:
        (found,) = lines(page.get(f"/answer?{urlencode(ENDLESS)}")[2])
        assert found["error"].startswith("stopped after 2 seconds of computing")
        # and the next one is answered
        assert lines(page.get("/answer")[2])[0]["short"] == "epsilon ≤ 2.378018"


@pytest.mark.slow
def test_parallel_questions_share_the_children(served):
    told = []

    def ask(sigma):
        run = {"counted": "rate", "rate": "1", "steps": "1", "sigma": sigma, "delta": "0.1"}
        query = urlencode(run)
        told.append((sigma, lines(served.get(f"/answer?{query}")[2])[0]["short"]))
        assert len(served.workers.busy) <= 2

    threads = [threading.Thread(target=ask, args=(str(k),)) for k in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(told) == 12
    numbers = [float(text.split()[-1]) for _, text in sorted(told, key=lambda pair: int(pair[0]))]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


@pytest.mark.slow
def test_more_than_can_wait_are_turned_away():
    with serving(1, seconds=30) as page:
        path = f"/answer?{urlencode(ENDLESS)}"
        waiting = []
        for _ in range(40):
            raw = socket.create_connection(("127.0.0.1", page.port), timeout=30)
            raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            waiting.append(raw)
        until = time.monotonic() + 30
        while page.workers.waiting < 32:
            assert time.monotonic() < until
            time.sleep(0.02)
        (found,) = lines(page.get("/answer")[2])
        assert found["error"].startswith("too many questions at once")
        for raw in waiting:
            raw.close()
        until_idle(page)
        assert "short" in lines(page.get("/answer")[2])[0]
