"""The documentation site builds without a warning, and what its pages show is true."""

import functools
import html
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import CHROMIUM, SWITCHES

import dpexact
from dpexact.cli import main

pytestmark = pytest.mark.slow  # the site is built

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
with_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium to open the pages in")
#: Only a browser lays out: this page opens the others as wide as a telephone, and tells what of
#: them is to the right of it, or in a formula that has to be scrolled.
PROBE = """<!DOCTYPE html><pre id="told"></pre><script>
(async () => {
  const told = {};
  for (const page of PAGES) {
    const frame = document.createElement("iframe");
    frame.width = 390;
    frame.height = 800;
    document.body.append(frame);
    await new Promise((done) => { frame.onload = done; frame.src = "/" + page; });
    const inside = frame.contentDocument;
    const root = inside.documentElement;
    const wide = [...inside.querySelectorAll("article div.math")]
      .filter((e) => e.scrollWidth > e.clientWidth + 2).map((e) => e.textContent);
    const formulas = inside.querySelectorAll("article math").length;
    told[page] = [root.scrollWidth - root.clientWidth, wide, formulas];
    frame.remove();
  }
  document.getElementById("told").textContent = JSON.stringify(told);
})();
</script>"""


class Anchors(HTMLParser):
    """The ids of a page, and where its links and pictures lead."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key == "id":
                self.ids.add(value or "")
            elif key in ("href", "src") and value:
                self.targets.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for name in ("sphinx", "furo", "myst_nb", "sphinx_click", "latex2mathml"):
        pytest.importorskip(name, reason='needs pip install ".[docs]"')
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
    command += ["-d", out / "doctrees", DOCS, out / "html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def opened(site):
    """What a browser has for a page of the site, from a server as any site has."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def open_page(target):
            command = [CHROMIUM, *SWITCHES, "--virtual-time-budget=120000", "--dump-dom"]
            command += [f"http://127.0.0.1:{server.server_port}/{target}"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=True)
            return done.stdout

        yield open_page
        server.shutdown()


@with_browser
def test_pages_and_their_formulas_fit_a_telephone(site, opened):
    pages = [f"theory/{page.stem}.html" for page in (DOCS / "theory").glob("*.md")]
    pages += ["figures.html", "index.html", "tutorials/reproduce-a-figure.html"]
    pages += [f"notebooks/{page.stem}.html" for page in (DOCS / "notebooks").glob("*.ipynb")]
    (site / "probe.html").write_text(PROBE.replace("PAGES", json.dumps(pages)))
    found = re.search(r'<pre id="told">(\{.*\})</pre>', opened("probe.html"), re.S)
    assert found
    told = json.loads(html.unescape(found[1]))
    assert told.keys() == set(pages)
    assert {page: over for page, (over, _, _) in told.items() if over > 0} == {}
    assert {page: wide for page, (_, wide, _) in told.items() if wide} == {}
    assert sum(formulas for _, _, formulas in told.values()) > 400


@with_browser
def test_the_search_shows_excerpts(opened):
    page = opened("search.html?q=subsampling")
    excerpts = re.findall(r'<p class="context">(.*?)</p>', page, re.S)
    assert len(excerpts) >= 5
    # the word stands out, but where a page has only relatives of it
    assert sum("<span" in excerpt for excerpt in excerpts) >= 5


def test_formulas_of_the_theory_are_mathematics():
    """A line that is set as code by its indentation alone is a formula nobody can read."""
    for page in (DOCS / "theory").glob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        text = re.sub(r"^\$\$.*?\$\$$", "", text, flags=re.S | re.M)
        assert not re.search(r"\n\n    \S", text), page.name


def test_links_inside_the_site_lead_somewhere(site):
    pages = {page.resolve(): Anchors(page) for page in site.rglob("*.html")}
    missing = []
    for page, anchors in pages.items():
        for target in anchors.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            found = file.exists() and (
                file not in pages or not parts.fragment or parts.fragment in pages[file].ids
            )
            if not found:
                missing.append(f"{page.relative_to(site)}: {target}")
    assert not missing


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert not re.search(r'<(script|img|iframe)[^>]+src="(https?:)?//', text), page
        assert not re.search(r'<link[^>]+rel="stylesheet"[^>]+href="(https?:)?//', text), page


def test_formulas_are_drawn_by_the_browser(site):
    assert "<mfrac>" in (site / "theory" / "tradeoff.html").read_text()
    assert "<math" in (site / "reference" / "api.html").read_text()
    for page in site.rglob("*.html"):  # a command that is not known stays as it is
        for formula in re.findall(r"<math.*?</math>", page.read_text(), re.S):
            assert "\\" not in formula, (page.name, formula)


def test_every_verb_and_option_is_on_the_page_of_the_command_line(site):
    page = Anchors(site / "reference" / "cli.html")
    for verb, command in main.commands.items():
        assert f"dpexact-{verb}" in page.ids
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue
            for option in parameter.opts:
                if option.startswith("--"):
                    assert f"cmdoption-dpexact-{verb}{option[1:]}" in page.ids


def test_every_public_name_is_on_the_page_of_the_interface(site):
    page = Anchors(site / "reference" / "api.html")
    names = {f"dpexact.{name}" for name in dpexact.__all__ if not name.startswith("__")}
    from dpexact import certificates, oracle
    from dpexact.tradeoffs import __all__ as tradeoff_names

    names |= {f"dpexact.tradeoffs.{name}" for name in tradeoff_names}
    names |= {f"dpexact.certificates.{name}" for name in certificates.__all__}
    names |= {f"dpexact.oracle.{name}" for name in oracle.__all__}
    assert names - page.ids == set()


def test_every_page_is_reached_from_the_contents(site):
    index = Anchors(site / "index.html").targets
    for page in (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")):
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert name == "index.html" or name in index, name


def test_the_adapter_of_the_guide_is_an_accountant():
    (code,) = re.findall(
        r"^```python\n(class MyAccountant.*?)^```",
        (DOCS / "how-to/adapter.md").read_text(),
        re.S | re.M,
    )
    namespace: dict[str, object] = {}
    exec(code, namespace)
    accountant = namespace["ACCOUNTANT"]
    gaussian = {"name": "gaussian", "sigma": 2.0, "sensitivity": 1.0}
    query = {"steps": [[gaussian, 3]], "at": 1e-5, "quantity": "epsilon"}
    assert accountant.supports(query)
    assert not accountant.supports({**query, "steps": [[{"name": "pure_dp", "eps": 1.0}, 1]]})
    assert accountant.call(query).startswith("my_package.epsilon(")
    with pytest.raises(ModuleNotFoundError, match="my_package"):
        accountant.answer(query)


def test_the_test_of_the_oracle_tutorial_does_what_it_says(tmp_path):
    text = (DOCS / "tutorials" / "oracle-in-ci.md").read_text()
    code = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)[0]
    (tmp_path / "test_accounting.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    command += ["--rootdir", tmp_path, tmp_path / "test_accounting.py"]
    own = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=own
    )
    failed, passed = map(int, re.findall(r"^(\d+) failed, (\d+) passed", done.stdout, re.M)[0])
    assert 0.3 < failed / ((failed + passed) / 2) < 0.7  # about half of the textbook's half
    assert not re.search(r"FAILED .*concentrated", done.stdout)
    (shown,) = re.findall(r"^```text\n(upper claim.*?)^```", text, re.S | re.M)
    for line in shown.splitlines():
        assert line in done.stdout


def test_one_version_everywhere():
    assert f"\nversion: {dpexact.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    first = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[0]
    assert first in ("Unreleased", dpexact.__version__)
