"""The pytest plugin: the fixture ``dp_oracle`` and the marker of the same name.

pytest loads this module wherever dpexact is installed, so it imports nothing else at the top.
"""

from __future__ import annotations

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
        raise pytest.Collector.CollectError(f"{where}: dp_oracle: {error}") from None
    metafunc.parametrize("case", cases, ids=[case.id for case in cases])


@pytest.fixture(scope="session")
def dp_oracle() -> Oracle:
    """Certified answers to check an accountant against: see ``dpexact.oracle.fixture.Oracle``."""
    from dpexact.oracle.fixture import Oracle

    return Oracle()
