"""Child processes that answer one request at a time: what hangs or crashes there harms nobody here.

Requests and answers are JSON, one line each, on the child's standard input and output.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from dpexact.tokens import shorten

_END: Final = ""
#: Seconds of the clock after which a child that spends no time of the processor is given up.
STILL: Final = 300.0


class ChildLost(Exception):
    """The child gave no answer and is gone; the message says why."""


class ChildTooSlow(ChildLost):
    """The child was stopped because its time was up."""


class Child:
    """A process that reads a request a line and writes an answer a line; closed after a failure.

    Args:
        command: the program and its arguments.
        environment: its environment variables; ours if not given.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        # what it says on stderr is read only if it dies
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed in close()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                encoding="utf-8",
                env=environment,
                start_new_session=True,  # so that its own children can be killed with it
            )
        except BaseException:
            self._said.close()
            raise
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def of(cls, idle: list[Child], command: Sequence[str]) -> Child:
        """One taken from those that are ``idle``, or a new one: idle ones may have been killed."""
        while idle:
            child = idle.pop()
            # its answers may end a moment before it does
            if child._reader.is_alive() and child._process.poll() is None:
                return child
            child.close()
        return cls(command)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, request: object, timeout: float | None = None) -> Any:
        """The answer to ``request``; the child may take ``timeout`` seconds.

        Raises:
            ChildLost: it took longer (:class:`ChildTooSlow`) or ended; it is closed then.
        """
        self.send(request)
        return self._answer(self._next(timeout, f"no answer within {timeout or 0:g} s"))

    def send(self, request: object) -> None:
        """Write ``request``; its answers are what :meth:`ask` or :meth:`work` reads next."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # then there is no answer either
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def work(self, limit: float | None) -> Any:
        """The next answer, on which the child may spend ``limit`` seconds of the processor.

        A machine that is busy with other things changes nothing; a child that stands still for
        :data:`STILL` seconds is taken for hung. Where the system does not tell the time of another
        process, seconds of the clock count.

        Raises:
            ChildLost: it took longer (:class:`ChildTooSlow`) or ended; it is closed then.
        """
        started = processor_time(self.pid)
        if limit is None or started is None:
            return self._answer(self._next(limit, f"no answer within {limit or 0:g} s"))
        spent, moved = 0.0, time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                # one thread spends no more than the clock; with more it ends a little late
                wait = min(max(limit - spent, 0.01), STILL)
                return self._answer(self._answers.get(timeout=wait))
            now = (processor_time(self.pid) or started) - started
            if now > spent:
                spent, moved = now, time.monotonic()
            if spent >= limit:
                self._give_up(f"no answer within {limit:g} s of the processor")
            if time.monotonic() - moved >= STILL:
                self._give_up(f"no sign of work for {STILL:g} s")

    def _next(self, timeout: float | None, otherwise: str) -> str:
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            self._give_up(otherwise)

    def _give_up(self, reason: str) -> NoReturn:
        self.close()
        raise ChildTooSlow(reason)

    def _answer(self, line: str) -> Any:
        if line == _END:
            raise ChildLost(self._last_words())
        return json.loads(line)

    def close(self) -> None:
        """Kill the process and what it started, and wait for it; closing twice is harmless."""
        if not self._said.closed:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            assert stream is not None
            # two threads may close it at once
            with contextlib.suppress(OSError, ValueError):
                stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(_END)

    def _last_words(self) -> str:
        """How the process ended, with the last line that it wrote to stderr."""
        code = self._process.wait()
        try:
            self._said.seek(0)
            lines = self._said.read().decode(errors="replace").split("\n")
        except ValueError:  # closed, or being closed, by another thread
            return "it was stopped"
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self.close()
        ended = f"it was killed by signal {-code}" if code < 0 else f"it ended with code {code}"
        return f"{ended}: {shorten(last, 200)}" if last else ended


def processor_time(pid: int) -> float | None:
    """Seconds that the process ``pid`` has spent on processors; None where nobody tells."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3) of the C library
    except OSError:  # it is gone
        return None


def answer_requests(answers: Callable[[Any], Iterable[Any]]) -> None:
    """Be the child: answer standard input until it ends, which it does too if the parent dies.

    Each of the ``answers`` to a request is written as soon as it is there.
    """
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)  # nobody is left to read what is being computed

    threading.Thread(target=read, daemon=True).start()
    while True:
        for answer in answers(json.loads(requests.get())):
            print(json.dumps(answer), flush=True)
