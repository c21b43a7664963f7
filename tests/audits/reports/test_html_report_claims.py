"""The table of claims: exact ranks, pages, and what a large report leaves out."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from dpexact.audits import audit
from dpexact.audits.reports import html_report
from dpexact.audits.reports.html_report import to_html


class Row(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.body, self.pictures, self.open = {}, 0, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "tbody":
            self.body = values
        self.pictures += tag == "figure"
        if tag == "details":
            self.open = "open" in values


def parsed(report):
    return [Row(text) for text in re.findall("<tbody.*?</tbody>", to_html(report), re.S)]


def ranks(report, column):
    found = sorted(parsed(report), key=lambda row: int(row.body["data-place"]))
    return [int(row.body["data-ranks"].split()[column]) for row in found]


def claims(*values, mechanism="gaussian(1)", **options):
    each = {"mechanism": mechanism, "claims": "delta", "epsilon": 1, "kind": "upper", **options}
    return audit([{**each, "delta": value} for value in values])


def test_ranks_tell_numbers_apart_that_no_float_does():
    report = audit(
        [
            {"mechanism": f"approx_dp(1, {x})", "claims": "delta", "epsilon": 1, "delta": 1}
            | {"kind": "upper"}
            for x in ("2e-400", "1e-400", "1e-4000")
        ]
    )
    assert ranks(report, 2) == [2, 1, 0]


def test_ranks_of_errors_go_by_size():
    assert ranks(claims("0.2", "0.1", "0.9", "0.13"), 3) == [2, 1, 3, 0]


def test_a_wrong_claim_without_a_relative_error_has_the_largest():
    report = audit(
        [
            {"mechanism": "gaussian(1)", "claims": "epsilon", "epsilon": x, "delta": at}
            | {"kind": "upper"}
            for x, at in [("4", "1e-5"), ("4", "0")]
        ]
    )
    assert report.findings[1].relative_error is None
    assert ranks(report, 3) == [0, 1]


def test_ranks_of_mechanisms_and_accountants():
    first, second = claims("1", accountant="b"), claims("1", mechanism="pure_dp(1)", accountant="a")
    report = replace(first, findings=first.findings + second.findings)
    assert ranks(report, 0) == [0, 1]
    assert ranks(report, 1) == [1, 0]


def test_claims_after_the_first_page_are_marked(monkeypatch):
    monkeypatch.setattr(html_report, "PAGE", 2)
    later = ["later" in row.body["class"] for row in parsed(claims("1", "1", "0.1"))]
    assert later == [False, False, True]


def test_a_large_report_writes_and_draws_only_the_worst(monkeypatch):
    report = claims("1", "0.1", "1")
    assert [row.pictures for row in parsed(report)] == [1, 1, 1]
    monkeypatch.setattr(html_report, "DRAWN", 2)
    monkeypatch.setattr(html_report, "PAGE", 2)
    assert [(row.body["data-place"], row.pictures) for row in parsed(report)] == [
        ("2", 1),
        ("1", 1),
    ]


def test_witnesses_are_folded():
    assert [row.open for row in parsed(claims("1", "0.1"))] == [False, False]


def test_the_expected_verdict_and_whether_it_came():
    report = claims("1", expect="sound")
    assert "<dt>Expected</dt><dd>sound</dd>" in to_html(report)
    report = claims("1", expect="unsound")
    assert "<dt>Expected</dt><dd>unsound, which it is not</dd>" in to_html(report)
    assert "Expected" not in to_html(claims("1"))
