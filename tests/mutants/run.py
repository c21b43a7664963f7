"""Break one error term at a time: ``python tests/mutants/run.py [--room R] [--name N] [--jobs J]``.

Each table of the ``.toml`` files beside this one, by its name, replaces a text in a copy of the
package and names the test that has to notice. Prints a table; leaves with exit code 1 if a mutant
survives.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
COPIED = ("dpexact", "proofs_checks", "tests")
#: Seconds of the processor for one test, and of the clock; a mutant that takes longer survives.
PATIENCE, LONGEST = 60, 1200
_FAILED = 1  # pytest's code for a test that ran and failed; others mean that nothing was tested


@dataclass(frozen=True)
class Mutant:
    """``old`` becomes ``new`` in ``file``; ``test`` fails then."""

    room: str
    name: str
    file: str
    old: str
    new: str
    test: str
    why: str

    def applied(self, source: str) -> str:
        """The source with the error in it."""
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.file} holds {source.count(self.old)} of {self.old!r}"
            )
        return source.replace(self.old, self.new)


@dataclass(frozen=True)
class Trial:
    """How a test ended on a mutant."""

    mutant: Mutant
    ending: str
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether the test failed, rather than passed, hung or never ran."""
        return self.ending == "killed"


def mutants() -> list[Mutant]:
    """All of them, room by room."""
    return [
        Mutant(room=path.stem, name=name, **entry)
        for path in sorted(HERE.glob("*.toml"))
        for name, entry in tomllib.loads(path.read_text("utf-8")).items()
    ]


class Workshop:
    """A copy of the project in which tests run, mutated or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        for name in COPIED:
            shutil.copytree(PROJECT / name, folder / name, ignore=ignored)
        shutil.copy(PROJECT / "pyproject.toml", folder)
        # compiled files checked by content: a mutant may have the age and the size of its source
        self._python("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", *COPIED)

    def _python(self, *arguments: str, limit: str = "") -> subprocess.CompletedProcess[str]:
        outer = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
        return subprocess.run(
            ["sh", "-c", f'{limit} exec "$@"', "sh", sys.executable, *arguments],
            cwd=self.folder,
            env=outer | {"PYTHONPATH": str(self.folder), "DPEXACT_TEST_SCALE": "1"},
            timeout=LONGEST if limit else None,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def pytest(self, *tests: str, limit: str = "") -> subprocess.CompletedProcess[str]:
        """Run tests by their names, until one fails."""
        options = ("-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
        return self._python(*options, *tests, limit=limit)

    def attempt(self, mutant: Mutant) -> Trial:
        """Whether the test named notices; the source is put back."""
        path = self.folder / mutant.file
        source = path.read_text("utf-8")
        path.write_text(mutant.applied(source), "utf-8")
        begun = time.monotonic()
        try:
            code = self.pytest(mutant.test, limit=f"ulimit -St {PATIENCE};").returncode
            endings = {0: "SURVIVED", _FAILED: "killed", -signal.SIGXCPU: "SURVIVED (timeout)"}
            ending = endings.get(code, f"NOT TESTED (pytest {code})")
        except subprocess.TimeoutExpired:
            ending = "SURVIVED (timeout)"
        finally:
            path.write_text(source, "utf-8")
        return Trial(mutant, ending, time.monotonic() - begun)


def trials(chosen: Sequence[Mutant], jobs: int) -> Iterator[Trial]:
    """Try each mutant, after its test passed without it."""
    with ExitStack() as stack:
        idle: SimpleQueue[Workshop] = SimpleQueue()
        for _ in range(jobs):
            idle.put(Workshop(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        first = idle.get()
        honest = first.pytest(*dict.fromkeys(mutant.test for mutant in chosen))
        if honest.returncode:
            raise SystemExit(f"the tests named do not pass without mutants:\n{honest.stdout}")
        idle.put(first)

        def attempt(mutant: Mutant) -> Trial:
            workshop = idle.get()
            try:
                return workshop.attempt(mutant)
            finally:
                idle.put(workshop)

        yield from stack.enter_context(ThreadPoolExecutor(jobs)).map(attempt, chosen)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", help="only those of this file")
    parser.add_argument("--name", nargs="+", help="only these")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    chosen = [
        mutant
        for mutant in mutants()
        if given.room in (None, mutant.room) and (given.name is None or mutant.name in given.name)
    ]
    if not chosen:
        parser.error("no such mutant")
    survivors = 0
    for trial in trials(chosen, given.jobs):
        survivors += not trial.killed
        mutant = trial.mutant
        print(
            f"{mutant.room:14} {mutant.name:34} {trial.seconds:5.1f} s  {trial.ending}", flush=True
        )
    print(f"{len(chosen)} mutants, {survivors} not killed")
    raise SystemExit(1 if survivors else 0)


if __name__ == "__main__":
    main()
