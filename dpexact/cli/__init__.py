"""The command line: parse, call, print. Nothing here computes."""

from __future__ import annotations

import gc
from collections import UserDict
from importlib import import_module
from typing import Any, Final

import click

import dpexact
from dpexact.cli.errors import OneLineErrors

#: Objects between two collections: each looks through many that a long log or table keeps.
_MADE: Final = 20_000

_HOMES: Final = {
    "accountants": "auditing",
    "approx": "formulas",
    "audit": "auditing",
    "bounds": "formulas",
    "calibrate": "quantities",
    "certify": "certifying",
    "completion": "tools",
    "delta": "quantities",
    "dpsgd": "training",
    "empirical": "empirical",
    "epsilon": "quantities",
    "figure": "figures",
    "filter": "filtering",
    "log": "training",
    "oracle": "oracle",
    "prove": "proving",
    "renyi": "quantities",
    "schema": "tools",
    "selftest": "tools",
    "serve": "tools",
    "symbolic": "formulas",
    "tradeoff": "quantities",
    "verify": "verifying",
}


class _Verbs(UserDict[str, Any]):
    """The verbs by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(f"{__name__}.{self.data[name]}"), name)
        return command


@click.group(
    cls=OneLineErrors,
    commands=_Verbs(_HOMES),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpexact.__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Certified differential-privacy accounting, and audits of other accountants.

    \b
    Examples:
      dpexact delta "approx_dp(1/10, 1/1000)^30" --epsilon 3/2 --digits 30
      dpexact epsilon "gaussian(1.3)^100" --delta 1e-5
      dpexact audit claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics

    \b
    Exit codes: 0 done (audit: every claim sound), 1 a claim is certified unsound,
    2 bad input or usage, 3 undecided at the precision cap, 70 a defect of dpexact,
    74 output could not be written, 130 interrupted, 141 a closed pipe.
    """
    gc.set_threshold(_MADE)
