r"""Chernoff's bound of delta of adding a record, which mostly shows that removing is worse.

.. math:: \delta(\varepsilon) \le K(s)\,e^{-s\varepsilon}\,
          \big[(1-q)^{-s} J(-s)\big]^T, \quad s > 0,

with the moments ``J`` bounded by two terms of a series, or by some chords ([7] and [5] of
``docs/theory/rare.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.contour.product import log_chernoffs
from dpexact.accounting.engines.rare.float_rows import FloatRow, floats_of, largest_loss
from dpexact.accounting.engines.rare.law import Cells, SampledLaw, laws_of
from dpexact.accounting.engines.rare.picture import log_sum
from dpexact.accounting.engines.rare.rows import Row, largest_added
from dpexact.accounting.engines.rare.windows import Window
from dpexact.accounting.pairs.pair import log_chernoff
from dpexact.balls import approximate, ball
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_BITS: Final = 64
_ZERO: Final = Fraction(0)
_WHOLE: Final = Window(1)
#: Places of outcomes: high orders tilt laws of much noise far to the left.
_PLACES: Final = np.arange(-20.0, 6.0, 0.1)
_SPACING = 0.1
#: By what power of e what is beyond cells weighs less than the heaviest place, and most cells.
_DEEP, _MOST_CELLS = 20.0, 400
#: Widths of cells: chords over them exceed what they bound by about four squares, as a logarithm.
_NARROW, _WIDE = 0.1, 1.0
#: Noise whose square of ``lambda`` has a mean that floats know.
_LEAST_NOISE = 0.1
#: Logarithms of ``s lambda sqrt(T)`` and of ``s lambda`` beyond which chords are long.
_FIRST, _LAST = -1.5, 3.5
_TILTS = np.geomspace(1e-3, 3.0, 40)


def added_bound(rows: Sequence[Row], epsilon: Real, log_level: float) -> Enclosure:
    """From 0 to the bound for steps of rates ``0 < q < 1``.

    As close as shows that it is below ``e^log_level``; trivial where it hardly is.
    """
    nothing = Enclosure(_ZERO, Fraction(1))
    try:
        with np.errstate(all="ignore"):
            about = floats_of(rows), approximate(epsilon), log_level
            order = _in_short(*about)
            edges: list[list[float]] = []
            # proposes: which bound of the moments; both are proved
            if not order:
                order, edges = _proposed(*about)
        with balls.precision(_BITS):
            s, laws = arb(order), laws_of(rows)
            # proposes: likewise
            if edges:
                cells = zip(laws, edges, strict=True)
                moments = [Cells(law, own).bound(_WHOLE, -order) for law, own in cells]
            else:
                moments = [short_moment(law, s) for law in laws]
            log = log_chernoff(s) + s * (largest_added(rows) - ball(epsilon))
            for moment, row in zip(moments, rows, strict=True):
                log += row.times * moment.log()
            return nothing.meet(Enclosure(_ZERO, balls.to_enclosure(log.exp()).upper))
    except (ArithmeticError, ValueError):
        return nothing


def short_moment(law: SampledLaw, order: arb) -> arb:
    """At least ``J(-s)``: ``(1 + lambda)^-s <= 1 - s lambda + s (s + 1) lambda^2/2`` [7].

    Of a group too, of which ``A >= 1 + lambda``.
    """
    if law.replaced:
        raise ValueError("two terms are of a record added, not of one replaced")
    square = law.odds**2 * (law.rate * law.rate).exp()
    return 1 - order * law.odds + order * (order + 1) / 2 * square


def _in_short(rows: Sequence[FloatRow], epsilon: float, log_level: float) -> float:
    """Proposes: an order at which two terms are enough, or 0."""
    alone = all(row.group == 1 for row in rows)
    if not (alone and min(rows).sigma > _LEAST_NOISE and epsilon > 0):
        return 0.0
    terms = [(row.q / (1 - row.q), 1 / row.sigma**2, row.times) for row in rows]
    order = epsilon / sum(n * odds * odds * math.expm1(loss) for odds, loss, n in terms)
    log = order * (largest_loss(rows) - epsilon)
    for odds, loss, count in terms:
        square = odds * odds * (order + 1) * math.exp(loss)
        log += count * math.log1p(order * (square / 2 - odds))
    log += order * math.log(order) - (1 + order) * math.log1p(order)
    return order if log < log_level else 0.0


def _proposed(
    rows: Sequence[FloatRow], epsilon: float, log_level: float
) -> tuple[float, list[list[float]]]:
    """Proposes: an order and cells; any give a bound.

    Raises:
        ArithmeticError: it is not below the level.
    """
    x = _PLACES
    losses: list[Floats] = [-row.log_stay - row.log_up(row.start + x / row.sigma) for row in rows]
    weights = -x * x / 2 + math.log(_SPACING / math.sqrt(2 * math.pi))
    law = np.exp(weights)
    means = [float(law @ loss) for loss in losses]
    mean = sum(row.times * own for row, own in zip(rows, means, strict=True))
    spread = sum(
        row.times * float(law @ (loss - own) ** 2)
        for row, loss, own in zip(rows, losses, means, strict=True)
    )
    orders = _TILTS * (epsilon - mean) / spread
    logs = log_chernoffs(orders) - orders * epsilon
    for row, loss in zip(rows, losses, strict=True):
        logs += row.times * log_sum(weights + orders[:, None] * loss)
    best = int(np.nanargmin(logs))
    order, room = float(orders[best]), log_level - float(logs[best])
    if not room > 0:
        raise ArithmeticError("the bound is above the level")
    width, count = max(_NARROW, min(_WIDE, math.sqrt(room) / 2)), sum(row.times for row in rows)
    return order, [_cells(row, order, width * min(1.0, row.sigma), count) for row in rows]


def _cells(row: FloatRow, order: float, width: float, count: int) -> list[float]:
    """Proposes: cells where the power of a loss falls, or all that weighs if that is beyond."""
    centre = -row.start - math.log(order)
    first = max(float(_PLACES[0]), row.sigma * (centre + _FIRST - math.log(count) / 2))
    last = row.sigma * (centre + _LAST)
    tilted = -_PLACES * _PLACES / 2 - order * row.log_up(row.start + _PLACES / row.sigma)
    if _PLACES[np.argmax(tilted)] > last:
        last = float(_PLACES[tilted > tilted.max() - _DEEP][-1])
        first = -math.sqrt(2 * (_DEEP - float(tilted.max())))
    last = max(min(float(_PLACES[-1]), last), first + width)
    width = max(width, (last - first) / _MOST_CELLS)
    return [float(v) for v in np.arange(first, last + width, width)]
