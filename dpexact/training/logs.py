"""Files that record a training run: tables of steps, Opacus states, serialised events."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism
from dpexact.training.frameworks import training_run
from dpexact.training.history import Neighbours, from_dp_event, from_opacus_history, from_rows

COLUMNS: Final = ("sigma", "q", "steps")
_STATEMENT: Final = re.compile(
    r"DP-SGD performed over (\S+) examples with (\S+) examples per iteration, noise multiplier "
    r"(\S+) for (\S+) epochs (with|without) microbatching"
)


def read_log(path: str | os.PathLike[str], *, neighbours: Neighbours = "add-remove") -> Mechanism:
    """The mechanism that the file ``path`` records.

    CSV with the columns ``sigma``, ``q`` and ``steps``, in any order; the statement that TensorFlow
    Privacy prints, under its assumption of Poisson sampling; or JSON: the history or state
    of an Opacus accountant, or a ``DpEvent`` as an object with ``class_name`` (``neighbours`` as in
    :func:`from_dp_event`).

    Raises:
        InvalidInput: it cannot be read, or holds none of these.
        UnsupportedMechanism: it holds an event that cannot be expressed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a text in UTF-8"
        raise InvalidInput(f"{os.fspath(path)}: cannot read: {reason}") from None
    try:
        if text.lstrip()[:1] in ("{", "["):
            # decimals are exact, as everywhere
            held = json.loads(text, parse_float=str, parse_int=str)
            if isinstance(held, dict) and "class_name" in held:
                return from_dp_event(held, neighbours=neighbours)
            return from_opacus_history(held)
        if found := _STATEMENT.search(" ".join(text.split())):
            return _run(*found.groups())
        return _read_table(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{os.fspath(path)}: line {error.lineno}: {error.msg}") from None
    except csv.Error as error:
        raise InvalidInput(f"{os.fspath(path)}: {error}") from None
    except RecursionError:
        raise InvalidInput(f"{os.fspath(path)}: nested too deep") from None
    except InvalidInput as error:
        raise InvalidInput(f"{os.fspath(path)}: {error}") from None


def _run(dataset: str, batch: str, sigma: str, epochs: str, how: str) -> Mechanism:
    run = training_run(
        "tensorflow-privacy",
        dataset=dataset,
        batch=batch,
        epochs=epochs,
        microbatches=how == "with",
    )
    return run.mechanism(sigma)


def _read_table(text: str) -> Mechanism:
    table = csv.reader(text.splitlines())
    header = [name.strip().lower() for name in next(table, [])]
    if sorted(header) != sorted(COLUMNS):
        named = ", ".join(header) or "nothing"
        raise InvalidInput(f"the first line must name {', '.join(COLUMNS)}; it names {named}")
    places = [header.index(name) for name in COLUMNS]
    rows = ([row[i] for i in places] if len(row) == 3 else row for row in table if row)
    return from_rows(rows)
