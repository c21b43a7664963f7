"""The HTML report in a real browser: what is visible, on a wide screen and on a phone."""

import html
import os
import re
import struct
import subprocess
import time
from dataclasses import replace

import pytest
from browser import CHROMIUM, SWITCHES

from dpexact.audits import audit
from dpexact.audits.reports import write
from dpexact.audits.runs import AccountantRun

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium to open the report in")

#: Only a browser lays out, so this outer page asks it and writes the answer into its own text.
PROBE = """<!DOCTYPE html><body style="margin:0">
<iframe width="{width}" height="4000" style="border:0" srcdoc="{page}"></iframe>
<pre id="told"></pre>
<script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const root = page.documentElement;
  const out = Array.from(page.querySelectorAll("svg text, svg rect, td, dd, tbody th, label"))
    .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1)
    .map((e) => e.textContent).join("|");
  const shown = () => Array.from(page.querySelectorAll("tbody.claim"))
    .filter((e) => e.offsetHeight > 0).map((e) => e.dataset.place).join(",");
  const form = page.getElementById("controls");
  const field = (name, value) => {{
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("input", {{ bubbles: true }}));
  }};
  const heading = (name) => page.querySelector(`thead button[value=${{name}}]`);
  const told = [`overflow=${{root.scrollWidth - root.clientWidth}}`, `outside=${{out}}`];
  told.push(`controls=${{form.offsetHeight > 0}}`, `all=${{shown()}}`);
  told.push(`strips=${{page.querySelectorAll(".strip > svg").length}}`);
  told.push(`marks=${{page.querySelectorAll(".strip path.mark").length}}`);
  field("order", "place");
  told.push(`given=${{shown()}}`);
  field("order", "error");
  told.push(`largest=${{shown()}}`);
  heading("error").click();
  const sorted = heading("error").closest("th").getAttribute("aria-sort");
  told.push(`smallest=${{shown()}}`, `sorted=${{sorted}}`);
  heading("truth").click();
  told.push(`truth=${{shown()}}`);
  field("order", "place");
  field("accountant", "one 1.0");
  told.push(`accountant=${{shown()}}`);
  field("accountant", "");
  form.querySelector("[value=sound]").click();
  told.push(`filtered=${{shown()}}`);
  field("text", "TREE");
  told.push(`found=${{shown()}}`, `status=${{page.getElementById("shown").textContent}}`);
  told.push(`scripted=${{page.defaultView.attacked === true}}`);
  document.getElementById("told").textContent = told.join("\\n");
}};
</script>"""

LONG = "approx_dp(0.1, 1e-6)^30 * " * 12 + "pure_dp(0.1)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    def claim(mechanism, epsilon, kind="upper", **options):
        given = {"mechanism": mechanism, "claims": "epsilon", "epsilon": epsilon, "delta": "1e-5"}
        return {**given, "kind": kind, **options}

    attack = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
    report = audit(
        [
            claim("gaussian(1)", "4.4", source="the first, a sound one", accountant="one 1.0"),
            claim("gaussian(1)", "4.3", source=attack + "x" * 300, id="y" * 200, accountant=attack),
            claim("gaussian(1)", "3", "estimate", source="a tree"),
            claim("poisson(zcdp(1), 1/2)", "3"),
            claim(LONG, "1e-300"),
        ],
        command="dpexact audit claims.yaml",
        runs=[AccountantRun(attack, {attack: attack}, reason=attack)],
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(report, "html", path)
    return path


def browse(page, *switches):
    profile = page.parent / "profile"
    command = [CHROMIUM, *SWITCHES, "--hide-scrollbars", f"--user-data-dir={profile}"]
    done = subprocess.run(
        [*command, *switches, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_the_page_shows_verdicts_and_numbers(page):
    dom = browse(page, "--dump-dom")
    text = html.unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]+>", " ", dom, flags=re.S))
    words = " ".join(text.split())
    assert "5 claims: 3 certified wrong, 1 certified right, 1 undecided." in words
    assert "3 gross" in words or "gross 3" in words
    assert "unsound (2)" in words
    assert "4.37717809568122..." in words
    assert "dpexact epsilon 'gaussian(1)' --delta 0.00001 --digits 30" in words
    assert "5 of 5 shown" in words
    assert "<img src=x" in words  # as text
    assert "<img" not in dom


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 1200])
def test_layout_and_controls(page, width):
    probe = page.with_name(f"probe{width}.html")
    source = html.escape(page.read_text(encoding="utf-8"))
    probe.write_text(PROBE.format(width=width, page=source), encoding="utf-8")
    dom = browse(probe, "--dump-dom", f"--window-size={max(width, 500)},900")
    told = html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.S)[1])
    assert dict(line.split("=", 1) for line in told.splitlines()) == {
        "overflow": "0",
        "outside": "",
        "controls": "true",
        "all": "5,3,2,4,1",
        "strips": "3",
        "marks": "3",
        "given": "1,2,3,4,5",
        "largest": "5,3,2,1,4",
        "smallest": "4,1,2,3,5",
        "sorted": "ascending",
        "truth": "4,1,2,3,5",
        "accountant": "1",
        "filtered": "2,3,4,5",
        "found": "3",
        "status": "1 of 5 shown",
        "scripted": "false",
    }


