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
"""Writes a report to a path, atomically; raises ``InvalidInput`` if that cannot be written."""


def _writer(text: Callable[[Report], str | bytes]) -> Writer:
    return lambda report, path: write_atomically(path, text(report))


write_html = _writer(to_html)
write_json = _writer(lambda report: json.dumps(to_json(report), indent=2) + "\n")
write_junit = _writer(to_junit)
write_markdown = _writer(to_markdown)
write_sarif = _writer(lambda report: json.dumps(to_sarif(report), indent=2) + "\n")

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
