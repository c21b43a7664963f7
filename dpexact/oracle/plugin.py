"""The pytest plugin: the fixture ``dp_oracle`` and the marker of the same name.

pytest loads this module wherever dpexact is installed, so it imports nothing else at the top.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dpexact.oracle.fixture import Oracle

_MARKER = (
    "dp_oracle(suite, *, quantity, direction, mechanism, family): "
    "run the test for each golden row that matches, as its argument `case`"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, for --strict-markers."""
    config.addinivalue_line("markers", _MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the argument ``case`` of marked tests."""
    marker = metafunc.definition.get_closest_marker("dp_oracle")
    if marker is None:
        return
    where = metafunc.definition.nodeid
    if "case" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(f"{where}: dp_oracle: the test has no argument `case`")
    from dpexact.errors import InvalidInput
    from dpexact.oracle.golden import select

    try:
        cases = select(*marker.args, **marker.kwargs)
    except (InvalidInput, TypeError) as error:
        # one test that fails: the others of the file are collected and run
        metafunc.parametrize("case", [_NoRows(f"{where}: dp_oracle: {error}")], ids=["no rows"])
    else:
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


@dataclass(frozen=True)
class _NoRows:
    """In place of a row, what is wrong with the marker."""

    reason: str


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Fail the test whose marker names no rows."""
    case = pyfuncitem.funcargs.get("case")
    if isinstance(case, _NoRows):
        pytest.fail(case.reason, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the grade of a refuted claim, also for JUnit XML and across processes."""
    grade = getattr(call.excinfo and call.excinfo.value, "grade", None)
    if isinstance(grade, str):
        item.user_properties.append(("dp_oracle_grade", grade))
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many refuted claims have which grade."""
    from dpexact.comparison import GRADES

    failed = terminalreporter.stats.get("failed", [])
    graded = [dict(report.user_properties).get("dp_oracle_grade") for report in failed]
    counts = [f"{graded.count(grade)} {grade}" for grade in GRADES if grade in graded]
    if counts:
        terminalreporter.write_line(f"dp_oracle: grades of the refuted claims: {', '.join(counts)}")


@pytest.fixture(scope="session")
def dp_oracle() -> Oracle:
    """Certified answers to check an accountant against: see ``dpexact.oracle.fixture.Oracle``."""
    from dpexact.oracle.fixture import Oracle

    return Oracle()
