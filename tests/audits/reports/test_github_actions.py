"""Annotations and the job summary, read as the runner of GitHub Actions reads them."""

import re
from dataclasses import replace

import pytest
from hostile_text import HOSTILE_TEXT
from hypothesis import example, given

from dpexact.audits import audit
from dpexact.audits.reports import github_actions
from dpexact.audits.reports.github_actions import append_summary, in_actions, workflow_commands
from dpexact.audits.reports.markdown_report import to_markdown
from dpexact.errors import InvalidInput
from dpexact.visible import visible


def decoded(text):
    for code, character in [("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")]:
        text = text.replace(code, character)
    return text


def read(line):
    command, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    return command, {key: decoded(value) for key, value in pairs.items()}, decoded(message)


def test_the_environment_tells():
    assert in_actions({"GITHUB_ACTIONS": "true"})
    assert not in_actions({"GITHUB_ACTIONS": "false"})
    assert not in_actions({})


def test_wrong_claims_are_errors_and_undecided_ones_warnings(report, hostile):
    commands = [read(line) for line in workflow_commands(report)]
    assert [command for command, _, _ in commands] == ["error"] * 3 + ["warning"] * 2
    _, properties, message = commands[2]
    assert properties == {
        "title": "dpexact: unsound upper epsilon",
        "file": "my claims/a,b.yaml",
        "line": "7",
    }
    first, source, command = message.split("\n")
    assert first.startswith("gaussian(1) claims epsilon <= 4.3 at delta = 0.00001; certified")
    assert source == visible(hostile)
    assert command == "dpexact epsilon 'gaussian(1)' --delta 0.00001 --digits 30"
    assert "file" not in commands[0][1]


def test_a_right_report_says_nothing():
    claim = {"mechanism": "pure_dp(1)", "claims": "epsilon", "epsilon": 1, "delta": 0}
    assert list(workflow_commands(audit({**claim, "kind": "upper"}))) == []


def test_what_actions_would_drop_is_counted(report):
    many = replace(report, findings=report.findings * 10)
    commands = [line.split(" ")[0].strip(":") for line in workflow_commands(many)]
    assert commands == ["error"] * 10 + ["notice"] + ["warning"] * 10 + ["notice"]
    assert "::notice title=dpexact::20 more errors are in the reports" in workflow_commands(many)


@given(HOSTILE_TEXT)
@example("100%0A::error::%25,%3A")
def test_foreign_text_is_text(report_saying, text):
    lines = list(workflow_commands(report_saying(text)))
    assert len(lines) == 2
    for line in lines:
        assert len(line.splitlines()) == 1
        _, properties, message = read(line)
        assert properties["file"] == visible(text)
        assert message.split("\n")[1] == visible(text)


def test_the_summary_is_appended(report, tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    append_summary(report, str(path))
    assert path.read_text() == "before\n" + to_markdown(report) + "\n"


def test_the_summary_is_cut_to_what_actions_takes(report, tmp_path, monkeypatch):
    monkeypatch.setattr(github_actions, "LARGEST", len(to_markdown(report, 0).encode()) + 1)
    append_summary(report, str(tmp_path / "summary.md"))
    assert (tmp_path / "summary.md").read_text() == to_markdown(report, 0) + "\n"


def test_a_summary_that_cannot_be_written(report, tmp_path):
    with pytest.raises(InvalidInput, match=r"GITHUB_STEP_SUMMARY: .*Is a directory"):
        append_summary(report, str(tmp_path))
