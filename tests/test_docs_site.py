"""The documentation site builds without a warning, and what its pages show is true."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import dpexact
from dpexact.cli import main

pytestmark = pytest.mark.slow  # the site is built

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


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
    for name in ("sphinx", "furo", "myst_parser", "sphinx_click", "latex2mathml"):
        pytest.importorskip(name, reason='needs pip install ".[docs]"')
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
    command += ["-d", out / "doctrees", DOCS, out / "html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


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
    from dpexact.tradeoff import __all__ as tradeoff_names

    names |= {f"dpexact.tradeoff.{name}" for name in tradeoff_names}
    names |= {f"dpexact.certificates.{name}" for name in certificates.__all__}
    names |= {f"dpexact.oracle.{name}" for name in oracle.__all__}
    assert names - page.ids == set()


def test_every_page_is_reached_from_the_contents(site):
    index = Anchors(site / "index.html").targets
    for page in DOCS.rglob("*.md"):
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
