"""Why exact composition is hard: the reduction of Murtagh and Vadhan."""

from __future__ import annotations

from proofs_checks.mv.counting import COUNTING, DOMAIN, reduction
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued_on


@check("steinke.sec7.sharpP", expects="certified", assumes=(COUNTING,), smoke=True)
def computing_counts() -> Derivation:
    """Three exact values of delta count partitions; the class itself is taken from elsewhere."""
    return argued_on(DOMAIN, reduction())