#: Opens the page at an address, turns its pages, follows a link to a claim, tells what is seen.
MANY = """<!DOCTYPE html><body><iframe width="1200" height="900" src="{page}"></iframe>
<pre id="told"></pre>
<script>
onload = async () => {{
  const view = document.querySelector("iframe").contentWindow;
  const page = view.document;
  while (page.getElementById("claims").dataset.ready === undefined) {{
    await new Promise((done) => setTimeout(done, 20));
  }}
  const shown = () => Array.from(page.querySelectorAll("tbody.claim"))
    .filter((e) => e.offsetHeight > 0).map((e) => e.dataset.place);
  const ends = () => {{
    const all = shown();
    return `${{all.length}}:${{all[0]}}-${{all.at(-1)}}`;
  }};
  const [back, forth] = page.querySelectorAll("#pages button");
  const told = [`first=${{ends()}}`, `where=${{page.querySelector("#pages span").textContent}}`];
  told.push(`order=${{page.querySelector("[name=order]").value}}`);
  forth.click();
  told.push(`second=${{ends()}}`, `hash=${{view.location.hash}}`);
  forth.click();
  told.push(`last=${{ends()}}`, `end=${{forth.disabled}}`);
  view.location.hash = "#claim-120";
  view.addEventListener("hashchange", () => setTimeout(() => {{
    const claim = page.getElementById("claim-120");
    told.push(`target=${{claim.offsetHeight > 0}}`);
    told.push(`open=${{claim.querySelector("details").open}}`);
    document.getElementById("told").textContent = told.join("\\n");
  }}));
}};
</script>"""


@pytest.mark.slow
def test_ten_thousand_claims_have_pages_and_an_address(page):
    claim = {"mechanism": "pure_dp(1)", "claims": "epsilon", "delta": 0, "kind": "upper"}
    wrong, right = (audit({**claim, "epsilon": value}).findings for value in ("0.5", "1"))
    report = replace(audit([]), findings=right * 9_750 + wrong * 250)
    many = page.with_name("many.html")
    write(report, "html", many)
    assert os.path.getsize(many) < 1_000_000
    probe = page.with_name("probe-many.html")
    state = "verdict=unsound&order=place"
    probe.write_text(MANY.format(page=f"many.html#{html.escape(state)}"), encoding="utf-8")
    started = time.monotonic()
    dom = browse(
        probe, "--dump-dom", "--allow-file-access-from-files", "--virtual-time-budget=20000"
    )
    assert time.monotonic() - started < 60  # some 5 s; a quadratic script takes minutes
    told = html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.S)[1])
    assert dict(line.split("=", 1) for line in told.splitlines()) == {
        "first": "100:9751-9850",
        "where": "Page 1 of 3",
        "order": "place",
        "second": "100:9851-9950",
        "hash": "#verdict=unsound&order=place&page=2",
        "last": "50:9951-10000",
        "end": "true",
        "target": "true",
        "open": "true",
    }


@pytest.mark.slow
def test_a_picture_of_the_page(page):
    picture = page.with_name("report.png")
    browse(page, f"--screenshot={picture}", "--window-size=900,1200")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (900, 1200)
    assert os.path.getsize(picture) > 20_000  # an empty page is far smaller
