"""Sums of powers at many exponents at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import mul

from flint import acb, acb_mat, arb


def powers(base: acb, count: int) -> list[acb]:
    """``base^0 .. base^{count - 1}`` by doubling: no product is deeper than ``O(log count)``."""
    found = [acb(1), base][:count]
    # proposes: how many are needed; each is what it is
    while len(found) < count:
        largest = found[-1]
        # proposes: likewise
        found += [power * largest for power in found[1 : 1 + count - len(found)]]
    return found


def grown(starts: list[acb], turns: list[acb], count: int) -> list[list[acb]]:
    """``starts_j turns_j^n`` of all ``j``, for each ``n < count``; likewise by doubling."""
    found = [starts]
    # proposes: how many are needed; each is what it is
    while len(found) < count:
        # proposes: likewise
        if len(found) > 1:
            turns = list(map(mul, turns, turns))
        # proposes: likewise
        left = found[: count - len(found)]
        found += [list(map(mul, row, turns)) for row in left]
    return found


class LineProduct:
    """The product of many lines, node by node; of none, an empty line.

    Rectangles widen by up to ``sqrt(2)`` in a product, so products of equal depth are multiplied,
    and none is deeper than ``O(log)`` of how many there are.
    """

    def __init__(self) -> None:
        self._done: list[tuple[int, list[acb]]] = []

    def add(self, line: list[acb]) -> None:
        """One more."""
        size, done = 1, self._done
        while done and done[-1][0] == size:
            line = [a * b for a, b in zip(done.pop()[1], line, strict=True)]
            size *= 2
        done.append((size, line))

    def whole(self) -> list[acb]:
        """Of all of them."""
        whole: list[acb] = []
        for _, part in reversed(self._done):
            whole = [a * b for a, b in zip(whole, part, strict=True)] if whole else part
        return whole


def line_product(lines: Iterable[list[acb]]) -> list[acb]:
    """Likewise, at once."""
    product = LineProduct()
    for line in lines:
        product.add(line)
    return product.whole()


def line_sums(weights: list[acb], turns: list[acb], count: int) -> list[acb]:
    """``sum_j weights_j turns_j^n`` for ``n = 0 .. count``, as one product of matrices.

    With ``n = big a + b``, ``1 <= b <= big``, the sum is one of ``weights_j (turns_j^big)^a`` and
    ``turns_j^b``. Proposes: how many are needed; each is what it is.
    """
    big, outcomes = max(1, round(count**0.5)), len(weights)
    rows = max(1, -(-count // big))
    baby = grown(turns, turns, big)
    giant = grown(weights, baby[-1], rows)
    product = acb_mat(rows, outcomes, list(chain(*giant))) * acb_mat(
        outcomes, big, list(chain(*zip(*baby, strict=True)))
    )
    return [sum(weights, acb(0)), *product.entries()[:count]]


def exponential_line(
    terms: Iterable[tuple[acb, acb]], error: arb, step: float, count: int
) -> list[acb]:
    """``sum weight e^{i n step z}`` of weights and ``z``, ``n = 0 .. count``, each off by as much.

    That is the error, a ball around 0 that holds both parts of it.
    """
    weights, losses = zip(*terms, strict=True)
    turns = [(acb(0, step) * loss).exp() for loss in losses]
    return [x + acb(error, error) for x in line_sums(list(weights), turns, count)]


class Rows:
    """``sum_n row_n turn^n`` of some rows at any turns: its powers are few, the rest is matrices.

    With ``n = big a + b`` first the sums over ``b``, one product for all, then those over ``a``.
    """

    def __init__(self, rows: Sequence[list[acb]]) -> None:
        count = len(rows[0])
        self._big = max(1, math.isqrt(count))
        self._many, self._rows = -(-count // self._big), len(rows)
        padded = [row + [acb(0)] * (self._many * self._big - count) for row in rows]
        parts = [row[b :: self._big] for b in range(self._big) for row in padded]
        self._weights = acb_mat(self._big, self._many * self._rows, list(chain(*parts)))

    def at(self, turns: Sequence[acb]) -> list[list[acb]]:
        """The sums of each row, for each turn."""
        babies, giant = [], []
        for turn in turns:
            *baby, leap = powers(turn, self._big + 1)
            babies += baby
            giant.append(powers(leap, self._many))
        sums = (acb_mat(len(turns), self._big, babies) * self._weights).tolist()
        return [
            (acb_mat(self._rows, self._many, parts) * acb_mat(self._many, 1, leaps)).entries()
            for parts, leaps in zip(sums, giant, strict=True)
        ]
