"""Strategy matrices of correlated noise, exactly: column norms, and sensitivities of patterns.

A float of a matrix means its exact binary value, so every norm is the root of a rational. Proofs
are in ``docs/theory/correlated-noise.md``; the numbers in brackets refer to its propositions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any, Final, NamedTuple
from warnings import catch_warnings

import numpy as np
from flint import fmpz_mat

from dpexact.arguments import MAX_COUNT, integer_in
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.tokens import shorten
from dpexact.visible import visible

#: Most entries of a matrix, and most columns where all products of two are needed.
MAX_ENTRIES: Final = 10_000_000
MAX_GRAM: Final = 2048
#: Most steps of a Toeplitz matrix whose columns are summed.
MAX_SUMMED: Final = 1_000_000
#: Bits of an entry as a multiple of the smallest unit.
_MAX_BITS: Final = 5000
_MANTISSA: Final = 53
#: Bits of a product of columns, rounded up, where patterns are only bounded.
_COARSE_BITS: Final = 30


class Sensitivity(NamedTuple):
    """The square of a sensitivity; ``attained`` unless it is an upper bound only."""

    square: Fraction
    attained: bool


@dataclass(frozen=True)
class Toeplitz:
    """A lower triangular Toeplitz matrix of ``steps`` columns, by its first one over ``unit``.

    Only the coefficients up to the last one that is not 0 are held.
    """

    coefficients: tuple[int, ...]
    unit: Fraction
    steps: int

    @property
    def bands(self) -> int:
        """The number of bands up to the lowest that is not 0."""
        return len(self.coefficients)

    @property
    def falls(self) -> bool:
        """Whether the coefficients are not negative and do not increase."""
        found = self.coefficients
        return all(c >= 0 for c in found) and all(a >= b for a, b in pairwise(found))

    def groups(self, cycle: int) -> list[Counter[Fraction]]:
        """Of the first group alone, the squared norms of its columns: no other loses more [3]."""
        rounds = -(-self.steps // cycle)
        last = self.steps - (rounds - 1) * cycle
        found: Counter[Fraction] = Counter()
        if rounds > 1:
            found[self._square(self.bands)] = rounds - 1
        found[self._square(last)] += 1
        return [found]

    def _square(self, length: int) -> Fraction:
        return self.unit**2 * sum(c * c for c in self.coefficients[:length])

    def summed(self, count: int, spacing: int) -> Fraction:
        """The squared norm of the sum of columns ``0, spacing, ..``, ``count`` of them."""
        if self.steps > MAX_SUMMED:
            raise UnsupportedMechanism(
                f"columns of more than {MAX_SUMMED} steps are not summed here"
            )
        column = [*self.coefficients, *[0] * (self.steps - self.bands)]
        sums, total = column[:], 0
        for i, own in enumerate(column):
            before = sums[i - spacing] if i >= spacing else 0
            gone = column[i - count * spacing] if i >= count * spacing else 0
            sums[i] = own + before - gone
            total += sums[i] * sums[i]
        return self.unit**2 * total

    def dense(self) -> Dense:
        """The same matrix, entry by entry."""
        if self.steps > MAX_GRAM:
            raise UnsupportedMechanism(_TOO_MANY.format(self.steps))
        columns = tuple(
            tuple((j + i, c) for i, c in enumerate(self.coefficients[: self.steps - j]) if c)
            for j in range(self.steps)
        )
        return Dense(columns, self.unit, self.steps)


_TOO_MANY: Final = (
    f"{{}} columns are more than {MAX_GRAM}, and their signs or order ask for all products"
)


@dataclass(frozen=True)
class Dense:
    """Any matrix, by the entries ``(row, value)`` over ``unit`` of its columns that are not 0."""

    columns: tuple[tuple[tuple[int, int], ...], ...]
    unit: Fraction
    rows: int

    @property
    def steps(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @cached_property
    def bands(self) -> int:
        """The number of bands of a lower triangular matrix, up to the lowest that is not 0.

        Raises:
            UnsupportedMechanism: it is not lower triangular.
        """
        most = 1
        for j, column in enumerate(self.columns):
            for i, _ in column[:1]:
                if i < j:
                    raise UnsupportedMechanism(
                        f"matrix: the entry in row {i}, column {j} is not 0; samples ask for a "
                        "lower triangular matrix"
                    )
            if column:
                most = max(most, column[-1][0] - j + 1)
        return most

    @cached_property
    def squares(self) -> tuple[Fraction, ...]:
        """The squared norms of the columns."""
        unit = self.unit**2
        return tuple(unit * sum(c * c for _, c in column) for column in self.columns)

    def groups(self, cycle: int) -> list[Counter[Fraction]]:
        """Of every group of columns the squared norms."""
        return [Counter(self.squares[g::cycle]) for g in range(min(cycle, self.steps))]

    @cached_property
    def is_positive(self) -> bool:
        """Whether no entry is negative."""
        return all(c > 0 for column in self.columns for _, c in column)

    def summed(self, pattern: Sequence[int]) -> Fraction:
        """The squared norm of the sum of the columns of ``pattern``."""
        sums: Counter[int] = Counter()
        for j in pattern:
            for i, c in self.columns[j]:
                sums[i] += c
        return self.unit**2 * sum(c * c for c in sums.values())

    @cached_property
    def gram(self) -> list[list[int]]:
        """All products of two columns, over ``unit^2``."""
        if self.steps > MAX_GRAM:
            raise UnsupportedMechanism(_TOO_MANY.format(self.steps))
        size = self.steps
        flat = [0] * (size * self.rows)
        for j, column in enumerate(self.columns):
            for i, c in column:
                flat[j * self.rows + i] = c
        across = fmpz_mat(size, self.rows, flat)
        products = [int(x) for x in (across * across.transpose()).entries()]
        return [products[j * size : (j + 1) * size] for j in range(size)]


Strategy = Toeplitz | Dense


# --- participation --------------------------------------------------------------------------------


def once(matrix: Strategy) -> Sensitivity:
    """A record takes part in one step at most: the largest column."""
    if isinstance(matrix, Toeplitz):
        return Sensitivity(max(matrix.groups(matrix.steps)[0]), True)
    return Sensitivity(max(matrix.squares), True)


def fixed_epochs(matrix: Strategy, epochs: int) -> Sensitivity:
    """A record takes part once an epoch, always in the same place of it [4]."""
    if matrix.steps % epochs:
        raise InvalidInput(f"epochs: {epochs} does not divide the {matrix.steps} steps")
    length = matrix.steps // epochs
    if isinstance(matrix, Toeplitz):
        if all(c >= 0 for c in matrix.coefficients):
            return Sensitivity(matrix.summed(epochs, length), True)
        matrix = matrix.dense()
    patterns = [range(start, matrix.steps, length) for start in range(length)]
    if matrix.is_positive:
        return Sensitivity(max(matrix.summed(p) for p in patterns), True)
    return max((_of_pattern(matrix, p) for p in patterns), key=lambda found: found.square)


def _of_pattern(matrix: Dense, pattern: Sequence[int]) -> Sensitivity:
    products = [matrix.gram[i][j] for i in pattern for j in pattern]
    square = matrix.unit**2 * sum(map(abs, products))
    return Sensitivity(square, all(x >= 0 for x in products))


def separated(matrix: Strategy, separation: int, most: int) -> Sensitivity:
    """A record takes part ``most`` times at most, its steps ``separation`` or more apart [5]."""
    most = min(most, -(-matrix.steps // separation))
    if isinstance(matrix, Toeplitz):
        if matrix.falls:
            return Sensitivity(matrix.summed(most, separation), True)
        matrix = matrix.dense()
    gram, size = matrix.gram, matrix.steps
    if _is_banded(gram, separation):
        best = [0] * (size + separation)
        for _ in range(most):
            after = [0] * (size + separation)
            for i in range(size - 1, -1, -1):
                after[i] = max(after[i + 1], gram[i][i] + best[i + separation])
            best = after
        return Sensitivity(matrix.unit**2 * best[0], True)
    if _falls(gram):
        pattern = range(0, most * separation, separation)
        return Sensitivity(matrix.summed(pattern), True)
    return Sensitivity(matrix.unit**2 * _at_most(gram, separation, most), False)


def _is_banded(gram: list[list[int]], separation: int) -> bool:
    """Whether columns so far apart, or more, have products 0."""
    return not any(any(row[i + separation :]) for i, row in enumerate(gram))


def _falls(gram: list[list[int]]) -> bool:
    """Whether products are not negative, and fall along diagonals and away from the middle one."""
    for i, row in enumerate(gram):
        if min(row[i:]) < 0:
            return False
        following = gram[i + 1] if i + 1 < len(gram) else []
        for j in range(i + 1, len(row)):
            if following[j] < row[j] or following[j] > row[j - 1]:
                return False
    return True


def _at_most(gram: list[list[int]], separation: int, most: int) -> int:
    """A bound on the sum of moduli over any pattern, in two stages [5].

    Products are rounded up to multiples of a power of two; sums of integers are exact.
    """
    shift = max(0, max(map(max, gram)).bit_length() - _COARSE_BITS)
    coarse = np.array([[-(-abs(x) >> shift) for x in row] for row in gram], dtype=np.int64)
    rows = _best(coarse, separation, most)
    return int(_best(rows[None, :], separation, most)[0]) << shift


def _best(values: np.ndarray[Any, Any], separation: int, most: int) -> np.ndarray[Any, Any]:
    """For each row the largest sum over a pattern."""
    rows, size = values.shape
    best = np.zeros((rows, size + separation), dtype=np.int64)
    for _ in range(most):
        chosen = np.zeros_like(best)
        chosen[:, :size] = values + best[:, separation:]
        best = np.maximum.accumulate(chosen[:, ::-1], axis=1)[:, ::-1]
    found: np.ndarray[Any, Any] = best[:, 0]
    return found


# --- reading --------------------------------------------------------------------------------------


def strategy(matrix: object, steps: object = None) -> Strategy:
    """``matrix`` exactly: two-dimensional, or the first column of a Toeplitz one of ``steps``.

    Raises:
        InvalidInput: it is neither, too large, or holds what is no finite rational number.
    """
    if isinstance(matrix, Toeplitz | Dense):
        return matrix
    array = _array(matrix)
    if array.size > MAX_ENTRIES:
        raise InvalidInput(f"matrix: {array.size} entries are too many (limit {MAX_ENTRIES})")
    if array.ndim not in (1, 2) or array.size == 0:
        raise InvalidInput(f"matrix: an array of shape {array.shape} is not accepted")
    if array.ndim == 1:
        if steps is None:
            raise InvalidInput("steps: a Toeplitz matrix by its first column needs them")
        size = integer_in(steps, "steps", 1, MAX_COUNT)
        values, unit = _integers(array[:size])
        while len(values) > 1 and values[-1] == 0:
            values.pop()
        return Toeplitz(tuple(values), unit, size)
    if steps is not None and integer_in(steps, "steps", 1) != array.shape[1]:
        raise InvalidInput(f"steps: {steps} given, and the matrix has {array.shape[1]} columns")
    across = array.T
    places = np.nonzero(across)
    values, unit = _integers(across[places])
    columns: list[list[tuple[int, int]]] = [[] for _ in range(array.shape[1])]
    for j, i, value in zip(*(place.tolist() for place in places), values, strict=True):
        columns[j].append((i, value))
    return Dense(tuple(map(tuple, columns)), unit, array.shape[0])


def _integers(values: np.ndarray[Any, Any]) -> tuple[list[int], Fraction]:
    """The values as integers times a unit, exactly."""
    kind = values.dtype.kind if values.size else "i"
    if kind in "iu":
        return [int(x) for x in values.tolist()], Fraction(1)
    if kind == "O":
        return _common(values.tolist())
    if kind != "f" or values.dtype.itemsize > 8:
        raise InvalidInput(f"matrix: numbers of type {values.dtype} are not accepted")
    if not np.all(np.isfinite(values)):
        raise InvalidInput("matrix: it holds what is not a finite number")
    mantissas, exponents = np.frexp(values.astype(np.float64))
    whole = np.ldexp(mantissas, _MANTISSA).astype(np.int64)
    used = exponents[whole != 0]
    low = int(used.min()) if used.size else 0
    shifts = np.where(whole != 0, exponents - low, 0)
    _bounded(int(shifts.max()) if used.size else 0)
    found = [m << s for m, s in zip(whole.tolist(), shifts.tolist(), strict=True)]
    return found, Fraction(2) ** (low - _MANTISSA)


def _array(matrix: object) -> np.ndarray[Any, Any]:
    """An array of ``matrix``; what is none yet keeps its numbers as they are, as fractions."""
    if np.ma.is_masked(matrix):
        raise InvalidInput("matrix: masked entries are not accepted")
    if hasattr(matrix, "dtype"):
        return np.asarray(matrix)
    try:
        given = np.array(matrix, dtype=object)
    except ValueError:  # rows of different lengths
        raise InvalidInput("matrix: its rows differ in length") from None
    found = np.empty(given.size, dtype=object)
    found[:] = list(_fractions(given.ravel().tolist()))
    return found.reshape(given.shape)


def _fractions(values: list[object]) -> Iterator[Fraction]:
    for value in values:
        found = real(value, "matrix").fraction
        if found is None:
            raise InvalidInput(f"matrix: {shorten(str(value))} is not rational")
        yield found


def _common(values: list[Fraction]) -> tuple[list[int], Fraction]:
    below = 1
    for value in values:
        below = below * value.denominator // gcd(below, value.denominator)
        _bounded(below.bit_length())
    return [int(value * below) for value in values], Fraction(1, below)


def _bounded(bits: int) -> None:
    if bits > _MAX_BITS:
        raise InvalidInput(f"matrix: the entries differ by more than {_MAX_BITS} bits")


def read_matrix(path: str | os.PathLike[str]) -> np.ndarray[Any, Any]:
    """The array in the file ``path``, as ``numpy.save`` writes it.

    Raises:
        InvalidInput: it cannot be read, is no such array, or is too large.
    """
    name = visible(os.fspath(path))
    try:
        with catch_warnings(action="ignore"):
            array = np.load(Path(path), mmap_mode="r", allow_pickle=False)
    except Exception as error:  # of damaged headers numpy raises what its parsers raise
        reason = getattr(error, "strerror", None) or "not an array that numpy.save has written"
        raise InvalidInput(f"{name}: cannot read: {reason}") from None
    if not isinstance(array, np.ndarray) or array.size > MAX_ENTRIES:
        raise InvalidInput(f"{name}: must hold one array of at most {MAX_ENTRIES} numbers")
    return np.array(array)
