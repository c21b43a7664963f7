"""The named tasks, the workflows and the templates: valid, and about what exists."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"

if not GITHUB.is_dir():
    pytest.skip("not in a checkout", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TASKS: dict[str, dict[str, Any]] = PROJECT["tool"]["poe"]["tasks"]
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")

#: Programs that commands may name, each with the distribution that brings it.
PROGRAMS = {
    "dpexact": "dpexact",
    "lint-imports": "import-linter",
    "mypy": "mypy",
    "poe": "poethepoet",
    "pytest": "pytest",
    "ruff": "ruff",
    "sphinx-build": "sphinx",
}
#: Modules that ``python -m`` may name.
MODULES = {"build", "pip", "proofs_checks.coq.record", "twine", "venv"}
SHELL = {"apt-get", "echo", "tee", "test", "python"}


def loaded(path: Path) -> dict[Any, Any]:
    content = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(content, dict)
    return content


def commands_of(task: dict[str, Any]) -> list[str]:
    return [task["cmd"]] if "cmd" in task else [step["cmd"] for step in task["sequence"]]


def jobs() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{path.stem}.{name}", job)
        for path in WORKFLOWS
        for name, job in loaded(path)["jobs"].items()
    ]


def installed(extra: str) -> set[str]:
    """What ``pip install -e ".[extra]"`` brings, extras of the project followed."""
    found = {"dpexact"}
    for requirement in PROJECT["project"]["optional-dependencies"][extra]:
        own = re.fullmatch(r"dpexact\[(.*)\]", requirement)
        if own:
            found |= set().union(*map(installed, own[1].split(",")))
        else:
            found.add(re.split(r"[<>=\[]", requirement)[0])
    return found


def check(command: str) -> None:
    """The program is known, and the tasks and files that are named exist."""
    for part in command.split(" | "):
        program, *arguments = shlex.split(part)
        assert program in PROGRAMS or program in SHELL, command
        if program == "poe":
            assert arguments[0] in TASKS, command
        if program == "python" and arguments[0] == "-m":
            assert arguments[1] in MODULES, command
        elif program == "python":
            assert (ROOT / arguments[0]).is_file(), command
        for argument in arguments:
            made = argument.startswith(("dist/", "docs/_build", "-", "$"))
            if not made and "/" in argument and re.fullmatch(r"[\w./-]+", argument):
                assert (ROOT / argument).exists(), command


def test_the_tasks_are_those_that_the_guide_names() -> None:
    assert TASKS.keys() >= {"quick", "full", "coverage", "lint", "coq", "docs"}
    guide = (GITHUB / "CONTRIBUTING.md").read_text("utf-8")
    for name, task in TASKS.items():
        assert f"`poe {name}`" in guide
        assert task["help"]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_runs_what_is_installed_with_the_tests(name: str) -> None:
    for command in commands_of(TASKS[name]):
        check(command)
        program = shlex.split(command)[0]
        assert program == "python" or PROGRAMS[program] in installed("test")


def test_the_full_run_leaves_nothing_out() -> None:
    assert "-m" not in shlex.split(TASKS["full"]["cmd"])
    assert "env" not in TASKS["full"]


def test_the_quick_run_names_paths_that_exist() -> None:
    _, *arguments = shlex.split(TASKS["quick"]["cmd"])
    marker = arguments[arguments.index("-m") + 1]
    assert marker == "not slow"
    (known,) = PROJECT["tool"]["pytest"]["ini_options"]["markers"]
    assert known.startswith("slow:")
    paths = [a for a in arguments[arguments.index(marker) + 1 :] if not a.startswith("-")]
    assert paths
    assert all((ROOT / path).exists() for path in paths)


def test_there_are_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == [
        "coq",
        "docs",
        "nightly",
        "release",
        "scoreboard",
        "tests",
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_says_when_and_with_which_rights(path: Path) -> None:
    workflow = loaded(path)
    assert workflow["name"] == path.stem
    assert workflow[True]  # YAML 1.1 reads the key "on" so
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= workflow["jobs"].keys()


@pytest.mark.parametrize(("name", "job"), jobs())
def test_what_a_job_runs_exists(name: str, job: dict[str, Any]) -> None:
    assert job["timeout-minutes"]
    checkout = any(step.get("uses", "").startswith("actions/checkout@") for step in job["steps"])
    ready = False
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step["uses"])
            continue
        command = re.sub(r"\$\{\{.*?\}\}", "", step["run"])
        check(command)
        program = shlex.split(command)[0]
        if program == "poe":
            assert checkout
            assert ready, "not installed"
        ready |= 'install -e ".[test]"' in command


def test_the_versions_of_python_are_those_of_the_package() -> None:
    stated = [
        line.rpartition(" ")[2]
        for line in PROJECT["project"]["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    ]
    tried = dict(jobs())
    for name in ("tests.tests", "release.wheel"):
        assert tried[name]["strategy"]["matrix"]["python"] == stated


def test_what_is_released_is_built_once_and_tried_without_the_checkout() -> None:
    release = loaded(GITHUB / "workflows" / "release.yml")["jobs"]
    assert [name for name, job in release.items() if "python -m build" in str(job)] == ["build"]
    for name in ("wheel", "publish"):
        assert "actions/checkout" not in str(release[name])
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert "password" not in str(release["publish"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_can_be_filled_in(path: Path) -> None:
    form = loaded(path)
    assert form["name"]
    assert form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(set(ids)) == len(ids)
    assert all(field["attributes"]["label"] for field in fields)


def test_a_wrong_answer_comes_with_what_is_needed_to_settle_it() -> None:
    form = loaded(GITHUB / "ISSUE_TEMPLATE" / "wrong-answer.yml")
    needed = [field["id"] for field in form["body"] if field.get("validations", {}).get("required")]
    assert needed == ["question", "answer", "version", "truth", "how"]


def test_the_hooks_run_the_tools_of_the_tests() -> None:
    (local,) = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    assert [hook["id"] for hook in local["hooks"]] == ["ruff", "ruff-format", "mypy"]
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        check(hook["entry"])


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "pull_request_template.md"])
def test_what_the_guides_name_exists(name: str) -> None:
    text = (GITHUB / name).read_text("utf-8")
    for path in re.findall(r"`((?:\.github|dpexact|proofs_checks|tests|docs)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (GITHUB / target).exists(), target
    for task in re.findall(r"`poe ([a-z]+)", text):
        assert task in TASKS, task
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for command in block.splitlines():
            if command.split()[0] not in ("git", "pre-commit"):
                check(command.partition("#")[0].strip())
