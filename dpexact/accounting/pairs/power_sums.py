"""Sums of powers at many exponents at once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from flint import acb, acb_mat


def powers(base: acb, count: int) -> list[acb]:
    """``base^0 .. base^{count - 1}`` by doubling: no product is deeper than ``O(log count)``."""
    found = [acb(1), base]
    # proposes: how many are needed; each is what it is
    while len(found) < count:
        step = found[-1] * base
        found += [power * step for power in found]
    # proposes: likewise
    return found[:count]


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
    rows = -(-(count + 1) // big)
    giant: list[acb] = []
    baby: list[acb] = []
    for weight, turn in zip(weights, turns, strict=True):
        low = powers(turn, big + 1)
        baby += low[:big]
        giant += [weight * power for power in powers(low[big], rows)]
    outcomes = len(weights)
    product = acb_mat(outcomes, rows, giant).transpose() * acb_mat(outcomes, big, baby)
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
