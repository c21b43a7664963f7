"""The journal of an audit: a file that takes each answer and each finding as it comes.

It holds one JSON object a line. An audit that was interrupted, be it by ``SIGKILL``, goes on from
its journal: complete lines count, a last line that was cut short is dropped, and a claim that
stands twice takes two lines.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections import defaultdict, deque
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, Final

from dpexact.audits.claims import Claim, Contract
from dpexact.audits.runs import Failure
from dpexact.audits.verdicts import Finding, follows
from dpexact.comparison import GRADES, VERDICTS
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, NotWritten
from dpexact.files import refusing
from dpexact.visible import visible

#: What the first line of a journal calls itself.
FORMAT: Final = "dpexact journal 2"
#: What reading a line raises that this module did not write.
_NOT_A_RECORD: Final = (
    ArithmeticError,
    AttributeError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an accountant said to one question: its claims, or how it failed; the time."""

    claims: tuple[Claim, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0


class Journal(AbstractContextManager["Journal", None]):
    """Answers and findings on disk; use as a context manager. Threads may share it.

    Args:
        path: the file, made if it does not exist; an empty one counts as new.
        settings: what findings depend on beside the claim, as the digits asked for; a journal of
            other settings is refused.

    Raises:
        InvalidInput: ``path`` cannot be opened, is in use by another audit, is no journal, or was
            written with other settings.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path: Path = Path(path)
        self._known: defaultdict[str, deque[Finding]] = defaultdict(deque)
        self._answers: dict[str, Answer] = {}
        self._writing = threading.Lock()
        with refusing(f"{visible(os.fspath(path))}: cannot be written"):
            self._file: IO[bytes] = open(self.path, "a+b")  # noqa: SIM115  # closed in __exit__
        try:
            self._lock()
            self._read(settings)
        except BaseException:
            self._file.close()
            raise

    def __exit__(self, *raised: object) -> None:
        with suppress(OSError):  # what could not be written was told, and is tried again
            self._file.close()

    def take(self, claim: Claim) -> Finding | None:
        """The finding on ``claim`` if it was in the file; each line is given out once."""
        waiting = self._known.get(_key(claim))
        # the claim itself, which may stand in another place by now
        return replace(waiting.popleft(), claim=claim) if waiting else None

    def write(self, finding: Finding) -> None:
        """Append one finding; it is in the file when this returns.

        Raises:
            NotWritten: it cannot be written, as when the disk is full.
        """
        self._append(finding_to_json(finding))

    def answer(self, question: str) -> Answer | None:
        """The answer to ``question`` if it was in the file."""
        return self._answers.get(question)

    def write_answer(self, question: str, answer: Answer) -> None:
        """Append the answer to ``question``, a text that is the same whenever it is asked.

        Raises:
            NotWritten: it cannot be written.
        """
        failure = answer.failure
        self._append(
            {
                "question": question,
                "claims": [claim_to_json(claim) for claim in answer.claims],
                "failure": None if failure is None else asdict(failure),
                "seconds": answer.seconds,
            }
        )

    def _append(self, record: dict[str, Any]) -> None:
        told = f"{visible(os.fspath(self.path))}: cannot be written"
        with refusing(told, kind=NotWritten), self._writing:
            self._file.write(json.dumps(record).encode() + b"\n")
            self._file.flush()

    def _read(self, settings: dict[str, Any]) -> None:
        if not self.path.is_file():
            raise self._refused("it is not a regular file")
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, start=1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                record = json.loads(line)
                if number == 1:
                    self._check_header(record, settings)
                elif "question" in record:
                    self._answers[record["question"]] = _answer_of_json(record)
                else:
                    finding = finding_of_json(record)
                    if not follows(finding):
                        raise ValueError("a verdict that its bounds do not give")
                    self._known[_key(finding.claim)].append(finding)
            except _NOT_A_RECORD as error:
                if isinstance(error, InvalidInput) and number == 1:
                    raise
                raise self._refused(f"line {number} is not of a journal") from None
        if whole == 0 and self._file.seek(0, os.SEEK_END) > 0:
            raise self._refused("it is not a journal of an audit")
        self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)
        if whole == 0:
            self._append({"format": FORMAT, **settings})

    def _check_header(self, record: object, settings: dict[str, Any]) -> None:
        if not isinstance(record, dict):
            raise self._refused("it is not a journal of an audit")
        if (form := record.get("format")) != FORMAT:
            if str(form).startswith(FORMAT.rstrip("0123456789")):
                raise self._refused(f"it has the form {form!r}, not {FORMAT!r}; use another file")
            raise self._refused("it is not a journal of an audit")
        for name, value in settings.items():
            if record.get(name) != value:
                raise self._refused(
                    f"it was written with {name} {record.get(name)}, not {value}; use another file"
                )

    def _lock(self) -> None:
        """Keep a second audit from the file; where the system cannot, nothing happens."""
        try:
            import fcntl
        except ImportError:  # not a POSIX system
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise self._refused("another audit is writing to it") from None

    def _refused(self, reason: str) -> InvalidInput:
        return InvalidInput(f"{visible(os.fspath(self.path))}: {reason}")


# --- exact JSON of claims and findings ----------------------------------------------------------


def claim_to_json(claim: Claim) -> dict[str, Any]:
    """The claim as JSON values, exactly, without the place where it stands."""
    values = {field.name: getattr(claim, field.name) for field in fields(claim) if field.compare}
    record: dict[str, Any] = {
        name: None if value is None else str(value) for name, value in values.items()
    }
    if claim.contract is not None:
        record["contract"] = contract_to_json(claim.contract)
    return record


def contract_to_json(contract: Contract) -> dict[str, str]:
    """The contract as JSON values, exactly."""
    return {field.name: str(getattr(contract, field.name)) for field in fields(contract)}


def claim_of_json(record: dict[str, Any]) -> Claim:
    """The claim that :func:`claim_to_json` wrote."""
    contract = record.get("contract")
    return Claim(**{**record, "contract": None if contract is None else Contract(**contract)})


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """The finding as JSON values, exactly."""
    error = finding.relative_error
    return {
        "claim": claim_to_json(finding.claim),
        "verdict": finding.verdict,
        "enclosure": _enclosure_to_json(finding.enclosure),
        "relative_error": None if error is None else _enclosure_to_json(error),
        "digits": finding.digits,
        "seconds": finding.seconds,
        "note": finding.note,
        "grade": finding.grade,
    }


def finding_of_json(record: dict[str, Any]) -> Finding:
    """The finding that :func:`finding_to_json` wrote.

    Raises:
        Exception: it is not one; see ``_NOT_A_RECORD``.
    """
    error = record["relative_error"]
    return Finding(
        claim=claim_of_json(record["claim"]),
        verdict=VERDICTS[VERDICTS.index(record["verdict"])],
        enclosure=_enclosure_of_json(record["enclosure"]),
        relative_error=None if error is None else _enclosure_of_json(error),
        digits=int(record["digits"]),
        seconds=float(record["seconds"]),
        note=str(record["note"]),
        grade=GRADES[GRADES.index(record["grade"])],
    )


def _answer_of_json(record: dict[str, Any]) -> Answer:
    failure = record["failure"]
    claims = tuple(map(claim_of_json, record["claims"]))
    told = None if failure is None else Failure(**failure)
    return Answer(claims, told, float(record["seconds"]))


def _key(claim: Claim) -> str:
    return json.dumps(claim_to_json(claim), sort_keys=True)


def _enclosure_to_json(enclosure: Enclosure) -> list[str]:
    return [_bound_text(enclosure.lower), _bound_text(enclosure.upper), enclosure.method]


def _enclosure_of_json(record: list[str]) -> Enclosure:
    lower, upper, method = record
    return Enclosure(_bound(lower), _bound(upper), method)


def _bound_text(bound: Bound) -> str:
    """Hexadecimal: exact, and not limited in length as decimal text of integers is."""
    if not isinstance(bound, Fraction):
        return str(bound)
    return f"{bound.numerator:x}/{bound.denominator:x}"


def _bound(text: str) -> Bound:
    if text == "inf":
        return math.inf
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))
