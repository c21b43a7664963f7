"""Where cells begin and end, in floats.

Proposes: the edges; whatever they are, cells bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.rare.picture import RowPicture

#: How far below the fall of a window cells are wide; bounds on widths elsewhere, and how far on the
#: right of what matters cells stay narrow.
_TURN, _LEFT, _RIGHT, _STEEP, _PLACES = 1.5, 16.0, 5.0, 3.0, 400
_NARROWEST, _WIDEST, _RISEN = 0.02, 1.5, 0.7


def cell_edges(
    row: RowPicture,
    many: int,
    ends: tuple[float, float],
    falls: Sequence[float],
    widths: tuple[float, float],
    moments: Sequence[tuple[float, Floats]],
) -> tuple[float, ...]:
    """Places that bound cells, narrow where windows fall, about ``falls``.

    Elsewhere as wide as chords are close to what they bound: ``moments`` are orders, and the
    logarithms of windows over about the moment of each. A chord of a power of ``1 + lambda`` adds
    an eighth of the square of the order times the width, times the mass.
    """
    narrow, wide = widths
    at = np.linspace(*ends, _PLACES)
    loss, x = np.logaddexp(0.0, at), row.sigma * (at - row.start)
    share = -np.expm1(-loss)
    bends = [
        2 * np.log(abs(order) * share)
        + np.minimum(order * loss, _STEEP)
        + np.interp(at, row.ratio, logs)
        for order, logs in moments
    ]
    density = math.log(many * row.sigma / math.sqrt(2 * math.pi)) - x * x / 2
    needed = density + np.max(bends, axis=0)
    # on the right of where it matters a chord that falls meets a density that rises
    needed = np.maximum(needed, np.interp(x - _RISEN, x, needed))
    chords = np.exp(-needed / 3).clip(_NARROWEST, _WIDEST)
    # what is far falls steeply on its left; what the first fall leaves counts as far as moments
    # that fall steeply there
    root = row.root
    steep = [-order * math.exp(falls[0]) / row.shape for order, _ in moments]
    first = min(max(1.0, *steep), _LEFT)
    starts = [fall - (first if fall == falls[0] else _LEFT) / root for fall in falls]
    sides = (
        np.maximum(x - at, at - fall - _RIGHT / root) for x, fall in zip(starts, falls, strict=True)
    )
    away = np.maximum(0.0, root * np.min([*sides], axis=0) / _TURN)
    falling = np.minimum(chords, narrow + (wide - narrow) * away)
    rates = 1 / np.where(away > 1, chords, falling)
    number = np.cumsum(rates) * (at[1] - at[0])
    places = np.linspace(number[0], number[-1], math.ceil(number[-1]) + 1)
    return tuple(np.interp(places, number, x).tolist())
