"""Where the logarithms of one coordinate of a cloud lie, and places there as integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, fmpz

from dpexact.accounting.arrays import Floats
from dpexact.balls import ball
from dpexact.reals import Real

_LEAST: Final = 1e-5
#: Bits of logarithms beyond those of places: half an interval is at least ``2^-17``.
FINER: Final = 24


@dataclass(frozen=True)
class Side:
    """Where the logarithms of one coordinate lie: within ``half`` of ``centre``, or all equal."""

    centre: float
    half: float
    single: bool

    @classmethod
    def around(cls, values: Sequence[Real], logs: Floats) -> Side:
        """Proposes: an interval; whether it holds the points is decided by balls."""
        low, high = float(logs.min()), float(logs.max())
        single = all(value == values[0] for value in values)
        return cls((low + high) / 2, (high - low) / 2 + _LEAST, single)

    def scaled(self, value: Real) -> arb:
        """``(log value - centre) / half``, which must lie in ``[-1, 1]``."""
        found = (ball(value).log() - arb(self.centre)) / arb(self.half)
        # proposes: the interval, whose floats mean their exact values
        if not abs(found) <= 1:
            raise ArithmeticError(f"{value} lies outside of its interval")
        return found

    def place(self, value: Real, bits: int) -> int:
        """The scaled value in units ``2^-bits``, less than 3/2 of one off: 0 where it is single.

        To be called at a precision of more bits.
        """
        place = self.scaled(value)
        return 0 if self.single else floored(place, bits)

    def places(self, logs: Sequence[int], bits: int) -> list[int]:
        """The same of many logarithms in units ``2^-(bits + 24)``, less than 3/2 of one off."""
        units = 2 ** (bits + FINER)
        centre, half = round(Fraction(self.centre) * units), Fraction(self.half) * units
        # these are less than 2 units off
        moved = [log - centre for log in logs]
        # proposes: the interval, whose floats mean their exact values
        if not max(map(abs, moved), default=0) + 2 <= half:
            raise ArithmeticError("a logarithm lies outside of its interval")
        over, under = half.denominator << bits, half.numerator
        return [log * over // under for log in moved]

    def polynomials(self, value: Real, count: int, bits: int) -> list[fmpz]:
        """``T_k``, ``k < count``, of the scaled value, at most ``2 k^2`` units ``2^-bits`` off [1].

        To be called at a precision of more bits.
        """
        x = fmpz(self.place(value, bits))
        found = [fmpz(1) << bits, x]
        while len(found) < count:
            found.append((x * found[-1] >> (bits - 1)) - found[-2])
        return found[:count]


def floored(value: arb, bits: int) -> int:
    """In units ``2^-bits``, less than 3/2 of one off."""
    units = value * arb(2) ** bits
    if not units.rad() <= 0.5:
        raise ArithmeticError(f"{value} is not known to {bits} bits")
    return int(units.mid().floor().unique_fmpz())


def scaled(units: fmpz, off: int, bits: int) -> arb:
    """``units`` of ``2^-bits``, right to ``off`` of them."""
    return arb(units, off) * arb(2) ** -bits
