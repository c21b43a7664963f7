"""Reports of an audit, one module each."""

from dpexact.audit.reports.html_report import write_html
from dpexact.audit.reports.json_report import schema, to_json, write_json
from dpexact.audit.reports.junit_report import write_junit
from dpexact.audit.reports.markdown_report import write_markdown
from dpexact.audit.reports.sarif_report import write_sarif
from dpexact.audit.reports.terminal import print_report

__all__ = [
    "print_report",
    "schema",
    "to_json",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
    "write_sarif",
]


def __dir__() -> list[str]:
    return __all__
