"""A page that is served, in this process, and questions for it."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from dpexact.serve.workers import Workers

#: Takes longer than any test waits.
ENDLESS: Final = {
    "mode": "expression",
    "expr": "(approx_dp(1/3, 1e-12) * approx_dp(1/7, 1e-14) * laplace(300))^3000",
    "delta": "1e-6",
}


@dataclass
class Served:
    """A page at a port, and the children that compute for it."""

    port: int
    workers: Workers

    def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict, bytes]:
        """Status, headers and body; underscores in names of headers are hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, headers=given)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()


@contextmanager
def serving(jobs: int = 2, seconds: int = 60) -> Iterator[Served]:
    """A page in a thread; the test is skipped where its servers are not installed."""
    pytest.importorskip("starlette", reason="the page needs starlette")
    uvicorn = pytest.importorskip("uvicorn", reason="the page needs uvicorn")
    from dpexact.serve.application import application
    from dpexact.serve.running import listening
    from dpexact.serve.workers import Workers

    workers = Workers(jobs, seconds)
    with listening(0) as listener:
        config = uvicorn.Config(
            application(jobs, workers), log_level="critical", timeout_graceful_shutdown=0
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Served(listener.getsockname()[1], workers)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def until_idle(page: Served, seconds: float = 30) -> None:
    """Wait until no child computes."""
    until = time.monotonic() + seconds
    while page.workers.busy:
        assert time.monotonic() < until, "a child still computes"
        time.sleep(0.02)


def children_of(number: int) -> list[int]:
    """The processes that the threads of a process started, as Linux tells."""
    lists = list(Path(f"/proc/{number}/task").glob("*/children"))
    if not lists:
        pytest.skip("no list of children here")
    return [int(word) for path in lists for word in path.read_text().split()]


def idle(page: Served) -> set[int]:
    """The children that wait for questions."""
    return {child.pid for child in page.workers.idle}
