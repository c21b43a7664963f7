"""YAML, JSON and CSV as trees of text with line numbers: no number passes through a float.

A tree is a :class:`Scalar`, a :class:`Sequence` or a :class:`Mapping`. Keys given twice are kept,
so that the reader of the tree can name both.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml

from dpexact.errors import InvalidInput
from dpexact.tokens import quoted, shorten

#: Deepest nesting of a document; a claims file needs 3.
MAX_DEPTH: Final = 16
_TOO_DEEP: Final = f"nested more than {MAX_DEPTH} deep"
#: Most keys, values, lists and mappings of a document: 200,000 claims of seven keys.
MAX_NODES: Final = 3_000_000
#: Most named columns of a table.
MAX_COLUMNS: Final = 64


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as its text; ``text`` is ``None`` for a null or an absent value."""

    text: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    line: int
    items: list[Tree] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Pairs of key and value, in order."""

    line: int
    pairs: list[tuple[Scalar, Tree]] = field(default_factory=list)


Tree: TypeAlias = Scalar | Sequence | Mapping


class _Builder:
    """Builds one tree from a stream of openings, scalars and closings."""

    def __init__(self) -> None:
        self.root: Tree | None = None
        self._open: list[Sequence | Mapping] = []
        self._keys: list[Scalar | None] = []
        self._nodes = 0

    @property
    def key_line(self) -> int:
        """The line of the key whose value comes next, or 0."""
        key = self._keys[-1] if self._keys else None
        return key.line if key else 0

    def add(self, tree: Tree) -> None:
        """Place ``tree`` where the stream stands."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise InvalidInput(f"line {tree.line}: more than {MAX_NODES} values; split the file")
        if not self._open:
            self.root = tree
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(tree)
        elif (key := self._keys[-1]) is not None:
            parent.pairs.append((key, tree))
            self._keys[-1] = None
        elif isinstance(tree, Scalar):
            self._keys[-1] = tree
        else:
            raise InvalidInput(f"line {tree.line}: a key must be text, not a list or mapping")

    def enter(self, tree: Sequence | Mapping) -> None:
        """Place ``tree``; what follows goes into it."""
        self.add(tree)
        if len(self._open) == MAX_DEPTH:
            raise InvalidInput(f"line {tree.line}: {_TOO_DEEP}")
        self._open.append(tree)
        self._keys.append(None)

    def leave(self) -> None:
        """Close the innermost open tree."""
        self._open.pop()
        self._keys.pop()


# --- YAML ---------------------------------------------------------------------------------------

#: libyaml where PyYAML was built with it, about ten times faster.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


def yaml_tree(text: str) -> Tree | None:
    """The one document of ``text``; ``None`` if there is none.

    Raises:
        InvalidInput: syntax errors, aliases, several documents; with the line.
    """
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            _feed(builder, event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark is not None else ""
        if "maximum nesting depth" in (error.problem or ""):  # libyaml reads ahead, and has its own
            raise InvalidInput(f"{where}{_TOO_DEEP}") from None
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise InvalidInput(f"{where}not valid YAML: {said}") from None
    except yaml.YAMLError as error:
        raise InvalidInput(f"not valid YAML: {' '.join(str(error).split())}") from None
    return builder.root


def _feed(builder: _Builder, event: yaml.Event) -> None:
    assert event.start_mark is not None
    line = event.start_mark.line + 1
    match event:
        case yaml.ScalarEvent():
            null = not event.style and event.value in _NULLS
            # a parser places an empty value wherever the next text starts
            builder.add(
                Scalar(None, builder.key_line or line) if null else Scalar(event.value, line)
            )
        case yaml.SequenceStartEvent():
            builder.enter(Sequence(line))
        case yaml.MappingStartEvent():
            builder.enter(Mapping(line))
        case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
            builder.leave()
        case yaml.AliasEvent():
            raise InvalidInput(
                f"line {line}: YAML alias *{shorten(str(event.anchor))} is not accepted"
            )
        case yaml.DocumentStartEvent() if builder.root is not None:
            raise InvalidInput(f"line {line}: a second YAML document; one file holds one list")


# --- JSON ---------------------------------------------------------------------------------------

_JSON_TOKEN: Final = re.compile(
    r'[ \t\r\n]*(?:(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+"?)|(?P<sign>[{}\[\]:,])|(?P<word>'
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity)|)"
)
_VALUE: Final = frozenset({"text", "word", "{", "["})
_NEXT: Final = {closer: frozenset({",", closer}) for closer in "}]"}


