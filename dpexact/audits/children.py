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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dpexact.tokens import shorten

_END: Final = ""


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

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, request: object, timeout: float | None = None) -> Any:
        """The answer to ``request``; the child may take ``timeout`` seconds.

        Raises:
            ChildLost: it took longer (:class:`ChildTooSlow`) or ended; it is closed then.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # then there is no answer either
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        try:
            answer = self._answers.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise ChildTooSlow(f"no answer within {timeout:g} s") from None
        if answer == _END:
            raise ChildLost(self._last_words())
        return json.loads(answer)

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
            with contextlib.suppress(OSError):
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


def answer_requests(answer: Callable[[Any], Any]) -> None:
    """Be the child: answer standard input until it ends, which it does too if the parent dies."""
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)  # nobody is left to read what is being computed

    threading.Thread(target=read, daemon=True).start()
    while True:
        print(json.dumps(answer(json.loads(requests.get()))), flush=True)
