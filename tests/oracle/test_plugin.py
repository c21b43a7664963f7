"""The pytest plugin in runs of its own: marker, fixture, mistakes, and what it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

import dpexact
from dpexact.oracle import Oracle, golden
from dpexact.oracle.summary import summary

ROOT = str(Path(dpexact.__file__).parents[1])
PLUGIN = [] if entry_points(group="pytest11", name="dpexact") else ["-p", "dpexact.oracle.plugin"]


def run(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(code)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    inherited = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.slow
def test_marker_fixture_and_class(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.dp_oracle("renyi", family="gaussian")
def test_marked(case, dp_oracle):
    assert case in dp_oracle.table()
    assert case.lower in ("0.5", "1", "5", "32", "inf") or case.steps > 1 or case.at == 1.1

@pytest.mark.dp_oracle("dpsgd", quantity="delta", direction="add", mechanism="(1.5), 0.25)^100")
class TestMarked:
    def test_in_a_class(self, case):
        case.check_upper(delta=1)

def test_fixture(dp_oracle):
    assert dp_oracle.suites["dpsgd"] > 100
    assert dp_oracle.epsilon("gaussian(17)", 0.25, digits=12).digits >= 12
    assert dp_oracle.delta("gaussian(17)", 1).digits >= 15
    assert dp_oracle.renyi("gaussian(17)", 2).digits >= 15
"""
    done = run(tmp_path, code, "-vv")
    assert done.returncode == 0, done.stdout
    assert "test_marked[renyi of gaussian(10)^100 at order=64]" in done.stdout
    assert "test_in_a_class[delta of poisson(gaussian(1.5), 0.25)^100 at epsilon=1 add]" in (
        done.stdout
    )


