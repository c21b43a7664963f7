"""Reports of an audit, one module each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Final

from dpexact.audits.reports.html_report import to_html
from dpexact.audits.reports.json_report import JsonLines, schema, to_json
from dpexact.audits.reports.junit_report import to_junit
from dpexact.audits.reports.markdown_report import to_markdown
from dpexact.audits.reports.sarif_report import to_sarif
from dpexact.audits.reports.terminal import print_report
from dpexact.audits.runner import Report
from dpexact.files import write_atomically

#: The text of a report, by the format that is written.
FORMS: Final[dict[str, Callable[[Report], str | bytes]]] = {
    "html": to_html,
    "json": lambda report: json.dumps(to_json(report), indent=2) + "\n",
    "junit": to_junit,
    "markdown": to_markdown,
    "sarif": lambda report: json.dumps(to_sarif(report), indent=2) + "\n",
}


def write(report: Report, form: str, path: str | os.PathLike[str]) -> None:
    """Write the report to ``path`` in one of :data:`FORMS`, atomically.

    Raises:
        NotWritten: ``path`` cannot be written.
    """
    write_atomically(path, FORMS[form](report))


__all__ = ["FORMS", "JsonLines", "print_report", "schema", "to_json", "write"]
__dir__ = __all__.copy
