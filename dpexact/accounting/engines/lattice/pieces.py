"""From the pieces of one step to its dominating and its dominated law on the lattice.

A step may consist of atoms and of a part without atoms: both laws of a sum of measures are sums of
laws. Losses are relative to the ``offset`` of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from flint import arb, fmpz, fmpz_poly

from dpexact.accounting.engines.lattice.grid import (
    TABLE_ERROR,
    Grid,
    LostPrecision,
    TooMuchWork,
    ceil,
    exact,
    floor,
    split_atom,
)
from dpexact.accounting.engines.lattice.law import Lower, TwoSided, Upper

_ZERO: Final = fmpz(0)
#: Most points from the lowest to the highest on which a step may put mass.
_MOST_POINTS: Final = 1 << 22

Survival = Callable[[arb], tuple[arb, arb, arb]]
"""``x -> (S_P, S_Q, D)``: ``P(loss > offset + x)``, the same for ``Q``, and the profile."""


@dataclass(frozen=True)
class Point:
    """Mass of a dominating law at one loss."""

    loss: arb
    mass: arb


@dataclass(frozen=True)
class Label:
    """Outcomes of masses ``p`` and ``q``; ``place`` is about their loss, and decides nothing."""

    place: float
    p: arb
    q: arb


@dataclass(frozen=True)
class Table:
    """``S_P, S_Q, D`` of a part without atoms at ``k t``, from ``first`` on, in ``2^-fine``.

    ``whole`` is its mass under ``P``.
    """

    first: int
    p: list[fmpz]
    q: list[fmpz]
    profile: list[fmpz]
    whole: arb


@dataclass(frozen=True)
class Pieces:
    """One step on the lattice: ``points`` and ``infinite`` dominate, ``labels`` are dominated.

    ``infinite`` and ``overflow`` (``P`` and ``Q`` mass) belong to infinite or highest losses; the
    ``table`` serves both laws.
    """

    points: list[Point]
    labels: list[Label]
    infinite: arb
    overflow: tuple[arb, arb]
    table: Table | None = None

    def swapped(self) -> Pieces:
        """The labels with the roles of ``P`` and ``Q`` exchanged, for :func:`lower_law` only."""
        table = self.table and replace(self.table, p=self.table.q, q=self.table.p)
        labels = [Label(label.place, label.q, label.p) for label in self.labels]
        return Pieces([], labels, self.infinite, self.overflow[::-1], table)


def atomic(outcomes: Iterable[tuple[arb, arb]], offset: arb, infinite: arb) -> Pieces:
    """The pieces of a law of outcomes with masses ``(p, q)``, both positive, and infinite loss."""
    points, labels = [], []
    for p, q in outcomes:
        loss = (p / q).log() - offset
        points.append(Point(loss, p))
        labels.append(Label(float(loss.mid()), p, q))
    return Pieces(points, labels, infinite, (infinite, arb(0)))


def tabulate(evaluate: Survival, grid: Grid, first: int, last: int, whole: arb) -> Table:
    """``S_P, S_Q, D`` at ``x = k t``, ``first <= k <= last``."""
    spacing = exact(grid.spacing)
    scale = arb(fmpz(1) << grid.fine)
    tables: tuple[list[fmpz], list[fmpz], list[fmpz]] = ([], [], [])
    # proposes: the range; both laws account for what lies outside
    for k in range(first, last + 1):
        for table, value in zip(tables, evaluate(k * spacing), strict=True):
            scaled = value * scale
            # proposes: the spacing, any of which will do; wide balls are refused
            if not scaled.rad() < 1:
                raise LostPrecision
            table.append(scaled.mid().floor().fmpz())
    return Table(first, *tables, whole)


def upper_law(pieces: Pieces, grid: Grid) -> Upper:
    """Every point split between its neighbours, and the dots of the table connected."""
    unit, spacing = fmpz(1) << grid.bits, exact(grid.spacing)
    masses: dict[int, fmpz] = {}
    infinite = ceil(unit * pieces.infinite)
    for point in pieces.points:
        below, above, share = split_atom(point.loss, spacing)
        for index, mass in ((below, point.mass * share), (above, point.mass * (1 - share))):
            masses[index] = masses.get(index, _ZERO) + max(ceil(unit * mass), _ZERO)
    if pieces.table is not None:
        found, beyond = _connected(pieces.table, grid)
        infinite += beyond
        for index, units in enumerate(found, pieces.table.first):
            masses[index] = masses.get(index, _ZERO) + units
    low, listed = _listed(masses)
    return Upper(low, fmpz_poly(listed), infinite)


def lower_law(pieces: Pieces, grid: Grid) -> Lower:
    """Outcomes merged by the nearest lattice point, or by the cell of the table they lie in."""
    unit, spacing = fmpz(1) << grid.bits, float(grid.spacing)
    p: dict[int, fmpz] = {}
    q: dict[int, fmpz] = {}
    for label in pieces.labels:
        index = round(label.place / spacing)
        p[index] = p.get(index, _ZERO) + max(floor(unit * label.p), _ZERO)
        q[index] = q.get(index, _ZERO) + ceil(unit * label.q)
    over_p = max(floor(unit * pieces.overflow[0]), _ZERO)
    over_q = ceil(unit * pieces.overflow[1])
    if pieces.table is not None:
        shift, error, table = grid.fine - grid.bits, 2 * TABLE_ERROR, pieces.table
        drops = zip(pairwise(table.p), pairwise(table.q), strict=True)
        for index, ((a, b), (c, d)) in enumerate(drops, table.first):
            p[index] = p.get(index, _ZERO) + (max(a - b - error, _ZERO) >> shift)
            q[index] = q.get(index, _ZERO) - (-max(c - d + error, _ZERO) >> shift)
        over_p += max(table.p[-1] - TABLE_ERROR, _ZERO) >> shift
        over_q -= -max(table.q[-1] + TABLE_ERROR, _ZERO) >> shift
    low, p_masses = _listed(p)
    _, q_masses = _listed(q)
    return Lower(low, fmpz_poly(p_masses), fmpz_poly(q_masses), over_p, over_q)


def two_sided_law(pieces: Pieces, grid: Grid) -> TwoSided:
    """The labels with both masses from both sides."""
    return TwoSided(lower_law(pieces, grid), lower_law(pieces.swapped(), grid))


def _connected(table: Table, grid: Grid) -> tuple[list[fmpz], fmpz]:
    r"""Connect the dots of the profile ``D`` as a function of :math:`e^\epsilon`.

    The chords through ``(0, whole)``, the lattice points, and a constant beyond the last one form
    the profile of the law with mass, at lattice point ``j``, of

    .. math:: p_j = \frac{e^t d_{j-1} - d_j}{e^t - 1}, \qquad d_j = D_j - D_{j+1},

    except ``p_first = whole - D_first - d_first/(e^t-1)`` and ``d_last = 0``, and ``D_last`` at
    infinity, which is returned beside the masses.
    """
    fine, unit = grid.fine, fmpz(1) << grid.fine
    growth = exact(grid.spacing).expm1()
    above = ceil(unit * (1 + 1 / growth))  # e^t/(e^t - 1), from above
    below = floor(unit / growth)  # 1/(e^t - 1), from below
    shift = 2 * fine - grid.bits
    error = 2 * TABLE_ERROR
    profile = table.profile
    drops = [a - b for a, b in pairwise(profile)]
    start = (ceil(unit * table.whole) - profile[0] + TABLE_ERROR) * unit
    start -= below * max(drops[0] - error, _ZERO)
    masses = [-(-max(start, _ZERO) >> shift)]
    for left, right in pairwise(drops):
        mass = above * (left + error) - below * max(right - error, _ZERO)
        masses.append(-(-max(mass, _ZERO) >> shift))
    masses.append(-(-max(above * (drops[-1] + error), _ZERO) >> shift))
    infinite = max(profile[-1] + TABLE_ERROR, _ZERO)
    return masses, -(-infinite >> (fine - grid.bits))


def _listed(masses: dict[int, fmpz]) -> tuple[int, list[fmpz]]:
    """The lowest index, and the masses from there on.

    Raises:
        TooMuchWork: they are too far apart to be listed.
    """
    # proposes: the points on which mass was put, any of which will do
    if not masses:
        return 0, [_ZERO]
    low, high = min(masses), max(masses)
    # proposes: likewise; too many are given up
    if high - low > _MOST_POINTS:
        raise TooMuchWork((high - low) / _MOST_POINTS)
    # proposes: likewise
    return low, [masses.get(index, _ZERO) for index in range(low, high + 1)]
