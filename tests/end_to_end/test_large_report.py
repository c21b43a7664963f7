"""A report of many claims in a real browser: unpacked, by pages, on a phone, printed."""

import base64
import json
import os
import re
import zlib
from dataclasses import replace
from fractions import Fraction

import pytest
from browser import CHROMIUM, Browser

from dpexact.audits import Claim, audit
from dpexact.audits.claims import Place
from dpexact.audits.reports import html_report, write
from dpexact.audits.reports.columns import packed
from dpexact.audits.verdicts import judge
from dpexact.enclosure import Enclosure
from dpexact.visible import visible

COUNT = 2_500
HOSTILE = [
    "<script>window.attacked = true</script>",
    "<img src=x onerror='window.attacked = true'>",
    "a\nline\x1eand\ud800 \u2028 \x00 \u202e",
    "</script><!-- ${1} `x` {{ 2 }}",
    "",
    "1",
    " é😀 ",
]


def varied():
    """Findings of every verdict and kind, with numbers and texts that are hard to carry."""
    values = ["0.5", "1", 0.1, 1 / 3, 2.0**70, "1e-300", "log(3)", "inf", "7" * 40, 5e-324]
    claims = [
        Claim("pure_dp(1)", "epsilon", value, at, kind, source=text, id=text[:9])
        for kind in ("upper", "lower", "estimate")
        for value, at, text in zip(values, ["0", 1e-5, "1/3"] * 4, HOSTILE * 9, strict=False)
    ]
    claims += [
        Claim("poisson(gaussian(1), 1/10)", "delta", "0.1", "-1/2", "upper", direction="add"),
        Claim(f"gaussian({1 / 3!r})", "beta", 0.25, "1/2", "lower", accountant="one 1.0"),
        Claim("zcdp(1)", "epsilon", "0.5", 1e-3, "upper", expect="sound", accountant="two 2.0"),
        Claim("gaussian(3)", "renyi", "1e-9", "3/2", "upper", place=Place("a 'b'.csv", 7)),
    ]
    return [judge(claim) for claim in claims]


def report_of(findings):
    return replace(audit([]), findings=tuple(findings), accountants=("one 1.0", "two 2.0"))


@pytest.fixture(scope="module")
def findings():
    known = varied()
    named = [known[i % len(known)] for i in range(COUNT)]
    # ids that count, with characters that scripts count as two, and digits that are none
    starts = ["run-", "é😀", "²", ""]
    for i in range(1_000, COUNT):
        claim = replace(named[i].claim, id=f"{starts[i // 100 % 4]}{i}")
        named[i] = replace(named[i], claim=claim)
    return named


@pytest.fixture(scope="module")
def path(findings, tmp_path_factory):
    found = tmp_path_factory.mktemp("large") / "report.html"
    write(report_of(findings), "html", found)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not CHROMIUM:
        pytest.skip("no Chromium to open the report in")
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def page(browser, path):
    found = browser.page()
    found.open(path.as_uri())
    found.wait_for("document.getElementById('claims').dataset.ready === ''")
    yield found
    found.close()


PLACES = "Array.from(document.querySelectorAll('tbody.claim'), (e) => Number(e.dataset.place))"


def test_the_summary_and_the_worst_stand_without_scripts(path, findings):
    text = path.read_text(encoding="utf-8")
    body = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert body.count('<tbody role="rowgroup"') == html_report.PAGE
    assert f"of {COUNT} claims, those that do most harm first" in body
    assert "certified wrong" in body
    assert re.search(r"<form[^>]* hidden", body)


def test_the_page_shows_the_worst_first_by_pages(page, findings):
    worst = [place for place, _ in html_report.wording.worst_first(report_of(findings))]
    assert page.tell(PLACES) == worst[:100]
    assert page.tell("document.getElementById('shown').textContent") == f"{COUNT} of {COUNT} shown"
    assert page.tell("document.getElementById('rest').hidden")
    page.tell("document.querySelector('#pages button:last-child').focus()")
    page.press("Enter")
    assert page.tell(PLACES) == worst[100:200]
    page.press(" ")
    assert page.tell(PLACES) == worst[200:300]
    assert page.tell("location.hash") == "#page=3"


def test_a_row_that_is_made_is_the_row_of_a_small_report(page, findings, tmp_path, browser):
    """Each kind of claim, made by the script and by the template, but for the drawing."""
    known = varied()
    small = tmp_path / "small.html"
    write(report_of(findings[: len(known)]), "html", small)
    page.tell("document.querySelector('[name=order]').value = 'place'")
    page.tell("document.getElementById('controls').dispatchEvent(new Event('input'))")
    other = browser.page()
    other.open(f"{small.as_uri()}#order=place")
    read = """Array.from(document.querySelectorAll('tbody.claim')).map((e) => {
        const copy = e.cloneNode(true);
        copy.querySelectorAll('figure').forEach((f) => f.remove());
        const facts = Array.from(copy.querySelectorAll('dl > *'), (f) => f.textContent);
        const left = facts.indexOf('Relative error in');
        if (left >= 0) facts.splice(left, 2);
        const cells = Array.from(copy.querySelectorAll('tr:first-child > *'),
          (c) => [c.outerHTML.replace(/\\s+/g, ' ')]);
        return [copy.className, copy.id, { ...copy.dataset, ranks: '' }, facts, cells];
    })"""
    made, given = page.tell(read)[: len(known)], other.tell(read)
    other.close()
    assert len(made) == len(known) > 20
    for one, two in zip(made, given, strict=True):
        assert one == two


