"""What became of asking the accountants, in the HTML report."""

import pytest

from dpexact.audit.reports.html_runs import runs_section
from dpexact.audit.runs import AccountantRun, Failure, Skip


def test_nothing_asked_is_no_section():
    assert runs_section([]) == ""


@pytest.mark.parametrize(
    ("options", "tone"),
    [
        ({}, "good"),
        ({"skipped": (Skip("a", "b"),)}, "good"),
        ({"failures": (Failure("a", "b", "c"),)}, "bad"),
        ({"reason": "not installed"}, "bad"),
    ],
)
def test_trouble_is_seen(options, tone):
    text = runs_section([AccountantRun("x", **options)])
    assert f'class="run {tone}"' in text
    assert ("✗" if tone == "bad" else "✓") in text


def test_skipped_cases_are_grouped_by_reason():
    skipped = (Skip("one", "no p"), Skip("two", "no q"), Skip("three", "no p"))
    text = runs_section([AccountantRun("x", skipped=skipped)])
    assert "Not asked (3)" in text
    assert "<li>no p: <code>one</code>, <code>three</code></li>" in text
    assert text.count("<li>") == 2
