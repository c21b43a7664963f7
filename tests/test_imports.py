"""Imports go one way, between modules too, and wherever in a module they stand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("dpexact", "proofs_checks")
    for path in (ROOT / package).rglob("*.py")
}


def imported(source: str) -> Iterator[str]:
    """The modules of ours that a module names in its imports, those of functions included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES else str(node.module)


def test_what_counts_as_an_import() -> None:
    source = "from dpexact import balls, delta\ndef f():\n    import dpexact.reals as r, flint"
    assert set(imported(source)) == {"dpexact", "dpexact.balls", "dpexact.reals", "flint"}


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {
        name: {other for other in imported(path.read_text("utf-8")) if other in MODULES} - {name}
        for name, path in MODULES.items()
    }
    assert len(graph) > 300
    graph["dpexact"] = set()  # it names what it loads when asked, for type checkers
    TopologicalSorter(graph).prepare()


def test_the_map_names_every_module_of_accounting() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = {name.strip("/").split("/")[-1] for name in re.findall(r"`([\w/]+)`", page)}
    inside = [name.split(".") for name in MODULES if name.startswith("dpexact.accounting.")]
    assert {parts[2] for parts in inside} - named == set()


def test_modules_are_short() -> None:
    """All but the checker that is run by its path, which is one file on purpose."""
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    assert [name for name, length in lengths.items() if length > 400] == [
        "dpexact.certificate_checker"
    ]
