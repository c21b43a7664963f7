"""Interpolation in two variables by the inverses of triangular matrices, which are found once."""

from __future__ import annotations

from typing import TypeAlias

from flint import arb, arb_mat

Rows: TypeAlias = list[list[arb]]


def triangles(rows: Rows) -> tuple[Rows, Rows]:
    """``(L, U^T)``, both lower triangular, with ``rows = L U`` and ones on the diagonal of L."""
    size = len(rows)
    left = [[arb(int(i == j)) for j in range(size)] for i in range(size)]
    above = [[arb(0)] * size for _ in range(size)]
    for i, row in enumerate(rows):
        for j in range(size):
            value = row[j]
            for p in range(min(i, j)):
                value -= left[i][p] * above[j][p]
            if j < i:
                left[i][j] = value / above[j][j]
            else:
                above[j][i] = value
    return left, above


def inverse(lower: Rows) -> Rows:
    """Of a lower triangular matrix; its leading blocks are the inverses of the leading blocks."""
    size = len(lower)
    found = [[arb(0)] * size for _ in range(size)]
    for i, row in enumerate(lower):
        for j in range(i + 1):
            value = sum((row[p] * found[p][j] for p in range(j, i)), arb(0))
            found[i][j] = (int(i == j) - value) / row[i]
    return found


def factored(rows: Rows) -> list[Rows]:
    """The inverses of both."""
    return [inverse(part) for part in triangles(rows)]


def multiply_lines(
    values: dict[tuple[int, int], list[arb]], axis: int, factor: Rows, *, upward: bool
) -> None:
    """Rows of ``values`` times leading blocks, or their transposes, along lines of a lower set."""
    lines: dict[int, list[tuple[int, int]]] = {}
    for place in values:
        lines.setdefault(place[1 - axis], []).append(place)
    block = arb_mat(0, 0)
    for line in lines.values():
        size = len(line)
        if block.nrows() != size:
            block = arb_mat([row[:size] for row in factor[:size]])
            block = block if upward else block.transpose()
        rows = (block * arb_mat([values[place] for place in line])).tolist()
        values.update(zip(line, rows, strict=True))
