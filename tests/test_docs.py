"""Every ``$ dpexact`` line in the documentation is run and its output compared."""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from command_line import invoke

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples():
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.S | re.M):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, expected = part.partition("\n")
                yield pytest.param(command, expected, id=f"{page.name}: {command[:60]}")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "expected"), list(examples()))
def test_console_example(command, expected, monkeypatch, tmp_path):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)  # some examples write
    program, *arguments = shlex.split(command)
    assert program == "dpexact"
    result = invoke(*arguments)
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    shown = re.sub(r"^dpexact: .* s so far\n", "", result.output, flags=re.M)  # where it is busy
    assert checker.check_output(expected, shown, flags), result.output


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_has_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "<!-- main-command -->" in text
    assert "<!-- test-command -->" in text


def test_the_container_is_built_from_what_there_is():
    text = (ROOT / "docs" / "examples" / "Containerfile").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = {
        name for line in re.findall(r"^COPY (?!--)(.*)$", text, re.M) for name in line.split()[:-1]
    }
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    licences = project["project"]["license-files"]
    assert copied == {"pyproject.toml", project["project"]["readme"], *licences, *packages}
    for extra in re.findall(r"\[(\w+)\]\"", text):
        assert extra in project["project"]["optional-dependencies"]
    assert f'ENTRYPOINT ["{next(iter(project["project"]["scripts"]))}"]' in text
