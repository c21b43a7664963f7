"""Mechanisms of which a guarantee is all that is known: numbers, or a curve of divergences."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpexact.conversion import RealLike
from dpexact.errors import InvalidInput
from dpexact.mechanisms.base import LEADS, NOT_NEGATIVE, PROBABILITY, Mechanism
from dpexact.mechanisms.entries import listed, rows_of_file
from dpexact.mechanisms.ordering import FAILURE, GUARANTEE, entries_ordered
from dpexact.reals import ZERO, Real
from dpexact.tokens import shorten


@dataclass(frozen=True, slots=True, repr=False)
class ApproxDP(Mechanism, name="approx_dp"):
    """Any ``(eps, delta)``-DP mechanism, by its pair; ``eps >= 0`` and ``0 <= delta <= 1``."""

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)
    delta: Real = field(metadata=PROBABILITY | FAILURE)


@dataclass(frozen=True, slots=True, repr=False)
class PureDP(Mechanism, name="pure_dp"):
    """Any ``eps``-DP mechanism, by its dominating pair (randomised response). ``eps >= 0``."""

    eps: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class GDP(Mechanism, name="gdp"):
    """Any ``mu``-Gaussian-DP mechanism: ``N(mu, 1)`` against ``N(0, 1)``. ``mu >= 0``."""

    mu: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)


@dataclass(frozen=True, slots=True, repr=False)
class ZCDP(Mechanism, name="zcdp"):
    """Any ``(xi, rho)``-zCDP mechanism; answers about it are upper bounds. ``xi, rho >= 0``.

    ``D_alpha <= xi + rho alpha`` at all orders above 1, in both directions.
    """

    rho: Real = field(metadata=NOT_NEGATIVE | GUARANTEE)
    xi: Real = field(default=ZERO, metadata=NOT_NEGATIVE | GUARANTEE | LEADS)


#: Most orders of a curve.
MAX_ORDERS: Final = 1_000
#: The titles of the columns of a file.
COLUMNS: Final = ("order", "eps")
_GIVEN: Final = "the curve of renyi_dp is given, order by order; calibrate a number of repetitions"


def _curve_in(rows: tuple[tuple[Any, Any], ...], name: str) -> tuple[tuple[Any, Any], ...]:
    """The rows by rising order."""
    if len(rows) > MAX_ORDERS:
        raise InvalidInput(f"renyi_dp: {len(rows)} orders are too many (limit {MAX_ORDERS})")
    for row in rows:
        for told, number, least in zip(COLUMNS, row, (1, 0), strict=True):
            relation = ">" if least else ">="
            exact = number.fraction
            if exact is None or exact < least or exact == least == 1:
                raise InvalidInput(
                    f"renyi_dp: {told} {shorten(str(number))} is not accepted; must be rational "
                    f"and {relation} {least}"
                )
    ordered = sorted(rows, key=lambda row: row[0].fraction)
    for one, other in pairwise(ordered):
        if one[0] == other[0]:
            raise InvalidInput(f"renyi_dp: order {one[0]} is given twice")
    return tuple(ordered)


@dataclass(frozen=True, slots=True, repr=False)
class RenyiDP(Mechanism, name="renyi_dp"):
    """Any mechanism with ``D_order <= eps``, in both directions, for each ``(order, eps)``.

    Orders are rational and above 1, each ``eps`` is rational and at least 0.
    """

    rows: tuple[tuple[Real, Real], ...] = field(
        metadata=listed("(number, number)", _curve_in, COLUMNS) | entries_ordered(_GIVEN, _GIVEN)
    )

    def at(self, order: Fraction) -> Fraction | None:
        r"""The bound on the divergence of ``order >= 1``; None above the last.

        Divergences grow with the order, so later rows bound it; and :math:`(a - 1) D_a` is convex,
        so between two rows it is below their chord.
        """
        rows = [(a.value, eps.value) for a, eps in self.rows]
        later = [(a, eps) for a, eps in rows if a >= order]
        if not later:
            return None
        least = min(eps for _, eps in later)
        earlier = rows[: len(rows) - len(later)]
        if not earlier:
            return least
        (a, low), (b, high) = earlier[-1], later[0]
        share = (order - a) / (b - a)
        chord = (1 - share) * (a - 1) * low + share * (b - 1) * high
        return min(least, chord / (order - 1))


def renyi_dp(*rows: tuple[RealLike, RealLike] | str) -> RenyiDP:
    """Any mechanism whose Rényi divergence of each ``order`` is at most ``eps``: ``(order, eps)``.

    In both directions (Mironov 2017, Definition 4); numbers are rational. In place of the rows one
    text ``"@FILE"`` names a CSV file with the columns ``order`` and ``eps``. Answers are upper
    bounds.

    >>> from dpexact import epsilon, renyi_dp
    >>> m = renyi_dp((2, "1/10"), (8, "4/10"), (32, "3/2"))
    >>> print(m, epsilon(m ** 4, "1e-6", digits=10).safe())
    renyi_dp((2, 0.1), (8, 0.4), (32, 1.5)) 3.14305
    """
    match rows:
        case [str(text)] if text.startswith("@"):
            return RenyiDP(rows_of_file(text[1:], "renyi_dp", COLUMNS))
    return RenyiDP(rows)  # type: ignore[arg-type]  # the fields take numbers in any form
