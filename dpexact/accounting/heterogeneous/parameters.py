"""What the methods for different randomised responses are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from dpexact.reals import Real

Parameters: TypeAlias = Sequence[tuple[Real, int]]
"""Pairs ``(eps_i, count)`` with ``eps_i > 0``."""


def largest_loss(parameters: Parameters) -> Real:
    """The sum of all ``eps_i`` as a shallow expression."""
    terms = [eps * count for eps, count in parameters]
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + (terms[-1:] if len(terms) % 2 else [])
    return terms[0]
