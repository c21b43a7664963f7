"""Interviews: one accountant in a process of its own, asked one question at a time."""

from __future__ import annotations

import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from dpexact.audits.accountants import serving
from dpexact.audits.accountants.asking import Question, claims_from, kinds_of
from dpexact.audits.accountants.registry import Registered, find, names
from dpexact.audits.children import Child, ChildLost
from dpexact.audits.claims import Claim
from dpexact.errors import InvalidInput

#: Seconds that importing the package may take, if an answer may not take longer.
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one accountant may use: seconds an answer, and memory in MiB (``None``: any).

    ``patience`` is how long its package may take to import, where that is more.
    """

    seconds: float = 60.0
    memory: int | None = None
    patience: float = _PATIENCE


class NoAnswer(Exception):
    """The accountant was asked and gave no usable answer; the message says what happened.

    ``refused`` if the package said itself, in words of its own, that it cannot answer.
    """

    def __init__(self, reason: str, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


class Interview(AbstractContextManager["Interview", None]):
    """Asks one accountant; what it does to its process does nothing to ours.

    The process is started by :meth:`open` or by the first question, and again after it was lost.

    Args:
        registered: the adapter, from :func:`dpexact.audits.accountants.find`.
        python: the interpreter that has the package; this one if empty.
        limits: of each answer.
        variables: what the environment of the process has beside ours.

    >>> from dpexact.audits.accountants import find
    >>> Interview(find("dp-accounting-pld")).accountant.kinds
    ('upper',)
    """

    def __init__(
        self,
        registered: Registered,
        python: str = "",
        limits: Limits | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.name: str = registered.name
        self.accountant = registered.accountant
        self.python = python
        #: The versions of the audited package, known once the process runs.
        self.versions: dict[str, str] = {}
        #: What its floats depend on beside that (``AccountantRun.platform``).
        self.platform: dict[str, str] = {}
        self._limits = limits or Limits()
        self._variables = variables or {}
        self._whom = {
            "file": str(registered.file),
            "name": registered.attribute,
            "distributions": list(registered.accountant.distributions),
            "module": registered.accountant.module,
            "memory": self._limits.memory,
        }
        self._child: Child | None = None
        self._closed = False

    def open(self) -> None:
        """Start the process, unless it runs.

        Raises:
            InvalidInput: the package is absent (with the command that installs it) or broken.
        """
        if self._child is not None:
            return
        if self._closed:
            raise InvalidInput(f"accountant {self.name}: the interview was closed")
        command = [self.python or sys.executable, os.path.abspath(serving.__file__)]
        try:
            child = Child(command, _environment(self.python) | self._variables)
            said = child.ask(self._whom, max(self._limits.seconds, self._limits.patience))
        except OSError as error:
            reason = f"cannot start {command[0]}: {error.strerror}"
            raise InvalidInput(f"accountant {self.name}: {reason}") from None
        except ChildLost as error:
            reason = f"{self.accountant.module} does not import: {error}"
            raise InvalidInput(f"accountant {self.name}: {reason}") from None
        if "versions" not in said:
            child.close()
            raise InvalidInput(f"accountant {self.name}: {self._missing(said)}")
        self._child = child
        self.versions, self.platform = said["versions"], said["platform"]

    def claims(self, question: Question) -> list[Claim]:
        """The claims that the accountant makes on ``question``, one of each of its kinds.

        Raises:
            NoAnswer: it raised, crashed, took too long, or answered other than with numbers.
        """
        try:
            self.open()
            assert self._child is not None
            said = self._child.ask(question.query, self._limits.seconds)
        except InvalidInput as error:
            raise NoAnswer(str(error)) from None
        except ChildLost as error:
            self._child = None
            raise NoAnswer(str(error)) from None
        return claims_from(self.accountant, question, self._values(said, question), self.versions)

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _values(self, said: dict[str, Any], question: Question) -> dict[str, float]:
        if "error" in said:
            reason = str(said["error"])
            refusals = getattr(self.accountant, "refusals", ())
            raise NoAnswer(reason, any(text in reason for text in refusals))
        answers = said["answers"]
        kinds = kinds_of(self.accountant, question)
        if sorted(answer["kind"] for answer in answers) != sorted(kinds):
            raise NoAnswer(f"answered {answers!r}, not one value of each of {kinds}")
        values = {answer["kind"]: float(answer["value"]) for answer in answers}
        if any(map(math.isnan, values.values())):
            raise NoAnswer(", ".join(f"{kind} = {value!r}" for kind, value in values.items()))
        return values

    def _missing(self, said: dict[str, Any]) -> str:
        if "absent" not in said:
            return str(said["error"])
        where = f" in {self.python}" if self.python else ""
        return f"{said['absent']} is not installed{where}; pip install {self.accountant.install}"


@dataclass(frozen=True, slots=True)
class AccountantInfo:
    """An adapter that was found: whether its package works here, its versions, or why not."""

    name: str
    installed: bool
    versions: dict[str, str]
    reason: str = ""
    python: str = ""


def available(pythons: dict[str, str] | None = None, jobs: int = 2) -> list[AccountantInfo]:
    """Every adapter that is registered, by name, whether or not its package works.

    Args:
        pythons: interpreters by accountant; the one under ``""`` is for all others.
        jobs: how many are looked at at once.
    """
    found = {} if pythons is None else pythons
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda name: _info(name, python_for(name, found)), names()))


def python_for(name: str, pythons: dict[str, str]) -> str:
    """The interpreter for the accountant ``name``; empty for this one."""
    return pythons.get(name, pythons.get("", ""))


def _info(name: str, python: str) -> AccountantInfo:
    try:
        with Interview(find(name), python) as interview:
            interview.open()
    except InvalidInput as error:
        return AccountantInfo(name, False, {}, str(error), python)
    return AccountantInfo(name, True, interview.versions, "", python)


def _environment(python: str) -> dict[str, str]:
    """Ours; another interpreter gets none of the paths that are meant for this one."""
    environment = dict(os.environ)
    if python:
        for name in ("PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
    else:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return environment
