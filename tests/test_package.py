"""The package is cheap to import, and its functions win over its rooms of the same name."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import dpexact

#: What takes time to load.
HEAVY = {"dask", "distributed", "matplotlib", "mpmath", "numpy", "rich", "scipy", "sympy", "yaml"}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded_by(code: str) -> set[str]:
    """The modules that are there after ``code``."""
    *_, names = run(f"{code}\nimport sys\nprint(*sys.modules)").splitlines()
    return set(names.split())


def loaded_by_command(*arguments: str) -> set[str]:
    return loaded_by(
        "from dpexact.cli import main\n"
        f"try:\n    main({list(arguments)})\n"
        "except SystemExit as done:\n    assert not done.code, done.code"
    )


def test_import_loads_nothing() -> None:
    loaded = loaded_by("import dpexact")
    assert {name for name in loaded if name.startswith("dpexact")} == {"dpexact"}
    assert not loaded & {*HEAVY, "click", "flint"}


def test_a_closed_form_loads_no_engine() -> None:
    """What ``import`` does is most of the time of an easy question."""
    loaded = loaded_by_command("epsilon", "gaussian(1)", "--delta", "1e-5")
    assert not loaded & HEAVY
    rooms = ("approximate", "classic", "renyi")
    assert not loaded & {f"dpexact.accounting.{room}" for room in rooms}
    engines = {name for name in loaded if name.startswith("dpexact.accounting.engines.")}
    assert engines == {f"dpexact.accounting.engines.{name}" for name in ("closed_form", "tangents")}
    rooms = ("audits", "certificates", "figures", "formulas", "oracle", "tradeoffs")
    assert not loaded & {"proofs_checks", *(f"dpexact.{room}" for room in rooms)}
    verbs = ("auditing", "figures", "formulas", "oracle", "proving", "selftesting")
    assert not loaded & {f"dpexact.cli.{verb}" for verb in verbs}


def test_a_sampled_gaussian_loads_one_engine() -> None:
    question = "epsilon", "poisson(gaussian(1), 1/10)^20", "--delta", "1e-5", "--digits", "6"
    loaded = loaded_by_command(*question)
    assert "dpexact.accounting.engines.contour" in loaded
    others = ("laplace", "lattice", "lattice_product")
    assert not loaded & {f"dpexact.accounting.engines.{name}" for name in others}


def test_every_public_name_is_there_and_listed() -> None:
    assert {*dpexact.__all__, "CertifiedAccountant"} == {*dpexact._HOMES, "__version__"}
    for name in dpexact.__all__:
        assert getattr(dpexact, name) is not None


def test_completion_offers_public_names_only() -> None:
    walked = pkgutil.walk_packages(dpexact.__path__, "dpexact.")
    packages = [import_module(found.name) for found in walked if found.ispkg]
    public = [package for package in [dpexact, *packages] if hasattr(package, "__all__")]
    assert len(public) > 10
    for package in public:
        assert dir(package) == sorted(package.__all__), package


def test_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'dpexact' has no attribute 'epsilom'"):
        _ = dpexact.epsilom  # type: ignore[attr-defined]


def test_rooms_are_reached_as_attributes() -> None:
    assert run("import dpexact; print(dpexact.errors.InvalidInput.__name__)") == "InvalidInput"


def test_a_function_can_be_replaced_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpexact, "audit", len)
    assert dpexact.audit("ab") == 2  # type: ignore[comparison-overlap, arg-type]


@pytest.mark.slow
def test_the_list_of_proofs_loads_no_engine() -> None:
    loaded = loaded_by("from proofs_checks.registry import checks\nassert len(checks()) > 300")
    assert not loaded & {"dpexact.accounting", "dpexact.audits", "dpexact.certificates"}


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_loads_no_room(argument: str) -> None:
    loaded = loaded_by_command(argument)
    assert not loaded & {*HEAVY, "dpexact.accounting", "dpexact.audits", "dpexact.figures"}


def test_completion_loads_the_verbs_that_it_names() -> None:
    asked = {"_DPEXACT_COMPLETE": "bash_complete", "COMP_WORDS": "dpexact sy", "COMP_CWORD": "1"}
    loaded = loaded_by(
        f"import os\nos.environ.update({asked})\n"
        "from dpexact.cli import main\ntry:\n    main()\nexcept SystemExit:\n    print()"
    )
    assert "dpexact.cli.formulas" in loaded
    assert not loaded & {*HEAVY, "dpexact.accounting", "dpexact.cli.auditing"}
