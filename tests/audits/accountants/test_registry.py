"""Adapters are found by entry point; what is absent or broken is reported with the reason."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from dpexact.audits.accountants import available, find, names, registry
from dpexact.errors import InvalidInput

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that registers accountants, good and bad; no others are seen."""
    adapter = """
class Adapter:
    distributions, module, install, kinds = ("pytest",), "pytest", "pytest", ("upper",)
    def __init__(self, **changed): self.__dict__.update(changed)
GOOD = Adapter(name="zz-good")
ABSENT = Adapter(name="zz-absent", distributions=("no-such-dist",), install="--no-deps it")
BROKEN = Adapter(name="zz-broken", module="zz_broken_package")
"""
    (tmp_path / "zz_adapters.py").write_text(adapter)
    (tmp_path / "zz_broken_package.py").write_text(
        "raise AttributeError('attr has no\\nattribute')"
    )
    info = tmp_path / "zz_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zz-plugins\nVersion: 1.0\n")
    values = {"good": "GOOD", "absent": "ABSENT", "broken": "BROKEN", "lost": "NONE"}
    points = "".join(f"zz-{name} = zz_adapters:{value}\n" for name, value in values.items())
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zz_adapters", raising=False)

    def ours(group: str) -> list[object]:
        return [point for point in entry_points(group=group) if point.name.startswith("zz-")]

    monkeypatch.setattr(registry, "entry_points", ours)


REASONS = {
    "zz-absent": "accountant zz-absent: no-such-dist is not installed; pip install --no-deps it",
    "zz-broken": "accountant zz-broken: zz_broken_package does not import: "
    "AttributeError: attr has no attribute",
    "zz-good": "",
    "zz-lost": "accountant zz-lost: its adapter zz_adapters:NONE does not load: "
    "AttributeError: module 'zz_adapters' has no attribute 'NONE'",
}


@pytest.mark.usefixtures("plugins")
def test_available_hides_nothing() -> None:
    found = {info.name: info for info in available()}
    assert list(found) == names() == list(REASONS)
    for name, info in found.items():
        assert info.installed == (name == "zz-good")
        assert info.reason == REASONS[name]
        assert info.versions == ({"pytest": pytest.__version__} if info.installed else {})


@pytest.mark.usefixtures("plugins")
def test_available_in_another_interpreter(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "python")
    found = {info.name: info for info in available({"zz-good": nowhere})}
    assert found["zz-good"].python == nowhere
    assert "cannot start" in found["zz-good"].reason
    assert found["zz-absent"].python == ""


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("zz-lost", REASONS["zz-lost"]),
        ("zz-goot", "accountant: unknown name 'zz-goot'; did you mean 'zz-good'?"),
        ("q", "accountant: unknown name 'q'; known: zz-absent, zz-broken, zz-good, zz-lost"),
    ],
)
def test_find_refuses_with_the_reason(name: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        find(name)
    assert str(caught.value) == said


@pytest.mark.usefixtures("plugins")
def test_find_knows_where_the_adapter_stands(tmp_path: Path) -> None:
    found = find("zz-good")
    assert (found.name, found.attribute) == ("zz-good", "GOOD")
    assert found.file == (tmp_path / "zz_adapters.py").resolve()
    assert found.accountant.kinds == ("upper",)
    assert find("zz-broken").name == "zz-broken"  # the package is not touched


def test_unknown_name_without_any_accountant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    with pytest.raises(InvalidInput, match="known: none: install dpexact with pip"):
        find("q")
    assert available() == []


def test_entry_points_name_their_adapters() -> None:
    points = tomllib.loads(PYPROJECT.read_text())["project"]["entry-points"][registry.GROUP]
    assert len(points) == 18
    for name, value in points.items():
        found = find(name)
        assert found.accountant.name == name
        assert value == f"dpexact.audits.accountants.{found.file.stem}:{found.attribute}"
