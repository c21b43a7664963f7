"""A page a claim: what is checked, how strongly, and on what it rests."""

import re

import pytest
from browser import CHROMIUM, Browser

from proofs_checks.claims import SOURCES, claim, claims
from proofs_checks.coq import formal
from proofs_checks.site import claim_page, index_page, write_site


def formula(text):
    return f"<math>{len(text)}</math>"


@pytest.mark.slow
def test_every_claim_has_a_page_and_stands_in_the_index(tmp_path):
    every = [identity for source in SOURCES for identity in claims(source)]
    assert write_site(tmp_path / "each", formula) == len(every) + 1
    index = (tmp_path / "each" / "index.html").read_text()
    for identity in every:
        assert f'href="{identity}.html"' in index
        page = (tmp_path / "each" / f"{identity}.html").read_text()
        for target in re.findall(r'href="([^"]+)"', page):
            assert (tmp_path / "each" / target).exists(), (identity, target)
        assert "<script" not in page
    assert "<script" not in index


def test_a_page_says_what_was_checked():
    page = claim_page(claim("steinke.lem36"), formula)
    assert "for all p in [0, 1], x &gt; 0: 1/(1 - p + p/x) &lt;= 1 - p + p*x" in page
    assert "proved, formal" in page
    assert "<math>" in page
    assert claim("steinke.lem36").hash in page


@pytest.mark.slow
def test_a_page_links_its_coq_file(tmp_path):
    page = claim_page(claim("steinke.lem36"), formula)
    assert '<a href="steinke.lem36.v"><code>steinke.lem36.v</code></a>, accepted by coqc' in page
    assert "its last theorem is the statement above" in page
    assert "In Coq" not in claim_page(claim("kov.fig1"), formula)
    write_site(tmp_path, formula)
    assert "Theorem steinke_lem36_stated" in (tmp_path / "steinke.lem36.v").read_text()


def test_a_refutation_draws_its_witness():
    page = claim_page(claim("kov.sec5.constants"), formula)
    assert "<svg" in page
    assert "refuted, complete" in page


def test_what_a_claim_rests_on_is_nested():
    page = claim_page(claim("gdp.thm10"), formula)
    assert re.search(r'href="gdp\.thm9\.html".*href="gdp\.lem2\.html"', page)


@pytest.mark.parametrize("name", ["paper-kov", "verdict-refuted", "strength-complete"])
def test_the_index_filters_without_a_script(name):
    page = index_page(claims("kov").values())
    assert f"body:has(#{name}:checked) tbody tr:not(.{name})" in page
    assert f'id="{name}"' in page


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium to open the index in")
def test_the_filters_of_the_index_leave_what_they_say(tmp_path):
    write_site(tmp_path / "each", formula)
    rows = "[...document.querySelectorAll('tbody tr')]"
    shown = f"{rows}.filter((row) => getComputedStyle(row).display !== 'none')"
    with Browser(tmp_path / "profile") as browser:
        page = browser.page()
        page.open((tmp_path / "each" / "index.html").as_uri())
        assert page.tell(f"{shown}.length") == sum(len(claims(source)) for source in SOURCES)
        page.tell("document.getElementById('paper-kov').click()")
        assert page.tell(f"{shown}.length") == len(claims("kov"))
        page.tell("document.getElementById('strength-formal').click()")
        found = page.tell(f"{shown}.map((row) => row.querySelector('a').textContent)")
    assert found == [each for each in claims("kov") if formal(each)]
