"""Files that record a training run: tables of steps, Opacus states, serialised events."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import dataclass
from typing import Any, Final

from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput
from dpexact.files import read_text, refusing
from dpexact.mechanisms import Mechanism
from dpexact.tokens import quoted, shorten
from dpexact.training.events import Neighbours, from_dp_event
from dpexact.training.frameworks import Sampling, training_run
from dpexact.training.history import from_opacus_history, from_rows
from dpexact.visible import visible

COLUMNS: Final = ("sigma", "q", "steps")
_STATEMENT: Final = re.compile(
    r"DP-SGD performed over (\S+) examples with (\S+) examples per iteration, noise multiplier "
    r"(\S+) for (\S+) epochs (with|without) microbatching"
)
_PROMISES: Final = re.compile(
    r"Example-level DP with \S+ adjacency at delta = (\S+) computed with (\S+) accounting: "
    r"Epsilon with each example occurring once per epoch: (\S+) "
    r"Epsilon assuming Poisson sampling \(\*\): (\S+)"
)


@dataclass(frozen=True, slots=True)
class Promise:
    """One epsilon that TensorFlow Privacy prints: of ``mechanism`` at ``delta``.

    ``sampling`` is how it assumes that batches are made, ``accounting`` how it says that it counts.
    """

    mechanism: Mechanism
    epsilon: RealLike
    delta: RealLike
    accounting: str
    sampling: Sampling


def printed_promises(text: str) -> list[Promise]:
    """What the statement that TensorFlow Privacy prints promises about one record.

    Two numbers; none where ``text`` is no such statement. What it says of users is left out.

    Raises:
        InvalidInput: a number in it is out of its domain.
    """
    flat = " ".join(text.split())
    about, said = _STATEMENT.search(flat), _PROMISES.search(flat)
    if about is None or said is None:
        return []
    delta, accounting, ordered, poisson = said.groups()
    promised: tuple[tuple[Sampling, str], ...] = (("ordered", ordered), ("poisson", poisson))
    return [
        Promise(_run(about, sampling), epsilon, delta, accounting, sampling)
        for sampling, epsilon in promised
    ]


def read_log(
    path: str | os.PathLike[str],
    *,
    neighbours: Neighbours = "add-remove",
    figures: int | None = None,
    ordered: bool = False,
) -> Mechanism:
    """The mechanism that the file ``path`` records.

    CSV with the columns ``sigma``, ``q`` and ``steps``, in any order; the statement that TensorFlow
    Privacy prints, under its assumption of Poisson sampling; or JSON: the history or state
    of an Opacus accountant, or a ``DpEvent`` as an object with ``class_name`` (``neighbours`` as in
    :func:`from_dp_event`). ``figures`` coarsens tables and histories, and ``ordered`` keeps
    the order of their rows, as in :func:`from_rows`.

    Raises:
        InvalidInput: it cannot be read, or holds none of these.
        UnsupportedMechanism: it holds an event that cannot be expressed.
    """
    name = visible(os.fspath(path))
    with refusing(f"{name}: cannot read", "not a text in UTF-8"):
        text = read_text(path)
    try:
        if text.lstrip()[:1] in ("{", "["):
            # decimals are exact, as everywhere
            held = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_members)
            if isinstance(held, dict) and "class_name" in held:
                return from_dp_event(held, neighbours=neighbours)
            return from_opacus_history(held, figures=figures, ordered=ordered)
        if found := _STATEMENT.search(" ".join(text.split())):
            return _run(found, "poisson")
        return _read_table(text, figures, ordered)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{name}: line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise InvalidInput(f"{name}: nested too deep") from None
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:  # of two numbers neither is known to be what ran
            raise InvalidInput(f"key {quoted(key)} is given twice")
        found[key] = value
    return found


def _run(about: re.Match[str], sampling: Sampling) -> Mechanism:
    dataset, batch, sigma, epochs, how = about.groups()
    return training_run(
        "tensorflow-privacy",
        dataset=dataset,
        batch=batch,
        epochs=epochs,
        sampling=sampling,
        microbatches=how == "with",
    ).mechanism(sigma)


def _read_table(text: str, figures: int | None, ordered: bool) -> Mechanism:
    table = csv.reader(io.StringIO(text, newline=""))  # a line break in a cell stays in it

    def place(_: int) -> str:
        return f"line {table.line_num}"

    try:
        header = [name.strip().lower() for name in next(table, [])]
        if sorted(header) != sorted(COLUMNS):
            named = shorten(visible(", ".join(header))) or "nothing"
            raise InvalidInput(f"the first line must name {', '.join(COLUMNS)}; it names {named}")
        places = [header.index(name) for name in COLUMNS]
        rows = ([row[i] for i in places] if len(row) == 3 else row for row in table if row)
        return from_rows(rows, figures=figures, ordered=ordered, place=place)
    except csv.Error as error:
        raise InvalidInput(f"{place(0)}: {error}") from None
