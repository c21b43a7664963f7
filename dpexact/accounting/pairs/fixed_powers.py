"""Sums of powers of numbers of modulus at most 1, all at once in integers of some digits.

With ``g``, ``s``, ``t`` known, ``|s t^n| <= 1`` and ``|t| <= 1``,

    sum_l g_kl s_il t_il^n   for all k, i and n <= count.

Powers are products of complex integers in units ``2^-b``, rounded down after each; their sums are
exact products of matrices (``limbs.py``). What rounding loses is proved in ``docs/theory/logs.md``,
section 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np
from flint import acb, arb

from dpexact.accounting.pairs.limbs import (
    BITS,
    SIGNS,
    Digits,
    carry,
    digits_of,
    integers,
    products,
)
from dpexact.accounting.pairs.sides import floored

_Rows: TypeAlias = Sequence[Sequence[acb]]

_REAL, _IMAGINARY = attrgetter("real"), attrgetter("imag")
#: What a complex integer is off at most, in units, for each product that made it, and at first.
_OFF: Final = 3
#: Likewise what was rounded once.
_ROUNDED: Final = 3
#: Columns of a product of matrices.
_COLUMNS: Final = 1024
#: Most places, so that sums of products are exact in floats.
MOST: Final = 1 << 12


def power_sums(
    weights: _Rows, starts: _Rows, turns: _Rows, count: int, inside: Sequence[int], bits: int
) -> Iterator[list[list[acb]]]:
    """The sums, for each ``i`` a row for each of the first ``inside[i]`` of the weights.

    ``bits`` fill digits.
    """
    places = len(weights[0])
    if not 0 < places <= MOST:
        raise ValueError(f"{places} places are not summed in floats")
    # proposes: powers of 2 that let the starts be about 1, since any will do
    sizes = [max(float(abs(row[place]).upper()) for row in starts) for place in range(places)]
    scales = [arb(2) ** -math.frexp(size)[1] for size in sizes]
    left = [[w / scale for w, scale in zip(row, scales, strict=True)] for row in weights]
    largest = max(float(abs(w).upper()) for w in chain.from_iterable(left))
    level = arb(2) ** math.frexp(largest)[1]
    rows = [_parts([w / level for w in row], bits) for row in left]
    sums = [sum(abs(a) + abs(b) for a, b in zip(*row, strict=True)) for row in rows]
    lost = [_OFF * (count + 1) * total + _ROUNDED * places * 2**bits for total in sums]
    size = -(-(bits + SIGNS) // BITS)
    matrix = np.stack([digits_of(part, size) for part in chain(*zip(*rows, strict=True))])
    unit = level * arb(2) ** (-2 * bits)
    at_once = max(1, _COLUMNS // (2 * (count + 1)))
    for first in range(0, len(starts), at_once):
        batch = slice(first, first + at_once)
        most = max(inside[batch])
        if not most:
            yield from [[]] * len(inside[batch])
            continue
        begun = [
            [s * scale for s, scale in zip(row, scales, strict=True)] for row in starts[batch]
        ]
        powers = _powers(begun, turns[batch], count, bits, size)
        columns = powers.reshape(-1, size, places)
        many = len(columns) // 2
        kept = np.concatenate([matrix[:most], matrix[len(weights) : len(weights) + most]])
        found = products(kept, columns)
        upper, lower = found[:, :most], found[:, most:]
        real = integers(upper[:, :, :many] - lower[:, :, many:]).tolist()
        imaginary = integers(upper[:, :, many:] + lower[:, :, :many]).tolist()
        for place, wanted in enumerate(inside[batch]):
            here = slice(place * (count + 1), (place + 1) * (count + 1))
            yield [
                [
                    acb(arb(a, off) * unit, arb(b, off) * unit)
                    for a, b in zip(real[k][here], imaginary[k][here], strict=True)
                ]
                for k, off in enumerate(lost[:wanted])
            ]


def _parts(values: Sequence[acb], bits: int) -> tuple[list[int], list[int]]:
    """Real and imaginary parts in units ``2^-bits``, less than 3/2 of one off."""
    real, imaginary = ([part(value) for value in values] for part in (_REAL, _IMAGINARY))
    return [floored(x, bits) for x in real], [floored(x, bits) for x in imaginary]


def _powers(starts: _Rows, turns: _Rows, count: int, bits: int, size: int) -> Digits:
    """``s t^n`` for ``n <= count``: axes are parts, rows, ``n``, digits and places.

    Turns are in units ``2^-(bits + 2)``, so that what is dropped of a product are whole digits.
    """
    both = (_parts(list(chain.from_iterable(rows)), b) for rows, b in (
        (starts, bits), (turns, size * BITS)))
    (real, imaginary), (cosine, sine) = (
        tuple(digits_of(part, size) for part in parts) for parts in both
    )
    found = np.empty((2, count + 1, *real.shape), dtype=np.int64)
    found[:, 0] = real, imaginary
    products_of = np.empty((2, 2 * size, real.shape[1]), dtype=np.int64)
    for n in range(count):
        real, imaginary = found[:, n]
        products_of[:] = 0
        for at in range(size):
            here = slice(at, at + size)
            products_of[0, here] += cosine[at] * real - sine[at] * imaginary
            products_of[1, here] += cosine[at] * imaginary + sine[at] * real
        for part, product in zip(found[:, n + 1], products_of, strict=True):
            carry(product[: size + 1])
            part[:] = product[size:]
            carry(part)
    rows = found.reshape(2, count + 1, size, len(starts), -1)
    return rows.transpose(0, 3, 1, 2, 4)
