"""Claims files: YAML, JSON, JSON Lines or CSV; errors name the file, the line and the key."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeAlias

from dpexact.audits.claims import Claim, Place
from dpexact.audits.records import Record, unknown_key
from dpexact.audits.trees import (
    Mapping,
    Scalar,
    Sequence,
    Tree,
    csv_rows,
    json_lines,
    json_tree,
    yaml_tree,
)
from dpexact.errors import InvalidInput
from dpexact.files import refusing
from dpexact.tokens import quoted
from dpexact.visible import visible

#: Largest claims file, in bytes: some 200,000 claims.
MAX_BYTES: Final = 32 * 1024 * 1024

_Reader: TypeAlias = Callable[[str], Iterable[Tree]]
"""From a text to its claims, one by one; of CSV and JSON Lines no tree of the whole is made."""

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def read_claims(path: str | os.PathLike[str]) -> list[Claim]:
    """The claims of one file, in order; numbers are read as exact decimals.

    The suffix tells the format (``.yaml``, ``.yml``, ``.json``, ``.jsonl``, ``.csv``); without one
    of these the content does. YAML and JSON hold the list under the one top-level key ``claims``,
    JSON Lines one claim a line, CSV one claim a row under a header. The keys of a claim are
    ``mechanism``, ``claims`` (``epsilon``, ``delta``, ``beta`` or ``renyi``: what is claimed), the
    claimed value under that name, what it is claimed at under ``delta``, ``epsilon``, ``alpha`` or
    ``order``, ``kind``, and optionally ``source``, ``tolerance`` (of estimates), ``direction``,
    ``id``, ``accountant`` (package and version), ``expect`` (the expected verdict), and
    ``contract`` with its errors, as in :class:`dpexact.audits.Contract`. The claimed value may be
    ``inf``.

    Raises:
        InvalidInput: one line that names the file, the line and the key.
    """
    name = visible(os.fspath(path))
    try:
        text = _text(Path(path))
        items = _format(Path(path), text)(text)
        claims = [_record(item, os.fspath(path)).claim() for item in items]
        if not claims:
            raise InvalidInput("the file is empty; " + _EXPECTED)
        return claims
    except InvalidInput as error:
        separator = ", " if re.match(r"line \d", str(error)) else ": "
        raise InvalidInput(f"{name}{separator}{error}") from None


_EXPECTED: Final = "expected a list of claims under the key 'claims'"


def _text(path: Path) -> str:
    with refusing("cannot read the file"):
        if path.is_dir():
            raise InvalidInput("is a directory, not a claims file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"the file is larger than {MAX_BYTES} bytes; split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"line {line}: not UTF-8 text (byte {error.start})") from None
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise InvalidInput(f"line {line}: control character {found[0]!r}: not a text file")
    return text


def _format(path: Path, text: str) -> _Reader:
    """The reader for the suffix of ``path``, or for what ``text`` looks like."""
    known = _BY_SUFFIX.get(path.suffix.lower())
    if known is not None:
        return known
    lines = (line.strip() for line in io.StringIO(text))
    first, second = islice(chain(filter(None, lines), ("", "")), 2)
    if first[:1] in ("{", "["):
        return json_lines if first.endswith("}") and second.startswith("{") else _of_json
    return csv_rows if "," in first and ":" not in first else _of_yaml


def _of_yaml(text: str) -> Iterator[Tree]:
    return _listed(yaml_tree(text))


def _of_json(text: str) -> Iterator[Tree]:
    return _listed(json_tree(text))


_BY_SUFFIX: Final[dict[str, _Reader]] = {
    ".yaml": _of_yaml,
    ".yml": _of_yaml,
    ".json": _of_json,
    ".jsonl": json_lines,
    ".csv": csv_rows,
}


def _listed(tree: Tree | None) -> Iterator[Tree]:
    """The list under the key ``claims``; what was taken from it is let go."""
    if tree is None:
        return
    if not isinstance(tree, Mapping):
        raise InvalidInput(f"line {tree.line}: {_EXPECTED}, found {_kind(tree)} at the top")
    for key, _ in tree.pairs:
        if key.text != "claims":
            raise InvalidInput(f"line {key.line}: {unknown_key(key.text or '', ('claims',))}")
    if len(tree.pairs) != 1:
        problem = "key 'claims' is given twice" if tree.pairs else f"{_EXPECTED}, found none"
        raise InvalidInput(f"line {tree.line}: {problem}")
    key, claims = tree.pairs[0]
    if not isinstance(claims, Sequence):
        raise InvalidInput(f"line {key.line}: 'claims' must be a list, found {_kind(claims)}")
    if not claims.items:
        raise InvalidInput(f"line {claims.line}: the list of claims is empty")
    claims.items.reverse()
    while claims.items:
        yield claims.items.pop()


def _record(tree: Tree, file: str) -> Record:
    if not isinstance(tree, Mapping):
        raise InvalidInput(f"line {tree.line}: a claim must be a mapping, found {_kind(tree)}")
    record = Record(f"line {tree.line}", origin=Place(file, tree.line))
    for key, value in tree.pairs:
        place = f"line {key.line}"
        if key.text is None:
            raise InvalidInput(f"{place}: a key is empty")
        if not isinstance(value, Scalar):
            raise InvalidInput(f"{place}: key {quoted(key.text)} holds {_kind(value)}")
        record.put(key.text, value.text, place, f"line {value.line}")
    return record


def _kind(tree: Tree) -> str:
    if isinstance(tree, Scalar):
        return "nothing" if tree.text is None else quoted(tree.text)
    return "a list" if isinstance(tree, Sequence) else "a mapping"
