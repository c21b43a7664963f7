"""The package is cheap to import, and its functions win over its rooms of the same name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dpexact

#: Neither ``import dpexact`` nor the oracle may load these.
HEAVY = ("flint", "numpy", "sympy", "mpmath", "click", "rich", "yaml")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_cheap() -> None:
    code = (
        "import sys, time; started = time.perf_counter(); import dpexact\n"
        "print(time.perf_counter() - started)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    seconds, loaded = run(code).splitlines()
    assert float(seconds) < 0.4
    assert loaded == "[]"


def test_every_public_name_is_there_and_listed() -> None:
    assert {*dpexact.__all__, "CertifiedAccountant"} == {*dpexact._HOMES, "__version__"}
    assert set(dpexact.__all__) <= set(dir(dpexact))
    for name in dpexact.__all__:
        assert getattr(dpexact, name) is not None


def test_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'dpexact' has no attribute 'epsilom'"):
        _ = dpexact.epsilom  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        "import dpexact",
        "import dpexact.audit.claims, dpexact.tradeoff.base, dpexact.symbolic.forms",
        "from dpexact.audit import Claim; from dpexact.tradeoff import Vertex",
        "import dpexact; dpexact.audit; import dpexact.audit.reports, dpexact.tradeoff.convex",
        "import importlib; importlib.import_module('dpexact.symbolic')",
    ],
)
def test_functions_win_over_rooms_of_the_same_name(first: str) -> None:
    names = ("audit", "symbolic", "tradeoff")
    code = (
        f"{first}\nimport dpexact, sys\nfrom dpexact import audit, symbolic, tradeoff\n"
        f"for name in {names}:\n"
        "    assert callable(getattr(dpexact, name)), name\n"
        "    assert getattr(dpexact, name) is globals()[name], name\n"
        "from dpexact.audit import Claim\nfrom dpexact.tradeoff import identity\n"
        "from dpexact.symbolic import SymbolicForm\n"
        "print(dpexact.tradeoff('pure_dp(0)')('1/4'))"
    )
    assert run(code) == "0.75"


def test_rooms_are_reached_as_attributes() -> None:
    assert run("import dpexact; print(dpexact.errors.InvalidInput.__name__)") == "InvalidInput"


def test_a_function_can_be_replaced_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpexact, "audit", len)
    assert dpexact.audit("ab") == 2  # type: ignore[comparison-overlap, arg-type]


@pytest.mark.parametrize(
    "setting", [{}, {"_DPEXACT_COMPLETE": "bash_complete", "COMP_WORDS": "dpexact d"}], ids=str
)
def test_help_and_completion_are_quick(setting: dict[str, str]) -> None:
    code = (
        f"import os, sys, time; os.environ.update({setting}, COMP_CWORD='1')\n"
        "from dpexact.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print(time.process_time())\n"
        "print([n for n in ('numpy', 'sympy', 'mpmath', 'rich', 'yaml') if n in sys.modules])"
    )
    *_, seconds, loaded = run(code).splitlines()
    assert loaded == "[]"
    assert float(seconds) < 0.3
