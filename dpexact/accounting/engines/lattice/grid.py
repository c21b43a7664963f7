"""The lattice of losses ``offset + k t`` and its fixed-point arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq, fmpz

from dpexact.accounting.pairs.pair import integer

#: A tabulated value differs from the truth by less than this many units of ``2^-fine``.
TABLE_ERROR = 2
#: Working bits beyond ``Grid.fine``: guards the evaluation of a step.
GUARD_BITS = 40


class LostPrecision(ArithmeticError):
    """A ball came out wider than one unit of the table: the working precision is too low."""


class TooMuchWork(ArithmeticError):
    """A composition was given up: about ``excess`` times the work allowed would be needed."""

    def __init__(self, excess: float) -> None:
        super().__init__(f"some {excess:.1f} times the work allowed")
        self.excess = excess


@dataclass(frozen=True)
class Grid:
    """Spacing ``t`` (dyadic, below 1), fixed-point ``bits``, and ``tail`` to cut at an end."""

    spacing: Fraction
    bits: int
    tail: int

    @property
    def fine(self) -> int:
        """Bits of the tables: second differences divide by ``t``, so that many more."""
        return self.bits + math.ceil(-math.log2(self.spacing)) + 6

    @property
    def precision(self) -> int:
        """Working precision in bits."""
        return self.fine + GUARD_BITS

    def index(self, x: float) -> int:
        """The lattice index nearest to ``x``."""
        return round(x / float(self.spacing))

    def tail_for(self, steps: int, of: int) -> fmpz:
        """The mass to cut from a law of ``steps`` out of ``of`` steps."""
        return fmpz(self.tail * steps // of)


def dyadic(x: float) -> Fraction:
    """``x`` cut to 10 bits, at most 1/2."""
    mantissa, exponent = math.frexp(min(x, 0.5))
    return Fraction(int(mantissa * 1024)) * Fraction(2) ** (exponent - 10)


def split_atom(gap: arb, spacing: arb) -> tuple[int, int, arb]:
    r"""``(k, m, share)``: a loss ``gap`` is split between the lattice points ``k`` and ``m``.

    The loss is first raised to the upper end of its ball, which dominates. Then ``k t <= gap <=
    m t`` is certain, and ``m = k + 1`` unless a lattice point is within rounding of that end.
    The share :math:`(e^{mt-gap}-1)/(e^{(m-k)t}-1)` at ``k`` keeps both total masses.
    """
    gap = gap.upper()
    place = gap / spacing
    low, high = int(floor(place)), int(floor(place.upper())) + 1
    return low, high, (high * spacing - gap).expm1() / ((high - low) * spacing).expm1()


def growth_bits(loss: float) -> int:
    """Bits of absolute accuracy that a factor ``e^loss`` takes."""
    return max(0, math.ceil(loss / math.log(2)))


def exact(value: Fraction) -> arb:
    """A rational number as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def floor(x: arb) -> fmpz:
    """An integer not above any point of ``x``."""
    return integer(x.lower().floor())


def ceil(x: arb) -> fmpz:
    """An integer not below any point of ``x``."""
    return integer(x.upper().ceil())
