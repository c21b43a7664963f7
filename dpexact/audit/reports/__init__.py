"""Reports of an audit: terminal, JSON and HTML, and claims files; each one module."""

from dpexact.audit.reports.claims_file import write_claims
from dpexact.audit.reports.html_report import write_html
from dpexact.audit.reports.json_report import schema, to_json, write_json
from dpexact.audit.reports.terminal import print_report

__all__ = ["print_report", "schema", "to_json", "write_claims", "write_html", "write_json"]
