"""Sums over many points of products of Chebyshev polynomials: integers of any size, many at once.

An integer is its digits in base ``2^20``, lowest first, the highest one signed and the others not
negative; an axis of an array holds them. Matrix products of floats sum products of digits: each
is at most ``2^40`` in modulus, and as there are at most ``2^12`` of them, all partial sums in any
order are integers below ``2^53``, so none is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Final, TypeAlias

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

Digits: TypeAlias = NDArray[np.int64]
Kept: TypeAlias = NDArray[np.int32]

BITS: Final = 20
#: Bits of a place beside its units: its sign, and what is beyond 1.
SIGNS: Final = 2
_MASK: Final = (1 << BITS) - 1
#: Points whose products are summed at once, and digits that they may have.
_MOST: Final = 1 << 12
_ROOM: Final = 1 << 22
#: Multiplications of a matrix product that takes no threads, which are slower for small ones.
_ALONE: Final = 1 << 18
_LEAST: Final = 64
#: Numbers of products that are held at once.
_NUMBERS: Final = 1 << 22
#: Digits of a 64-bit integer.
_TOGETHER: Final = 3
#: Digits of sums beyond those of their terms.
_MORE: Final = 2


def full(bits: int) -> int:
    """At least so many bits, with which the digits of a place are full."""
    return -(-(bits + SIGNS) // BITS) * BITS - SIGNS


def chebyshev_sums(
    first: Sequence[int],
    second: Sequence[int],
    counts: Sequence[int],
    ends: Sequence[int],
    shape: tuple[int, int],
    bits: int,
    most: int = 0,
) -> list[Kept]:
    """``sum_k n_k t_i(x_k) t_j(y_k)`` for all ``(i, j)`` below ``shape``, up to each end, exactly.

    Places ``x``, ``y`` and polynomials ``t`` are in units ``2^-bits``, at most about ``2^bits`` of
    them; ``t_0 = 2^bits``, ``t_1 = x`` and ``t_{i+1} = floor(2 x t_i / 2^bits) - t_{i-1}``. Ends
    rise. Sums have as many digits as those of points that are counted ``most`` times at most.
    """
    size = -(-(bits + SIGNS) // BITS)
    many, more = shape
    most = max([most, *counts])
    wide = 0 if most <= 1 else -(-most.bit_length() // BITS)
    chunk = max(1, min(_MOST, _ROOM // (max(shape) * size)))
    total = np.zeros((2 * size + wide + _MORE, many, more), dtype=np.int64)
    found, left, right, at = [], None, None, 0
    start = 0
    for end in ends:
        while start < end:
            if left is None or start >= at + chunk:
                at = start
                here = slice(at, at + chunk)
                left = _polynomials(first[here], many, bits, size)
                right = _polynomials(second[here], more, bits, size)
                right = _times(counts[here], right, wide) if wide else right
            assert right is not None
            stop = min(end, at + chunk)
            part = slice(start - at, stop - at)
            total[:-_MORE] += products(left[:, :, part], right[:, :, part])
            start = stop
        found.append(_kept(total))
    return found


def added(one: Kept, other: Kept) -> Kept:
    """The sum of two sums."""
    return _kept(one.astype(np.int64) + other)


def _kept(digits: Digits) -> Kept:
    """Within their bounds; the highest ones, of which there are more than enough, are small."""
    found = digits.copy()
    carry(found)
    kept = found.astype(np.int32)
    # proposes: nothing, since these are integers
    if not np.array_equal(kept[-1], found[-1]):
        raise OverflowError("sums of too many points")
    return kept


def digits_of(values: Sequence[int], size: int) -> Digits:
    """Of ``values``, one axis after their digits."""
    left, rows = np.array(values, dtype=object), []
    for _ in range(size - 1):
        rows.append((left & _MASK).astype(np.int64))
        left = left >> BITS
    return np.stack([*rows, left.astype(np.int64)])


def carry(digits: Digits) -> None:
    """Digits that are too large, or negative, into their bounds; digits are the first axis."""
    for low, high in pairwise(digits):
        high += low >> BITS
        low &= _MASK


def _polynomials(places: Sequence[int], count: int, bits: int, size: int) -> Digits:
    """``t_0 .. t_{count - 1}``, their digits, and the places, by axes."""
    found = np.empty((max(2, count), size, len(places)), dtype=np.int64)
    found[0] = digits_of([1 << bits], size)
    found[1] = digits_of(places, size)
    # so that what is dropped are whole digits
    shift = size * BITS - bits + 1
    turn = digits_of([x << shift for x in places], size)
    product = np.empty((2 * size, len(places)), dtype=np.int64)
    for k in range(2, count):
        product[:] = 0
        for at in range(size):
            product[at : at + size] += turn[at] * found[k - 1]
        for low in range(size):
            product[low + 1] += product[low] >> BITS
        np.subtract(product[size:], found[k - 2], out=found[k])
        carry(found[k])
    return found[:count]


def _times(counts: Sequence[int], values: Digits, wide: int) -> Digits:
    """Each value as often as it is counted, in so many digits more."""
    rows, size, points = values.shape
    found = np.zeros((rows, size + wide, points), dtype=np.int64)
    # of counts, which are not negative, the highest digit is like the others
    for at, digit in enumerate(digits_of(counts, wide)):
        found[:, at : at + size] += digit * values
    carry(found.swapaxes(0, 1))
    return found


def products(left: Digits, right: Digits) -> Digits:
    """The digits, then the rows and columns, of ``sum_k left[i, k] right[j, k]``."""
    (many, size), (more, other) = left.shape[:2], right.shape[:2]
    block = min(left.shape[2], max(_LEAST, _ALONE // (many * more)))
    rows, columns = _blocks(left, block)[:, :, None], _blocks(right, block)[:, None]
    sums = np.zeros((size, other, many, more))
    together, tile = max(1, _NUMBERS // sums.size), max(1, _ALONE // (block * more))
    for at, low in product(range(0, len(rows), together), range(0, many, tile)):
        here = rows[at : at + together, :, :, low : low + tile]
        here = here @ columns[at : at + together].swapaxes(-1, -2)
        sums[:, :, low : low + tile] += here.sum(axis=0)
    parts = sums.astype(np.int64)
    # proposes: nothing, since these are integers; modulo 2^64 what was rounded is found out
    if not np.array_equal(parts.sum(axis=(0, 2)).T, right @ left.sum(axis=(0, 1))):
        raise ArithmeticError("a matrix product of small integers is wrong")
    found = np.zeros((size + other, many, more), dtype=np.int64)
    for at, part in enumerate(parts):
        found[at : at + other] += part
    carry(found)
    return found


def _blocks(digits: Digits, block: int) -> NDArray[np.float64]:
    """As floats, by blocks of points, digits and rows; zeros fill up the last block."""
    rows, size, points = digits.shape
    count = -(-points // block)
    found = np.zeros((count, size, rows, block))
    for at in range(count):
        part = digits[:, :, at * block : (at + 1) * block]
        found[at, :, :, : part.shape[2]] = part.swapaxes(0, 1)
    return found


def integers(digits: Digits | Kept) -> fmpz_mat:
    """What the digits stand for; sums of digits may be larger than these, the highest by far."""
    size, many, more = digits.shape
    size += _TOGETHER - size % _TOGETHER + _TOGETHER
    more_digits = np.zeros((size - len(digits), many, more), np.int64)
    digits = np.concatenate([digits, more_digits], dtype=np.int64)
    carry(digits)
    weights = 1 << BITS * np.arange(_TOGETHER, dtype=np.int64)
    groups = digits.reshape(-1, _TOGETHER, many, more)
    parts = [np.tensordot(weights, group, 1).ravel().tolist() for group in groups]
    total = parts[-1]
    for part in reversed(parts[:-1]):
        total = [(high << BITS * _TOGETHER) + low for high, low in zip(total, part, strict=True)]
    return fmpz_mat(many, more, total)
