"""Laws on a lattice in fixed-point integers, and their composition with proved rounding.

Masses are integers, in units of ``2^-bits``. :class:`Upper` is a dominating law, :class:`Lower` a
dominated one, :class:`TwoSided` a dominated one known on both sides. Why composition, rounding and
cutting keep the order is proved in ``docs/theory/lattice-engine.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flint import fmpz, fmpz_poly


@dataclass(frozen=True)
class Upper:
    """Masses of the losses ``(low + k) t``, coefficient by coefficient, and ``inf`` of infinity."""

    low: int
    masses: fmpz_poly
    inf: fmpz

    def compose(self, other: Upper, bits: int, tail: fmpz) -> Upper:
        """The law of the sum of losses, every mass rounded up, ``tail`` cut at either end."""
        product = _round_up(self.masses * other.masses, bits)
        mine, theirs = total(self.masses), total(other.masses)
        inf = self.inf * (theirs + other.inf) + mine * other.inf
        return Upper(self.low + other.low, product, -(-inf >> bits)).cut(tail)

    def size(self) -> int:
        """How many coefficients it takes."""
        return int(self.masses.length())

    def cut(self, tail: fmpz) -> Upper:
        """Move up to ``tail`` of the highest losses to infinity, and of the lowest losses up."""
        start, stop = _window(self.masses, tail)
        kept = self.masses.truncate(stop)
        above = total(self.masses) - total(kept)
        result = kept.right_shift(start)
        below = total(kept) - total(result)
        return Upper(self.low + start, result + fmpz_poly([below]), self.inf + above)


@dataclass(frozen=True)
class Lower:
    """Masses of bins under ``P`` and ``Q``, by an integer label of the bin, and one overflow bin.

    The label has no exact loss attached to it; sums of labels are merged.
    """

    low: int
    p: fmpz_poly
    q: fmpz_poly
    over_p: fmpz
    over_q: fmpz

    def compose(self, other: Lower, bits: int, tail: fmpz) -> Lower:
        """The law of the sum of labels, with ``P`` mass up to ``tail`` cut at either end."""
        product = self.product(other, bits)
        return product.kept(*_window(product.p, tail))

    def product(self, other: Lower, bits: int) -> Lower:
        """Labels add; ``P`` is rounded down and ``Q`` up; any overflow is an overflow."""
        over_p = self.over_p * (total(other.p) + other.over_p) + total(self.p) * other.over_p
        over_q = self.over_q * (total(other.q) + other.over_q) + total(self.q) * other.over_q
        same = self is other
        p = (self.p**2 if same else self.p * other.p) // (fmpz(1) << bits)
        q = _round_up(self.q**2 if same else self.q * other.q, bits)
        return Lower(self.low + other.low, p, q, over_p >> bits, -(-over_q >> bits))

    def size(self) -> int:
        """How many coefficients it takes."""
        return int(self.p.length())

    def kept(self, start: int, stop: int) -> Lower:
        """Drop the bins before ``start`` and move those from ``stop`` on to the overflow."""
        p, q = self.p.truncate(stop), self.q.truncate(stop)
        over_p = self.over_p + total(self.p) - total(p)
        over_q = self.over_q + total(self.q) - total(q)
        return Lower(self.low + start, p.right_shift(start), q.right_shift(start), over_p, over_q)


@dataclass(frozen=True)
class TwoSided:
    """The same labels twice: ``P`` from below and ``Q`` from above, and with the roles swapped.

    ``swapped.p`` bounds the ``Q`` masses from below, ``swapped.q`` the ``P`` masses from above.
    """

    straight: Lower
    swapped: Lower

    def compose(self, other: TwoSided, bits: int, tail: fmpz) -> TwoSided:
        """As :meth:`Lower.compose`, with one window for both, so that labels stay the same."""
        straight = self.straight.product(other.straight, bits)
        swapped = self.swapped.product(other.swapped, bits)
        window = _window(straight.p, tail)
        return TwoSided(straight.kept(*window), swapped.kept(*window))

    def size(self) -> int:
        """How many coefficients it takes."""
        return self.straight.size() + self.swapped.size()


def total(masses: fmpz_poly) -> fmpz:
    """The sum of the coefficients."""
    return fmpz(masses(1))


def _round_up(product: fmpz_poly, bits: int) -> fmpz_poly:
    """Every (non-negative) coefficient divided by ``2^bits``, rounded up."""
    unit, length = fmpz(1) << bits, product.length()
    ones = _ones(1 << int(length).bit_length()).truncate(length)
    return (product + ones * (unit - 1)) // unit


@lru_cache(maxsize=2)
def _ones(length: int) -> fmpz_poly:
    return fmpz_poly([1] * length)


def _window(masses: fmpz_poly, tail: fmpz) -> tuple[int, int]:
    """``[start, stop)`` such that the coefficients on either side of it sum to ``tail`` at most.

    Each step sums only coefficients that are still in question: all together about twice.
    """
    length = masses.length()
    if length == 0:
        return 0, 0
    # the largest start with sum(masses[:start]) <= tail; left holds masses from start on
    start, top, left, room = 0, length - 1, masses, tail
    while start < top:
        middle = (start + top + 1) // 2
        part = left.truncate(middle - start)
        mass = total(part)
        if mass <= room:
            left, room, start = left.right_shift(middle - start), room - mass, middle
        else:
            left, top = part, middle - 1
    # the smallest stop with sum(masses[stop:]) <= tail; left holds masses from stop on
    stop, high, left = start + 1, length, masses.right_shift(start + 1)
    missing = total(left) - tail
    while stop < high:
        middle = (stop + high) // 2
        part = left.truncate(middle - stop)
        mass = total(part)
        if mass >= missing:
            left, high = part, middle
        else:
            missing -= mass + left[middle - stop]
            left, stop = left.right_shift(middle + 1 - stop), middle + 1
    return start, stop
