"""What the methods for different randomised responses are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dpexact.accounting.pairs.finite import total
from dpexact.reals import Real

Parameters: TypeAlias = Sequence[tuple[Real, int]]
"""Pairs ``(eps_i, count)`` with ``eps_i > 0``."""


def largest_loss(parameters: Parameters) -> Real:
    """The sum of all ``eps_i`` as a shallow expression."""
    return total(eps * count for eps, count in parameters)
