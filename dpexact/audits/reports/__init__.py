"""Reports of an audit, one module each."""

from dpexact.audits.reports.html_report import write_html
from dpexact.audits.reports.json_report import JsonLines, schema, to_json, write_json, write_jsonl
from dpexact.audits.reports.junit_report import write_junit
from dpexact.audits.reports.markdown_report import write_markdown
from dpexact.audits.reports.sarif_report import write_sarif
from dpexact.audits.reports.terminal import print_report

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


def __dir__() -> list[str]:
    return __all__
