"""The CI oracle: a golden table of certified answers, and a pytest plugin that asks it.

Needs nothing but the standard library, except where answers are computed anew. Inside, each module
imports only from those before it::

    cases < golden < fixture, summary < plugin           standard library
    grids < rows < checking                              compute

>>> from dpexact import oracle
>>> len(oracle.table()) >= 2000
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpexact.oracle.cases import Case, ClaimRefuted
    from dpexact.oracle.fixture import Oracle
    from dpexact.oracle.golden import suites, table

__all__ = ["Case", "ClaimRefuted", "Oracle", "suites", "table"]

#: pytest loads this room in every run, used or not: so each name is imported when first asked for.
_HOMES: Final = {
    "Case": "cases",
    "ClaimRefuted": "cases",
    "Oracle": "fixture",
    "suites": "golden",
    "table": "golden",
}
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
