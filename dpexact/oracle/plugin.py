"""The pytest plugin: the fixture ``dp_oracle`` and the marker of the same name.

pytest loads this module wherever dpexact is installed, so it imports nothing else at the top.
"""

from __future__ import annotations

import argparse
import sys
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


_SAMPLE = "--dp-oracle-sample"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin, under a heading of their own."""
    group = parser.getgroup("dpexact", "dpexact: certified answers (marker and fixture dp_oracle)")
    group.addoption(
        _SAMPLE,
        type=_positive,
        metavar="N",
        help="check at most N golden rows of each selection, spread evenly over it: a quick look",
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9])):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not accepted; must be an integer >= 1")
    return int(text[:9])


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, for --strict-markers."""
    config.addinivalue_line("markers", _MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the argument ``case`` of marked tests, with the rows of all their markers."""
    markers = list(metafunc.definition.iter_markers("dp_oracle"))
    if not markers:
        return
    where = metafunc.definition.nodeid
    if "case" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(f"{where}: dp_oracle: the test has no argument `case`")
    from dpexact.errors import InvalidInput
    from dpexact.oracle.golden import select

    most = metafunc.config.getoption(_SAMPLE)
    names: dict[object, str] = {}  # a row of several markers is one test
    for marker in markers:
        try:
            names |= {case: case.id for case in select(*marker.args, most=most, **marker.kwargs)}
        except (InvalidInput, TypeError) as error:
            # one test that fails: the others of the file are collected and run
            names[_NoRows(f"{where}: dp_oracle: {error}")] = "no rows"
    metafunc.parametrize("case", list(names), ids=list(names.values()))


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
    """Keep what became of the claims, also for JUnit XML (the grade) and across processes."""
    cases = sys.modules.get("dpexact.oracle.cases")
    if cases is None:
        return (yield)
    refuted = call.excinfo.value if call.excinfo else None
    if isinstance(refuted, cases.ClaimRefuted):
        item.user_properties.append(("dp_oracle_grade", refuted.grade))
    report = yield
    report.dp_oracle_checked = cases.Checks.taken()  # type: ignore[attr-defined]
    if isinstance(refuted, cases.ClaimRefuted):
        worst = None if refuted.error is None else str(refuted.error)
        report.dp_oracle_refuted = (refuted.verdict, refuted.grade, worst)  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Say below all else how many claims were refuted, how wrong the worst is, and the grades."""
    yield
    reports = [report for group in terminalreporter.stats.values() for report in group]
    checked = sum(getattr(report, "dp_oracle_checked", 0) for report in reports)
    if checked:
        from dpexact.oracle.summary import summary

        refuted = [getattr(report, "dp_oracle_refuted", None) for report in reports]
        said = summary(checked, [found for found in refuted if found is not None])
        sample = terminalreporter.config.getoption(_SAMPLE)
        part = f" (at most {sample} rows of each selection)" if sample else ""
        terminalreporter.write_line(f"dp_oracle: {said}{part}")


@pytest.fixture(scope="session")
def dp_oracle(pytestconfig: pytest.Config) -> Oracle:
    """Certified answers to check an accountant against: see ``dpexact.oracle.fixture.Oracle``."""
    from dpexact.oracle.fixture import Oracle

    return Oracle(pytestconfig.getoption(_SAMPLE))
