"""The action for GitHub and the hook for pre-commit: valid, and run as those would run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpexact.cli import main

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "audit" / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"

if not ACTION.is_file():
    pytest.skip("not in a checkout", allow_module_level=True)

STATED: dict[str, Any] = yaml.safe_load(ACTION.read_text("utf-8"))
STEPS: list[dict[str, Any]] = STATED["runs"]["steps"]
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]  # as "shell: bash" is there
SOUND = "mechanism: gaussian(1), claims: epsilon, epsilon: 5, delta: 1e-5, kind: upper"

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


def step(name: str) -> dict[str, Any]:
    (found,) = [step for step in STEPS if name in step.get("run", "")]
    return found


def ran(name: str, folder: Path, stub: str | None = None, **inputs: str) -> tuple[int, str, str]:
    """The exit code of a step, what it printed, and the outputs that it set."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / name.split()[0]
    program.write_text(stub or f'#!/bin/sh\nexec {sys.executable} -m dpexact "$@"\n')
    program.chmod(0o755)
    output = folder / "output"
    output.write_text("")
    given = {key: value.get("default", "") for key, value in STATED["inputs"].items()} | inputs
    variables = {
        key: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]  # type: ignore[index]
        for key, value in step(name)["env"].items()
    }
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ACTION.parent),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    done = subprocess.run(
        [*SHELL, step(name)["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr, output.read_text()


def test_every_input_is_described_and_used_and_none_is_part_of_a_script() -> None:
    text = ACTION.read_text("utf-8")
    for name, stated in STATED["inputs"].items():
        assert stated["description"]
        assert f"inputs.{name} " in text
    used = set(re.findall(r"inputs\.(\w+)", text))
    assert used == STATED["inputs"].keys()
    for found in STEPS:
        assert "${{" not in found.get("run", "")
        assert ("run" in found) == ("shell" in found)
    assert STATED["runs"]["using"] == "composite"
    assert STATED["outputs"]["exit-code"]["value"] == "${{ steps.audit.outputs.exit-code }}"
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8")
    assert used == set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", page, re.M))))


@needs_bash
@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "fail", "code", "exits"), [(5, "true", 0, 0), (4, "true", 1, 1), (4, "false", 1, 0)]
)
def test_an_audit_annotates_and_fails(
    tmp_path: Path, epsilon: int, fail: str, code: int, exits: int
) -> None:
    claims = tmp_path / "my claims.yaml"
    claims.write_text(f"claims:\n- {{{SOUND.replace('5', str(epsilon), 1)}}}\n")
    found, said, output = ran(
        "dpexact audit",
        tmp_path,
        claims=f"\n  {claims.name}  \n\n",
        options="--jobs=1\n--json=report.json",
        fail=fail,
    )
    assert (found, output) == (exits, f"exit-code={code}\n"), said
    assert ("::error title=dpexact" in said) == bool(code)
    assert not code or "file=my claims.yaml,line=2" in said
    assert (tmp_path / "report.json").is_file()
    assert "gaussian(1)" in (tmp_path / "summary.md").read_text() or not code


@needs_bash
def test_inputs_arrive_whole_and_are_never_run(tmp_path: Path) -> None:
    hostile = '$(touch hit) `touch hit` "; touch hit; " \'; touch hit; *'
    stub = "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\nexit 70\n"
    code, said, output = ran(
        "dpexact audit",
        tmp_path,
        stub,
        claims=f"{hostile}\n-a",
        claim=f"epsilon <= 2 of gdp(1) at delta 0\n{hostile}",
        accountants="all\n",
        workloads="basics\n my.yaml",
        options="--strict",
        fail="false",
    )
    assert said.splitlines() == [
        "<audit>",
        "<--claim=epsilon <= 2 of gdp(1) at delta 0>",
        f"<--claim={hostile}>",
        "<--accountant=all>",
        "<--workload=basics>",
        "<--workload=my.yaml>",
        "<--strict>",
        "<-->",
        f"<{hostile}>",
        "<-a>",
    ]
    assert (code, output) == (70, "exit-code=70\n")
    assert not (tmp_path / "hit").exists()


@needs_bash
@pytest.mark.parametrize(
    ("install", "wanted"), [("", f"{ACTION.parent}/../../.."), ("dpexact[all]", "dpexact[all]")]
)
def test_what_is_installed_is_the_checkout_of_the_action(
    tmp_path: Path, install: str, wanted: str
) -> None:
    stub = "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n"
    code, said, _ = ran("python -m pip", tmp_path, stub, install=install)
    assert code == 0
    assert said.splitlines()[-1] == f"<{wanted}>"
    assert (Path(f"{ACTION.parent}/../../..").resolve() / "pyproject.toml").is_file()


def test_the_hook_names_a_command_and_claims_files() -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text("utf-8"))
    program, verb = shlex.split(hook["entry"])
    assert (program, verb in main.commands) == ("dpexact", True)
    assert hook["language"] == "python"
    for name in ("claims.yaml", "paper/my_claims.yml", "a/claims.json", "claims-2026.csv"):
        assert re.search(hook["files"], name)
        assert not re.search(hook["exclude"], name)
    for name in ("claims/readme.md", "claims.yaml.bak", "docs/config.yaml"):
        assert not re.search(hook["files"], name)
    assert re.search(hook["exclude"], "docs/claims.schema.json")
    assert f"id: {hook['id']}\n" in (ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8")
