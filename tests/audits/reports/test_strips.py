"""The strips of relative errors: the scale, the shapes, and the words for who sees no picture."""

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import audit
from dpexact.audits.reports.html_report import to_html
from dpexact.audits.reports.strips import Scale, tone
from dpexact.comparison import GRADES, VERDICTS

PLACE = re.compile(r'<svg x="([0-9.]+)%" y="\d+" overflow="visible"><path class="mark (\w+)"')


def judged(*values, accountant="one 1", kind="upper"):
    return audit(
        [
            {"mechanism": "pure_dp(1)", "claims": "epsilon", "delta": 0, "kind": kind}
            | {"epsilon": value, "accountant": accountant}
            for value in values
        ]
    )


def strips(report):
    _, _, rest = to_html(report).partition('<section id="errors">')
    return rest.split("</section>")[0]


def test_tones():
    assert [tone(verdict) for verdict in VERDICTS] == ["bad", "bad", "open", "good", "good"]
    assert [tone("unsound", grade) for grade in GRADES[:-1]] == ["bad"] * 2 + ["mild"] * 3


@given(st.fractions(), st.fractions())
def test_the_scale_is_monotone_and_odd(first, second):
    scale = Scale(-9, 2)
    low, high = sorted((first, second))
    assert scale.at(low) <= scale.at(high)
    assert abs(scale.at(-low) + scale.at(low) - 100) < 1e-12
    assert 5 <= scale.at(low) <= 95


def test_the_scale_is_linear_near_0_and_logarithmic_beyond():
    scale = Scale(-10, 0)
    at = [scale.at(Fraction(10) ** power) - 50 for power in (-11, -10, -5, 0, 5)]
    assert [round(place, 9) for place in at] == [0.5, 5, 23.5, 42, 45]
    assert scale.at(float("inf")) == 98
    assert scale.at(Fraction(10) ** -4000) == 50


def test_marks_differ_by_shape_and_side():
    text = strips(judged("0.9", "1.1"))
    marks = PLACE.findall(text.split('class="strip"')[1])
    assert [(lane, float(place) < 50) for place, lane in marks] == [("bad", True), ("good", False)]
    shapes = dict(re.findall(r'class="mark (\w+)" d="([^"]+)"', text))
    assert set(shapes) == {"bad", "mild", "open", "good"}
    assert len(set(shapes.values())) == 4


def test_one_strip_an_accountant_and_the_unnamed_last():
    parts = [judged("2", accountant=name) for name in ("", "b", "a")]
    report = replace(parts[0], findings=tuple(part.findings[0] for part in parts))
    assert re.findall('<div class="strip"><h3 class="wrap">([^<]+)', strips(report)) == [
        "a",
        "b",
        "No accountant named",
    ]


@pytest.mark.slow
def test_claims_at_one_place_share_a_mark():
    report = judged("2")
    many = strips(replace(report, findings=report.findings * 10_000))
    assert "<title>10000 claims right</title>" in many
    assert len(many) < len(strips(report)) + 100


def test_words_tell_what_is_drawn():
    report = judged("0.9", "0.5", "2")
    undefined = audit(
        {"mechanism": "gaussian(1)", "claims": "epsilon", "epsilon": 5, "delta": 0}
        | {"kind": "upper", "accountant": "one 1"}
    )
    text = unescape(strips(replace(report, findings=report.findings + undefined.findings)))
    assert (
        "Relative errors: 4 claims: 3 wrong, gross or visible (-50 % to -10 %), 1 right (+100 %), "
        "1 without a defined error, not drawn"
    ) in text


def test_infinity_is_drawn_at_the_edge():
    assert '<svg x="98.0%"' in strips(judged("inf"))


def test_without_a_relative_error_there_is_no_section():
    claim = {"mechanism": "gaussian(1)", "claims": "epsilon", "epsilon": 5, "delta": 0}
    assert strips(audit({**claim, "kind": "upper"})) == ""
    assert strips(audit([])) == ""


def test_errors_beyond_the_scale_are_counted_at_its_edge():
    text = strips(judged("0.9", "1e9", "2e9"))
    assert "2 claims beyond the last label stand at the edge, whatever the size" in text
    assert ">+1e8%</text>" in text
    assert "beyond the last label" not in strips(judged("0.9", "9"))
