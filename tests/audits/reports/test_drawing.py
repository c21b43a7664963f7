"""The drawing is to scale: positions in the picture are those of the numbers."""

import math
import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim
from dpexact.audits.reports.drawing import figure
from dpexact.audits.verdicts import Finding
from dpexact.enclosure import Enclosure


def finding(claimed, low, high, kind="upper", **options):
    claim = Claim("gaussian(1)", "epsilon", claimed, "1e-5", kind, **options)
    bounds = (math.inf if end == math.inf else Fraction(end) for end in (low, high))
    return Finding(claim, "undecided", Enclosure(*bounds), None, 15, 0.0)


def drawn(*arguments, **options):
    root = ElementTree.fromstring(figure(finding(*arguments, **options)))
    svg, caption = root

    def percent(text):
        assert text.endswith("%")
        value = float(text[:-1])
        assert 0 <= value <= 100
        return value

    spans = {}
    for box in svg.findall("rect"):
        left = percent(box.get("x"))
        spans.setdefault(box.get("class"), []).append((left, left + percent(box.get("width"))))
    line = svg.find("line[@class='truth-line']")
    if line is not None:
        spans["truth"] = [(percent(line.get("x1")),) * 2]
    return percent(svg.find("svg").get("x")), spans, caption.text, svg


@given(
    st.fractions(min_value=-50, max_value=100),
    st.fractions(min_value=1, max_value=100),
    st.fractions(min_value="0.2", max_value=50),
)
def test_a_linear_scale_keeps_ratios(claimed, low, width):
    claim, spans, caption, _ = drawn(claimed, low, low + width)
    if "Logarithmic" in caption:
        return
    ((left, right),) = spans["truth"]
    total = Fraction(right - left)
    if total > 2:
        expected = (claimed - low) / width
        assert (claim - left) / (right - left) == pytest.approx(float(expected), abs=0.01)


def test_far_apart_values_are_drawn_on_a_logarithmic_scale():
    claim, spans, caption, _ = drawn("1e-300", "1e-100", "1e-98")
    ((left, right),) = spans["truth"]
    assert (left - claim) / (right - left) == pytest.approx(100, rel=0.01)
    assert caption.startswith("Logarithmic scale: 1e-300 to 1e-98.")


@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_shades_say_where_a_claim_holds(kind):
    claim, spans, _, _ = drawn("5", "2", "3", kind)
    ((left, right),) = spans["truth"]
    below, above = ("fails", "holds") if kind == "upper" else ("holds", "fails")
    assert spans[below] == [(0, pytest.approx(left, abs=0.01))]
    assert spans[above] == [(pytest.approx(right, abs=0.01), pytest.approx(100, abs=0.01))]
    assert claim > right


def test_the_tolerance_of_an_estimate():
    claim, spans, _, _ = drawn("4", "2", "2", "estimate", tolerance="1/2")
    ((low, high),) = spans["holds"]
    ((truth, _),) = spans["truth"]
    assert truth - low == pytest.approx(high - truth, abs=0.01)
    assert (claim - truth) / (high - truth) == pytest.approx(2, abs=0.01)
    assert len(spans["fails"]) == 2


def test_a_thin_enclosure_is_a_line_and_says_so():
    _, spans, caption, _ = drawn("5", "2", Fraction(2) + Fraction(1, 10**20))
    ((left, right),) = spans["truth"]
    assert left == right
    assert "thinner than its line (relative 5e-21)" in caption
    assert "thinner" not in drawn("5", "2", "2")[2]
    assert "thinner" not in drawn("5", "2", "3")[2]


def test_infinities_are_at_the_right_edge():
    claim, spans, caption, _ = drawn("inf", "2", "3")
    assert claim > spans["truth"][0][1] > 70
    assert "Infinity is at the right edge" in caption
    claim, spans, _, _ = drawn("5", math.inf, math.inf)
    assert spans["truth"][0][0] > 95 > claim
    claim, spans, _, _ = drawn("5", 0, math.inf)
    assert spans["truth"][0][0] < claim < spans["truth"][0][1]
    claim, spans, _, _ = drawn("inf", math.inf, math.inf, "estimate")
    assert claim == spans["truth"][0][0]
    assert "holds" not in spans


@pytest.mark.parametrize("value", ["0", "3", "-1"])
def test_a_claim_that_equals_the_truth(value):
    claim, spans, _, _ = drawn(value, value, value)
    assert claim == pytest.approx(spans["truth"][0][0])


def test_what_cannot_be_drawn_is_left_out():
    assert figure(finding("nan", 1, 2)) == ""
    assert figure(finding("-inf", 1, 2)) == ""


def test_an_irrational_claim_has_a_place():
    claim, spans, _, _ = drawn("sqrt(2)", 1, 2)
    ((left, right),) = spans["truth"]
    assert (claim - left) / (right - left) == pytest.approx(math.sqrt(2) - 1, abs=1e-4)


def test_labels_name_both_and_stay_inside():
    *_, svg = drawn("5", "2", Fraction(2) + Fraction(1, 10**20))
    labels = {text.text: text for text in svg.findall("text")}
    assert list(labels) == ["certified 2.00000000000...", "claimed 5"]
    assert [text.get("text-anchor") for text in labels.values()] == ["start", "end"]
    assert re.match("epsilon <= 5 at delta = 0.00001; certified 2.0", svg.get("aria-label"))