def test_filters_orders_and_links(page, findings, path):
    def set_field(name, value):
        page.tell(
            f"(() => {{ const f = document.querySelector('[name={name}]'); f.value = "
            f"{json.dumps(value)}; f.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )

    set_field("accountant", "one 1.0")
    mine = [i for i, f in enumerate(findings, 1) if f.claim.accountant == "one 1.0"]
    assert sorted(page.tell(PLACES)) == mine[:100]
    set_field("accountant", "")
    page.tell("document.querySelector('thead button[value=truth]').click()")
    ranks = html_report._ranks(report_of(findings))
    wanted = sorted(range(1, COUNT + 1), key=lambda i: (ranks[i - 1][2], i))
    assert page.tell(PLACES) == wanted[:100]
    page.tell("document.querySelector('thead button[value=claim]').click()")
    wanted = sorted(range(1, COUNT + 1), key=lambda i: (ranks[i - 1][0], i))
    assert page.tell(PLACES) == wanted[:100]
    set_field("text", "A 'B'.CSV")
    named = [i for i, f in enumerate(findings, 1) if f.claim.place]
    assert (
        page.tell("document.getElementById('shown').textContent")
        == f"{len(named)} of {COUNT} shown"
    )
    page.tell("location.hash = '#claim-2345'")
    page.wait_for("document.getElementById('claim-2345')?.querySelector('details').open")


def test_nothing_in_it_comes_alive(page):
    assert page.tell("window.attacked") is None
    assert page.tell("document.querySelectorAll('tbody img, tbody script').length") == 0


def test_a_phone(browser, path):
    page = browser.page(width=360, height=700)
    page.open(path.as_uri())
    page.wait_for("document.getElementById('claims').dataset.ready === ''")
    root = "document.documentElement"
    assert page.tell(f"{root}.scrollWidth - {root}.clientWidth") == 0
    page.tell("document.querySelector('#pages button:last-child').click()")
    assert page.tell(f"{root}.scrollWidth - {root}.clientWidth") == 0
    page.close()


@pytest.mark.slow
def test_paper_has_what_filters_leave_up_to_a_limit(browser, path, tmp_path, monkeypatch, findings):
    monkeypatch.setattr(html_report, "PRINTED", 150)
    short = tmp_path / "short.html"
    write(report_of(findings), "html", short)
    page = browser.page()
    page.open(short.as_uri())
    page.wait_for("document.getElementById('claims').dataset.ready === ''")
    page.tell(
        "window.addEventListener('beforeprint', () => { window.printed = "
        "[document.querySelectorAll('tbody.claim').length, document.getElementById('unprinted')"
        ".textContent]; })"
    )
    pdf = base64.b64decode(page.send("Page.printToPDF")["data"])
    assert pdf.startswith(b"%PDF")
    assert page.tell("window.printed") == [
        150,
        f"{COUNT - 150} more claims are not printed; filter for them.",
    ]
    assert len(page.tell(PLACES)) == 100
    assert page.tell("document.getElementById('unprinted')") is None
    page.close()


@pytest.mark.slow
def test_columns_are_unpacked_as_they_were(page, findings):
    report = report_of(findings)
    worst = [place - 1 for place, _ in html_report.wording.worst_first(report)]
    text = packed(report, [rank[2:] for rank in html_report._ranks(report)], worst)
    names = ["id", "source", "lower", "upper", "certified", "claimed-exact", "at-exact"]
    found = page.tell(
        f"unpack({json.dumps(text)}).then(({{ claims, value }}) => "
        "[claims.map((c) => c.place), "
        f"{json.dumps(names)}.map((name) => claims.map((c) => value(name, c.place)))])"
    )
    assert found[0] == [place + 1 for place in worst]
    columns = dict(zip(names, found[1], strict=True))
    for at, place in enumerate(worst):
        finding = findings[place]
        lower, upper = finding.enclosure.decimal_bounds(finding.digits + 5)
        claim = finding.claim
        exact = str(claim.claimed)
        assert columns["id"][at] == visible(claim.id)
        assert columns["source"][at] == visible(claim.source)
        assert (columns["lower"][at], columns["upper"][at]) == (lower, upper)
        assert columns["certified"][at] == finding.enclosure.shown(15)
        assert columns["claimed-exact"][at] in ("", exact)
        assert columns["at-exact"][at] in ("", str(claim.at))
        assert (columns["claimed-exact"][at] == exact) == (
            exact != html_report.number_text(claim.claimed)
        )
    assert len(zlib.decompress(base64.b64decode(text))) > len(text)


@pytest.mark.slow
def test_a_hundred_bytes_a_claim_are_too_many(tmp_path):
    """Different numbers in every claim; the page without them takes what it took before."""
    kept = judge(Claim("gaussian(1)", "epsilon", "4.3", "1e-5", "upper"))

    def moved(i):
        value = Fraction((i * 7919 % 10**9) + 10**9, 10**9) / 3
        end = Enclosure(value, value + Fraction(1, 10**18), "closed form: Gaussian noise")
        claim = replace(
            kept.claim, mechanism=f"gaussian(1.{i % 1000})^{i + 1}", claimed=float(value)
        )
        return replace(kept, claim=claim, enclosure=end, seconds=i / 1e6)

    sizes = []
    for count in (1_001, 6_001):
        write(report_of(map(moved, range(count))), "html", tmp_path / "x.html")
        sizes.append(os.path.getsize(tmp_path / "x.html"))
    assert (sizes[1] - sizes[0]) / 5_000 < 60
