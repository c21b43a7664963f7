"""A page that is served for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from served_pages import Served


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    from served_pages import serving

    with serving() as page:
        yield page
