"""One accountant behind two pipes: a script that another Python may run, by its path.

It reads a request a line and writes an answer a line, in JSON. The first request says whom to ask:

    -> {"file": ..., "name": "ACCOUNTANT", "distributions": [...], "module": ..., "memory": null}
    <- {"versions": {...}, "platform": {...}}
    or    {"absent": DISTRIBUTION}    or    {"error": "ImportError: ..."}

and every other one is a question:

    -> {"mechanism": ..., "quantity": "epsilon", "at": 1e-05, "direction": "both"}
    <- {"answers": [{"kind": "upper", "value": 4.377}]}    or    {"error": "ValueError: ..."}

Nothing of dpexact is imported: this file and the adapter's are all that the interpreter needs
besides the audited package. What the package prints on standard output goes nowhere, so it cannot
be taken for an answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import numbers
import os
import platform
import sys
from contextlib import suppress
from importlib import metadata
from typing import IO, Any


def main() -> None:
    """Serve one adapter until the requests end."""
    requests, answers = _private_pipes()
    # this script's own folder must not hide packages behind adapters of the same name
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != own]
    adapter = None
    for line in iter(requests.readline, ""):
        request = json.loads(line)
        try:
            if adapter is None:
                said, adapter = _introduced(**request)
            else:
                said = {"answers": [_plain(answer) for answer in adapter.answer(request)]}
        except BaseException as error:  # even SystemExit is but an answer that did not come
            said = {"error": described(error)}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def described(error: BaseException) -> str:
    """The type and text of an exception of foreign code, on one short line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:197] + "..."


def _introduced(
    file: str, name: str, distributions: list[str], module: str, memory: int | None
) -> tuple[dict[str, Any], Any]:
    """The first answer, and the adapter if its package works here."""
    if memory is not None:
        import resource  # only here: not every system has it

        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    versions = {}
    for distribution in distributions:
        try:
            versions[distribution] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            return {"absent": distribution}, None
    spec = importlib.util.spec_from_file_location("_adapter", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    adapter: Any = importlib.util.module_from_spec(spec)
    sys.modules["_adapter"] = adapter
    spec.loader.exec_module(adapter)
    for part in name.split("."):
        adapter = getattr(adapter, part)
    try:
        importlib.import_module(module)
    except Exception as error:
        return {"error": f"{module} does not import: {described(error)}"}, None
    return {"versions": versions, "platform": _platform()}, adapter


def _platform() -> dict[str, str]:
    """What floats depend on beside the package: the processor, and what computes with it."""
    found = {"processor": _processor(), "python": platform.python_version()}
    for library in ("numpy", "scipy"):
        with suppress(metadata.PackageNotFoundError):
            found[library] = metadata.version(library)
    with suppress(Exception):  # no numpy, or one that does not tell
        inside = importlib.import_module("numpy._core._multiarray_umath")
        vectors = [name for name in inside.__cpu_dispatch__ if inside.__cpu_features__.get(name)]
        found["vectors"] = " ".join(vectors)
    return found


def _processor() -> str:
    with suppress(OSError, UnicodeDecodeError), open("/proc/cpuinfo") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _plain(answer: Any) -> dict[str, Any]:
    """``{"kind": str, "value": float}`` with a float that JSON can write."""
    kind, value = answer["kind"], answer["value"]
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"answered {value!r}, which is not a number")
    return {"kind": str(kind), "value": float(value)}


def _private_pipes() -> tuple[IO[str], IO[str]]:
    """The pipes under numbers of their own; what reads 0 or writes 1 then meets nobody."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return requests, answers


if __name__ == "__main__":
    main()
