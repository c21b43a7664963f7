"""The HTML report as text: self-contained, escaped, complete, well formed."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import given

from dpexact import gaussian
from dpexact.audits import Claim, audit
from dpexact.audits.reports import write
from dpexact.audits.reports.html_report import to_html
from dpexact.visible import visible

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Checks the nesting of elements and keeps their attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text(report):
    return to_html(report)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_nothing_is_loaded_from_elsewhere(text, page):
    assert not re.search(r"https?:|//[a-z]|url\(|@import|src=", text)
    assert [link["href"] for link in page.all("link")] == ["data:,"]
    policy = page.all("meta")[2]["content"]
    assert policy.startswith("default-src 'none'")
    script = re.search(r"<script>(.*)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy


def test_foreign_text_is_inert(text, page, hostile):
    assert len(page.all("script")) == text.count("<script") == 1
    assert "&lt;script&gt;alert(&#39;x&#39;)" in text
    for character in ("\x1b", "\u202e", "\ud800"):
        assert character in hostile
        assert character not in text
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    text.encode("utf-8")


def test_every_claim_is_there_the_worst_first(page, report):
    bodies = [a for a in page.all("tbody") if a["class"].startswith("claim")]
    assert [body["data-verdict"] for body in bodies] == (
        ["unsound", "inaccurate", "unsound"] + ["undecided"] * 2 + ["accurate"] * 2 + ["sound"] * 4
    )
    assert [body["data-place"] for body in bodies][:3] == ["7", "4", "2"]
    assert len({body["id"] for body in bodies}) == len(report.findings)
    words = " ".join(page.words)
    for shown in (
        "4.37717809568122...",
        "+0.5213... %",
        "epsilon ≤ 4.4 at delta = 0.00001",
        "dpexact epsilon 'gaussian(1)' --delta 0.00001 --digits 30",
        "--direction remove",
        "Claimed, exactly",
        "good 1.0",
        "no certified accounting for fixed_size(laplace(1), 1, 2)",
        "dpexact audit 'claims & more.yaml'",
        "python-flint",
        report.started,
        "Certified wrong by more than a rounding: 3 claims; the worst names a bound where there",
        f"by dpexact {report.versions['dpexact']}.",
    ):
        assert shown in words, shown


def test_floats_are_shown_as_such():
    text = to_html(audit(Claim(gaussian(1.1), "epsilon", "3", "1e-5", "upper")))
    assert ">gaussian(1.1) (1.1 as a float)</code>" in text


def test_grades_are_counted_and_chosen(page):
    boxes = [box for box in page.all("input") if box.get("name") == "grade"]
    assert [box["value"] for box in boxes] == ["gross", "invalid"]  # invalid is NaN
    grades = [body["data-grade"] for body in page.all("tbody") if "data-grade" in body]
    assert grades[:4] == ["gross"] * 3 + ["invalid"]
    words = " ".join("".join(page.words).split())
    for shown in ("gross3", "visible0", "rounding0", "invalid1", "contract0", "undecided2"):
        assert shown in words


def test_verdicts_do_not_rest_on_colour(page):
    words = "".join(page.words)
    for sign, verdict in [
        ("✗", "unsound"),
        ("✗", "inaccurate"),
        ("?", "undecided"),
        ("✓", "sound"),
    ]:
        assert f"{sign} {verdict}" in words


def test_table_headings_and_pictures_are_named(page):
    assert [h["scope"] for h in page.all("th")[:5]] == ["col"] * 5
    assert all(h["scope"] == "row" for h in page.all("th")[5:])
    labels = [svg["aria-label"] for svg in page.all("svg") if svg.get("role") == "img"]
    strips = [label for label in labels if label.startswith("Relative errors: ")]
    assert len(strips) == 3
    assert len(labels) - len(strips) == 10  # all claims but the one of NaN
    assert all("certified" in label for label in labels if label not in strips)
    assert page.elements[0] == ("html", {"lang": "en"})
    assert page.all("meta")[1]["content"] == "width=device-width, initial-scale=1"


def test_what_accountants_did_is_told(page):
    words = " ".join(" ".join(page.words).split())
    for shown in (
        "5 asked, 2 not asked, 1 failed",
        "gaussian(9) : timed out after 30 s epsilon(9)",
        "no Laplace: laplace(1)",
        "could not run: package absent is not installed",
        "elsewhere 2; run by /opt/python; 0 s; "
        "computed on processor Z80, numpy 2.4.6, vectors none",
    ):
        assert shown in words, shown


@given(HOSTILE_TEXT)
def test_foreign_text_changes_no_element(report_saying, text):
    plain, page = Page(to_html(report_saying("plain"))), Page(to_html(report_saying(text)))

    def shape(page):
        return [(tag, sorted(attributes)) for tag, attributes in page.elements]

    assert shape(page) == shape(plain)
    assert visible(text) in [option.get("value") for option in page.all("option")]
    assert visible(text) in page.words


def test_titles():
    title = re.compile("<title>(.*)</title>")
    assert title.search(to_html(audit([])))[1] == "dpexact audit: no claim certified wrong"


def test_how_many_verdicts_are_as_expected():
    claim = Claim("pure_dp(1)", "epsilon", "2", "0", "upper", expect="unsound")
    assert "0 undecided; 0 of 1 as expected.</p>" in to_html(audit(claim))


def test_the_file_is_the_page(report, text, tmp_path):
    write(report, "html", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