def json_lines(text: str) -> Iterator[Tree]:
    """The value of each line that holds one.

    Raises:
        InvalidInput: syntax errors, with the line.
    """
    nodes = 0
    for number, line in enumerate(io.StringIO(text), start=1):
        if line.isspace():
            continue
        tree = json_tree(line.rstrip(), number)
        assert tree is not None
        nodes += 1 + 2 * len(tree.pairs) if isinstance(tree, Mapping) else 1
        if nodes > MAX_NODES:
            raise InvalidInput(f"line {number}: more than {MAX_NODES} values; split the file")
        yield tree


def json_tree(text: str, first: int = 1) -> Tree | None:
    """The value that ``text`` holds, whose lines are counted from ``first``.

    Raises:
        InvalidInput: syntax errors, with the line.
    """
    builder = _Builder()
    closers: list[str] = []
    awaited = _VALUE
    line, end = first, 0
    while found := _JSON_TOKEN.match(text, end):  # always: the last alternative is empty
        kind = found.lastgroup or ""
        token = found[kind] if kind else ""
        line += text.count("\n", end, found.end() - len(token))
        end = found.end()
        if not (awaited or kind) and end == len(text):
            break
        if (token if kind == "sign" else kind) not in awaited:
            said = f"expected {_words(awaited)}"
            raise _invalid_json(text, end - len(token), said, first)
        if token in ("{", "["):
            builder.enter(Mapping(line) if token == "{" else Sequence(line))
            closers.append("}" if token == "{" else "]")
            awaited = frozenset({"text", "}"}) if token == "{" else _VALUE | {"]"}
            continue
        if token in (":", ","):
            awaited = frozenset({"text"}) if (token, closers[-1]) == (",", "}") else _VALUE
            continue
        if kind == "sign":
            builder.leave()
            closers.pop()
        else:
            builder.add(_json_scalar(token, text, end - len(token), line, first))
            if "word" not in awaited:
                awaited = frozenset({":"})
                continue
        awaited = _NEXT[closers[-1]] if closers else frozenset()
    return builder.root


def _json_scalar(token: str, text: str, start: int, line: int, first: int) -> Scalar:
    if not token.startswith('"'):
        return Scalar(None if token == "null" else token, line)
    try:
        return Scalar(json.loads(token), line)
    except json.JSONDecodeError as error:
        raise _invalid_json(text, start + error.pos, error.msg, first) from None


def _words(awaited: frozenset[str]) -> str:
    if "word" in awaited:
        return "a value"
    if "text" in awaited:
        return "a key in double quotes"
    return " or ".join(map(repr, sorted(awaited))) or "nothing more"


def _invalid_json(text: str, position: int, said: str, first: int) -> InvalidInput:
    line = text.count("\n", 0, position) + first
    column = position - text.rfind("\n", 0, position)
    return InvalidInput(f"line {line}: not valid JSON: {said} at column {column}")


# --- CSV ----------------------------------------------------------------------------------------


def csv_rows(text: str) -> Iterator[Mapping]:
    """The rows of ``text`` as mappings by the header, one by one; empty cells are absent.

    Raises:
        InvalidInput: bad quoting, a heading given twice, or a row with more cells than the header;
            with the line.
    """
    rows = _csv_rows(text)
    first = next(rows, None)
    if first is None:
        return
    header_line, header = first
    _check_header(header, header_line)
    names = [Scalar(name.strip() or None, header_line) for name in header]
    named = [column for column, name in enumerate(names) if name.text]
    if len(named) > MAX_COLUMNS:
        raise InvalidInput(f"line {header_line}: more than {MAX_COLUMNS} headings")
    nodes = 0
    for line, cells in rows:
        if len(cells) > len(names):
            extra = quoted(cells[len(names)])
            raise InvalidInput(
                f"line {line}: {len(cells)} cells under {len(names)} headings, the first extra "
                f"one is {extra}; quote a cell that holds a comma"
            )
        pairs: list[tuple[Scalar, Tree]] = [
            (name, Scalar(cell if cell.strip() else None, line))
            for name, cell in zip(names, cells, strict=False)
            if name.text or cell.strip()
        ]
        # never as many steps as headings: these may be millions, and so may the short rows
        absent = (names[column] for column in named if column >= len(cells))
        pairs.extend((name, Scalar(None, line)) for name in absent)
        nodes += 1 + 2 * len(pairs)
        if nodes > MAX_NODES:
            raise InvalidInput(f"line {line}: more than {MAX_NODES} values; split the file")
        yield Mapping(line, pairs)
    if not nodes:
        raise InvalidInput(f"line {header_line}: the list of claims is empty")


def _check_header(header: list[str], line: int) -> None:
    if len(header) == 1 and ";" in header[0]:
        raise InvalidInput(f"line {line}: cells are separated by semicolons; separate by commas")
    seen: set[str] = set()
    for name in filter(None, map(str.strip, header)):
        if name in seen:
            raise InvalidInput(f"line {line}: heading {quoted(name)} is given twice")
        seen.add(name)


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something, each with its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(f"line {line}: not valid CSV: {error}") from None
