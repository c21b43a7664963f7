"""JSON Lines: a finding a line as soon as it is known, for machines and for very many claims.

Line ``n`` is what the JSON report has as item ``n`` of ``claims``; the last line is the rest of
that report. A file without such a last line belongs to an audit that has not ended.
"""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress
from typing import IO, Any

from dpexact.audits.reports.json_report import finding_to_json, to_json
from dpexact.audits.runner import Report
from dpexact.audits.verdicts import Finding
from dpexact.errors import NotWritten
from dpexact.visible import visible


class JsonLines(AbstractContextManager["JsonLines", None]):
    """The file while an audit runs; use as a context manager.

    :meth:`found` may be called in any order; lines come in that of the claims.

    Raises:
        NotWritten: ``path`` cannot be written, now or later.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._early: dict[int, Finding] = {}
        self._next = 0
        try:
            self._file: IO[str] = open(path, "w", encoding="utf-8")  # noqa: SIM115  # in __exit__
        except (OSError, ValueError) as error:
            raise self._refused(error) from None

    def __exit__(self, *raised: object) -> None:
        with suppress(OSError):  # what is left after a failure, which was raised
            self._file.close()

    def found(self, place: int, finding: Finding) -> None:
        """Take the finding on the claim at ``place``, counted from 0."""
        self._early[place] = finding
        lines = []
        while (ready := self._early.pop(self._next, None)) is not None:
            self._next += 1
            lines.append(finding_to_json(ready, self._next))
        self._write(lines)

    def end(self, report: Report) -> None:
        """Write the last line."""
        rest = to_json(report, claims=False)
        self._write([rest])

    def _write(self, lines: list[dict[str, Any]]) -> None:
        if not lines:
            return
        try:
            self._file.writelines(json.dumps(line) + "\n" for line in lines)
            self._file.flush()
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> NotWritten:
        reason = getattr(error, "strerror", None) or str(error)
        return NotWritten(f"{visible(os.fspath(self._path))}: cannot write: {reason}")


def write_jsonl(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the JSON Lines of an audit that has ended.

    Raises:
        NotWritten: ``path`` cannot be written.
    """
    with JsonLines(path) as lines:
        for place, finding in enumerate(report.findings):
            lines.found(place, finding)
        lines.end(report)
