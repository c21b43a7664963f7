"""From one step to its dominating and its dominated law on the lattice ``offset + k t``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb, fmpq, fmpz, fmpz_poly

from dpexact.accounting.lattice.law import Lower, Upper
from dpexact.accounting.lattice.normal_tail import NormalTail
from dpexact.accounting.lattice.steps import AtomStep, SmoothStep, Step, growth_bits, split_atom

#: A tabulated value differs from the truth by less than this many units of ``2^-fine``.
TABLE_ERROR = 2
#: Working bits beyond ``Grid.fine``: guards the evaluation of a step.
GUARD_BITS = 40


class LostPrecision(ArithmeticError):
    """A ball came out wider than one unit of the table: the working precision is too low."""


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


def point_count(step: Step, spacing: Fraction, tail: float) -> int:
    """About how many lattice points the law of one ``step`` occupies."""
    if isinstance(step, AtomStep):
        return 4
    low, high = step.span(tail)
    return int((high - low) / float(spacing)) + 2


def base_laws(step: Step, grid: Grid, of: int) -> tuple[Upper, Lower]:
    """The two laws of one ``step`` out of ``of``; needs ``ctx.prec >= grid.precision``."""
    if isinstance(step, AtomStep):
        return _atom_upper(step, grid), _atom_lower(step, grid)
    low, high = step.span(math.ldexp(grid.tail, -grid.bits) / of)
    first, last = grid.index(low) - 1, grid.index(high) + 1
    edge = step.edge()  # no mass beyond it
    first, last = (max(first, 0) if edge < 0 else first), (min(last, 0) if edge > 0 else last)
    first = min(first, last - 1)
    p, q, profile = _tabulate(step, grid, first, last)
    return _upper(profile, grid, first), _lower(p, q, grid, first)


def _tabulate(
    step: SmoothStep, grid: Grid, first: int, last: int
) -> tuple[list[fmpz], list[fmpz], list[fmpz]]:
    """``S_P, S_Q, D`` at ``x = k t``, ``first <= k <= last``, in units of ``2^-fine``."""
    top = float(step.offset().mid()) + last * float(grid.spacing)
    evaluate = step.at(NormalTail(grid.precision - 8 + growth_bits(top)))
    spacing = arb(fmpq(grid.spacing.numerator, grid.spacing.denominator))
    scale = arb(fmpz(1) << grid.fine)
    tables: tuple[list[fmpz], list[fmpz], list[fmpz]] = ([], [], [])
    for k in range(first, last + 1):
        for table, value in zip(tables, evaluate(k * spacing), strict=True):
            scaled = value * scale
            if not scaled.rad() < 1:
                raise LostPrecision
            table.append(scaled.mid().floor().fmpz())
    return tables


def _upper(profile: list[fmpz], grid: Grid, first: int) -> Upper:
    r"""Connect the dots of the profile ``D`` as a function of :math:`e^\epsilon`.

    The chords through ``(0, 1)``, the lattice points, and a constant beyond the last one form the
    profile of the law with mass, at lattice point ``j``, of

    .. math:: p_j = \frac{e^t d_{j-1} - d_j}{e^t - 1}, \qquad d_j = D_j - D_{j+1},

    except ``p_first = 1 - D_first - d_first/(e^t-1)`` and ``d_last = 0``, and ``D_last`` at
    infinity.
    """
    fine, unit = grid.fine, fmpz(1) << grid.fine
    growth = _ball(grid.spacing).expm1()
    above = _ceil(unit * (1 + 1 / growth))  # e^t/(e^t - 1), from above
    below = _floor(unit / growth)  # 1/(e^t - 1), from below
    shift = 2 * fine - grid.bits
    error = 2 * TABLE_ERROR
    zero = fmpz(0)
    drops = [a - b for a, b in pairwise(profile)]
    start = (unit - profile[0] + TABLE_ERROR) * unit - below * max(drops[0] - error, zero)
    masses = [-(-max(start, zero) >> shift)]
    for left, right in pairwise(drops):
        mass = above * (left + error) - below * max(right - error, zero)
        masses.append(-(-max(mass, zero) >> shift))
    masses.append(-(-max(above * (drops[-1] + error), zero) >> shift))
    infinite = max(profile[-1] + TABLE_ERROR, zero)
    return Upper(first, fmpz_poly(masses), -(-infinite >> (fine - grid.bits)))


def _lower(p: list[fmpz], q: list[fmpz], grid: Grid, first: int) -> Lower:
    """Merge the outcomes of a cell into one; those below the first are dropped, above overflow."""
    shift = grid.fine - grid.bits
    error, zero = 2 * TABLE_ERROR, fmpz(0)
    p_masses = [max(a - b - error, zero) >> shift for a, b in pairwise(p)]
    q_masses = [-(-max(a - b + error, zero) >> shift) for a, b in pairwise(q)]
    over_p = max(p[-1] - TABLE_ERROR, zero) >> shift
    over_q = -(-max(q[-1] + TABLE_ERROR, zero) >> shift)
    return Lower(first, fmpz_poly(p_masses), fmpz_poly(q_masses), over_p, over_q)


def _atom_upper(step: AtomStep, grid: Grid) -> Upper:
    r"""``-eps`` lies on the lattice; ``eps`` is split between its two neighbours.

    See :func:`split_atom`.
    """
    unit = fmpz(1) << grid.bits
    lost, high, low = step.masses()
    below, above, share = split_atom(-2 * step.offset(), _ball(grid.spacing))
    masses = [fmpz(0)] * (above + 1)
    masses[0] += _ceil(unit * low)
    masses[below] += _ceil(unit * high * share)
    masses[above] += _ceil(unit * high * (1 - share))
    return Upper(0, fmpz_poly(masses), _ceil(unit * lost))


def _atom_lower(step: AtomStep, grid: Grid) -> Lower:
    """The atoms with the label nearest to their loss; the infinite loss overflows."""
    unit = fmpz(1) << grid.bits
    lost, high, low = step.masses()
    k = grid.index(float(-2 * step.offset().mid()))
    p, q = [fmpz(0)] * (k + 1), [fmpz(0)] * (k + 1)
    for label, p_mass, q_mass in ((0, low, high), (k, high, low)):
        p[label] += max(_floor(unit * p_mass), fmpz(0))
        q[label] += _ceil(unit * q_mass)
    return Lower(0, fmpz_poly(p), fmpz_poly(q), max(_floor(unit * lost), fmpz(0)), fmpz(0))


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _floor(x: arb) -> fmpz:
    """An integer not above any point of ``x``."""
    return x.lower().floor().fmpz()


def _ceil(x: arb) -> fmpz:
    """An integer not below any point of ``x``."""
    return x.upper().ceil().fmpz()
