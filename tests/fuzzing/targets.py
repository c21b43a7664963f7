"""What is fuzzed: every reader of foreign text, each as a function of bytes.

A reader may refuse with :class:`InvalidInput`, in one printable line; whatever else it raises is a
defect. What it accepts must come back the same from its own text.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dpexact import certificate_checker as checker
from dpexact.audits.claims_file import write_claims
from dpexact.audits.journal import Journal
from dpexact.audits.reading import read_claims
from dpexact.conversion import parse_real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms.grammar import parse, parse_template
from dpexact.oracle import golden
from dpexact.training.correlated import banded_run
from dpexact.training.matrices import read_matrix

#: Longest message of an error, in characters.
MAX_MESSAGE: Final = 1000
#: Settings of the journals that are read.
SETTINGS: Final = {"digits": 15}

_MEMORY: Final = Path("/dev/shm")
_FOLDER: Final = tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None)


def real(data: bytes) -> None:
    value = parse_real(_text(data))
    assert parse_real(str(value)) == value


def mechanism(data: bytes) -> None:
    found = parse(_text(data))
    assert parse(str(found)) == found


def template(data: bytes) -> None:
    found = parse_template(_text(data))
    assert parse_template(str(found)) == found


def claims_yaml(data: bytes) -> None:
    _claims(data, "yaml")


def claims_json(data: bytes) -> None:
    _claims(data, "json")


def claims_csv(data: bytes) -> None:
    _claims(data, "csv")


def claims_unnamed(data: bytes) -> None:
    _claims(data, "txt")


def journal(data: bytes) -> None:
    with Journal(_file("journal", data), SETTINGS):
        pass


def certificate(data: bytes) -> None:
    """Read only, digest and texts made right: a mechanism that is stated, the library can parse."""
    texts = []

    def read(statement: Any) -> str:
        if isinstance(statement, dict) and "mechanism" in statement:
            statement = {**statement, "text": checker.shown(statement["mechanism"])}
        texts.append(checker.claim_of(statement, bits=64).text)
        return texts[-1]

    try:
        document = checker.read(data)
        checker.check({**document, "digest": checker.digest(document)}, read)
    except (checker.Unreadable, checker.Invalid, RecursionError) as error:
        raise InvalidInput(f"no certificate: {error}") from None
    for text in texts:
        try:
            parse(text)
        except InvalidInput as error:
            assert "nested" in str(error), text


def golden_table(data: bytes) -> None:
    """The text of a table; the packing is made here."""
    golden_file(gzip.compress(data, 1))


def golden_file(data: bytes) -> None:
    """The packed table, byte for byte."""
    for case in golden.read(_file("table.csv.gz", data)):
        assert str(case.enclosure)
        assert case.id
        assert case.reproduce
        case.at  # noqa: B018  # a property that computes


def matrix(data: bytes) -> None:
    """An array of numpy, and the run of it."""
    try:
        run = banded_run(read_matrix(_file("matrix.npy", data)), "1/10", steps=4, cycle=4)
        assert parse(str(run.mechanism(1))) == run.mechanism(1)
    except UnsupportedMechanism as error:
        raise InvalidInput(str(error)) from None


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    target.__name__: target
    for target in (
        real,
        mechanism,
        template,
        claims_yaml,
        claims_json,
        claims_csv,
        claims_unnamed,
        journal,
        certificate,
        golden_table,
        golden_file,
        matrix,
    )
}


def attempt(name: str, data: bytes) -> bool:
    """Give ``data`` to one target: whether it was accepted; raises what is a defect."""
    try:
        TARGETS[name](data)
    except InvalidInput as error:
        message = str(error)
        assert len(message) <= MAX_MESSAGE, f"a message of {len(message)} characters"
        assert len(message.splitlines()) == 1, f"a message of several lines: {message!r}"
        message.encode()  # it can be printed
        return False
    return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _file(name: str, data: bytes) -> Path:
    path = Path(_FOLDER.name, name)
    path.write_bytes(data)
    return path


def _claims(data: bytes, kind: str) -> None:
    claims = read_claims(_file(f"claims.{kind}", data))
    written = Path(_FOLDER.name, "written.json")
    write_claims(claims, written)
    assert read_claims(written) == claims
