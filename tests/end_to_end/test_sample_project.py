"""Another project's CI run with the plugin: right accountants pass, a broken one is caught."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import dpexact

PROJECT = Path(__file__).with_name("sample_project")
#: Installed, the plugin is found by its entry point; from a checkout it is named.
PLUGIN = [] if entry_points(group="pytest11", name="dpexact") else ["-p", "dpexact.oracle.plugin"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    root = str(Path(dpexact.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", *arguments],
        cwd=PROJECT,
        env={**inherited, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_a_right_accountant_passes() -> None:
    done = run("-q")
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 150


@pytest.mark.slow
def test_a_right_accountant_passes_on_several_processes() -> None:
    pytest.importorskip("xdist")
    done = run("-q", "-n", "2", "-k", "renyi")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_conversion_without_the_log_term_is_caught() -> None:
    done = run("-q", "-k", "epsilon", TINYDP_FORGETS_THE_LOG_TERM="1")
    assert done.returncode == 1, done.stdout
    assert int(re.search(r"(\d+) failed", done.stdout)[1]) >= 100
    message = re.search(
        r"upper claim on epsilon: certified unsound, grade gross\n"
        r"E +mechanism +poisson\(gaussian\(1\.3\), 0\.01\)\^5000 \(direction both\)\n"
        r"E +claimed +epsilon <= (\S+) at delta = 0\.00001\n"
        r"E +certified +epsilon in \[(\S+), (\S+)\]\n"
        r"E +relative error +claimed/true - 1 in \[(\S+), (\S+)\]\n"
        r"E +certified by +contour\n"
        r"E +reproduce +dpexact epsilon \"poisson\(gaussian\(1\.3\), 0\.01\)\^5000\" "
        r"--delta 0\.00001 --direction both --digits 40",
        done.stdout,
    )
    assert message is not None, done.stdout[-3000:]
    claimed, lower, upper, least, most = map(float, message.groups())
    assert claimed < lower <= upper
    assert least <= claimed / lower - 1 <= most < -0.1
    truth = dpexact.epsilon("poisson(gaussian(1.3), 0.01)^5000", "1e-5", 12)
    assert str(lower)[:10] == str(float(truth.lower))[:10]
