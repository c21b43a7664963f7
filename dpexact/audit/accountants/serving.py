"""One accountant behind two pipes: a script that any Python from 3.8 on runs, by its path.

``python serving.py ADAPTER.py OBJECT DISTRIBUTIONS MODULE [MEBIBYTES]`` imports the audited package
and writes one line of JSON; then it answers each line that it reads with one line:

    -> {"mechanism": ..., "quantity": "epsilon", "at": 1e-05, "direction": "both"}
    <- {"answers": [{"kind": "upper", "value": 4.377}]}    or    {"error": "ValueError: ..."}

The first line is ``{"versions": {...}, "python": "3.11.7"}``, or ``{"error": ...}`` where the
package does not work here, or ``{"absent": DISTRIBUTION}``. Nothing of dpexact is imported: this
file and the adapter's are all that the interpreter needs besides the package itself. Whatever the
package prints goes nowhere, so it cannot be taken for an answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import numbers
import os
import sys
from importlib import metadata
from typing import IO, Any


def main() -> None:
    """Serve the adapter that the command line names until the requests end."""
    requests, answers = _private_pipes()
    file, name, distributions, module, *limit = sys.argv[1:]
    # this script's own folder must not hide packages behind adapters of the same name
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != own]
    adapter = None
    try:
        if limit:
            _limit_memory(int(limit[0]))
        first, adapter = _introduced(file, name, distributions.split(), module)
    except BaseException as error:  # whatever foreign code raises is the reason to report
        first = {"error": described(error)}
    _say(answers, first)
    while adapter is not None:
        line = requests.readline()
        if not line:
            return
        try:
            said: dict[str, Any] = {
                "answers": [_plain(answer) for answer in adapter.answer(json.loads(line))]
            }
        except BaseException as error:  # even SystemExit is but an answer that did not come
            said = {"error": described(error)}
        _say(answers, said)


def described(error: BaseException) -> str:
    """The type and text of an exception of foreign code, on one short line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:197] + "..."


def _introduced(
    file: str, name: str, distributions: list[str], module: str
) -> tuple[dict[str, Any], Any]:
    """The first line, and the adapter if its package works here."""
    versions = {}
    for distribution in distributions:
        try:
            versions[distribution] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            return {"absent": distribution}, None
    spec = importlib.util.spec_from_file_location("_adapter", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["_adapter"] = loaded
    spec.loader.exec_module(loaded)
    adapter: Any = loaded
    for part in name.split("."):
        adapter = getattr(adapter, part)
    try:
        importlib.import_module(module)
    except Exception as error:
        return {"error": f"{module} does not import: {described(error)}"}, None
    return {"versions": versions, "python": sys.version.split()[0]}, adapter


def _plain(answer: Any) -> dict[str, Any]:
    """``{"kind": str, "value": float}`` with a float that JSON can write."""
    kind, value = answer["kind"], answer["value"]
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"answered {value!r}, which is not a number")
    return {"kind": str(kind), "value": float(value)}


def _private_pipes() -> tuple[IO[str], IO[str]]:
    """The pipes under numbers of their own; 0, 1 and 2 then lead nowhere."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return requests, answers


def _limit_memory(mebibytes: int) -> None:
    import resource  # only here: not every system has it

    resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


def _say(answers: IO[str], record: dict[str, Any]) -> None:
    answers.write(json.dumps(record) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
