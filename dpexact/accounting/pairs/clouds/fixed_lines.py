"""Lines of complex numbers as integers of digits, many at once: sums over places, and products.

Numbers are integers in units ``2^-bits``, each row next to a power of two of its own; digits are as
in ``limbs.py``, whose sums are exact. What is cut off is counted: ``docs/theory/logs.md``, section
8, whose formulas the numbers in brackets are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import acb, arb, arb_mat
from numpy.typing import NDArray

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.clouds.limbs import BITS, SIGNS, Digits, carry, integers
from dpexact.accounting.pairs.pair import TooExpensive

_Row: TypeAlias = list[acb]
_Exponents: TypeAlias = NDArray[np.int64]

#: Most digits, and most numbers summed into one.
_MOST_DIGITS: Final = 32
MOST: Final = 1 << 12
#: Multiplications of a matrix product that takes no threads, and columns of one.
_ALONE: Final = 1 << 18
_COLUMNS: Final = 64
#: Units that a number rounded to them is off at most, and a product of two that is cut [8].
FLOORED: Final = 1.5
_CUT: Final = 1.5
#: Likewise a value of a walk of so many places at most, or one of so many powers.
WALKED: Final = 2.5
MOST_PLACES: Final = 600
_MOST_TURNS: Final = 1 << 16
#: What rows are off at most, next to their bounds, and how many of them are multiplied: so that
#: no product is far above these.
_POOR: Final = 2.0**-8
JOINED: Final = 32
#: At most what ratios and turns are.
_ONE: Final = 1 + 2.0**-40
#: Covers what roundings of a few positive floats take.
_ROUNDED: Final = 1 + 2**-20
#: By how many bits a product is lifted at most.
_LIFTED: Final = 4
#: Digits dropped of sums at most.
_DROPPED: Final = 3


def size_of(bits: int) -> int:
    """How many digits hold so many bits."""
    size = -(-(bits + SIGNS) // BITS)
    # proposes: what is too much
    if size > _MOST_DIGITS:
        raise TooExpensive("a line of too many digits")
    return max(2, size)


def bits_of(size: int) -> int:
    """Bits of a unit, whose digits hold numbers of moduli below 2."""
    return BITS * size - SIGNS


def exponent_of(bound: arb) -> int:
    """That of a power of 2 above it, and not above twice that; of an exact one.

    Raises:
        ArithmeticError: it is not finite, and bounds nothing.
    """
    if not bound.is_finite():
        raise ArithmeticError("a line without a bound")
    mantissa, exponent = bound.man_exp()
    return int(exponent) + int(mantissa).bit_length()


def floored(value: arb) -> int:
    """A number in units, less than ``FLOORED`` of one off."""
    if not value.rad() <= 0.5:
        raise ArithmeticError("a number is not known to its units")
    return int(value.mid().floor().unique_fmpz())


def digits(rows: Sequence[Sequence[int]], size: int) -> Digits:
    """Of integers, digits first: two of them are five bytes."""
    width, half = 5 * -(-size // 2), 1 << BITS * size - 1
    data = b"".join([(x + half).to_bytes(width, "little") for row in rows for x in row])
    bytes_ = np.frombuffer(data, dtype=np.uint8).reshape(len(rows), len(rows[0]), -1, 5)
    parts = bytes_.astype(np.int64)
    low = parts[..., 0] + (parts[..., 1] << 8) + ((parts[..., 2] & 15) << 16)
    high = (parts[..., 2] >> 4) + (parts[..., 3] << 4) + (parts[..., 4] << 12)
    found = np.stack([low, high], axis=-1).reshape(len(rows), len(rows[0]), -1)
    found = np.moveaxis(found, -1, 0)
    # proposes: nothing, since these are integers
    if found[size:].any():
        raise OverflowError("an integer is too large for its digits")
    # proposes: likewise
    found = found[:size]
    found[-1] -= 1 << BITS - 1
    return found


class Sums:
    """``sum_l a_kl b_ln`` of integers, ``l`` inside: real ones, all but their lowest digits.

    In units ``2^-(20 size + 36)`` of one, of ``2^-bits`` each factor's.
    """

    def __init__(self, left: Digits, right: Digits) -> None:
        size, inside = len(left), left.shape[2]
        if not inside <= MOST:
            raise TooExpensive("sums of too many numbers")
        total = np.zeros((size + 1, left.shape[1], right.shape[2]), dtype=np.int64)
        check = np.zeros((size + 1, right.shape[2]), dtype=np.int64)
        for i, j in _kept(size):
            at = i + j - size + 2
            total[at] += _product(left[i], right[j])
            check[at] += left[i].sum(axis=0) @ right[j]
        # proposes: nothing, since these are integers; modulo 2^64 what was rounded is found out
        if not np.array_equal(total.sum(axis=1), check):
            raise ArithmeticError("a matrix product of small integers is wrong")
        carry(total)
        self._total, self._size = total, size
        #: What the lowest digits leave, in units of one factor [8].
        self.cut = (size - 2) * inside * 2.0**-18 * _ROUNDED

    def column(self, place: int) -> list[int]:
        """All sums of a column, in their units."""
        column = self._total[:, :, place]
        return [sum(digit << BITS * i for i, digit in enumerate(row)) for row in column.T.tolist()]

    def unit(self) -> arb:
        """What they are in."""
        return arb(2) ** -(BITS * self._size + 36)

    def lines(self, lifts: Sequence[int], most: Sequence[arb], off: Sequence[arb]) -> Lines:
        """Complex lines: real parts, then imaginary ones, where left rows had exponents ``lifts``.

        At most ``most`` in modulus each, and ``off`` by as much before digits are cut [8].
        """
        exponents, bounds, before = _next_to_powers(most, off, bits_of(self._size))
        moved = np.array(lifts) - exponents
        # proposes: how many digits are dropped; what does not fit is refused
        dropped = _DROPPED - max(0, -(-(22 + int(moved.max()) - 2 * BITS) // BITS))
        up = 22 + moved - BITS * (_DROPPED - dropped)
        top = abs(self._total[-1]).max(axis=1)
        # proposes: likewise; of integers
        if dropped < 1 or (up < 0).any() or (top >> np.maximum(0, 60 - up)).any():
            raise TooExpensive("sums that are too small or too large")
        # proposes: nothing, since bounds are rounded up
        if not (before <= 2.0 ** bits_of(self._size) * _POOR).all():
            raise TooExpensive("sums that are hardly known")
        total = np.zeros((self._size + dropped, *self._total.shape[1:]), dtype=np.int64)
        total[: self._size + 1] = self._total << up[:, None]
        carry(total)
        # proposes: likewise
        kept = total[dropped:]
        many = kept.shape[2] // 2
        parts = np.stack([kept[..., :many], kept[..., many:]], axis=1)
        cut = _CUT * (1 + np.ldexp(self.cut, moved))
        return Lines(parts, exponents, bounds, (before + cut) * _ROUNDED)


class Lines:
    """Rows of complex numbers: digits, then parts, rows and places.

    A row is less than ``2^exponent`` in modulus; next to that, ``most`` bounds it, and ``off``, in
    units, what it is off.
    """

    def __init__(self, digits: Digits, exponents: _Exponents, most: Floats, off: Floats) -> None:
        self._digits, self._exponents, self._most, self._off = digits, exponents, most, off

    def joined(self, groups: Sequence[Sequence[int]]) -> Lines:
        """The product of the rows of each group, of at least one and at most ``JOINED``."""
        lines, at = self, [list(group) for group in groups]
        while any(len(group) > 1 for group in at):
            pairs = [(a, b) for group in at for a, b in zip(group[::2], group[1::2], strict=False)]
            single = [group[-1] for group in at if len(group) % 2]
            left, right = zip(*pairs, strict=True)
            lines = lines._times(left, right, single)
            paired = iter(range(len(pairs)))
            alone = iter(range(len(pairs), len(pairs) + len(single)))
            at = [[*islice(paired, len(g) // 2), *islice(alone, len(g) % 2)] for g in at]
        return lines.some([place for group in at for place in group])

    def some(self, places: Sequence[int]) -> Lines:
        """Rows at some places."""
        # proposes: nothing, since places are integers
        at = np.array(places, dtype=np.int64)
        # proposes: likewise
        return Lines(self._digits[:, :, at], self._exponents[at], self._most[at], self._off[at])

    def _times(self, left: Sequence[int], right: Sequence[int], single: Sequence[int]) -> Lines:
        """Products of two rows each, and single rows as they are [8]."""
        one, other, rest = (self.some(places) for places in (left, right, single))
        most = one._most * other._most * _ROUNDED
        _, exponents = np.frexp(most)
        up = np.clip(-exponents.astype(np.int64), 0, _LIFTED)
        total = times(one._digits, other._digits, up[:, None])
        scale = np.ldexp(1.0, up)
        off = one._most * other._off + other._most * one._off
        off = (off + one._off * other._off * 2.0 ** -bits_of(len(total))) * scale + _CUT
        return Lines(
            np.concatenate([total, rest._digits], axis=2),
            np.concatenate([one._exponents + other._exponents - up, rest._exponents]),
            np.concatenate([most * scale, rest._most]),
            np.concatenate([off * _ROUNDED, rest._off]),
        )

    def rows(self) -> list[_Row]:
        """Balls."""
        size = len(self._digits)
        found: list[_Row] = []
        parts = [arb_mat(integers(part)).tolist() for part in self._digits.swapaxes(0, 1)]
        for k, (real, imag) in enumerate(zip(*parts, strict=True)):
            unit = arb(2) ** (int(self._exponents[k]) - bits_of(size))
            off = arb(0, float(self._off[k]))
            error = acb(off, off)
            found.append([(x + error) * unit for x in map(acb, real, imag)])
        return found


def beside(lines: Sequence[Lines]) -> Lines:
    """Rows that go on in those of the next, which have the same bounds."""
    first = lines[0]
    digits = np.concatenate([each._digits for each in lines], axis=3)
    return Lines(digits, first._exponents, first._most, first._off)


def times(left: Digits, right: Digits, up: Digits | int = 0) -> Digits:
    """Products, ``2^up`` times as large, less than ``_CUT`` units off: parts follow digits [8].

    Right ones may have real parts only.
    """
    size, lifted = len(left), left << (2 + up)
    total = np.zeros((size + 2, *left.shape[1:]), dtype=np.int64)
    for i, j in _kept(size):
        at = total[i + j - size + 2]
        at += lifted[i] * right[j, 0]
        if right.shape[1] > 1:
            at[0] -= lifted[i, 1] * right[j, 1]
            at[1] += lifted[i, 0] * right[j, 1]
    carry(total)
    return total[2:]


class Walk(NamedTuple):
    """From a place, in a direction, so many more: a value, its ratio to the next, and the fall.

    ``fall`` is the ratio of two ratios that follow each other.
    """

    row: int
    place: int
    direction: int
    steps: int
    value: acb
    ratio: acb
    fall: arb


def walked(walks: Sequence[Walk], shape: tuple[int, int], size: int) -> Digits:
    """All values of walks, less than ``WALKED`` units off, digits and parts first: zeros elsewhere.

    None is above 1 in modulus, nor a ratio by more than ``2^-40``, nor is a fall; counts are at
    most ``MOST_PLACES`` [8].
    """
    walks = sorted(walks, key=lambda walk: -walk.steps)
    if walks and walks[0].steps > MOST_PLACES:
        raise TooExpensive("a walk of too many places")
    for walk in walks:
        small = abs(walk.value) <= 1 and abs(walk.ratio) <= _ONE and walk.fall <= 1
        if not small:
            raise ArithmeticError("a walk that rises")
    found = np.zeros((size, 2, *shape), dtype=np.int64)
    # a digit more is cut off of what is kept
    unit = arb(2) ** bits_of(size + 1)
    rows, places, ways, counts = np.array([walk[:4] for walk in walks], dtype=np.int64).T
    starts = [(walk.value * unit, walk.ratio * unit, walk.fall * unit) for walk in walks]
    columns = [
        [floored(part) for part in parts]
        for parts in zip(*((v.real, v.imag, r.real, r.imag, f) for v, r, f in starts), strict=True)
    ]
    table = digits(columns, size + 1)
    values, ratios, falls = table[:, :2], table[:, 2:4], table[:, 4:]
    found[:, :, rows, places] = values[1:]
    # proposes: nothing, since steps are integers
    for step in range(1, int(counts.max(initial=0)) + 1):
        # proposes: likewise
        here = int((counts >= step).sum())
        values = times(values[..., :here], ratios[..., :here])
        ratios = times(ratios[..., :here], falls[..., :here])
        found[:, :, rows[:here], places[:here] + step * ways[:here]] = values[1:]
    return found


def powers(starts: Sequence[acb], turns: Sequence[acb], count: int, size: int) -> Digits:
    """``start turn^n``, ``n <= count``, less than ``WALKED`` units off: digits, parts, a row each.

    No start is above 1 in modulus, and no turn by more than ``2^-40``. By doubling [8].
    """
    if count > _MOST_TURNS:
        raise TooExpensive("a line of too many nodes")
    if not (all(abs(x) <= 1 for x in starts) and all(abs(x) <= _ONE for x in turns)):
        raise ArithmeticError("powers that rise")
    # a digit more is cut off of what is kept
    unit = arb(2) ** bits_of(size + 1)
    scaled = [[x * unit for x in row] for row in (starts, turns)]
    rows = [[floored(part) for x in row for part in (x.real, x.imag)] for row in scaled]
    first, turn = np.moveaxis(digits(rows, size + 1).reshape(size + 1, 2, -1, 2, 1), 1, 0)
    found, turn = first.swapaxes(1, 2), turn.swapaxes(1, 2)
    while found.shape[-1] <= count:
        left = count + 1 - found.shape[-1]
        found = np.concatenate([found, times(found[..., :left], turn)], axis=-1)
        turn = times(turn, turn)
    kept: Digits = found[1:]
    return kept


def _next_to_powers(
    most: Sequence[arb], off: Sequence[arb], bits: int
) -> tuple[_Exponents, Floats, Floats]:
    """Powers of 2 above bounds; these next to them, and others in units, rounded up."""
    exponents, bounds, units = [], [], []
    for bound, error in zip(most, off, strict=True):
        exponents.append(exponent_of(bound))
        scale = arb(2) ** -exponents[-1]
        bounds.append(float((bound * scale).mid()) * _ROUNDED)
        units.append(float((error * scale * arb(2) ** bits).mid()) * _ROUNDED)
    return np.array(exponents, dtype=np.int64), np.array(bounds), np.array(units)


def _kept(size: int) -> Iterable[tuple[int, int]]:
    """Which digits' products are not cut off."""
    return ((i, j) for i, j in product(range(size), repeat=2) if i + j >= size - 2)


def _product(left: Digits, right: Digits) -> Digits:
    """A product of matrices of small integers, in parts so small that no threads are taken."""
    many, inside = left.shape
    rows = max(1, _ALONE // (inside * _COLUMNS))
    blocks = np.zeros((-(-many // rows), rows, inside))
    blocks.reshape(-1, inside)[:many] = left
    columns = range(0, right.shape[1], _COLUMNS)
    parts = [blocks @ right[:, at : at + _COLUMNS].astype(np.float64) for at in columns]
    whole: Floats = np.concatenate(parts, axis=2).reshape(-1, right.shape[1])[:many]
    return whole.astype(np.int64)
