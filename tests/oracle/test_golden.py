"""The table: complete, certified to 40 digits, readable with the standard library alone."""

from __future__ import annotations

import gzip
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import dpexact
from dpexact.errors import InvalidInput
from dpexact.oracle import golden, grids, suites, table
from dpexact.oracle.cases import ARGUMENTS, DIGITS

HEAVY = ("flint", "numpy", "sympy", "mpmath", "click", "rich", "yaml", "pytest")


def test_two_thousand_rows_of_forty_digits() -> None:
    assert len(table()) >= 2000
    assert golden.FILE.stat().st_size < 500_000
    for case in table():
        assert case.enclosure.digits >= DIGITS, case
        assert case.quantity in ARGUMENTS
        assert case.suites
        assert case.at >= 0
    asked = {(case.mechanism, case.quantity, case.argument, case.direction) for case in table()}
    assert len(asked) == len(table())


def test_every_suite_has_rows() -> None:
    assert list(suites()) == grids.names()
    assert min(suites().values()) >= 100
    assert all(grids.description(name) for name in suites())


def test_every_question_of_the_grids_has_its_row() -> None:
    asked = {
        (str(q.mechanism), q.quantity, q.argument, q.direction, q.suites) for q in grids.questions()
    }
    held = {(c.mechanism, c.quantity, c.argument, c.direction, c.suites) for c in table()}
    assert asked == held, "run `dpexact oracle export -o dpexact/oracle/table.csv.gz`"


def test_a_row_known_from_elsewhere() -> None:
    (case,) = [
        case
        for case in table()
        if case.mechanism == "gaussian(1)"
        and (case.quantity, case.argument) == ("epsilon", "0.00001")
    ]
    assert case.lower.startswith("4.3771780956812246276")
    assert (case.family, case.sigma, case.q, case.steps) == ("gaussian", 1, 1, 1)


def test_parameters_are_those_of_the_mechanism() -> None:
    for case in golden.select("dpsgd", family="poisson(gaussian)"):
        assert 0 < case.q < 1
        exact = dpexact.parse(case.mechanism)
        [(step, count)] = exact.steps().items()
        assert case.steps == count
        assert case.q == float(step.q.fraction)
        assert case.sigma == float(step.mechanism.sigma.fraction)


@pytest.mark.parametrize("blocked", ["flint", "numpy", "sympy"])
def test_no_package_is_needed(blocked: str) -> None:
    code = (
        f"import sys; sys.modules['{blocked}'] = None\n"
        "from dpexact import oracle\n"
        "import dpexact; assert dpexact.oracle is oracle\n"
        "case = oracle.table()[0]; case.check_upper(**{case.quantity: 1e9})\n"
        "from dpexact.oracle import Oracle; next(Oracle().cases('dpsgd'))\n"
        f"print(len(oracle.table()), [n for n in {HEAVY} if sys.modules.get(n)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{len(table())} []\n", done.stderr


def test_selection() -> None:
    found = golden.select(
        "dpsgd", quantity="epsilon", direction="both", mechanism="(1.3)", family="poisson(gaussian)"
    )
    assert 10 <= len(found) <= 40
    assert all("gaussian(1.3)" in case.mechanism for case in found)
    assert golden.select() == list(table())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"suite": "dpsg"}, "suite: unknown name 'dpsg'; did you mean 'dpsgd'?"),
        (
            {"suite": "?"},
            "suite: unknown name '?'; known: allocation, basics, bounded-support, ",
        ),
        ({"quantity": "eps"}, "quantity: 'eps' is not accepted; use epsilon, delta, renyi"),
        ({"direction": "left"}, "direction: 'left' is not accepted; use remove, add, both"),
        ({"mechanism": "gaussian(17)"}, "no golden row matches"),
    ],
)
def test_mistakes_in_a_selection(asked: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        golden.select(**asked)
    assert str(caught.value).startswith(said)


def test_writing_and_reading_are_inverse_and_deterministic(tmp_path: Path) -> None:
    content = golden.written(table())
    assert content == golden.written(table())
    path = tmp_path / "copy.csv.gz"
    path.write_bytes(content)
    assert golden.read(path) == table()
    assert [case.parameters for case in golden.read(path)] == [c.parameters for c in table()]


def _damaged_rows() -> list[bytes]:
    header = ",".join(golden.COLUMNS)
    row = "basics,gdp(1),epsilon,1e-5,both,1.0,1.1,contour,gdp,mu=1.0"
    damages = {
        ",1.1,": [",x,", ",1e,", ",-1,", ",0.9,", ",nan,", ",1/0,", ",1e999999999,", ",٣,"],
        ",1e-5,": [",1e400,", ",-1,", ",1/0,", ",1e-999999999,", ",,"],
        ",both,": [",left,", f",{'x' * 9999},"],
        "mu=1.0": ["mu", "mu=x", "mu=²"],
    }
    rows = [row.replace(old, new) for old, news in damages.items() for new in news]
    return [f"{header}\n{row}\n".encode() for row in rows]


@pytest.mark.parametrize(
    "content",
    [
        b"no gzip",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"a,b\n1,2\n", mtime=0),
        gzip.compress(b"\xff\xfe", mtime=0),
        golden.written(table()[:3])[:-20],
        gzip.compress(gzip.decompress(golden.written(table()[:3])) + b"x,y\n", mtime=0),
        gzip.compress(
            gzip.decompress(golden.written(table()[:9])).replace(b",epsilon,", b",eps,"), mtime=0
        ),
        *(gzip.compress(rows, mtime=0) for rows in _damaged_rows()),
        gzip.compress(b"a" * 10_000, mtime=0)[:12] + b"\x93\x000/0\x00",  # zlib.error
        gzip.compress(b'"' + b"a" * 200_000, mtime=0),  # csv.Error
    ],
)
def test_a_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="not a golden table") as caught:
        golden.read(path)
    assert len(str(caught.value)) < 500


def test_a_small_file_of_a_huge_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(golden.written(table()[:3]))
    assert len(golden.read(path)) == 3
    monkeypatch.setattr(golden, "MAX_BYTES", 100)
    with pytest.raises(InvalidInput, match="larger than 100 bytes"):
        golden.read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gone\.csv\.gz: cannot read: No such file"):
        golden.read(tmp_path / "gone.csv.gz")


def test_arguments_are_rational() -> None:
    for case in table():
        assert case.argument == "inf" or Fraction(case.argument) >= 0