@pytest.mark.slow
def test_all_markers_of_a_test_count(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.dp_oracle("renyi", mechanism="gaussian(10)^100")
class TestMarked:
    @pytest.mark.dp_oracle(quantity="renyi", mechanism="gaussian(10)^100")
    @pytest.mark.dp_oracle("dpsgd", quantity="delta", direction="add", mechanism="(1.5), 0.25)^100")
    @pytest.mark.dp_oracle("dpsg")
    def test_three_and_one(self, case): ...
"""
    done = run(tmp_path, code)
    rows = golden.select("renyi", mechanism="gaussian(10)^100")
    more = golden.select("dpsgd", quantity="delta", direction="add", mechanism="(1.5), 0.25)^100")
    assert f"1 failed, {len(rows) + len(more)} passed" in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("'dpsg')\ndef test(case): ...", "dp_oracle: suite: unknown name 'dpsg'; did you mean"),
        ("'dpsgd', mechanism='x')\ndef test(case): ...", "dp_oracle: no golden row matches"),
        ("'dpsgd', eps=1)\ndef test(case): ...", "unexpected keyword argument 'eps'"),
    ],
)
def test_a_mistake_fails_its_own_test_alone(tmp_path: Path, test: str, said: str) -> None:
    other = "def test_other(): ..."
    done = run(tmp_path, f"import pytest\n@pytest.mark.dp_oracle({test}\n{other}\n")
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_test_without_the_argument_stops_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "import pytest\n@pytest.mark.dp_oracle('dpsgd')\ndef test(row): ...\n")
    assert done.returncode == 2, done.stdout
    assert "dp_oracle: the test has no argument `case`" in done.stdout


@pytest.mark.slow
def test_grades_are_kept_apart(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.parametrize("factor", [0.5, 1 - 1e-9, 1 - 1e-15, 2])
def test_claim(dp_oracle, factor):
    case = next(dp_oracle.cases("basics", quantity="epsilon", mechanism="gaussian(1)"))
    case.check_upper(epsilon=float(case.lower) * factor)
"""
    done = run(tmp_path, code, "--junitxml", "report.xml")
    said = "dp_oracle: 3 of 4 claims unsound, worst -50 %; grades: 1 gross, 1 visible, 1 rounding"
    assert done.stdout.splitlines()[-2] == said  # below the list of what failed
    assert "certified unsound, grade visible" in done.stdout
    written = (tmp_path / "report.xml").read_text()
    assert written.count('<property name="dp_oracle_grade" value="rounding"') == 1


@pytest.mark.slow
def test_claims_are_counted_wherever_they_are_checked(tmp_path: Path) -> None:
    code = """
import pytest
from dpexact.oracle import ClaimRefuted

@pytest.fixture
def checked(dp_oracle):
    for case in dp_oracle.cases("renyi", family="gaussian"):
        case.check_upper(renyi=float("inf"))

def test_fixture_and_loop(checked, dp_oracle):
    for case in dp_oracle.cases("renyi", family="gaussian"):
        case.check_upper(renyi=float("inf"))

def test_expected(dp_oracle):
    with pytest.raises(ClaimRefuted):
        next(dp_oracle.cases("basics", quantity="epsilon")).check_upper(epsilon=0)

@pytest.mark.dp_oracle("basics", quantity="epsilon", family="gaussian")
def test_marked(case):
    case.check_estimate(epsilon=float("nan"), rel=1)
"""
    rows = len(list(Oracle().cases("renyi", family="gaussian")))
    marked = len(list(Oracle().cases("basics", quantity="epsilon", family="gaussian")))
    assert min(rows, marked) > 3
    whole = run(tmp_path, code)
    assert f"dp_oracle: {marked} of {2 * rows + 1 + marked} claims undecided" in whole.stdout
    told = ("dp_oracle: 3 of 10 claims undecided", "(at most 3 rows of each selection)")
    for options in ([], ["-n", "2"] if find_spec("xdist") else []):
        part = run(tmp_path, code, "--dp-oracle-sample", "3", *options)
        assert all(text in part.stdout for text in told), part.stdout
    passed = run(tmp_path, code, "-k", "test_fixture")
    assert f"dp_oracle: {2 * rows} claims checked, none refuted" in passed.stdout


def test_a_sample_is_spread_and_whole_where_it_is_large() -> None:
    rows = golden.select("basics")
    assert golden.select("basics", most=len(rows)) == rows
    three = golden.select("basics", most=3)
    assert [rows.index(row) for row in three] == [0, len(rows) // 3, 2 * len(rows) // 3]


@pytest.mark.slow
def test_the_options_have_a_heading_of_their_own(tmp_path: Path) -> None:
    done = run(tmp_path, "", "--help")
    heading = "dpexact: certified answers (marker and fixture dp_oracle):\n  --dp-oracle-sample"
    assert heading in done.stdout
    for wrong in ("0", "-1", "two", "1.5", "²"):
        done = run(tmp_path, "", f"--dp-oracle-sample={wrong}")
        assert done.returncode == 4
        assert f"'{wrong}' is not accepted; must be an integer >= 1" in done.stderr


@pytest.mark.parametrize(
    ("checked", "refuted", "said"),
    [
        (1, [], "1 claim checked, none refuted"),
        (9, [("unsound", "gross", "inf")], "1 of 9 claims unsound, worst inf %; grades: 1 gross"),
        (
            9,
            [("inaccurate", "gross", "2/3"), ("unsound", "rounding", "-1/10000")],
            "2 of 9 claims refuted (1 unsound, 1 inaccurate), worst 66.6 %; grades: "
            "1 gross, 1 rounding",
        ),
        (2, [("undecided", "none", "0")] * 2, "2 of 2 claims undecided, worst 0 %"),
        (2, [("undecided", "invalid", None)], "1 of 2 claims undecided; grades: 1 invalid"),
    ],
)
def test_the_line_at_the_end(
    checked: int, refuted: list[tuple[str, str, str | None]], said: str
) -> None:
    assert summary(checked, refuted).replace("+", "") == said


@pytest.mark.slow
def test_nothing_is_loaded_until_it_is_used(tmp_path: Path) -> None:
    code = """
import sys

def test_unused():
    assert "dpexact.oracle.plugin" in sys.modules
    heavy = ("flint", "numpy", "sympy", "rich", "dpexact.errors", "dpexact.oracle.cases")
    assert [name for name in heavy if name in sys.modules] == []
"""
    done = run(tmp_path, code, "-p", "no:cov", "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_table_is_used_without_flint(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import sys\nsys.modules['flint'] = None\n")
    code = """
import pytest

def test_golden(dp_oracle):
    next(dp_oracle.cases("dpsgd", quantity="epsilon")).check_lower(epsilon=0)
    with pytest.raises(ImportError, match="flint"):
        dp_oracle.epsilon("gaussian(17)", 0.25)
"""
    done = run(tmp_path, code)
    assert done.returncode == 0, done.stdout


def test_oracle_without_pytest() -> None:
    oracle = Oracle()
    assert list(oracle.cases()) == list(golden.table())
    assert [c.argument for c in oracle.cases("renyi", family="gaussian", mechanism="(1)")] == [
        *("1", "1.1", "2", "10", "64", "inf")
    ]


@pytest.mark.slow
def test_a_failure_shows_the_line_of_the_test_and_not_ours(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.mark.parametrize("check", ["check_upper", "check_lower", "check_estimate"])
@pytest.mark.parametrize("claimed", [1e-9, float("nan")])
def test_wrong(dp_oracle, check, claimed):
    case = next(dp_oracle.cases("basics", quantity="epsilon", mechanism="gaussian(1)"))
    options = {"rel": 1e-9} if check == "check_estimate" else {}
    if check == "check_lower":
        claimed *= 1e30
    getattr(case, check)(epsilon=claimed, **options)
"""
    done = run(tmp_path, code)
    assert "6 failed" in done.stdout
    assert done.stdout.count(">       getattr(case, check)(epsilon=claimed, **options)") == 6
    assert "cases.py" not in done.stdout
