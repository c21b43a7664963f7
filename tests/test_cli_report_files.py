"""The report files of an audit on the command line."""

import json
from xml.etree import ElementTree

import pytest
from command_line import invoke

CLAIMS = "mechanism,claims,epsilon,delta,kind\npure_dp(1),epsilon,{},0,upper\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "claims.csv").write_text(CLAIMS.format("0.5"))
    (tmp_path / "right.csv").write_text(CLAIMS.format("1"))
    return tmp_path


def run(*arguments, **environment):
    return invoke("audit", *arguments, env=environment)


def test_every_format_at_once(place):
    formats = {"html": "html", "json": "json", "junit": "xml", "sarif": "sarif", "markdown": "md"}
    formats["jsonl"] = "jsonl"
    options = [word for name, end in formats.items() for word in (f"--{name}", f"a.{end}")]
    result = run("claims.csv", *options)
    assert result.exit_code == 1, result.output
    assert "<!DOCTYPE html>" in (place / "a.html").read_text()
    assert json.loads((place / "a.json").read_text())["exit_code"] == 1
    assert json.loads((place / "a.jsonl").read_text().splitlines()[-1])["exit_code"] == 1
    assert ElementTree.parse(place / "a.xml").getroot().get("failures") == "1"
    log = json.loads((place / "a.sarif").read_text())
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "claims.csv"
    assert "**unsound**" in (place / "a.md").read_text()
    assert "::error" not in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--html", "a", "--json", "a"), "--json: a is the file of --html too"),
        (("--junit", "a", "--sarif", "./b/../a"), "--sarif: b/../a is the file of --junit too"),
        (("--journal", "a", "--json", "./a"), "--json: a is the journal of this audit"),
        (("--markdown", "claims.csv"), "claims.csv is a claims file of this audit"),
        (("--junit", "absent/a.xml"), "cannot write: its folder does not exist"),
        (("--sarif", "b"), "cannot write: it is a directory"),
        (("--json", "-"), "'-' is not a file; write /dev/stdin, /dev/stdout or ./-"),
    ],
)
def test_files_that_cannot_be_are_refused_before_the_work(place, options, said):
    (place / "b").mkdir()
    before = sorted(path.name for path in place.iterdir())
    result = run("claims.csv", *options)
    assert result.exit_code == 2
    assert said in result.output
    assert sorted(path.name for path in place.iterdir()) == before
    assert (place / "claims.csv").read_text() == CLAIMS.format("0.5")


def test_a_link_to_the_same_file_is_the_same_file(place):
    (place / "a").write_text("")
    (place / "link").symlink_to(place / "a")
    result = run("claims.csv", "--html", "a", "--markdown", "link")
    assert result.exit_code == 2
    assert "is the file of --html too" in result.output


def test_a_job_of_actions_is_told(place):
    summary = place / "summary.md"
    result = run("claims.csv", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert result.exit_code == 1
    assert (
        "\n::error title=dpexact%3A unsound upper epsilon,file=claims.csv,line=2::" in result.output
    )
    assert "1 certified wrong" in summary.read_text()


def test_nothing_in_a_claims_file_commands_a_job_of_actions(place):
    source = "::stop-commands::word"
    (place / "claims.csv").write_text(
        f"mechanism,claims,epsilon,delta,kind,source\npure_dp(1),epsilon,0.5,0,upper,{source}\n"
    )
    lines = run("claims.csv", "-v", GITHUB_ACTIONS="true").output.splitlines()
    first, word = lines[0].removeprefix("::").split("::")
    assert first == "stop-commands"
    (there,) = (n for n, line in enumerate(lines) if line.strip() == source)
    assert there < lines.index(f"::{word}::")
    assert all("::error" not in line for line in lines[: lines.index(f"::{word}::")])


def test_a_summary_that_fails_changes_no_outcome(place):
    result = run("right.csv", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(place))
    assert result.exit_code == 0
    assert "GITHUB_STEP_SUMMARY" in result.output
