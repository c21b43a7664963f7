"""Sums of powers of numbers of modulus at most 1, all at once in integers of some digits.

With ``g``, ``s``, ``t`` known, ``|s t^n| <= 1`` and ``|t| <= 1``,

    sum_l g_kl s_il t_il^n   for all k, i and n <= count.

Powers are products of complex integers in units ``2^-b``, rounded down after each; their sums are
exact products of matrices (``limbs.py``). What rounding loses is proved in ``docs/theory/logs.md``,
section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    full,
    integers,
    products,
)
from dpexact.accounting.pairs.sides import floored
from dpexact.balls import current, precision

_Rows: TypeAlias = Sequence[Sequence[acb]]

_REAL, _IMAGINARY = attrgetter("real"), attrgetter("imag")
#: What a complex integer is off at most, in units, for each product that made it, and at first.
_OFF: Final = 3
#: Likewise what was rounded once.
_ROUNDED: Final = 3
#: What two dropped parts are less than in units of what is left, and a unit more.
_DROPPED: Final = 3
#: Bits beyond those of integers, in which balls are rounded to these.
_SPARE_BITS: Final = 40
#: Columns of a product of matrices.
_COLUMNS: Final = 1024
#: Most places, so that sums of products are exact in floats.
MOST: Final = 1 << 12


def power_sums(
    weights: _Rows, starts: _Rows, turns: _Rows, count: int, inside: Sequence[int]
) -> list[list[list[acb]]]:
    """The sums, for each ``i`` a row for each of the first ``inside[i]`` of the weights.

    ``b`` is at least the precision. Weights, starts and turns are to be known to more bits.
    """
    bits, places = full(current()), len(weights[0])
    if not 0 < places <= MOST:
        raise ValueError(f"{places} places are not summed in floats")
    with precision(bits + _SPARE_BITS):
        # powers of 2 that let the starts be about 1, and the weights
        sizes = [max(_size(row[place]) for row in starts) for place in range(places)]
        scales = [arb(2) ** -size for size in sizes]
        left = [[w / scale for w, scale in zip(row, scales, strict=True)] for row in weights]
        begun = [[s * scale for s, scale in zip(row, scales, strict=True)] for row in starts]
        level = arb(2) ** max(_size(w) for row in left for w in row)
        rows = [_parts([w / level for w in row], bits) for row in left]
        found: list[list[list[acb]]] = []
        at_once = max(1, _COLUMNS // (2 * (count + 1)))
        for first in range(0, len(starts), at_once):
            batch = slice(first, first + at_once)
            powers = _powers(begun[batch], turns[batch], count, bits)
            found += _summed(rows, powers, inside[batch], level, bits)
    return found


def _size(value: acb) -> int:
    """An exponent of a power of 2 that is above the modulus."""
    mantissa, exponent = abs(value).upper().man_exp()
    return int(exponent) + int(mantissa).bit_length()


def _summed(
    rows: Sequence[tuple[list[int], list[int]]],
    powers: Digits,
    inside: Sequence[int],
    level: arb,
    bits: int,
) -> list[list[list[acb]]]:
    """Sums of weights, of which ``level`` is the unit, times powers of some starts."""
    _, many, each, size, places = powers.shape
    kept = rows[: max(inside)]
    if not kept:
        return [[]] * many
    parts = chain(*zip(*kept, strict=True))
    matrix = np.stack([digits_of(part, size) for part in parts])
    lost = []
    for real, imaginary in kept:
        total = sum(map(abs, real)) + sum(map(abs, imaginary))
        off = _OFF * each * total + _ROUNDED * places * 2**bits
        # as many digits of sums are dropped: of each part, of two of them, less than two units
        lost.append((off >> size * BITS) + _DROPPED)
    unit = level * arb(2) ** (size * BITS - 2 * bits)
    sums = products(matrix, powers.reshape(-1, size, places))[size:]
    (upper, lower), all_of_it = np.split(sums, 2, axis=1), many * each
    real, imaginary = (
        integers(part).tolist()
        for part in (
            upper[:, :, :all_of_it] - lower[:, :, all_of_it:],
            upper[:, :, all_of_it:] + lower[:, :, :all_of_it],
        )
    )
    return [
        [
            [
                acb(arb(a, off) * unit, arb(b, off) * unit)
                for a, b in zip(
                    real[k][at * each : (at + 1) * each],
                    imaginary[k][at * each : (at + 1) * each],
                    strict=True,
                )
            ]
            for k, off in enumerate(lost[:wanted])
        ]
        for at, wanted in enumerate(inside)
    ]


def _parts(values: Sequence[acb], bits: int) -> tuple[list[int], list[int]]:
    """Real and imaginary parts in units ``2^-bits``, less than 3/2 of one off."""
    real, imaginary = ([part(value) for value in values] for part in (_REAL, _IMAGINARY))
    return [floored(x, bits) for x in real], [floored(x, bits) for x in imaginary]


def _powers(starts: _Rows, turns: _Rows, count: int, bits: int) -> Digits:
    """``s t^n`` for ``n <= count``: axes are parts, rows, ``n``, digits and places.

    Turns are in units ``2^-(bits + 2)``, so that what is dropped of a product are whole digits.
    """
    size = -(-(bits + SIGNS) // BITS)
    both = (
        _parts(list(chain.from_iterable(rows)), b)
        for rows, b in ((starts, bits), (turns, size * BITS))
    )
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
