"""The page in a real browser: typed into, by keyboard, on a phone, light and dark."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time

import pytest
from browser import CHROMIUM, Browser
from served_pages import ENDLESS, serving, until_idle

from dpexact import delta, epsilon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium to open the page in"),
]

SETTLED = (
    "document.getElementById('results').getAttribute('aria-busy') === 'false'"
    " && document.getElementById('answer').children.length > 0"
    " && document.getElementById('waiting').hidden"
)
SHORT = "document.getElementById('short').textContent"
ATTACK = "gaussian(1)<script>attacked = true</script><img src=x onerror='attacked = true'>"


@pytest.fixture(scope="module")
def served():
    with serving() as page:
        yield page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def opened(browser, served):
    pages = []

    def opening(query="", **options):
        page = browser.page(**options)
        pages.append(page)
        page.open(f"http://127.0.0.1:{served.port}/{query}")
        page.wait_for(SETTLED)
        return page

    yield opening
    for page in pages:
        page.close()


def fill(page, name, text):
    page.tell(f"document.querySelector('[name=\"{name}\"]').focus()")
    page.write(text)
    page.wait_for("document.getElementById('results').getAttribute('aria-busy') === 'true'")
    page.wait_for(SETTLED)


def choose(page, name, value):
    page.tell(f'document.querySelector(\'[name="{name}"][value="{value}"]\').click()')
    page.wait_for(SETTLED)


def test_the_number_follows_what_is_typed(opened):
    page = opened()
    assert page.tell(SHORT) == "epsilon ≤ 2.378018"
    assert page.tell("document.querySelector('.number strong').textContent") == "2.378018"
    fill(page, "sigma", "2")
    safe = epsilon("poisson(gaussian(2), 1/235)^14100", "1e-5").safe()
    assert page.tell(SHORT) == f"epsilon ≤ {safe}"
    assert "sigma=2&" in page.tell("location.search")
    assert "2 times the clipping norm" in page.tell("document.getElementById('answer').innerText")
    # and the number is spoken
    assert page.tell("document.getElementById('spoken').textContent") == f"epsilon at most {safe}"


def test_curves_are_drawn(opened):
    page = opened()
    for name, count in (("curve", 24), ("profile", 25)):
        drawn = f"document.querySelector('#{name} svg')"
        assert page.tell(f"{drawn}.querySelectorAll('circle').length") == count
        box = page.tell(f"{drawn}.querySelector('.line').getBoundingClientRect().toJSON()")
        assert box["width"] > 300
        assert box["height"] > 50
        # the line passes through its dots
        inside = page.tell(
            f"[...{drawn}.querySelectorAll('circle')].every((dot) => {{"
            " const at = dot.getBoundingClientRect(),"
            f" line = {drawn}.querySelector('.line').getBoundingClientRect();"
            " const x = at.x + at.width / 2, y = at.y + at.height / 2;"
            " return x > line.left - 2 && x < line.right + 2"
            " && y > line.top - 2 && y < line.bottom + 2; })"
        )
        assert inside
        assert "certified points" in page.tell(
            f"document.querySelector('#{name} [role=img]').ariaLabel"
        )


def test_a_link_reproduces(opened, served):
    page = opened()
    choose(page, "counted", "rate")
    fill(page, "rate", "1/50")
    fill(page, "steps", "500")
    choose(page, "noise", "target-epsilon")
    fill(page, "target-epsilon", "1.5")
    told, query = page.tell(SHORT), page.tell("location.search")
    command = page.tell("document.getElementById('command').textContent")
    again = opened(query)
    assert again.tell(SHORT) == told
    assert again.tell("document.getElementById('command').textContent") == command
    assert again.tell("location.search") == query
    done = subprocess.run(
        ["bash", "-c", command.replace("dpexact", f"{sys.executable} -m dpexact", 1)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.replace("≤", "<=") in done.stdout


def test_an_expression_and_its_mistakes(opened):
    page = opened()
    choose(page, "mode", "expression")
    fill(page, "expr", "gaussian(1)^10 * lapace(2)")
    assert page.tell(SHORT) == "↓ see below"
    assert page.tell("document.querySelector('#answer pre').textContent") == (
        "gaussian(1)^10 * lapace(2)\n                 ^"
    )
    assert "did you mean 'laplace'?" in page.tell("document.getElementById('answer').innerText")
    field = "document.querySelector('[name=expr]')"
    assert page.tell(f"{field}.getAttribute('aria-invalid')") == "true"
    message = f"document.getElementById({field}.getAttribute('aria-errormessage'))"
    assert page.tell(f"{message}.innerText")
    assert page.tell("document.getElementById('more').hidden")
    fill(page, "expr", "laplace(2)")
    assert page.tell(f"{field}.getAttribute('aria-invalid')") is None
    choose(page, "question", "delta")
    fill(page, "epsilon", "1/4")
    assert page.tell(SHORT) == f"delta ≤ {delta('laplace(2)', '1/4').safe()}"


def test_foreign_text_does_nothing(opened):
    page = opened()
    choose(page, "mode", "expression")
    fill(page, "expr", ATTACK)
    assert "<scri" in page.tell("document.getElementById('answer').innerText")
    again = opened(page.tell("location.search"))
    for each in (page, again):
        assert each.tell("typeof attacked") == "undefined"
        assert not each.tell("document.images.length")
    # and the policy stops even what gets in
    page.tell(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"attacked = true\">')"
    )
    time.sleep(0.5)
    assert page.tell("typeof attacked") == "undefined"


@pytest.mark.parametrize("width", [320, 390, 800, 1200])
def test_nothing_is_cut_off(opened, width):
    for query in ("", "?mode=expression&delta=1e-5&expr=" + "gaussian(1)*" * 40 + "laplace(1)"):
        page = opened(query, width=width, height=844)
        page.tell("document.querySelectorAll('details').forEach((e) => { e.open = true })")
        assert page.tell("document.documentElement.scrollWidth") <= width
        out = page.tell(
            "[...document.querySelectorAll('main *')].filter((e) => e.checkVisibility()"
            " && !e.closest('.scroll, .out, .problem pre, dd code')"
            " && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
            ".map((e) => e.outerHTML.slice(0, 80)).join('\\n')"
        )
        assert out == ""
        small = page.tell(
            "[...document.querySelectorAll('svg text')].filter((e) =>"
            " e.getBoundingClientRect().height < 10).length"
        )
        assert small == 0


def test_on_a_phone_the_number_stays_in_sight(opened):
    page = opened(width=390, height=500)
    box = page.tell("document.getElementById('short').getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 500
    assert box["height"] > 20


def test_by_keyboard_alone(opened):
    page = opened()
    stops = []
    for _ in range(30):
        page.press("Tab")
        focused = page.tell(
            "(() => { const e = document.activeElement, s = getComputedStyle("
            "e.matches('.segments input') ? e.nextElementSibling : e);"
            " const label = e.labels && e.labels[0] ? e.labels[0].innerText : e.innerText;"
            " return e === document.body ? null : [e.name || e.id || e.tagName, label.trim(),"
            " s.outlineStyle, parseFloat(s.outlineWidth)]; })()"
        )
        if focused is None or focused in stops:
            break
        stops.append(focused)
    names = [stop[0] for stop in stops]
    assert names[:9] == [
        *("mode", "framework", "counted", "dataset", "batch", "epochs", "noise", "sigma", "delta")
    ]
    assert {"ask", "copy-link", "copy-command", "prove"} <= set(names)
    assert all(stop[1] for stop in stops), "something has no label"
    assert all(stop[2] == "solid" and stop[3] >= 2 for stop in stops), "focus is not seen"
    # an expression, typed without a mouse
    page.tell("document.querySelector('[name=mode]:checked').focus()")
    page.press("ArrowRight")
    page.press("Tab")
    assert page.tell("document.activeElement.name") == "expr"
    page.write("gaussian(2)")
    page.wait_for(f"{SHORT} === 'epsilon ≤ {epsilon('gaussian(2)', '1e-5').safe()}'")
    page.wait_for(SETTLED)


LUMINANCE = """
(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const found = parse(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.checkVisibility() || e.disabled) continue;
    const style = getComputedStyle(e);
    const ink = parse(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${e.outerHTML.slice(0, 90)}`);
  }
  return [poor, light(ground(document.body))];
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", ["", "?mode=expression&expr=gausian(1)&delta=1e-5"])
def test_text_stands_out(opened, scheme, query):
    page = opened(query, scheme=scheme)
    page.tell("document.querySelectorAll('details').forEach((e) => { e.open = true })")
    page.wait_for(  # colours fade in
        "document.getAnimations().every((a) => a.playState === 'finished')"
    )
    poor, ground = page.tell(LUMINANCE)
    assert poor == []
    assert (ground > 0.5) == (scheme == "light")


def test_a_certificate_is_downloaded_and_verifies(opened, browser, tmp_path):
    page = opened()
    browser.send(
        "Browser.setDownloadBehavior",
        behavior="allow",
        downloadPath=str(tmp_path),
        browserContextId=page.context,
    )
    page.tell("document.getElementById('prove').click()")
    page.wait_for("document.getElementById('taken').textContent.startsWith('Saved')")
    path, until = tmp_path / "certificate.json", time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    command = [sys.executable, "-m", "dpexact", "verify", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "valid: 1 verified" in done.stdout
    assert "epsilon of poisson(gaussian(11/10, 1), 1/235)^14100 at delta = 1/100000" in done.stdout
    choose(page, "mode", "expression")
    fill(page, "expr", "adaptive(bounded_range(1))")
    page.tell("document.getElementById('prove').click()")
    page.wait_for("document.getElementById('taken').textContent.startsWith('no certificate')")


def test_accountants_are_asked_and_judged(opened, monkeypatch):
    pytest.importorskip("dp_accounting")
    from dpexact.serve import judged

    monkeypatch.setattr(judged, "names", lambda: ["dp-accounting-pld", "dp-accounting-rdp"])
    page = opened()
    page.tell("document.getElementById('ask').click()")
    page.wait_for("!document.getElementById('ask').disabled")
    rows = page.tell("[...document.querySelectorAll('.rows li')].map((e) => e.innerText)")
    assert [row.split()[0] for row in rows] == ["dp-accounting-pld", "dp-accounting-rdp"]
    assert all("sound" in row for row in rows)
    fill(page, "sigma", "2")  # they said nothing about this
    assert page.tell("document.querySelectorAll('.rows li').length") == 0


def test_typing_on_and_leaving_end_what_is_computed(browser, served):
    page = browser.page()
    query = "&".join(f"{name}={value}" for name, value in ENDLESS.items())
    page.open(f"http://127.0.0.1:{served.port}/?{query}")

    def computing(*others):
        until = time.monotonic() + 30
        while not (found := set(served.workers.busy) - set(others)):
            assert time.monotonic() < until
            time.sleep(0.02)
        (child,) = found
        return child

    first = computing()
    assert page.tell("getComputedStyle(document.getElementById('waiting')).display") != "none"
    page.tell("document.querySelector('[name=delta]').focus()")
    page.write("1e-7")
    second = computing(first)
    page.close()
    until_idle(served)
    for child in (first, second):
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)


def test_a_server_that_ends_is_told(browser):
    with serving() as page_served:
        page = browser.page()
        page.open(f"http://127.0.0.1:{page_served.port}/")
        page.wait_for(SETTLED)
    page.tell("document.querySelector('[name=sigma]').focus()")
    page.write("3")
    page.wait_for("document.getElementById('answer').innerText.includes('Does dpexact serve')")
    assert page.tell("document.getElementById('more').hidden")
    page.close()


def test_pictures_of_the_page(opened, tmp_path):
    for scheme in ("light", "dark"):
        path = tmp_path / f"{scheme}.png"
        opened(scheme=scheme).picture(path)
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[16:24])
        assert width >= 1200 - 20
        assert height >= 900
        assert len(content) > 40_000


def test_nothing_is_loaded_from_elsewhere(opened):
    page = opened()
    loaded = page.tell("performance.getEntriesByType('resource').map((e) => e.name)")
    assert len(loaded) >= 3
    assert all(re.match(r"http://127\.0\.0\.1:\d+/", name) for name in loaded)
