"""The wheel and the sdist: complete, valid, and working away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

import dpexact

pytest.importorskip("build", reason="the packages are built with `build`")
pytest.importorskip("hatchling", reason="the packages are built without a network")

pytestmark = pytest.mark.slow  # the packages are built

ROOT = Path(__file__).parents[1]

#: An interpreter that need not load what is installed in an environment.
BARE = getattr(sys, "_base_executable", sys.executable)
#: Verbs that read the data of the package, each with a part of what it prints.
VERBS = {
    ("--version",): dpexact.__version__,
    ("delta", "gaussian(1.3)^10", "--epsilon", "1"): "closed form",
    ("accountants", "--python", BARE): "basics",
    ("oracle", "list"): "dpsgd",
    ("prove", "--list"): "proved",
    ("figure", "list"): "kov-1",
    ("symbolic", "gdp(1)"): "erfc",
    ("audit", "{checkout}/docs/examples/mnist_estimates.yaml", "--html", "report.html"): "claims",
}


def _run(*command: str, folder: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COV"))}
    environment.pop("PYTHONPATH", None)
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, "-B", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel, which is built from the sdist, and the sdist."""
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("not in a checkout")
    folder = tmp_path_factory.mktemp("packages")
    done = _run("-m", "build", "--no-isolation", "-o", str(folder), str(ROOT), folder=folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def unpacked(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(packages[".whl"]) as wheel:
        wheel.extractall(folder)
    where = _run("-c", "print(__import__('dpexact').__file__)", folder=folder.parent, path=folder)
    assert Path(where.stdout.strip()).is_relative_to(folder), where.stderr
    return folder


def _content(package: str) -> set[str]:
    """The files of a package in the checkout."""
    files = (ROOT / package).rglob("*")
    return {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def test_the_wheel_holds_the_packages_and_nothing_else(unpacked: Path) -> None:
    held = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {name for name in held if ".dist-info/" not in name} == _content("dpexact") | _content(
        "proofs_checks"
    )
    assert "dpexact/py.typed" in held
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in held)


def test_the_entry_points_are_there(unpacked: Path) -> None:
    (file,) = unpacked.glob("*.dist-info/entry_points.txt")
    entries = [line for line in file.read_text().splitlines() if " = " in line]
    assert len(entries) >= 13
    for entry in entries:
        module, _, name = entry.partition(" = ")[2].partition(":")
        assert not name or hasattr(import_module(module), name), entry


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_the_wheel_works_away_from_the_checkout(
    verb: tuple[str, ...], unpacked: Path, tmp_path: Path
) -> None:
    arguments = [part.format(checkout=ROOT) for part in verb]
    done = _run("-m", "dpexact", *arguments, folder=tmp_path, path=unpacked)
    assert done.returncode in (0, 1), done.stderr
    assert VERBS[verb] in done.stdout
    assert "Traceback" not in done.stderr


def test_the_sdist_can_run_its_tests(packages: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(packages[".gz"]) as archive:
        members = archive.getmembers()
        assert all(member.isreg() or member.isdir() for member in members), "a link"
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    for name in ("tests", "docs", "README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"):
        assert (source / name).exists(), name
    chosen = ["tests/test_tokens.py", "tests/audits/bench"]
    done = _run("-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, folder=source, path=source)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_metadata_are_valid(packages: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("twine", reason="the metadata are checked with `twine`")
    files = [str(path) for path in packages.values()]
    done = _run("-m", "twine", "check", "--strict", *files, folder=tmp_path)
    assert done.returncode == 0, done.stdout
