"""Interviews: whatever an accountant does to its process, it is reported and the next is asked."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dpexact.audits.accountants import (
    Interview,
    Limits,
    NoAnswer,
    Question,
    Registered,
    python_for,
    questions_for,
)
from dpexact.audits.workloads import Case
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import parse

FILE = Path(__file__).parents[1] / "wrong_accountants" / "failing_accountants.py"
FAILING = runpy.run_path(str(FILE))
SHORT = Limits(seconds=1.0, memory=None, patience=10.0)


def registered(attribute: str) -> Registered:
    accountant = FAILING[attribute]
    return Registered(accountant.name, accountant, FILE, attribute)


def question(at: str) -> Question:
    case = Case(parse("gaussian(1)"), "delta", real(at))
    [found], _ = questions_for(FAILING["NAN"], [case])
    return found


BAD, GOOD = question("1"), question("1/2")

OUTCOMES = {
    "RAISES": "OverflowError: math range error",
    "LEAVES": "SystemExit: 4",
    "INTERRUPTS": "KeyboardInterrupt: ",
    "EXITS": "it ended with code 7",
    "SEGFAULTS": "it was killed by signal 11",
    "HANGS": "no answer within 1 s",
    "NAN": "upper = nan",
    "NONE": "TypeError: answered None, which is not a number",
    "TEXT": "TypeError: answered '0.5', which is not a number",
    "TRUTH": "TypeError: answered True, which is not a number",
    "COMPLEX": "TypeError: answered 1j, which is not a number",
    "SILENT": "answered [], not one value of each of ('upper',)",
    "LOWER": "answered [{'kind': 'lower', 'value': 1.0}], not one value",
    "STUTTERING": "answered [{'kind': 'upper', 'value': 1.0}, {'kind'",
}


@pytest.mark.slow
@pytest.mark.parametrize("attribute", OUTCOMES)
def test_failure_is_named_and_the_next_question_answered(attribute: str) -> None:
    with Interview(registered(attribute), limits=SHORT) as interview:
        with pytest.raises(NoAnswer) as caught:
            interview.claims(BAD)
        assert str(caught.value).startswith(OUTCOMES[attribute].strip())
        assert "\n" not in str(caught.value)
        if attribute not in ("SILENT", "LOWER", "STUTTERING"):
            [claim] = interview.claims(GOOD)
            assert claim.claimed == real("3/2")


def test_what_a_package_prints_is_no_answer() -> None:
    with Interview(registered("PRINTS")) as interview:
        assert [interview.claims(each)[0].claimed for each in (BAD, GOOD, BAD)] == [
            real("5/2"),
            real("3/2"),
            real("5/2"),
        ]


def test_claims_say_who_said_what() -> None:
    with Interview(registered("SPEECHLESS")) as interview:
        [claim] = interview.claims(GOOD)
        [release] = interview.versions.items()
    assert claim.accountant == " ".join(release)
    assert claim.source == f"{claim.accountant}: zz-raises"  # an adapter that cannot say its call


@pytest.mark.slow
def test_memory_is_limited() -> None:
    pytest.importorskip("resource", reason="no limits on this system")
    with Interview(registered("EATS"), limits=Limits(memory=512)) as interview:
        with pytest.raises(NoAnswer, match="MemoryError"):
            interview.claims(BAD)
        assert interview.claims(GOOD)
    with Interview(registered("EATS")) as interview:
        [claim] = interview.claims(BAD)
        assert claim.claimed == real(1 << 30)


def alive(pid: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return state.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups on this system")
def test_what_a_package_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tmp_path / "pid"
    monkeypatch.setenv("DPEXACT_TEST_PID", str(noted))
    with Interview(registered("HANGS_BELOW"), limits=SHORT) as interview:
        with pytest.raises(NoAnswer, match="no answer within 1 s"):
            interview.claims(BAD)
        patience = time.monotonic() + 30
        while alive(int(noted.read_text())) and time.monotonic() < patience:
            time.sleep(0.05)
        assert not alive(int(noted.read_text()))


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that do not import, on the path of this process."""
    broken = "raise AttributeError('attr has no\\nattribute')"
    (tmp_path / "zz_broken_package.py").write_text(broken)
    (tmp_path / "zz_crashing_package.py").write_text("import os; os._exit(5)")
    (tmp_path / "zz_slow_package.py").write_text("import time; time.sleep(600)")
    monkeypatch.syspath_prepend(tmp_path)


