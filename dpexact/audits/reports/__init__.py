"""Reports of an audit, one module each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TypeAlias

from dpexact.audits.reports.html_report import to_html
from dpexact.audits.reports.json_report import JsonLines, schema, to_json, write_jsonl
from dpexact.audits.reports.junit_report import to_junit
from dpexact.audits.reports.markdown_report import to_markdown
from dpexact.audits.reports.sarif_report import to_sarif
from dpexact.audits.reports.terminal import print_report
from dpexact.audits.runner import Report
from dpexact.files import write_atomically

Writer: TypeAlias = Callable[[Report, str | os.PathLike[str]], None]
"""Writes a report to a path."""


def _writer(form: str, text: Callable[[Report], str | bytes]) -> Writer:
    def write(report: Report, path: str | os.PathLike[str]) -> None:
        write_atomically(path, text(report))

    write.__name__ = write.__qualname__ = f"write_{form.lower()}"
    write.__doc__ = f"""Write the {form} report to ``path``, atomically.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    return write


write_html = _writer("HTML", to_html)
write_json = _writer("JSON", lambda report: json.dumps(to_json(report), indent=2) + "\n")
write_junit = _writer("JUnit", to_junit)
write_markdown = _writer("Markdown", to_markdown)
write_sarif = _writer("SARIF", lambda report: json.dumps(to_sarif(report), indent=2) + "\n")

__all__ = [
    "JsonLines",
    "print_report",
    "schema",
    "to_json",
    "write_html",
    "write_json",
    "write_jsonl",
    "write_junit",
    "write_markdown",
    "write_sarif",
]
__dir__ = __all__.copy
