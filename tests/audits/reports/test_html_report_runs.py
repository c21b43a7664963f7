"""What became of asking the accountants, in the HTML report."""

import pytest

from dpexact.audits import audit
from dpexact.audits.reports.html_report import to_html
from dpexact.audits.runs import AccountantRun, Failure, Skip


def runs_section(runs):
    return to_html(audit([], runs=runs)).split('<section id="runs">')[1].split("</section>")[0]


def test_nothing_asked_is_no_section():
    assert "Accountants asked" not in to_html(audit([]))


@pytest.mark.parametrize(
    ("options", "tone"),
    [
        ({}, "good"),
        ({"skipped": (Skip("a", "b"),)}, "good"),
        ({"failures": (Failure("a", "b", "c"),)}, "bad"),
        ({"failures": (Failure("a", "b", "c", refused=True),)}, "good"),
        ({"reason": "not installed"}, "mild"),
    ],
)
def test_trouble_is_seen(options, tone):
    text = runs_section([AccountantRun("x", **options)])
    assert f'class="run {tone}"' in text
    assert {"bad": "✗", "mild": "–", "good": "✓"}[tone] in text


def test_skipped_cases_are_grouped_by_reason():
    skipped = (Skip("one", "no p"), Skip("two", "no q"), Skip("three", "no p"))
    text = runs_section([AccountantRun("x", skipped=skipped)])
    assert "Not asked (3)" in text
    assert "<li>no p: <code>one</code>, <code>three</code></li>" in text
    assert text.count("<li>") == 2