REFUSED = {
    "ABSENT": "accountant zz-nan: no-such-dist is not installed; pip install click",
    "BROKEN": "accountant zz-nan: zz_broken_package does not import: "
    "AttributeError: attr has no attribute",
    "CRASHING": "accountant zz-nan: zz_crashing_package does not import: it ended with code 5",
    "SLOW": "accountant zz-nan: zz_slow_package does not import: no answer within 2 s",
}


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("attribute", REFUSED)
def test_package_that_does_not_work_is_refused_with_the_reason(attribute: str) -> None:
    limits = Limits(seconds=1.0, patience=2.0)
    with Interview(registered(attribute), limits=limits) as interview:
        with pytest.raises(InvalidInput) as caught:
            interview.open()
        assert str(caught.value) == REFUSED[attribute]
        with pytest.raises(NoAnswer):
            interview.claims(GOOD)


@pytest.mark.parametrize("python", ["/no/such/python", str(Path(__file__).parent)])
def test_interpreter_that_does_not_start(python: str) -> None:
    with (
        Interview(registered("NAN"), python) as interview,
        pytest.raises(InvalidInput, match=f"^accountant zz-nan: cannot start {python}: "),
    ):
        interview.open()


def test_closed_is_closed() -> None:
    interview = Interview(registered("NAN"))
    interview.open()
    interview.close()
    interview.close()
    with pytest.raises(NoAnswer, match="closed"):
        interview.claims(GOOD)


# --- another interpreter ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without dpexact, and with a package ``gdpnum`` that is not the real one."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    shown = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    packages = Path(shown.stdout.strip())
    (packages / "gdpnum.py").write_text(
        "try:\n"
        "    import dpexact\n"
        "except ImportError:\n"
        "    dpexact = None\n"
        "class CTDAccountant:\n"
        "    def get_epsilon(self, delta):\n"
        "        return 4.5 if dpexact is None and self.history == [(1.0, 1.0, 3)] else 0.0\n"
    )
    for name in ("gdpnum", "dp-accounting"):
        info = packages / f"{name.replace('-', '_')}-99.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n")
    return python


def test_another_interpreter_needs_nothing_of_ours(bare: Path) -> None:
    from dpexact.audits.accountants import find

    found = find("gdpnum")
    case = Case(parse("gaussian(1)^3"), "epsilon", real("1e-5"))
    [asked], _ = questions_for(found.accountant, [case])
    with Interview(found, str(bare)) as interview:
        [claim] = interview.claims(asked)
        assert interview.versions == {"gdpnum": "99.0", "dp-accounting": "99.0"}
    assert claim.claimed == real("9/2")
    assert claim.accountant == "gdpnum 99.0 dp-accounting 99.0"


def test_another_interpreter_is_named_where_the_package_is_absent(bare: Path) -> None:
    said = f"^accountant zz-nan: click is not installed in {bare}; pip install click$"
    with (
        Interview(registered("NAN"), str(bare)) as interview,
        pytest.raises(InvalidInput, match=said),
    ):
        interview.open()


@pytest.mark.parametrize(("other", "seen"), [(False, 1), (True, 0)])
def test_paths_of_this_interpreter_stay_with_it(
    bare: Path, monkeypatch: pytest.MonkeyPatch, other: bool, seen: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FILE.parent))
    with Interview(registered("SEES"), str(bare) if other else "") as interview:
        [claim] = interview.claims(BAD)
    assert claim.claimed == real(seen)


def test_interpreters_by_name_and_for_all() -> None:
    pythons: dict[str, Any] = {"a": "/a", "": "/all"}
    assert [python_for(name, pythons) for name in "ab"] == ["/a", "/all"]
    assert python_for("b", {"a": "/a"}) == ""
