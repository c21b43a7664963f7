"""Sums of powers at many exponents at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

from flint import acb, acb_mat


def powers(base: acb, count: int) -> list[acb]:
    """``base^0 .. base^{count - 1}`` by doubling: no product is deeper than ``O(log count)``."""
    return [power for (power,) in _grown([acb(1)], [base], count)]


def _grown(starts: list[acb], turns: list[acb], count: int) -> list[list[acb]]:
    """``starts_j turns_j^n`` of all ``j``, for each ``n < count``; likewise by doubling."""
    found = [starts]
    # proposes: how many are needed; each is what it is
    while len(found) < count:
        # proposes: likewise
        left = found[: count - len(found)]
        found += [[a * b for a, b in zip(row, turns, strict=True)] for row in left]
        turns = [turn * turn for turn in turns]
    return found


def line_product(lines: Iterable[list[acb]]) -> list[acb]:
    """The product of many lines, node by node; of none, an empty line.

    Rectangles widen by up to ``sqrt(2)`` in a product, so products of equal depth are multiplied,
    and none is deeper than ``O(log)`` of how many there are.
    """
    done: list[tuple[int, list[acb]]] = []
    for line in lines:
        size, product = 1, line
        while done and done[-1][0] == size:
            product = [a * b for a, b in zip(done.pop()[1], product, strict=True)]
            size *= 2
        done.append((size, product))
    whole: list[acb] = []
    for _, part in reversed(done):
        whole = [a * b for a, b in zip(whole, part, strict=True)] if whole else part
    return whole


def line_sums(weights: list[acb], turns: list[acb], count: int) -> list[acb]:
    """``sum_j weights_j turns_j^n`` for ``n = 0 .. count``, as one product of matrices.

    With ``n = big a + b`` the sum is a product of ``weights_j (turns_j^big)^a`` and ``turns_j^b``.
    Proposes: how many are needed; each is what it is.
    """
    big = max(1, round((count + 1) ** 0.5))
    rows, outcomes = -(-(count + 1) // big), len(weights)
    *baby, leap = _grown([acb(1)] * outcomes, turns, big + 1)
    giant = _grown(weights, leap, rows)
    by_outcome = zip(*baby, strict=True)
    product = acb_mat(rows, outcomes, list(chain(*giant))) * acb_mat(
        outcomes, big, list(chain(*by_outcome))
    )
    entries: list[acb] = product.entries()
    return entries[: count + 1]


class Row:
    """``sum_n row_n turn^n`` at any ``turn``: its powers are few, and one product is of matrices.

    With ``n = big a + b`` it is a sum of ``(turn^big)^a`` times the sums over ``b``.
    """

    def __init__(self, row: list[acb]) -> None:
        self._big = max(1, math.isqrt(len(row)))
        self._many = -(-len(row) // self._big)
        padded = [*row, *[acb(0)] * (self._many * self._big - len(row))]
        self._row = acb_mat(self._many, self._big, padded)

    def at(self, turn: acb) -> acb:
        """The sum."""
        low = powers(turn, self._big + 1)
        inner = self._row * acb_mat(self._big, 1, low[:-1])
        outer = acb_mat(1, self._many, powers(low[-1], self._many)) * inner
        return outer[0, 0]
