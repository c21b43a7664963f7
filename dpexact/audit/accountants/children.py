"""Child processes that run accountants: asked line by line, each answer within a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from dpexact.audit.accountants import serving

#: No answer is longer; a longer line is not an answer.
_LONGEST_LINE: Final = 1 << 20

#: Seconds that a child may take to import its package, if the limit of an answer is shorter.
_PATIENCE: Final = 60.0


class ChildLost(Exception):
    """The child gave no answer and runs no more; the message says what happened to it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one accountant may use: seconds per answer, and memory in MiB (``None``: any)."""

    seconds: float = 60.0
    memory: int | None = None
    patience: float = _PATIENCE

    @property
    def starting(self) -> float:
        """Seconds until the package must be imported."""
        return max(self.seconds, self.patience)


class Child:
    """One process that serves one adapter; it is started at once and ended by :meth:`close`.

    Args:
        file: the adapter's file.
        name: the adapter in it.
        distributions: whose versions are stated.
        module: whose import shows that the package works.
        python: the interpreter; this one if empty.
        limits: of each answer.

    Raises:
        ChildLost: there is no such interpreter, or it did not introduce itself in time.
    """

    def __init__(
        self,
        file: Path,
        name: str,
        distributions: tuple[str, ...],
        module: str,
        python: str = "",
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits()
        memory = [] if self._limits.memory is None else [str(self._limits.memory)]
        script = os.path.abspath(serving.__file__)
        command = [python or sys.executable, script, str(file), name]
        try:
            self._process = subprocess.Popen(
                [*command, " ".join(distributions), module, *memory],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env=_environment(python),
                start_new_session=True,  # an interrupt is ours to handle; a kill takes all of it
            )
        except OSError as error:
            raise ChildLost(f"cannot start {command[0]}: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._closed = False
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        reader = threading.Thread(
            target=_read, args=(self._process.stdout, self._lines), daemon=True
        )
        reader.start()
        #: What the child said first: ``versions`` and ``python``, or ``error``, or ``absent``.
        self.introduction = self._line(self._limits.starting, "starting")

    def ask(self, query: dict[str, Any]) -> dict[str, Any]:
        """The line that answers ``query``: ``answers``, or the ``error`` that was raised.

        Raises:
            ChildLost: the process ended, or took too long and was ended.
        """
        with contextlib.suppress(OSError):  # a child that is gone is seen where it does not answer
            self._requests.write(json.dumps(query) + "\n")
            self._requests.flush()
        return self._line(self._limits.seconds, "answering")

    def close(self) -> None:
        """End the process and whatever it started."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._requests.close()

    def _line(self, seconds: float, doing: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise ChildLost(f"no answer within {seconds:g} s ({doing})") from None
        if not line:
            # the pipe may close a moment before the process has ended
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            ended = _ending(self._process.poll())
            self.close()
            raise ChildLost(f"the process {ended} ({doing})")
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            self.close()
            raise ChildLost(f"the process wrote what is not an answer ({doing})")
        return record


def _read(pipe: IO[str], lines: queue.SimpleQueue[str]) -> None:
    with pipe:
        while True:
            try:
                line = pipe.readline(_LONGEST_LINE)
            except (OSError, ValueError):
                line = ""
            lines.put(line)
            if not line:
                return


def _ending(status: int | None) -> str:
    if status is None:
        return "closed its answers"
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _environment(python: str) -> dict[str, str]:
    """Ours; another interpreter gets none of the paths that are meant for this one."""
    environment = dict(os.environ)
    if python:
        for name in ("PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
    else:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return environment
