"""The serving side of an interview, in this process; its process is tested with interviews."""

from __future__ import annotations

import io
import json
import platform
import sys
from pathlib import Path
from typing import Any

import pytest

from dpexact.audits.accountants import serving

FILE = Path(__file__).parents[1] / "wrong_accountants" / "failing_accountants.py"


def served(monkeypatch: pytest.MonkeyPatch, *requests: object) -> list[Any]:
    lines, answers = "".join(json.dumps(each) + "\n" for each in requests), io.StringIO()
    monkeypatch.setattr(serving, "_private_pipes", lambda: (io.StringIO(lines), answers))
    monkeypatch.setattr(sys, "path", [str(Path(serving.__file__).parent), *sys.path])
    monkeypatch.delitem(sys.modules, "_adapter", raising=False)
    serving.main()
    assert str(Path(serving.__file__).parent) not in sys.path  # it would hide the real packages
    sys.modules.pop("_adapter", None)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def whom(**changed: object) -> dict[str, object]:
    plain = {"file": str(FILE), "name": "NONE", "distributions": [], "module": "json"}
    return {**plain, "memory": None, **changed}


def test_one_line_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    first, good, bad = served(monkeypatch, whom(), {"at": 0.5}, {"at": 1.0})
    assert first == {"versions": {}, "platform": serving._platform()}
    assert good == {"answers": [{"kind": "upper", "value": 1.5}]}
    assert bad == {"error": "TypeError: answered None, which is not a number"}


def test_versions_are_those_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    [first] = served(monkeypatch, whom(distributions=["pytest"]))
    assert first["versions"] == {"pytest": pytest.__version__}


def test_what_floats_depend_on_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    cpu = tmp_path / "cpuinfo"
    cpu.write_text("vendor_id : Zilog\nmodel name\t: Z80: fast\nmodel name\t: another\n")
    monkeypatch.setattr(serving, "open", lambda path: cpu.open(), raising=False)
    found = serving._platform()
    assert found["processor"] == "Z80: fast"
    assert found["python"] == platform.python_version()
    assert found["numpy"] == numpy.__version__
    cpu.unlink()
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setitem(sys.modules, "numpy._core._multiarray_umath", None)
    found = serving._platform()
    assert found["processor"] == platform.machine()
    assert "vectors" not in found


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"distributions": ["pytest", "no-such-dist"]}, {"absent": "no-such-dist"}),
        ({"file": "adapter.txt"}, {"error": "ImportError: adapter.txt is not a Python file"}),
        ({"name": "NOBODY"}, "AttributeError: "),
        ({"module": "no_such_module"}, "no_such_module does not import: ModuleNotFoundError: "),
    ],
)
def test_what_does_not_work_is_said_first(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, object], said: Any
) -> None:
    [first] = served(monkeypatch, whom(**changed))
    if isinstance(said, str):
        assert list(first) == ["error"]
        assert first["error"].startswith(said)
    else:
        assert first == said


def test_long_errors_are_cut() -> None:
    said = serving.described(ValueError("a\nb " * 200))
    assert said.startswith("ValueError: a b a b")
    assert len(said) == 200
    assert said.endswith("...")
